"""Reliability diagrams: of a case with its calibration curve, and of each predicted class."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from bayescal.core.columns import Floats
from bayescal.core.quantity import ERROR
from bayescal.core.text import number, percent, relation, shorten
from bayescal.plots import style
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.curves import curve_band, description_weights, lies_on_curve
from bayescal.results.intervals import interval

_STRATEGY: Final = {"quantile": "equal-mass bins", "uniform": "equal-width bins"}
_LEAST_WEIGHT: Final = 0.1
_LOOKS: Final = {
    "smooth": (style.GREEN, (0, (5, 2))),
    "rough": (style.PURPLE, (0, (1.5, 1.5))),
    "segments": (style.ORANGE, (0, (6, 1.5, 1.5, 1.5))),
    "linear": (style.INK, (0, (8, 2))),
}
# There are no more cells than this only where each is one score.
_MOST_SCORES: Final = 40
_BARS: Final = 25
_NARROW: Final = 0.016
"""Width of the bar of a single score, as a share of the axis."""
_LINE_POINTS: Final = 1.45 * style.SMALL_SIZE


class Marks(NamedTuple):
    """Bins, or distinct scores, that have rows: their score, label rate and rows."""

    noun: str
    score: Floats
    rate: Floats
    rows: Floats


def plot_reliability(
    tree: xr.DataTree,
    classifier: str | None = None,
    class_: str | None = None,
    group: str | None = None,
    prob: float = 0.9,
) -> Figure:
    """Draw the calibration curve of one case with its credible bands, and its bins.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with a calibration curve.
    classifier, class_, group : str, optional
        Which case; the first that matches.
    prob : float, default 0.9
        Posterior probability of the bands, and of the interval in the text.

    Returns
    -------
    matplotlib.figure.Figure
        The curve above the histogram of the scores, in the band of the whole curve and the narrower
        one of each point (`bayescal.calibration_band`). Of an average over descriptions of the
        curve, thin lines are the mean curves of those with a weight of 0.1 or more, if several.
        Distinct scores take the place of bins where they are at most 40. Rates of rows with a score
        of exactly 0 or 1, and of one score alone, lie on no curve: they have intervals.
        The panels belong together: on your own axes draw a `bayescal.ReliabilityDisplay`.

    Raises
    ------
    InputError
        If no case matches, or the result has no calibration curve.
    """
    style.check_role(tree, ERROR, "a reliability diagram")
    case = access.find_case(tree, classifier, class_, group)
    figure = style.new_figure(4.8, 5.9, style.notes_for(tree, [case]))
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(5, 1))
    marks = _marks(tree, case)
    entries: dict[str, Artist] = {}
    seen = np.concatenate([marks.score, marks.rate, _draw_rates(top, tree, case, prob, entries)])
    band = (1.0, 0.0)
    if lies_on_curve(tree, case):
        band = _draw_curve(top, tree, case, prob, entries)
        _draw_descriptions(top, tree, case, entries)
    limits = _limits(np.append(seen, _most_rows(tree, case, marks)), band)
    _draw_points(top, marks, entries)
    style.draw_diagonal(top)
    weight = description_weights(tree, case).get(schema.CALIBRATED, 0)
    held = f"\n(P {relation(weight)}{_where(tree, case)})" if weight >= _LEAST_WEIGHT else ""
    entries[f"perfect calibration{held}"] = style.diagonal()
    top.set(xlim=limits, ylim=limits)
    answer = _answer(tree, case, prob)
    # Where no mark can be.
    look = {"xycoords": "axes fraction", "linespacing": 1.45, "va": "bottom"}
    style.write(top, answer, (0, 1), (0, 6), **look)
    horizontal, vertical, event = _words(tree, case)
    top.set_ylabel(vertical)
    pad = 10 + _LINE_POINTS * (answer.count("\n") + 1)
    style.title(top, style.full_title(tree, case), pad=pad)
    _draw_scores(bottom, tree, case, marks, limits, event, entries)
    bottom.set_xlabel(horizontal)
    for ax in (top, bottom):
        style.dress(ax)
    style.legend(figure, entries)
    return figure


def _where(tree: xr.DataTree, case: ResultSlice) -> str:
    """Of which scores the curve is, where those of exactly 0 or 1 stand apart."""
    held = (schema.CELL_SCORE, schema.CELL_COUNT)
    if not access.has_variable(tree, schema.CONSTANT_DATA, *held):
        return ""
    score, count = access.values(tree, schema.CONSTANT_DATA, case, *held)
    return " between 0 and 1" if np.isin(score[count > 0], (0, 1)).any() else ""


def _draw_curve(
    ax: Axes, tree: xr.DataTree, case: ResultSlice, prob: float, entries: dict[str, Artist]
) -> tuple[float, float]:
    """The curve in its bands; lowest and highest of the wider one are given back."""
    curve = access.variable(tree, schema.POSTERIOR, schema.CALIBRATION_CURVE, case)
    (score,) = access.values(tree, schema.CONSTANT_DATA, case, schema.CURVE_SCORE)
    each, whole = (curve_band(tree, case, prob, simultaneous) for simultaneous in (False, True))
    style.draw_band(ax, score, *whole, simultaneous=True)
    style.draw_band(ax, score, *each, simultaneous=False)
    look: dict[str, Any] = {"color": style.BLUE, "linewidth": 1.8}
    ax.plot(score, curve.mean(schema.DRAW_DIMS).values, **look, zorder=2.5)
    entries["calibration curve, posterior mean"] = style.line(**look)
    entries |= style.bands(prob)
    return float(whole.lower.min()), float(whole.upper.max())


def _draw_descriptions(
    ax: Axes, tree: xr.DataTree, case: ResultSlice, entries: dict[str, Artist]
) -> None:
    """Mean curves of the descriptions that matter; one alone would be the average itself."""
    weights = description_weights(tree, case)
    shown = [name for name in _LOOKS if weights.get(name, 0) >= _LEAST_WEIGHT]
    if len(shown) < 2:
        return
    score = access.variable(tree, schema.CONSTANT_DATA, schema.CURVE_SCORE, case).values
    curves = access.variable(tree, schema.MODEL_AVERAGE, schema.DESCRIPTION_CURVE, case)
    for name in shown:
        colour, dashes = _LOOKS[name]
        look: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.2}
        ax.plot(score, curves.sel({schema.DESCRIPTION: name}).values, **look, zorder=2.4)
        entries[f"{name} (P {relation(weights[name])})"] = style.line(**look)


def _draw_rates(
    ax: Axes, tree: xr.DataTree, case: ResultSlice, prob: float, entries: dict[str, Artist]
) -> Floats:
    """Intervals of the rates that lie on no curve; their ends are given back."""
    score, ends = rate_intervals(tree, case, prob)
    if not score.size:
        return score
    ax.vlines(score, *ends, color=style.BLUE, lw=2.2, zorder=2.5, clip_on=False)
    entries[f"rate of one score, {percent(prob)} interval"] = style.mark(
        marker="|", ms=9, mew=2.2, color=style.BLUE
    )
    return np.asarray(ends.ravel())


def rate_intervals(tree: xr.DataTree, case: ResultSlice, prob: float) -> tuple[Floats, Floats]:
    """Scores whose rates lie on no curve, and the intervals of these, (2, score)."""
    bins = filled_bins(tree, case)
    alone = np.isin(bins.score, (0, 1)) | (not lies_on_curve(tree, case))
    if not alone.any() or not access.has_variable(tree, schema.POSTERIOR, schema.LABEL_RATE):
        return np.empty(0), np.empty((2, 0))
    ends = access.at(interval(tree, schema.LABEL_RATE, prob), case).transpose(schema.CI_BOUND, ...)
    return bins.score[alone], ends.values[:, _full(tree, case)][:, alone]


def _draw_points(ax: Axes, marks: Marks, entries: dict[str, Artist]) -> None:
    """One mark a bin, or score, its area in proportion to its rows."""
    area = np.maximum(70 * marks.rows / max(marks.rows.max(initial=1), 1), 5)
    look: Any = {"facecolor": style.paper(), "edgecolor": style.VERMILLION, "lw": 1.3, "zorder": 3}
    # Of positive and unlabelled rows an estimate may exceed every share.
    above = marks.rate > 1
    for held, marker, words in ((~above, "o", ", area by rows"), (above, "^", " above 1")):
        if held.any() or marker == "o":
            at = marks.score[held], np.minimum(marks.rate, 1)[held], area[held]
            ax.scatter(*at, marker=marker, clip_on=False, **look)
            entries[f"{marks.noun}s{words}"] = style.mark(
                marker=marker, color=style.paper(), mec=style.VERMILLION
            )


def _marks(tree: xr.DataTree, case: ResultSlice) -> Marks:
    """Distinct scores where there are few and their labels are counted, otherwise bins."""
    cells = (schema.CELL_COUNT, schema.CELL_SCORE)
    held = (
        (schema.CONSTANT_DATA, *cells),
        (schema.OBSERVED_DATA, schema.EVENTS),
        (schema.POINT_ESTIMATE, schema.POSITIVES),
    )
    if not all(access.has_variable(tree, *one) for one in held):
        return filled_bins(tree, case)
    count, score = access.values(tree, schema.CONSTANT_DATA, case, *cells)
    events = access.cell_events(tree, case).values
    full = count > 0
    if full.sum() > _MOST_SCORES:
        return filled_bins(tree, case)
    return Marks("score", score[full], events[full] / count[full], count[full])


def filled_bins(tree: xr.DataTree, case: ResultSlice) -> Marks:
    """Bins that have rows."""
    full = _full(tree, case)
    names = (schema.CONFIDENCE, schema.LABEL_RATE, schema.COUNT)
    held = access.values(tree, schema.POINT_ESTIMATE, case, *names)
    return Marks("bin", *(np.asarray(values, dtype=np.float64)[full] for values in held))


def _full(tree: xr.DataTree, case: ResultSlice) -> NDArray[np.bool_]:
    return np.asarray(access.variable(tree, schema.POINT_ESTIMATE, schema.COUNT, case).values > 0)


def _limits(seen: Floats, band: tuple[float, float]) -> tuple[float, float]:
    """The whole unit square; or, if marks are close together, where they and the band are."""
    if seen.size == 0 or np.ptp(seen) >= 0.5:
        return (0.0, 1.0)
    span = max(float(np.ptp(seen)), 0.04)
    low = max(0.0, float(seen.min()) - 0.25 * span)
    high = min(1.0, float(seen.max()) + 0.25 * span)
    return (min(low, max(band[0], low - 0.5 * span)), max(high, min(band[1], high + 0.5 * span)))


def _most_rows(tree: xr.DataTree, case: ResultSlice, marks: Marks) -> Floats:
    """Scores between which nine rows in ten lie: one bin of all rows has but one mark."""
    if marks.noun == "score" or not lies_on_curve(tree, case):
        return np.empty(0)
    ends, count, _ = _cells(tree, case)
    share = np.append(0, np.cumsum(count)) / count.sum()
    return np.asarray(np.interp((0.05, 0.95), share, ends))


def _draw_scores(
    ax: Axes,
    tree: xr.DataTree,
    case: ResultSlice,
    marks: Marks,
    limits: tuple[float, float],
    event: str,
    entries: dict[str, Artist],
) -> None:
    """Histogram of the scores, rows with the label below the others where all have labels."""
    if marks.noun == "score" or not lies_on_curve(tree, case):
        left, width = marks.score - _NARROW * np.ptp(limits) / 2, _NARROW * np.ptp(limits)
        rows, positives = marks.rows, marks.rows * marks.rate
    else:
        edges = np.linspace(*limits, _BARS + 1)
        left, width = edges[:-1], np.diff(edges)
        ends, *counts = _cells(tree, case)
        # The rows of a cell are spread evenly over it.
        below = (np.interp(edges, ends, np.append(0, np.cumsum(count))) for count in counts)
        rows, positives = map(np.diff, below)
    labelled = access.has_variable(tree, schema.POINT_ESTIMATE, schema.POSITIVES)
    looks = {event: style.ORANGE, "other rows": style.GREY}
    parts = (positives, rows - positives) if labelled else (rows,)
    base = np.zeros(len(rows))
    for height, (name, colour) in zip(parts, [*looks.items()][-len(parts) :], strict=True):
        look: dict[str, Any] = {"color": colour, "alpha": 0.75, "linewidth": 0}
        ax.bar(left, height, width, base, align="edge", clip_on=False, **look)
        base = base + height
        if labelled:
            entries[name] = Patch(**look)
    ax.set_ylim(0, 1.1 * max(float(rows.max(initial=0)), 1))
    weighted = access.has_variable(tree, schema.POINT_ESTIMATE, schema.EFFECTIVE_N)
    ax.set_ylabel("effective rows" if weighted else "rows")
    ax.yaxis.set_major_locator(MaxNLocator(2, integer=True))


def _cells(tree: xr.DataTree, case: ResultSlice) -> tuple[Floats, Floats, Floats]:
    """Ends of narrow cells of the score with their rows and positives; of bins without cells."""
    cells, bins = (schema.CELL_SCORE, schema.CELL_COUNT), (schema.BIN_EDGES, schema.COUNT)
    if not access.has_variable(tree, schema.CONSTANT_DATA, *cells):
        edges, *held = access.values(tree, schema.POINT_ESTIMATE, case, *bins, schema.LABEL_RATE)
        return edges, held[0], np.nan_to_num(held[1]) * held[0]
    score, count = access.values(tree, schema.CONSTANT_DATA, case, *cells)
    full = count > 0
    order = np.flatnonzero(full)[np.argsort(score[full], kind="stable")]
    score, count = score[order], count[order]
    middle = (score[1:] + score[:-1]) / 2
    # The outermost cells reach as far outwards as inwards.
    edges = np.concatenate([[2 * score[0] - middle[0]], middle, [2 * score[-1] - middle[-1]]])
    events = access.cell_events(tree, case).values[order]
    return np.clip(edges, 0, 1), count, events


def error_text(tree: xr.DataTree, case: ResultSlice, prob: float) -> str:
    """The posterior of the error of a case, in a line."""
    shown = access.main(tree)
    lower, upper = map(number, access.ends(interval(tree, shown.name, prob), case))
    mean = number(access.posterior_mean(tree, shown.name, case))
    return f"{shown.title} {mean}, {percent(prob)} interval {lower} to {upper}"


def _answer(tree: xr.DataTree, case: ResultSlice, prob: float) -> str:
    shown = access.main(tree)
    bins = _STRATEGY.get(str(tree.attrs.get("binning_strategy")), "bins")
    full = _full(tree, case)
    empty = f", {full.sum()} with rows" if not full.all() else ""
    lines = [error_text(tree, case, prob)]
    point = access.scalar(tree, schema.POINT_ESTIMATE, shown.point or "", case)
    if point is not None:
        lines.append(f"plug-in ECE {number(point)} ({full.size} {bins}{empty})")
    if (p_calibrated := access.prob_calibrated(tree, case)) is not None:
        lines.append(f"P(calibrated) {relation(p_calibrated)}")
    return "\n".join(lines)


def _words(tree: xr.DataTree, case: ResultSlice) -> tuple[str, str, str]:
    """What the scores are of, what their label rate is the share of, and rows with the event."""
    if case.class_ is not None:
        name = shorten(case.class_, 18)
        return f"score of class {name}", f"share of rows of class {name}", f"rows of class {name}"
    if tree.attrs.get("multiclass") == "top-label":
        event = "correctly predicted rows"
        return "score of the predicted class", "share of correct predictions", event
    return "score", "share of positive labels", "positive rows"
