"""One self-contained HTML file from one result or several."""

from bayescal.report.html import report

__all__ = ["report"]
