"""The reliability diagram: calibration curve with its credible band, and bins."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from bayescal.plots import style
from bayescal.plots.kind import check_kind
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import interval, tail
from bayescal.results.text import number, percent, relation

_STRATEGY = {"quantile": "equal-mass bins", "uniform": "equal-width bins"}


def plot_reliability(
    tree: xr.DataTree,
    classifier: str | None = None,
    class_: str | None = None,
    group: str | None = None,
    prob: float = 0.9,
) -> Figure:
    """Draw the calibration curve of one case with its credible band, and its bins.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with a calibration curve.
    classifier, class_, group : str, optional
        Which case; the first that matches.
    prob : float
        Pointwise posterior probability of the band, and of the interval in the text.

    Returns
    -------
    matplotlib.figure.Figure
        The curve above the number of rows in each bin.

    Raises
    ------
    InputError
        If no case matches, or the result has no calibration curve.
    """
    check_kind(tree, "errors", "a reliability diagram")
    case = access.find_case(tree, classifier, class_, group)
    figure = style.new_figure(4.8, 5.9, style.notes_for(tree, [case]))
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(5, 1))
    limits = _limits(tree, case, _draw_curve(top, tree, case, prob))
    _draw_points(top, tree, case)
    style.draw_diagonal(top)
    top.set_xlim(*limits)
    top.set_ylim(*limits)
    _write_answer(top, tree, case, prob)
    horizontal, vertical = _axis_names(tree, case)
    top.set_ylabel(vertical, parse_math=False)
    style.title(top, style.shorten(case.title, 60))
    _draw_counts(bottom, tree, case)
    bottom.set_xlabel(horizontal, parse_math=False)
    for ax in (top, bottom):
        style.dress(ax)
    entries: dict[str, Artist] = {
        "calibration curve, posterior mean": style.line(color=style.BLUE, linewidth=1.6),
        f"its {percent(prob)} credible band": Patch(facecolor=style.BLUE, alpha=0.22),
        "bins, area by rows": style.mark(
            marker="o", color="white", markeredgecolor=style.VERMILLION
        ),
        "perfect calibration": style.diagonal(),
    }
    style.legend(figure, entries)
    return figure


def _draw_curve(ax: Axes, tree: xr.DataTree, case: ResultSlice, prob: float) -> tuple[float, float]:
    """The curve in its band; the lowest and highest of which are given back."""
    curve = access.variable(tree, schema.POSTERIOR, "calibration_curve", case)
    score = access.variable(tree, schema.CONSTANT_DATA, "curve_score", case).values
    # `interval` would work out the bands of all cases, for each of their figures.
    ends = (tail(prob), 1 - tail(prob))
    lower, upper = curve.quantile(ends, schema.DRAW_DIMS).values
    ax.fill_between(score, lower, upper, color=style.BLUE, alpha=0.22, linewidth=0)
    ax.plot(score, curve.mean(schema.DRAW_DIMS).values, color=style.BLUE, linewidth=1.6)
    return float(lower.min()), float(upper.max())


def _draw_points(ax: Axes, tree: xr.DataTree, case: ResultSlice) -> None:
    """One mark a bin with rows, its area in proportion to them."""
    confidence, rate, count = _bins(tree, case)
    ax.scatter(
        confidence,
        rate,
        s=np.maximum(70 * count / max(count.max(initial=1), 1), 5),
        facecolor="white",
        edgecolor=style.VERMILLION,
        linewidth=1.3,
        zorder=3,
        clip_on=False,
    )


def _bins(tree: xr.DataTree, case: ResultSlice) -> tuple[NDArray[np.float64], ...]:
    """Confidence, label rate and count of the bins that have rows."""
    values = [
        access.variable(tree, schema.POINT_ESTIMATE, name, case).values
        for name in ("confidence", "label_rate", "count")
    ]
    full = values[2] > 0
    return tuple(np.asarray(value, dtype=np.float64)[full] for value in values)


def _limits(tree: xr.DataTree, case: ResultSlice, band: tuple[float, float]) -> tuple[float, float]:
    """The whole unit square; or the part where the bins are if that is small, and the band near."""
    confidence, rate, _ = _bins(tree, case)
    seen = np.concatenate([confidence, rate])
    if seen.size == 0 or np.ptp(seen) >= 0.5:
        return (0.0, 1.0)
    span = max(float(np.ptp(seen)), 0.04)
    low = max(0.0, float(seen.min()) - 0.25 * span)
    high = min(1.0, float(seen.max()) + 0.25 * span)
    return (
        min(low, max(band[0], low - 0.5 * span)),
        max(high, min(band[1], high + 0.5 * span)),
    )


def _draw_counts(ax: Axes, tree: xr.DataTree, case: ResultSlice) -> None:
    count = access.variable(tree, schema.POINT_ESTIMATE, "count", case).values
    edges = access.variable(tree, schema.POINT_ESTIMATE, "bin_edges", case).values
    ax.bar(
        edges[:-1],
        count,
        width=np.diff(edges),
        align="edge",
        color=style.PALE,
        edgecolor="white",
        linewidth=0.6,
    )
    ax.set_ylim(0, 1.1 * max(int(count.max(initial=0)), 1))
    weighted = access.has_variable(tree, schema.POINT_ESTIMATE, schema.EFFECTIVE_N)
    ax.set_ylabel("effective rows per bin" if weighted else "rows per bin")
    ax.yaxis.set_major_locator(MaxNLocator(2, integer=True))


def _write_answer(ax: Axes, tree: xr.DataTree, case: ResultSlice, prob: float) -> None:
    """Estimate, posterior and probability of calibration, in the corner the points leave free."""
    confidence, rate, count = _bins(tree, case)
    above = float(np.sum(count * (rate - confidence))) > 0
    x, y, horizontal, vertical = (
        (0.98, 0.02, "right", "bottom") if above else (0.02, 0.98, "left", "top")
    )
    ax.text(
        x,
        y,
        _answer(tree, case, prob),
        transform=ax.transAxes,
        ha=horizontal,
        va=vertical,
        fontsize=style.SMALL_SIZE,
        color=style.INK,
        linespacing=1.45,
        zorder=4,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 2},
    )


def _answer(tree: xr.DataTree, case: ResultSlice, prob: float) -> str:
    var = "ece" if access.has_variable(tree, schema.POSTERIOR, "ece") else "tce"
    lower, upper = (float(bound) for bound in access.at(interval(tree, var, prob), case).values)
    bins = _STRATEGY.get(str(tree.attrs.get("binning_strategy")), "bins")
    n_bins = access.variable(tree, schema.POINT_ESTIMATE, "count", case).size
    mean = access.averaged_mean(tree, var, case)
    lines = [
        f"{var.upper()} {number(mean)}, {percent(prob)} interval {number(lower)} to {number(upper)}"
    ]
    point = access.scalar(tree, schema.POINT_ESTIMATE, "ece", case)
    if point is not None:
        lines.append(f"plug-in {number(point)} ({n_bins} {bins})")
    p_calibrated = access.scalar(tree, schema.MODEL_AVERAGE, schema.P_CALIBRATED, case)
    if p_calibrated is not None and p_calibrated == p_calibrated:
        lines.append(f"P(calibrated) {relation(p_calibrated)}")
    return "\n".join(lines)


def _axis_names(tree: xr.DataTree, case: ResultSlice) -> tuple[str, str]:
    if case.class_ is not None:
        name = style.shorten(case.class_)
        return (f"score of class {name}", f"share of rows of class {name}")
    if tree.attrs.get("multiclass") == "top-label":
        return ("score of the predicted class", "share of correct predictions")
    return ("score", "share of positive labels")
