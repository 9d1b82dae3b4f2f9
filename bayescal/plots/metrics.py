"""The metrics of several classifiers in one posterior: forest, and probability of each rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bayescal.plots import style
from bayescal.plots.wording import number
from bayescal.results import schema
from bayescal.results.best import RANK, best
from bayescal.results.intervals import interval
from bayescal.results.metrics import HIGHER, check_joint, check_metric, metric_title
from bayescal.results.schema import Case
from bayescal.results.summary import NOT_CONVERGED, case_converged, reference_estimates

_WIDTH: Final = 7.0
_ROW_INCHES: Final = 0.42
_HEAD_INCHES: Final = 0.3
_FRAME_INCHES: Final = 1.4
_INNER: Final = 0.5
_BELOW: Final = 0.27
_MOST_WRITTEN: Final = 15
"""Ranks up to which probabilities are written into the cells."""
_WRITTEN_FROM: Final = 0.005
_MARKS: Final = {
    "SSME-KDE": ("D", style.VERMILLION, "white"),
    "ensemble": ("s", style.INK, "white"),
    "labeled": ("^", style.ORANGE, style.ORANGE),
}
_MARK_TITLES: Final = {
    "SSME-KDE": "SSME-KDE",
    "ensemble": "ensemble, no fit",
    "labeled": "labelled rows alone",
}


class _Row(NamedTuple):
    """One line of the forest."""

    label: str
    mean: float
    outer: tuple[float, float]
    inner: tuple[float, float]
    marks: dict[str, float]
    converged: bool


def plot_metrics(tree: xr.DataTree, var: str = "accuracy", prob: float = 0.9) -> Figure:
    """Draw a forest of a metric of all classifiers, the best at the top.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of `bayescal.ssme`.
    var : str, default "accuracy"
        Metric: accuracy, ece, auc, auprc, mce, log_loss or brier.
    prob : float
        Posterior probability of the thin interval; the thick one has 50%.

    Returns
    -------
    matplotlib.figure.Figure
        A row a classifier, a panel a group: intervals and posterior mean, and below them the
        paper's estimate, the ensemble and the labelled rows alone as marks.

    Raises
    ------
    InputError
        If the result is of another kind, or has no such metric.
    """
    check_joint(tree, "a forest of metrics")
    check_metric(tree, var)
    panels = _panels(tree, var, prob)
    found = schema.cases(tree)
    heads = _HEAD_INCHES * len(panels) if len(panels) > 1 else 0.0
    rows = sum(map(len, panels.values()))
    height = _ROW_INCHES * rows + heads + _FRAME_INCHES
    figure = style.new_figure(_WIDTH, height, style.notes_for(tree, found))
    axes = figure.subplots(
        len(panels), 1, squeeze=False, sharex=True, height_ratios=[len(p) for p in panels.values()]
    )[:, 0]
    for ax, (name, shown) in zip(axes, panels.items(), strict=True):
        _draw_forest(ax, shown)
        if len(panels) > 1:
            style.title(ax, style.shorten(name), fontsize=style.TEXT_SIZE)
    ends = _ends([row for shown in panels.values() for row in shown], var)
    axes[-1].set_xlim(*ends)
    better = "higher" if var in HIGHER else "lower"
    title = metric_title(var)
    axes[-1].set_xlabel(f"{title[0].upper()}{title[1:]} ({better} is better)")
    marks = [
        name for name in _MARKS if any(name in row.marks for p in panels.values() for row in p)
    ]
    _legend(figure, prob, marks)
    return figure


def plot_ranks(tree: xr.DataTree, var: str = "accuracy") -> Figure:
    """Draw the posterior probability of each rank of each classifier.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of `bayescal.ssme` with two classifiers or more.
    var : str, default "accuracy"
        Metric to rank by; see `bayescal.best`.

    Returns
    -------
    matplotlib.figure.Figure
        A row a classifier, a column a rank, a panel a group; the darker the more probable.

    Raises
    ------
    InputError
        If the result is of another kind, has no such metric, or only one classifier.
    """
    found = best(tree, var).prob_rank
    lead = [dim for dim in found.dims if dim not in (schema.CLASSIFIER, RANK)]
    panels = found.stack(panel=lead) if lead else found.expand_dims("panel")
    panels = panels.transpose("panel", schema.CLASSIFIER, RANK)
    n, size = found.sizes[schema.CLASSIFIER], panels.sizes["panel"]
    columns = min(2, size)
    rows = -(-size // columns)
    width = max(columns * (1.6 + min(0.42 * n, 7.0)), 4.8)
    height = rows * (0.3 * n + 0.75) + 0.5
    figure = style.new_figure(width, height, style.notes_for(tree, schema.cases(tree)))
    axes = figure.subplots(rows, columns, squeeze=False)
    for spare in list(axes.flat)[size:]:
        spare.remove()
    for ax, panel in zip(axes.flat, panels, strict=False):
        _draw_ranks(ax, panel)
        where = ", ".join(f"{panel[dim].item()}" for dim in lead)
        if where:
            style.title(ax, style.shorten(where, 26), fontsize=style.TEXT_SIZE)
        ax.set_xlabel(f"Rank by {metric_title(var)}, 1 is best")
        ax.xaxis.label.set_fontsize(style.TEXT_SIZE)
    return figure


def _panels(tree: xr.DataTree, var: str, prob: float) -> dict[str, list[_Row]]:
    """Rows by group (and prior), the best first."""
    outer, inner = interval(tree, var, prob), interval(tree, var, _INNER)
    panels: dict[str, list[_Row]] = {}
    for case in schema.cases(tree):
        place = ", ".join(part for part in (case.group, case.prior) if part is not None)
        panels.setdefault(place, []).append(_row(tree, var, case, outer, inner))
    sign = -1 if var in HIGHER else 1
    for rows in panels.values():
        rows.sort(key=lambda row: math.inf if math.isnan(row.mean) else sign * row.mean)
    return panels


def _row(tree: xr.DataTree, var: str, case: Case, outer: xr.DataArray, inner: xr.DataArray) -> _Row:
    marks = reference_estimates(tree, var, case)
    point = schema.scalar(tree, schema.POINT_ESTIMATE, var, case)
    if point is not None:
        marks["SSME-KDE"] = point
    return _Row(
        label=style.shorten(case.classifier),
        mean=float(schema.variable(tree, schema.POSTERIOR, var, case).mean()),
        outer=_pair(outer, case),
        inner=_pair(inner, case),
        marks={name: at for name, at in marks.items() if name in _MARKS and not math.isnan(at)},
        converged=case_converged(tree, case),
    )


def _pair(ends: xr.DataArray, case: Case) -> tuple[float, float]:
    lower, upper = schema.at(ends, case).values
    return float(lower), float(upper)


def _draw_forest(ax: Axes, rows: Sequence[_Row]) -> None:
    for place, row in enumerate(rows):
        colour = style.BLUE if row.converged else style.RED
        for ends, width, alpha in ((row.outer, 1.4, 1.0), (row.inner, 5.0, 0.55)):
            ax.hlines(place, *ends, colors=colour, linewidth=width, alpha=alpha, zorder=2)
        ax.scatter(row.mean, place, s=26, color=colour, clip_on=False, zorder=4)
        for name, x in row.marks.items():
            marker, edge, face = _MARKS[name]
            ax.scatter(
                x,
                place + _BELOW,
                s=19,
                marker=marker,
                facecolor=face,
                edgecolor=edge,
                linewidth=1.1,
                clip_on=False,
                zorder=3,
            )
    style.dress(ax, grid="x")
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_yticks(range(len(rows)), [row.label for row in rows])
    ax.tick_params(axis="y", length=0)
    style.as_written(ax.get_yticklabels())
    _write_numbers(ax, rows)


def _write_numbers(ax: Axes, rows: Sequence[_Row]) -> None:
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(rows)), [_numbers(row) for row in rows])
    right.tick_params(axis="y", length=0, labelsize=style.SMALL_SIZE)
    right.spines["right"].set_visible(False)
    for label, row in zip(right.get_yticklabels(), rows, strict=True):
        label.set_color(style.INK if row.converged else style.RED)
        label.set_fontweight("normal" if row.converged else "bold")


def _numbers(row: _Row) -> str:
    if not row.converged:
        return NOT_CONVERGED
    if math.isnan(row.mean):
        return "undefined"
    return f"{number(row.mean)} ({number(row.outer[0])} to {number(row.outer[1])})"


def _ends(rows: Sequence[_Row], var: str) -> tuple[float, float]:
    """Quantity for all that is drawn, within what the metric can be."""
    drawn = [value for row in rows for value in (*row.outer, *row.marks.values())]
    drawn = [value for value in drawn if not math.isnan(value)] or [0.0, 1.0]
    margin = max(0.05 * (max(drawn) - min(drawn)), 0.005)
    top = math.inf if var == "log_loss" else 1.0
    return max(min(drawn) - margin, 0.0), min(max(drawn) + margin, top)


def _legend(figure: Figure, prob: float, marks: Sequence[str]) -> None:
    entries: dict[str, Artist] = {
        "posterior mean": Line2D([], [], color=style.BLUE, marker="o", linestyle="", markersize=5),
        f"{_INNER:.0%} interval": Line2D([], [], color=style.BLUE, linewidth=5, alpha=0.55),
        f"{100 * prob:.6g}% interval": Line2D([], [], color=style.BLUE, linewidth=1.4),
    }
    for name in marks:
        marker, edge, face = _MARKS[name]
        entries[_MARK_TITLES[name]] = Line2D(
            [],
            [],
            marker=marker,
            linestyle="",
            markersize=4.5,
            markerfacecolor=face,
            markeredgecolor=edge,
        )
    style.legend(figure, entries, columns=3)


def _draw_ranks(ax: Axes, shares: xr.DataArray) -> None:
    """One panel: classifiers by their expected rank, cells shaded from white to blue."""
    n = shares.sizes[RANK]
    values = shares.values
    expected = values @ shares[RANK].values
    order = sorted(range(n), key=lambda k: expected[k])
    shown = values[order]
    ax.imshow(shown, cmap=_shades(), vmin=0, vmax=1, aspect="auto")
    names = [str(shares[schema.CLASSIFIER].values[k]) for k in order]
    ax.set_yticks(range(n), [style.shorten(name, 26) for name in names])
    style.dress(ax)
    style.as_written(ax.get_yticklabels())
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    step = -(-n // _MOST_WRITTEN)
    ax.set_xticks(range(0, n, step), [str(k + 1) for k in range(0, n, step)])
    if n > _MOST_WRITTEN:
        return
    for row, column in ((i, j) for i in range(n) for j in range(n)):
        value = shown[row, column]
        if value >= _WRITTEN_FROM:
            ax.text(
                column,
                row,
                _share(value),
                ha="center",
                va="center",
                fontsize=style.SMALL_SIZE - 0.5,
                color="white" if value > 0.85 else style.INK,
            )


def _share(value: float) -> str:
    return "> .99" if value > 0.995 else f"{value:.2f}".removeprefix("0")


def _shades() -> LinearSegmentedColormap:
    return LinearSegmentedColormap.from_list("white to blue", ["#FFFFFF", style.BLUE])
