"""The posterior of a calibration error, and how it moves with the prior."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from bayescal.core.checks import check_number
from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.core.quantity import ERROR, ROW, Variable
from bayescal.core.text import distinct, number, percent, relation
from bayescal.plots import style
from bayescal.plots.rows import plot_row_sensitivity
from bayescal.plots.style import Drawing
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import interval
from bayescal.results.measure import chosen_variable
from bayescal.results.robustness import Conclusion, conclusions, with_value

_GRID: Final = 1024


def density(draws: NDArray[Any], at: NDArray[Any]) -> Floats:
    """Kernel density of the positive draws, reflected at 0; of all, if some are negative."""
    # It is that of arviz_stats, whose import takes longer than a figure.
    flat = np.asarray(draws, dtype=np.float64).ravel()
    least = -math.inf if flat.size and np.nanmin(flat) < 0 else 0.0
    flat = flat[flat > least]
    if flat.size < 2 or np.ptp(flat) <= 1e-12 * np.abs(flat).max():
        return np.zeros(len(at))
    # Reflection at the least draw itself would bend densities that are far from 0.
    low = max(least, float(flat.min() - flat.std()))
    count, edges = np.histogram(flat, _GRID, range=(low, flat.max()))
    # Scott's rule: a bandwidth chosen by the data would follow ties, which shares of rows have.
    width = 1.06 * flat.std() * flat.size**-0.2 / (edges[1] - edges[0])
    reach = math.ceil(4 * width)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    fold = _GRID // 5
    folded = np.concatenate([count[fold - 1 :: -1], count, count[: -fold - 1 : -1]])
    height = np.convolve(folded, kernel)[reach + fold :][:_GRID]
    height /= height.sum() * (edges[1] - edges[0])
    return np.where(at < low, 0.0, np.interp(at, (edges[1:] + edges[:-1]) / 2, height, right=0.0))


def draw_density(
    ax: Axes,
    x: NDArray[Any],
    draws: NDArray[Any],
    colour: str = style.BLUE,
    alpha: float = 0.25,
    *,
    base: float = 0.0,
    tall: float = 1.0,
) -> None:
    """Draw the density of the positive draws from a base up; a line where all are equal."""
    height = density(draws, x)
    if height.max() > 0:
        top = base + tall * height / height.max()
        ax.fill_between(x, base, top, color=colour, alpha=alpha, lw=0)
        ax.plot(x, top, color=colour, lw=1.2)
    elif (draws > 0).any():
        ax.plot((draws[draws > 0][0],) * 2, (base, base + tall), color=colour, lw=1.6)


def draw_zero(ax: Axes, p_zero: float | None, *, base: float = 0.0, tall: float = 1.0) -> None:
    """Draw the probability of exactly 0 as a bar, where a density of that height has its peak."""
    if p_zero is not None and p_zero >= SEEN:
        top = base + tall * p_zero
        ax.plot((0, 0), (base, top), color=style.ink(), lw=4, solid_capstyle="butt")


_COLUMNS: Final = 4
_BASELINE: Final = -0.1
_LOWEST: Final = -0.2
SEEN: Final = 0.001
"""Probability from which on a bar at 0 is seen."""


def plot_posterior(
    tree: xr.DataTree, var: str | None = None, prob: float = 0.9, *, ax: Axes | None = None
) -> Figure:
    """Draw the posterior of a calibration error, one panel a case.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    var : str, optional
        Which error: "ece", "tce", "mce", or a measure such as "e90"; by default the main one, TCE.
    prob : float, default 0.9
        Posterior probability of the interval below the density.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        Each panel has the density given miscalibration, scaled to one height; at 0 a bar as high
        as the probability of perfect calibration, on a scale where the density's peak is 1; the
        paper's estimate; and the interval with the posterior mean.

    Raises
    ------
    InputError
        If the result has no such variable.
    """
    tree, shown = style.chosen(tree, var, ERROR, "a posterior of calibration errors")
    var = shown.name
    bounds = interval(tree, var, prob)
    found = access.cases(tree)
    figure, axes = _panels(tree, found, ax)
    limits = [_limit(tree, var, case, float(access.at(bounds, case).max())) for case in found]
    for ax, case, limit in zip(axes, found, _alike(limits), strict=True):
        _draw_panel(ax, tree, var, case, limit)
        style.draw_interval(
            ax, access.ends(bounds, case), access.posterior_mean(tree, var, case), _BASELINE
        )
        style.case_title(ax, tree, case)
    for ax in axes[-_COLUMNS:]:
        ax.set_xlabel(shown.title)
    return _legend(figure, tree, var, prob)


def plot_prior_posterior(
    tree: xr.DataTree, var: str | None = None, *, ax: Axes | None = None
) -> Figure:
    """Overlay the prior and the posterior density of a calibration error, one panel a case.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with a group `prior`.
    var : {"ece", "tce", "mce"}, optional
        Which error; by default the main one, the TCE.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        Both densities given miscalibration, each scaled to one height.

    Raises
    ------
    InputError
        If the result has no prior draws, or no such variable.
    """
    style.check_role(tree, ERROR, "a prior against a posterior of calibration errors")
    var = var or access.main(tree).name
    found = access.cases(tree)
    if schema.PRIOR not in tree.children:
        raise InputError(
            "prior against posterior needs the group 'prior', which this result does not have. "
            "Draw from the prior: pymc.sample_prior_predictive on the model of build_model."
        )
    figure, axes = _panels(tree, found, ax)
    for ax, case in zip(axes, found, strict=True):
        _draw_both(ax, tree, var, case)
        style.case_title(ax, tree, case)
    for ax in axes[-_COLUMNS:]:
        ax.set_xlabel(access.described(tree, var).title)
    looks = {"prior": (style.GREY, 0.35), "posterior": (style.BLUE, 0.3)}
    entries = {
        f"{name}, scaled to its peak": Patch(facecolor=colour, alpha=alpha)
        for name, (colour, alpha) in looks.items()
    }
    return style.legend(figure, entries)


def _panels(
    tree: xr.DataTree, found: list[ResultSlice], ax: Axes | None
) -> tuple[style.Ground, list[Axes]]:
    """Make a grid of panels, one a case, without the axes that stay empty."""
    notes, tall = style.notes_for(tree, found), 2.4 if len(found) == 1 else 1.5
    width = max(2.2 * min(_COLUMNS, len(found)), 5.2)
    return style.panels(ax, len(found), _COLUMNS, width, 0.9, notes, tall=tall)


def _limit(tree: xr.DataTree, var: str, case: ResultSlice, upper: float) -> float:
    """Right end of a panel: space for the density and for the paper's estimate."""
    draws = access.variable(tree, access.conditional_group(tree, var), var, case).values
    point = access.point(tree, var, case) or 0.0
    return max(1.06 * _reach(draws, 0.998), 1.06 * upper, 1.12 * point, 1e-6)


def _alike(ends: list[float]) -> list[float]:
    """One end for panels, to be read against each other, unless one were then a mere line."""
    return [max(ends)] * len(ends) if max(ends) <= 5 * min(ends) else ends


def _reach(draws: NDArray[Any], level: float) -> float:
    """Quantile of the positive draws; 0 where there are none."""
    positive = draws[draws > 0]
    return float(np.quantile(positive, level)) if positive.size else 0.0


def _draw_panel(ax: Axes, tree: xr.DataTree, var: str, case: ResultSlice, limit: float) -> None:
    draws = access.variable(tree, access.conditional_group(tree, var), var, case).values
    draw_density(ax, np.linspace(0, limit, 400), draws)
    p_calibrated = access.prob_calibrated(tree, case)
    draw_zero(ax, p_calibrated)
    if p_calibrated is not None:
        look = {"va": "bottom", "fontsize": style.SMALL_SIZE - 0.5}
        style.write(ax, f"P(0) {relation(p_calibrated)}", (0, 1.08), (5, 0), **look)
    point = access.point(tree, var, case)
    if point is not None:
        ax.plot((point,) * 2, (0, 1), color=style.VERMILLION, lw=1.4, ls=(0, (3, 2)))
    ax.axhline(0, color=style.GREY, lw=0.8)
    # A little space left of 0 keeps the bar at 0 off the frame.
    ax.set(xlim=(-0.03 * limit, limit), ylim=(_LOWEST, 1.28))
    style.dress(ax)
    style.no_scale(ax)


def _legend(figure: style.Ground, tree: xr.DataTree, var: str, prob: float) -> Figure:
    entries = _entries(prob, 1.0)
    point = access.described(tree, var).point
    if point is not None and access.has_variable(tree, schema.POINT_ESTIMATE, point):
        entries[f"plug-in {access.described(tree, point).title}"] = style.line(
            color=style.VERMILLION, lw=1.4, ls=(0, (3, 2))
        )
    return style.legend(figure, entries)


def _entries(prob: float, p_zero: float | None) -> dict[str, Artist]:
    """The legend of densities, with a bar at 0 of the largest probability that is shown, if any."""
    given = "" if p_zero is None else " if miscalibrated"
    entries: dict[str, Artist] = {
        f"posterior{given}": Patch(facecolor=style.BLUE, alpha=0.25),
        f"mean and {percent(prob)} interval": style.interval_line(),
    }
    if p_zero is not None and p_zero >= SEEN:
        bar = style.line(color=style.ink(), lw=4)
        entries["P(0): probability of perfect calibration"] = bar
    return entries


def _draw_both(ax: Axes, tree: xr.DataTree, var: str, case: ResultSlice) -> None:
    prior = access.variable(tree, schema.PRIOR, var, case).values
    posterior = access.variable(tree, access.conditional_group(tree, var), var, case).values
    # Of a long prior less is shown, or else the posterior is no more than a line.
    ends = ((prior, 0.9), (posterior, 0.98))
    limit = 1.05 * max(_reach(draws, level) for draws, level in ends)
    x = np.linspace(0, max(limit, 1e-6), 400)
    draw_density(ax, x, prior, style.GREY, 0.35)
    draw_density(ax, x, posterior, style.BLUE, 0.3)
    style.dress(ax)
    ax.set(xlim=(0, x[-1]), ylim=(0, 1.08))
    style.no_scale(ax)


MOST_PANELS: Final = 24
_CURVES_A_ROW: Final = 3
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
    prob : float, default 0.9
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
    gathered = with_value(tree, name)
    columns = min(_CURVES_A_ROW, len(found))
    width = 6.4 if columns == 1 else 1.6 + 2.4 * columns
    tall = _ROW_INCHES * len(gathered[0]) + 0.45
    lost = [one.case for one in found if not one.robust]
    notes = style.notes_for(tree, access.cases(tree)) + style.not_robust("The conclusion is", lost)
    figure, axes = style.panels(
        ax, len(found), columns, width, _FRAME_INCHES, notes, tall=tall, sharey=True
    )
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
    return _curve_legend(figure, tree, found, prob)


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
    """Ends of the panels."""
    group, quantiles = access.conditional_group(tree, var.name), []
    for cases in gathered:
        draws = [access.variable(tree, group, var.name, case).values for case in cases]
        shown = np.array([np.nanquantile(one, (0.002, 0.998)) for one in draws])
        quantiles.append((float(shown[:, 0].min()), float(shown[:, 1].max())))
    if var.role != ERROR:
        low, high = min(one[0] for one in quantiles), max(one[1] for one in quantiles)
        margin = max(0.03 * (high - low), 1e-6)
        bottom = low - margin if low < 0 else max(low - margin, 0.0)
        return [(bottom, high + margin)] * len(gathered)
    ends = [max(1.06 * high, 1e-6) for _, high in quantiles]
    return [(-0.03 * end, end) for end in _alike(ends)]


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
    ax.set(xlim=ends, ylim=(-0.3, len(cases) - 0.1))
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


def _curve_legend(
    figure: style.Ground, tree: xr.DataTree, found: list[Conclusion], prob: float
) -> Figure:
    zeros = [p_zero for one in found for p_zero in _p_zero(tree, one) if p_zero is not None]
    entries = _entries(prob, max(zeros, default=None))
    entries["mean under the first prior"] = style.line(**_FIRST)
    if found[0].threshold is not None:
        entries[f"threshold {found[0].threshold:g}"] = style.line(**_LIMIT)
    return style.legend(figure, entries)
