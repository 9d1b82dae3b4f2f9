"""What the report says of each kind: modules in the shape of `bayescal.report.kind.ReportKind`."""
