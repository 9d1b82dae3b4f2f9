"""The sections of the report, in the order in which they are read.

A new section is a file here and a line below. It reads results only, and says None where the
results hold nothing for it.
"""

from __future__ import annotations

from typing import Final

from bayescal.report.section import Section
from bayescal.report.sections import (
    answer,
    bounds,
    credal,
    diagnostics,
    differences,
    glossary,
    groups,
    plots,
    priors,
    provenance,
    references,
    sensitivity,
    table,
)

SECTIONS: Final[tuple[Section, ...]] = tuple(
    module.SECTION
    for module in (
        answer,
        table,
        plots,
        credal,
        differences,
        groups,
        diagnostics,
        priors,
        sensitivity,
        bounds,
        provenance,
        references,
        glossary,
    )
)
