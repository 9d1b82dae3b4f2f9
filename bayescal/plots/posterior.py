"""The posterior of a calibration error, case by case, alone and against the prior."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.variables import ERROR
from bayescal.plots import style
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import interval
from bayescal.results.text import percent, relation

_GRID: Final = 1024


def density(draws: NDArray[Any], at: NDArray[Any]) -> NDArray[np.float64]:
    """Kernel density of the positive draws, reflected at 0; zeros where all are equal.

    Draws that take negative values too have the density of all of them. It is that of
    ``arviz_stats``, whose import takes longer than a figure.
    """
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
    prob : float
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
    # Panels are read against each other, unless the narrowest would then be a mere line.
    shared = max(limits) <= 5 * min(limits)
    for ax, case, limit in zip(axes, found, limits, strict=True):
        _draw_panel(ax, tree, var, case, max(limits) if shared else limit)
        style.draw_interval(
            ax, access.ends(bounds, case), access.posterior_mean(tree, var, case), _BASELINE
        )
        style.case_title(ax, tree, case)
    _name_below(axes, shown.title)
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
    _name_below(axes, access.described(tree, var).title)
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
    columns = min(_COLUMNS, len(found))
    rows = -(-len(found) // columns)
    width = 5.2 if columns == 1 else max(2.2 * columns, 5.2)
    height = (2.4 if columns == 1 else 1.5 * rows) + 0.9
    figure = style.ground(ax, width, height, style.notes_for(tree, found))
    return figure, style.panels(figure, len(found), columns)


def _name_below(axes: list[Axes], name: str) -> None:
    """Name the horizontal axis under the lowest panel of each column."""
    for ax in axes[-_COLUMNS:]:
        ax.set_xlabel(name)


def _limit(tree: xr.DataTree, var: str, case: ResultSlice, upper: float) -> float:
    """Right end of a panel: space for the density and for the paper's estimate."""
    draws = access.variable(tree, access.conditional_group(tree, var), var, case).values
    point = access.point(tree, var, case) or 0.0
    return max(1.06 * _reach(draws, 0.998), 1.06 * upper, 1.12 * point, 1e-6)


def _reach(draws: NDArray[Any], level: float) -> float:
    """Quantile of the positive draws; 0 where there are none."""
    positive = draws[draws > 0]
    return float(np.quantile(positive, level)) if positive.size else 0.0


def _draw_panel(ax: Axes, tree: xr.DataTree, var: str, case: ResultSlice, limit: float) -> None:
    draws = access.variable(tree, access.conditional_group(tree, var), var, case).values
    draw_density(ax, np.linspace(0, limit, 400), draws)
    _draw_calibrated(ax, access.prob_calibrated(tree, case))
    point = access.point(tree, var, case)
    if point is not None:
        ax.plot((point,) * 2, (0, 1), color=style.VERMILLION, lw=1.4, ls=(0, (3, 2)))
    ax.axhline(0, color=style.GREY, lw=0.8)
    # A little space left of 0 keeps the bar at 0 off the frame.
    ax.set_xlim(-0.03 * limit, limit)
    ax.set_ylim(_LOWEST, 1.28)
    style.dress(ax)
    style.no_scale(ax)


def _draw_calibrated(ax: Axes, p_calibrated: float | None) -> None:
    if p_calibrated is None:
        return
    draw_zero(ax, p_calibrated)
    look = {"va": "bottom", "fontsize": style.SMALL_SIZE - 0.5}
    style.write(ax, f"P(0) {relation(p_calibrated)}", (0, 1.08), (5, 0), **look)


def _legend(figure: style.Ground, tree: xr.DataTree, var: str, prob: float) -> Figure:
    entries: dict[str, Artist] = {
        "posterior if miscalibrated": Patch(facecolor=style.BLUE, alpha=0.25),
        f"mean and {percent(prob)} interval": style.interval_line(),
        "P(0): probability of perfect calibration": style.line(color=style.ink(), lw=4),
    }
    point = access.described(tree, var).point
    if point is not None and access.has_variable(tree, schema.POINT_ESTIMATE, point):
        entries[f"plug-in {access.described(tree, point).title}"] = style.line(
            color=style.VERMILLION, lw=1.4, ls=(0, (3, 2))
        )
    return style.legend(figure, entries)


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
    ax.set_xlim(0, x[-1])
    ax.set_ylim(0, 1.08)
    style.no_scale(ax)
