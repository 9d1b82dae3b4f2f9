"""Figures of each kind of result: the modules have the shape of `bayescal.plots.kind.PlotKind`."""
