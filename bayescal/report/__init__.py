"""The report as a file: checked before the work, written whole or not at all.

What draws and renders is imported on the first call, so that this name costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bayescal.core.checks import check_is
from bayescal.core.errors import InputError
from bayescal.core.writing import check_writable, write_text

if TYPE_CHECKING:
    import xarray as xr

ENDINGS: Final = (".html", ".htm")


def report(
    results: xr.DataTree | Sequence[xr.DataTree],
    path: str | os.PathLike[str],
    *,
    title: str = "Calibration report",
    prob: float = 0.9,
    measures: Any = (),
) -> Path:
    """Write results as one HTML page that stands alone: no network, no scripts.

    The answer comes first, in words and with its interval; then table, plots, differences, groups,
    diagnostics, priors, bounds, provenance and the papers used. Empty sections are left out.

    Parameters
    ----------
    results : xarray.DataTree or sequence of xarray.DataTree
        What `bayescal.fit` or `bayescal.load` returned.
    path : str or path-like
        The file to write, which ends in .html or .htm; one that is there is replaced.
    title : str, default "Calibration report"
        Heading of the page.
    prob : float, default 0.9
        Probability of the credible intervals, in (0, 1).
    measures : sequence of str, Measure or callable, optional
        Further numbers of the calibration curve, such as ``["e90", "slope"]``, in a section beside
        those added to a result before, see `bayescal.measure`. Results without a curve have none.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InputError
        There is no result, or one that is not a result, `prob` is not in (0, 1), the path has
        another ending, or a measure is unknown, has no value, or no result holds a curve.
    OutputError
        The file cannot be written; the message says why. Nothing half-written is left.

    Notes
    -----
    The same results give the same bytes.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.report(bc.load("ece.nc"), "calibration.html")  # doctest: +SKIP
    PosixPath('calibration.html')
    """
    check_is(title, str, "title", "Pass a word or a few.")
    target = check_writable(path)
    if target.suffix.casefold() not in ENDINGS:
        raise InputError(
            f"a report is HTML: its path must end in .html or .htm; got {target.name!r}. Print the "
            "page from a browser for another format."
        )
    from bayescal.report.page import page

    write_text(target, page(results, title=title, prob=prob, measures=measures))
    return target
