"""Metrics of classifiers in one posterior: forest, and probability of each rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from bayescal.plots import style
from bayescal.plots.forest import WIDTH, Mark, Row, case_rows, draw_forest, forest_legend
from bayescal.plots.kind import check_kind
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.best import RANK, best
from bayescal.results.kind import check_variable, kind_of
from bayescal.results.text import capital

_ROW_INCHES: Final = 0.42
_HEAD_INCHES: Final = 0.3
_FRAME_INCHES: Final = 1.4
_BELOW: Final = 0.27
_MOST_WRITTEN: Final = 15
"""Ranks up to which probabilities are written into the cells."""
_WRITTEN_FROM: Final = 0.005
_POINT: Final = "point estimate"
_KNOWN: Final = {
    "ensemble": Mark("ensemble, no fit", "s", style.INK),
    "labeled": Mark("labelled rows alone", "^", style.ORANGE, style.ORANGE),
}
_OTHERS: Final = ("v", "P", "X", "p", "*")
"""Markers of reference estimates by any other method."""
_SHADES: Final = LinearSegmentedColormap.from_list("white to blue", ["#FFFFFF", style.BLUE])


def plot_metrics(tree: xr.DataTree, var: str = "accuracy", prob: float = 0.9) -> Figure:
    """Draw a forest of a metric of all classifiers, the best at the top.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with metrics, such as of `bayescal.ssme`.
    var : str, default "accuracy"
        Metric: of `bayescal.ssme` accuracy, ece, auc, auprc, mce, log_loss or brier.
    prob : float
        Posterior probability of the thin interval; the thick one has 50%.

    Returns
    -------
    matplotlib.figure.Figure
        A row a classifier, a panel a group: intervals and posterior mean, and below them the
        point estimate and reference estimates as marks, where the result has them.

    Raises
    ------
    InputError
        If the result is of another kind, or has no such metric.
    """
    check_kind(tree, "metrics", "a forest of metrics")
    kind = kind_of(tree)
    check_variable(tree, var)
    found = access.cases(tree)
    marks = {case: _marks(tree, var, case) for case in found}
    panels = _panels(tree, var, prob, marks)
    heads = _HEAD_INCHES * len(panels) if len(panels) > 1 else 0.0
    height = _ROW_INCHES * len(found) + heads + _FRAME_INCHES
    figure = style.new_figure(WIDTH, height, style.notes_for(tree, found))
    axes = figure.subplots(
        len(panels), 1, squeeze=False, sharex=True, height_ratios=[len(p) for p in panels.values()]
    )[:, 0]
    methods = list(dict.fromkeys(name for one in marks.values() for name in one))
    looks = _looks(kind.point_label(tree), methods)
    for ax, (name, shown) in zip(axes, panels.items(), strict=True):
        draw_forest(ax, shown, looks, below=_BELOW)
        if len(panels) > 1:
            style.title(ax, style.shorten(name), fontsize=style.TEXT_SIZE)
    axes[-1].set_xlim(*_ends([row for shown in panels.values() for row in shown], var))
    better = {True: " (higher is better)", False: " (lower is better)", None: ""}
    axes[-1].set_xlabel(f"{capital(kind.title(var))}{better[kind.higher_is_better(var)]}")
    forest_legend(figure, prob, list(looks.values()), columns=3)
    return figure


def plot_ranks(tree: xr.DataTree, var: str = "accuracy") -> Figure:
    """Draw the posterior probability of each rank of each classifier.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with metrics, such as of `bayescal.ssme`, of two classifiers or more.
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
    var = check_variable(tree, var)
    found = best(tree, var).prob_rank
    lead = [dim for dim in found.dims if dim not in (schema.CLASSIFIER, RANK)]
    panels = found.stack(panel=lead) if lead else found.expand_dims("panel")
    panels = panels.transpose("panel", schema.CLASSIFIER, RANK)
    n, size = found.sizes[schema.CLASSIFIER], panels.sizes["panel"]
    columns = min(2, size)
    rows = -(-size // columns)
    width = max(columns * (1.6 + min(0.42 * n, 7.0)), 4.8)
    height = rows * (0.3 * n + 0.75) + 0.5
    figure = style.new_figure(width, height, style.notes_for(tree, access.cases(tree)))
    axes = style.panels(figure, size, columns)
    for ax, panel in zip(axes, panels, strict=True):
        _draw_ranks(ax, panel)
        where = ", ".join(f"{panel[dim].item()}" for dim in lead)
        if where:
            style.title(ax, style.shorten(where, 26), fontsize=style.TEXT_SIZE)
        ax.set_xlabel(f"Rank by {kind_of(tree).title(var)}, 1 is best")
        ax.xaxis.label.set_fontsize(style.TEXT_SIZE)
    return figure


def _panels(
    tree: xr.DataTree, var: str, prob: float, marks: dict[ResultSlice, dict[str, float]]
) -> dict[str, list[Row]]:
    """Rows by group (and prior), the best first."""
    labels = {case: case.classifier for case in marks}
    panels: dict[str, list[Row]] = {}
    for case, row in case_rows(tree, var, prob, marks, labels).items():
        place = ", ".join(part for part in (case.group, case.prior) if part is not None)
        panels.setdefault(place, []).append(row)
    sign = -1 if kind_of(tree).higher_is_better(var) else 1
    for rows in panels.values():
        rows.sort(key=lambda row: math.inf if math.isnan(row.mean) else sign * row.mean)
    return panels


def _marks(tree: xr.DataTree, var: str, case: ResultSlice) -> dict[str, float]:
    point = kind_of(tree).point(tree, var, case)
    found = {_POINT: point} if point is not None else {}
    found |= access.reference_estimates(tree, var, case)
    return {name: at for name, at in found.items() if not math.isnan(at)}


def _looks(point: str, names: Sequence[str]) -> dict[str, Mark]:
    """How each estimate is drawn; a method that is not known here takes the next free marker."""
    free = iter(_OTHERS)
    return {
        name: Mark(point)
        if name == _POINT
        else _KNOWN.get(name) or Mark(name, next(free, "."), style.GREY, style.GREY)
        for name in names
    }


def _ends(rows: Sequence[Row], var: str) -> tuple[float, float]:
    """Limits around all that is drawn, within what the metric can be."""
    drawn = [value for row in rows for value in (*row.outer, *row.marks.values())]
    drawn = [value for value in drawn if not math.isnan(value)] or [0.0, 1.0]
    margin = max(0.05 * (max(drawn) - min(drawn)), 0.005)
    top = math.inf if var == "log_loss" else 1.0
    return max(min(drawn) - margin, 0.0), min(max(drawn) + margin, top)


def _draw_ranks(ax: Axes, shares: xr.DataArray) -> None:
    """One panel: classifiers by their expected rank, cells shaded from white to blue."""
    n = shares.sizes[RANK]
    values = shares.values
    expected = values @ shares[RANK].values
    order = sorted(range(n), key=lambda k: expected[k])
    shown = values[order]
    ax.imshow(shown, cmap=_SHADES, vmin=0, vmax=1, aspect="auto")
    names = [str(shares[schema.CLASSIFIER].values[k]) for k in order]
    style.name_rows(ax, range(n), [style.shorten(name, 26) for name in names])
    style.dress(ax)
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
                "> .99" if value > 0.995 else f"{value:.2f}".removeprefix("0"),
                ha="center",
                va="center",
                fontsize=style.SMALL_SIZE - 0.5,
                color="white" if value > 0.85 else style.INK,
            )
