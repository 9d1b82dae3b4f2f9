"""Calibration errors side by side, and their differences on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bayescal.core.errors import InputError
from bayescal.plots import style
from bayescal.plots.wording import number, probability, signed
from bayescal.results import schema
from bayescal.results.difference import Difference, difference
from bayescal.results.intervals import interval
from bayescal.results.lookup import find_case
from bayescal.results.metrics import HIGHER, check_separate, metric_title
from bayescal.results.schema import Case
from bayescal.results.summary import NOT_CONVERGED, averaged_mean, case_converged

_ROW_INCHES: Final = 0.27
_FRAME_INCHES: Final = 1.35
_WIDTH: Final = 7.0
_INNER: Final = 0.5


class _Row(NamedTuple):
    """One line of a forest."""

    label: str
    mean: float
    outer: tuple[float, float]
    inner: tuple[float, float]
    point: float | None
    text: str
    colour: str


def plot_comparison(tree: xr.DataTree, var: str = "ece", prob: float = 0.9) -> Figure:
    """Draw a forest of the calibration errors of all cases, the smallest at the top.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    var : {"ece", "tce", "mce"}
        Which error.
    prob : float
        Posterior probability of the thin interval; the thick one has 50%.

    Returns
    -------
    matplotlib.figure.Figure
        A row a case: intervals, model-averaged mean, the paper's estimate as a hollow mark, and
        the numbers at the right.

    Raises
    ------
    InputError
        If the result has no such variable.
    """
    check_separate(tree, "a forest of calibration errors")
    found = schema.cases(tree)
    outer, inner = interval(tree, var, prob), interval(tree, var, _INNER)
    rows = [_case_row(tree, var, case, outer, inner) for case in found]
    rows.sort(key=lambda row: row.mean)
    figure, ax = _forest(rows, style.notes_for(tree, found))
    ax.set_xlim(0, _right_end(rows))
    ax.set_xlabel(var.upper())
    _legend(figure, prob, point=f"plug-in {var.upper()}" if rows[0].point is not None else None)
    return figure


def plot_differences(
    tree: xr.DataTree,
    var: str = "tce",
    prob: float = 0.9,
    *,
    reference: str | None = None,
    class_: str | None = None,
    group: str | None = None,
) -> Figure:
    """Draw a forest of the differences of every classifier's error or metric from one of them.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of several classifiers on the same rows.
    var : {"tce", "ece", "mce"}
        Which error; of a result of `bayescal.ssme`, any of its metrics.
    prob : float
        Posterior probability of the thin interval; the thick one has 50%.
    reference : str, optional
        The classifier to subtract; the best by its mean by default.
    class_, group : str, optional
        Which class and group, needed where the result tells several apart.

    Returns
    -------
    matplotlib.figure.Figure
        A row a classifier; right of 0 its error or metric is larger than the reference's.

    Raises
    ------
    InputError
        If there is a single classifier, or the result does not know how the errors correlate.
    """
    names = schema.classifier_names(tree)
    if len(names) < 2:
        raise InputError(
            f"differences need two classifiers; the result has only {names[0]!r}. "
            "Fit several with Scores.stack."
        )
    means = {name: averaged_mean(tree, var, find_case(tree, name, class_, group)) for name in names}
    higher = var in HIGHER
    best = max if higher else min
    base = (
        find_case(tree, reference).classifier if reference else best(means, key=means.__getitem__)
    )
    rows = [
        _difference_row(
            difference(tree, name, base, var, prob, class_=class_, group=group),
            difference(tree, name, base, var, _INNER, class_=class_, group=group),
            higher=higher,
            converged=all(
                case_converged(tree, find_case(tree, one, class_, group)) for one in (name, base)
            ),
        )
        for name in names
        if name != base
    ]
    rows.sort(key=lambda row: -row.mean if higher else row.mean)
    shown = [find_case(tree, name, class_, group) for name in names]
    figure, ax = _forest(rows, style.notes_for(tree, shown))
    ax.axvline(0, color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    ax.set_xlim(*_both_ends(rows))
    where = ", ".join(style.shorten(value) for value in (class_, group) if value is not None)
    ax.set_xlabel(
        f"{metric_title(var)} minus that of {style.shorten(base)}"
        + (f" ({where})" if where else ""),
        parse_math=False,
    )
    _legend(figure, prob, point=None)
    return figure


def _case_row(
    tree: xr.DataTree, var: str, case: Case, outer: xr.DataArray, inner: xr.DataArray
) -> _Row:
    mean = averaged_mean(tree, var, case)
    wide, narrow = _bounds(outer, case), _bounds(inner, case)
    converged = case_converged(tree, case)
    return _Row(
        label=style.shorten(case.label),
        mean=mean,
        outer=wide,
        inner=narrow,
        point=schema.scalar(tree, schema.POINT_ESTIMATE, var, case),
        text=_numbers(mean, wide, converged),
        colour=style.BLUE if converged else style.RED,
    )


def _difference_row(wide: Difference, narrow: Difference, *, higher: bool, converged: bool) -> _Row:
    ends = (wide.lower, wide.upper)
    larger = wide.prob_first_larger
    sure = f"P(worse) {probability(1 - larger - wide.prob_equal if higher else larger)}"
    return _Row(
        label=style.shorten(wide.first),
        mean=wide.mean,
        outer=ends,
        inner=(narrow.lower, narrow.upper),
        point=None,
        text=f"{signed(wide.mean)} ({signed(ends[0])} to {signed(ends[1])}), {sure}"
        if converged
        else NOT_CONVERGED,
        colour=style.BLUE if converged else style.RED,
    )


def _numbers(mean: float, ends: tuple[float, float], converged: bool) -> str:
    if not converged:
        return NOT_CONVERGED
    return f"{number(mean)} ({number(ends[0])} to {number(ends[1])})"


def _bounds(ends: xr.DataArray, case: Case) -> tuple[float, float]:
    lower, upper = schema.at(ends, case).values
    return float(lower), float(upper)


def _forest(rows: Sequence[_Row], notes: Sequence[style.Note]) -> tuple[Figure, Axes]:
    """Draw rows from the top down, their numbers at the right."""
    figure = style.new_figure(_WIDTH, _ROW_INCHES * len(rows) + _FRAME_INCHES, notes)
    ax = figure.subplots()
    places = range(len(rows))
    colours = [row.colour for row in rows]
    for ends, width, alpha in (("outer", 1.2, 1.0), ("inner", 4.0, 0.55)):
        lower, upper = zip(*(getattr(row, ends) for row in rows), strict=True)
        ax.hlines(places, lower, upper, colors=colours, linewidth=width, alpha=alpha, zorder=2)
    ax.scatter([row.mean for row in rows], places, s=25, c=colours, clip_on=False, zorder=4)
    _draw_estimates(ax, rows)
    style.dress(ax, grid="x")
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_yticks(range(len(rows)), [row.label for row in rows])
    ax.tick_params(axis="y", length=0)
    style.as_written(ax.get_yticklabels())
    _write_numbers(ax, rows)
    return figure, ax


def _draw_estimates(ax: Axes, rows: Sequence[_Row]) -> None:
    found = [(row.point, place) for place, row in enumerate(rows) if row.point is not None]
    if found:
        x, y = zip(*found, strict=True)
        ax.scatter(
            x,
            y,
            s=20,
            marker="D",
            facecolor="white",
            edgecolor=style.VERMILLION,
            linewidth=1.2,
            clip_on=False,
            zorder=3,
        )


def _write_numbers(ax: Axes, rows: Sequence[_Row]) -> None:
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(rows)), [row.text for row in rows])
    right.tick_params(axis="y", length=0, labelsize=style.SMALL_SIZE)
    right.spines["right"].set_visible(False)
    for label, row in zip(right.get_yticklabels(), rows, strict=True):
        label.set_color(style.INK if row.colour == style.BLUE else row.colour)
        label.set_fontweight("normal" if row.colour == style.BLUE else "bold")


def _right_end(rows: Sequence[_Row]) -> float:
    ends = [max(row.outer[1], row.point or 0.0) for row in rows]
    return max(1.05 * max(ends), 1e-6)


def _both_ends(rows: Sequence[_Row]) -> tuple[float, float]:
    low = min(0.0, *(row.outer[0] for row in rows))
    high = max(0.0, *(row.outer[1] for row in rows))
    margin = max(0.05 * (high - low), 1e-6)
    return (low - margin, high + margin)


def _legend(figure: Figure, prob: float, point: str | None) -> None:
    entries: dict[str, Artist] = {
        "posterior mean": Line2D([], [], color=style.BLUE, marker="o", linestyle="", markersize=5),
        f"{_INNER:.0%} interval": Line2D([], [], color=style.BLUE, linewidth=4, alpha=0.55),
        f"{prob:.0%} interval": Line2D([], [], color=style.BLUE, linewidth=1.2),
    }
    if point is not None:
        entries[point] = Line2D(
            [],
            [],
            marker="D",
            linestyle="",
            markersize=4.5,
            markerfacecolor="white",
            markeredgecolor=style.VERMILLION,
        )
    style.legend(figure, entries, columns=4)
