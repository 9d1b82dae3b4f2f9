"""The probability of a label against the score: posterior band, and the Venn-Abers steps."""

from __future__ import annotations

from typing import Final

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.plots import style
from bayescal.plots.kind import check_kind
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.rows import Rows, read_rows

_MARKS: Final = 12
_TICK: Final = 0.028


def plot_probability(
    tree: xr.DataTree,
    classifier: str | None = None,
    class_: str | None = None,
    prob: float = 0.9,
) -> Figure:
    """Draw the probability of a class against the score, with its band of bounds.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of `bayescal.credal`.
    classifier : str, optional
        Which classifier; the first by default.
    class_ : str, optional
        Which class; of two the positive one, else the first by default.
    prob : float, in (0, 1), default 0.9
        Posterior probability of the band, at each score.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior median in its band, the Venn-Abers probabilities p0 and p1 as steps, label rates
        of the calibration rows as marks with an area in proportion to the rows, and their scores as
        ticks: above, cells of rows with the label, below, without.

    Raises
    ------
    InputError
        If the result is of another kind, or has no such classifier or class.
    """
    check_kind(tree, "rows", "a plot of probabilities")
    case = access.find_case(tree, classifier)
    rows = read_rows(tree, case, prob)
    k = curve_of(rows, class_)
    figure = style.new_figure(5.2, 4.9, style.notes_for(tree, [case]))
    ax = figure.subplots()
    _draw(ax, rows, k)
    _draw_cells(ax, tree, case, k)
    ax.plot((0, 1), (0, 1), color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.045, 1.045)
    ax.set_xlabel("score")
    ax.set_ylabel(f"P({style.shorten(rows.curves[k], 20)} | score)", parse_math=False)
    style.title(ax, style.shorten(case.title, 60))
    style.dress(ax, grid="y")
    _legend(figure, prob)
    return figure


def curve_of(rows: Rows, class_: str | None) -> int:
    """Find the curve of a class."""
    if class_ is None:
        return 0
    if class_ not in rows.curves:
        listed = ", ".join(repr(name) for name in rows.curves)
        raise InputError(f"class_ must be one in the result; got {class_!r}. Choose from {listed}.")
    return rows.curves.index(class_)


def _draw(ax: Axes, rows: Rows, k: int) -> None:
    order = np.argsort(rows.score[:, k], kind="stable")
    x = rows.score[order, k]
    ax.fill_between(
        x, rows.lower[order, k], rows.upper[order, k], color=style.BLUE, alpha=0.22, linewidth=0
    )
    ax.plot(x, rows.median[order, k], color=style.BLUE, linewidth=1.7, zorder=4)
    for values, dash in ((rows.p0, "-"), (rows.p1, (0, (3, 1.2)))):
        ax.step(
            x,
            values[order, k],
            where="mid",
            color=style.VERMILLION,
            linewidth=1.0,
            linestyle=dash,
            zorder=3,
        )


def _draw_cells(ax: Axes, tree: xr.DataTree, case: ResultSlice, k: int) -> None:
    """Label rates of neighbouring cells together, and a tick a cell."""
    score, count, events = (
        _of_curve(access.variable(tree, group, name, case).values, k)
        for group, name in (
            (schema.CONSTANT_DATA, "cell_score"),
            (schema.CONSTANT_DATA, "cell_count"),
            (schema.OBSERVED_DATA, "events"),
        )
    )
    full = count > 0
    score, count, events = score[full], count[full], events[full]
    for parts, ends in ((events > 0, (1 + _TICK / 2, 1 + 1.4 * _TICK)), (events < count, None)):
        low, high = ends or (-1.4 * _TICK, -_TICK / 2)
        ax.vlines(score[parts], low, high, color=style.INK, linewidth=0.6, alpha=0.7)
    # Cells hold nearly equal numbers of rows, so that equal numbers of cells make fair marks.
    marks = np.array_split(np.arange(len(score)), min(_MARKS, len(score)))
    total = np.array([count[mark].sum() for mark in marks])
    rate = np.array([events[mark].sum() for mark in marks]) / total
    middle = [np.average(score[mark], weights=count[mark]) for mark in marks]
    ax.scatter(
        middle,
        rate,
        s=np.maximum(45 * total / total.max(), 5),
        facecolor="white",
        edgecolor=style.INK,
        linewidth=1.0,
        zorder=5,
        clip_on=False,
    )


def _of_curve(values: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    return values if values.ndim == 1 else values[k]


def _legend(figure: Figure, prob: float) -> None:
    entries: dict[str, Artist] = {
        f"posterior median and {100 * prob:.6g}% bounds": Patch(facecolor=style.BLUE, alpha=0.4),
        "Venn-Abers p0, p1 (no interval)": Line2D([], [], color=style.VERMILLION, linewidth=1.0),
        "label rates of calibration rows": Line2D(
            [],
            [],
            marker="o",
            linestyle="",
            markerfacecolor="white",
            markeredgecolor=style.INK,
            markersize=5,
        ),
        "score as it is": Line2D([], [], color=style.GREY, linewidth=1, linestyle=(0, (4, 3))),
    }
    style.legend(figure, entries)
