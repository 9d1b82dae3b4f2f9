"""The sections of the report, in the order in which they are read.

Those of one kind of result stand in its module of `bayescal.report.kinds`. A section reads results
only, and is None where the results hold nothing for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bayescal.report.kind import Section
from bayescal.report.sections import answer, bounds, diagnostics, provenance, sensitivity
from bayescal.report.view import View

_FIRST: Final = answer.SECTIONS
_LAST: Final = (
    diagnostics.SECTION,
    provenance.PRIORS,
    sensitivity.SECTION,
    bounds.SECTION,
    *provenance.SECTIONS,
)
COMMON: Final[tuple[Section, ...]] = (*_FIRST, *_LAST)


def sections_of(views: Sequence[View]) -> list[Section]:
    """Sections of a report on these results."""
    own = dict.fromkeys(section for view in views for section in view.kind.SECTIONS)
    return [*_FIRST, *own, *_LAST]
