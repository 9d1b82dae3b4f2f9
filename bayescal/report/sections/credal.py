"""Credal intervals and decisions: what holds of the rows, in words, and what the numbers mean."""

from __future__ import annotations

from markupsafe import Markup

from bayescal.report.credal import credal_section
from bayescal.report.section import Section, for_each
from bayescal.report.view import View


def credal(view: View) -> Markup | None:
    """Explain bounds and decisions, and list some rows."""
    return credal_section(view) if view.is_credal else None


SECTION = Section(
    "credal", "Credal intervals and decisions", "Intervals and decisions", for_each(credal)
)
