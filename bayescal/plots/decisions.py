"""Bounds of rows in the order of their score, and what they decide."""

from __future__ import annotations

from typing import Final

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from bayescal.plots import style
from bayescal.plots.kind import check_kind
from bayescal.plots.probability import curve_of
from bayescal.results import access
from bayescal.results.rows import EVEN, Rows, read_rows

_MOST_ROWS: Final = 80
_KINDS: Final = (style.BLUE, style.ORANGE, style.GREY)


def plot_decisions(
    tree: xr.DataTree,
    classifier: str | None = None,
    class_: str | None = None,
    prob: float = 0.9,
) -> Figure:
    """Draw the bounds of rows ordered by score, coloured by what they decide on one class.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of `bayescal.credal`.
    classifier : str, optional
        Which classifier; the first by default.
    class_ : str, optional
        Which class; of two the positive one, else the first by default.
    prob : float, in (0, 1), default 0.9
        Posterior probability of the bounds.

    Returns
    -------
    matplotlib.figure.Figure
        Bounds and posterior medians of up to 80 rows, evenly spaced in order; p0 to p1 as a short
        line beside each.

    Raises
    ------
    InputError
        If the result is of another kind, or has no such classifier or class.
    """
    check_kind(tree, "rows", "a plot of decisions")
    case = access.find_case(tree, classifier)
    rows = read_rows(tree, case, prob)
    k = curve_of(rows, class_)
    figure = style.new_figure(7.0, 4.3, style.notes_for(tree, [case]))
    ax = figure.subplots()
    kind = _kinds(rows, k)
    _draw(ax, rows, k, kind)
    if len(rows.classes) == 2:
        ax.axhline(EVEN, color=style.INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    ax.set_ylim(-0.02, 1.02)
    ax.set_ylabel(f"P({style.shorten(rows.curves[k], 20)} | score)", parse_math=False)
    ax.set_xlabel(f"target rows in order of score ({len(rows.row)} in the result)")
    style.title(ax, style.shorten(case.title, 60))
    style.dress(ax, grid="y")
    _legend(figure, rows, k, kind, prob)
    return figure


def _kinds(rows: Rows, k: int) -> NDArray[np.int64]:
    """Of each row, 0 where the class is decided on, 1 where it is open, 2 where it is ruled out."""
    own = rows.is_open[:, rows.classes.index(rows.curves[k])]
    return np.where(own, np.where(rows.n_open == 1, 0, 1), 2)


def _draw(ax: Axes, rows: Rows, k: int, kind: NDArray[np.int64]) -> None:
    order = np.argsort(rows.score[:, k], kind="stable")
    number = min(len(order), _MOST_ROWS)
    shown = order[np.linspace(0, len(order) - 1, number).round().astype(np.intp)]
    x = np.arange(number)
    colours = [_KINDS[one] for one in kind[shown]]
    ax.vlines(x, rows.lower[shown, k], rows.upper[shown, k], colors=colours, linewidth=2.4)
    ax.vlines(x + 0.36, rows.p0[shown, k], rows.p1[shown, k], colors=style.VERMILLION, linewidth=1)
    ax.scatter(
        x,
        rows.median[shown, k],
        s=14,
        marker="_",
        color=style.INK,
        linewidth=1.3,
        zorder=3,
        clip_on=False,
    )
    ax.set_xlim(-1, number)
    # Scores stand where rows do: ten of them show how they rise.
    ticks = np.unique(np.linspace(0, number - 1, min(number, 9)).round().astype(int))
    ax.set_xticks(ticks, [f"{rows.score[shown[t], k]:.2f}" for t in ticks])


def _legend(figure: Figure, rows: Rows, k: int, kind: NDArray[np.int64], prob: float) -> None:
    name = style.shorten(rows.curves[k], 20)
    words = (f"decided: {name}", "open: more than one class", f"{name} ruled out")
    if len(rows.classes) == 2:
        words = (*words[:2], f"decided: {style.shorten(rows.classes[0], 20)}")
    entries: dict[str, Artist] = {
        f"{text} ({int((kind == place).sum())} rows)": Line2D([], [], color=colour, linewidth=2.4)
        for place, (text, colour) in enumerate(zip(words, _KINDS, strict=True))
    }
    entries["Venn-Abers p0 to p1"] = Line2D([], [], color=style.VERMILLION, linewidth=1)
    style.legend(figure, entries)
    box = figure.legends[-1]
    box.set_title(f"{100 * prob:.6g}% bounds, a dash at the posterior median")
    box.get_title().set_fontsize(style.SMALL_SIZE)
    style.as_written(box.get_texts())
