"""A result as the file that was asked for: a report or netCDF, as its ending says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from xarray import DataTree

_REPORT = (".html", ".htm")


def check_output(output: Path | None) -> None:
    """Check a file to be written, before the work that is to fill it."""
    from bayescal.results.io import check_writable

    if output is None:
        return
    if output.suffix.casefold() not in (*_REPORT, ".nc"):
        raise click.UsageError(
            f"--output must end in .nc (the result) or .html (a report); got {output.name!r}."
        )
    check_writable(output)


def write(results: DataTree | Sequence[DataTree], output: Path | None, prob: float) -> None:
    """Write a report, or keep a result."""
    if output is None:
        return
    if output.suffix.casefold() in _REPORT:
        from bayescal.report.html import report

        report(results, output, prob=prob)
        return
    from bayescal.results.io import save

    save(results if not isinstance(results, Sequence) else results[-1], output)
