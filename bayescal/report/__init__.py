"""One self-contained HTML file from results and their plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    from xarray import DataTree


def report(
    trees: DataTree | Sequence[DataTree],
    path: str | os.PathLike[str],
    *,
    title: str = "Calibration report",
) -> Path:
    """Write results as one HTML file that needs no network.

    Parameters
    ----------
    trees : DataTree or sequence of DataTree
        Results of :func:`bayescal.fit`.
    path : path-like
        Where to write the file.
    title : str, default "Calibration report"
        Heading of the page; it is escaped.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    OutputError
        If ``path`` cannot be written.
    """
    from bayescal.report.html import report as write

    return write(trees, path, title=title)
