"""How the answer moves with the prior."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from bayescal.core.checks import check_number
from bayescal.core.text import distinct
from bayescal.core.variables import ERROR, ROW, Variable
from bayescal.plots import style
from bayescal.plots.posterior import SEEN, draw_density, draw_zero
from bayescal.plots.rows import plot_row_sensitivity
from bayescal.plots.style import Drawing
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.conclude import Conclusion, conclusions
from bayescal.results.measure import chosen_variable
from bayescal.results.text import number, percent, relation

MOST_PANELS: Final = 24
_COLUMNS: Final = 3
_ROW_INCHES: Final = 0.5
_FRAME_INCHES: Final = 1.35
_TALLEST: Final = 0.72
_FIRST: Final[Any] = {"color": style.GREY, "linewidth": 1.0, "linestyle": (0, (1, 2))}
_LIMIT: Final[Any] = {"color": style.VERMILLION, "linewidth": 1.3, "linestyle": (0, (3, 2))}


def plot_sensitivity(
    tree: xr.DataTree,
    var: str | None = None,
    prob: float = 0.9,
    threshold: float | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw the posterior of a variable under each prior, one row a prior, one panel a case.

    Parameters
    ----------
    tree : xarray.DataTree
        What `bayescal.prior_sensitivity` returned.
    var : str, optional
        A variable of its posterior with one number a case; by default that of the conclusion.
    prob : float
        Posterior probability of the interval below each density.
    threshold : float, optional
        Value that the variable is compared with, as a line; by default that of the result.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        Each row has the density given miscalibration, scaled to one height; at 0 a bar as high as
        the probability of perfect calibration; the interval with the posterior mean; a dotted line
        at the mean under the first prior. A note above says so if a conclusion is not robust.
        Of results of `bayescal.credal`, bounds of up to 16 rows under each prior.

    Raises
    ------
    InputError
        If it is a result of one prior, or has no such variable.
    """
    access.prior_names(tree)
    tree, name = chosen_variable(tree, tree.attrs.get("conclusion_var") if var is None else var)
    if access.described(tree, name).role == ROW:
        return plot_row_sensitivity(tree, prob, ax)
    all_of = conclusions(tree, name, prob, _threshold(tree, threshold))
    found = [one for one in all_of if isinstance(one, Conclusion)]
    gathered = access.along(tree, schema.PRIOR_NAME)
    columns = min(_COLUMNS, len(found))
    width = 6.4 if columns == 1 else 1.6 + 2.4 * columns
    height = -(-len(found) // columns) * (_ROW_INCHES * len(gathered[0]) + 0.45) + _FRAME_INCHES
    lost = [one.case for one in found if not one.robust]
    notes = style.notes_for(tree, access.cases(tree)) + style.not_robust("The conclusion is", lost)
    figure = style.ground(ax, width, height, notes)
    axes = style.panels(figure, len(found), columns, sharey=True)
    shown = access.described(tree, name)
    limits = _limits(tree, shown, gathered)
    short = distinct([one.case for one in found], 26)
    for ax, one, cases, ends in zip(axes, found, gathered, limits, strict=True):
        _draw_rows(ax, tree, one, cases, ends)
        if len(found) == 1:
            _write_numbers(ax, tree, one)
        else:
            style.title(ax, short[one.case], fontsize=style.TEXT_SIZE)
        ax.set_xlabel(shown.title)
    return _legend(figure, tree, found, prob)


def drawings(tree: xr.DataTree, prob: float) -> list[Drawing]:
    """The figure of a prior grid, left out where it would have too many panels."""
    if len(access.along(tree, schema.PRIOR_NAME)) > MOST_PANELS:
        return []
    var = tree.attrs.get("conclusion_var")
    all_of = conclusions(tree, var, prob, _threshold(tree, None))
    return [
        Drawing(
            partial(plot_sensitivity, tree, var, prob),
            "Posterior under each prior",
            "The same data under each prior, with the same random numbers.",
            "Posterior under each prior. " + " ".join(one.text for one in all_of[:4]),
        )
    ]


def _threshold(tree: xr.DataTree, given: float | None) -> float | None:
    found = tree.attrs.get("threshold") if given is None else given
    return None if found is None else check_number(found, "threshold", "(-inf, inf)")


def _p_zero(tree: xr.DataTree, one: Conclusion) -> list[float | None]:
    """Probability of exactly 0 under each prior, where there is one."""
    is_error = access.described(tree, one.var).role == ERROR
    return [row.p_calibrated if is_error else None for row in one.rows]


def _limits(
    tree: xr.DataTree, var: Variable, gathered: list[tuple[ResultSlice, ...]]
) -> list[tuple[float, float]]:
    """Ends of the panels: alike, unless the narrowest would then be a mere line."""
    quantiles = [_spread(tree, var.name, cases) for cases in gathered]
    if var.role != ERROR:
        low, high = min(one[0] for one in quantiles), max(one[1] for one in quantiles)
        margin = max(0.03 * (high - low), 1e-6)
        bottom = low - margin if low < 0 else max(low - margin, 0.0)
        return [(bottom, high + margin)] * len(gathered)
    ends = [max(1.06 * high, 1e-6) for _, high in quantiles]
    shared = max(ends) <= 5 * min(ends)
    return [(-0.03 * end, end) for end in ([max(ends)] * len(ends) if shared else ends)]


def _spread(tree: xr.DataTree, var: str, cases: tuple[ResultSlice, ...]) -> tuple[float, float]:
    """Lowest and highest of what the densities of a panel have to show."""
    group = access.conditional_group(tree, var)
    draws = [access.variable(tree, group, var, case).values for case in cases]
    ends = [np.nanquantile(one, (0.002, 0.998)) for one in draws]
    return min(float(low) for low, _ in ends), max(float(high) for _, high in ends)


def _draw_rows(
    ax: Axes,
    tree: xr.DataTree,
    one: Conclusion,
    cases: tuple[ResultSlice, ...],
    ends: tuple[float, float],
) -> None:
    start = 0.0 if access.described(tree, one.var).role == ERROR else ends[0]
    x = np.linspace(start, ends[1], 400)
    group = access.conditional_group(tree, one.var)
    rows = zip(one.rows, cases, _p_zero(tree, one), strict=True)
    for base, (row, case, p_zero) in zip(_places(one), rows, strict=True):
        colour = style.BLUE if row.converged else style.red()
        draws = access.variable(tree, group, one.var, case).values
        draw_density(ax, x, draws, colour, base=base, tall=_TALLEST)
        draw_zero(ax, p_zero, base=base, tall=_TALLEST)
        style.draw_interval(ax, (row.lower, row.upper), row.mean, base - 0.09, colour)
    ax.axvline(one.rows[0].mean, **_FIRST, zorder=0)
    if one.threshold is not None:
        ax.axvline(one.threshold, **_LIMIT)
    style.dress(ax, grid="x")
    ax.set_xlim(*ends)
    ax.set_ylim(-0.3, len(cases) - 0.1)
    names = [row.prior + ("" if row.converged else " (not converged)") for row in one.rows]
    style.name_rows(ax, _places(one), [distinct(names, 26)[name] for name in names])
    ax.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))


def _places(one: Conclusion) -> range:
    """Heights of the rows, the first prior at the top."""
    return range(len(one.rows) - 1, -1, -1)


def _write_numbers(ax: Axes, tree: xr.DataTree, one: Conclusion) -> None:
    """Mean, interval and probability of calibration at the right of each row."""
    for place, row, p_zero in zip(_places(one), one.rows, _p_zero(tree, one), strict=True):
        lines = [f"{number(row.mean)} ({number(row.lower)} to {number(row.upper)})"]
        lines += [] if p_zero is None else [f"P(0) {relation(p_zero)}"]
        look = {"xycoords": ("axes fraction", "data"), "va": "center", "annotation_clip": False}
        style.write(ax, "\n".join(lines), (1, place + 0.12), (8, 0), **look)


def _legend(
    figure: style.Ground, tree: xr.DataTree, found: list[Conclusion], prob: float
) -> Figure:
    zeros = [p_zero for one in found for p_zero in _p_zero(tree, one) if p_zero is not None]
    entries: dict[str, Artist] = {
        f"posterior{' if miscalibrated' * bool(zeros)}": Patch(facecolor=style.BLUE, alpha=0.25),
        f"mean and {percent(prob)} interval": style.interval_line(),
    }
    if max(zeros, default=0.0) >= SEEN:
        calibrated = "P(0): probability of perfect calibration"
        entries[calibrated] = style.line(color=style.ink(), lw=4)
    entries["mean under the first prior"] = style.line(**_FIRST)
    if found[0].threshold is not None:
        entries[f"threshold {found[0].threshold:g}"] = style.line(**_LIMIT)
    return style.legend(figure, entries)
