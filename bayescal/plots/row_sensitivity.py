"""Bounds of a few rows under each prior, side by side."""

from __future__ import annotations

from typing import Final

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bayescal.plots import style
from bayescal.plots.rows import write_scores
from bayescal.plots.sensitivity import not_robust
from bayescal.results import access
from bayescal.results.access import ResultSlice
from bayescal.results.row_conclusion import row_conclusions
from bayescal.results.rows import EVEN, Rows, evenly, read_rows

_ROWS: Final = 16
_COLUMNS: Final = 2
_TICKS: Final = 6
_MOST_PANELS: Final = 12
_SPREAD: Final = 0.6
_PRIORS: Final = (style.BLUE, style.VERMILLION, style.ORANGE, style.INK, style.GREY)
_DASHES: Final[tuple[tuple[int, tuple[int, ...]], ...]] = ((0, ()), (0, (2, 1)))


def plot_row_sensitivity(tree: xr.DataTree, prob: float = 0.9) -> Figure:
    """Draw bounds and posterior medians of rows under each prior."""
    found = row_conclusions(tree, prob)
    gathered = access.group_over_priors(access.cases(tree))
    panels = [
        (cases, [read_rows(tree, case, prob) for case in cases], one.case)
        for cases, one in zip(gathered, found, strict=True)
    ]
    shown = [(*panel, k) for panel in panels for k in range(len(panel[1][0].curves))]
    shown = shown[:_MOST_PANELS]
    columns = min(_COLUMNS, len(shown))
    notes = style.notes_for(tree, access.cases(tree))
    notes += not_robust("Decisions are", [one.case for one in found if not one.robust])
    height = 2.5 * -(-len(shown) // columns) + 1.0
    figure = style.new_figure(6.4 if columns == 1 else 8.2, height, notes)
    axes = style.panels(figure, len(shown), columns, sharey=True)
    for ax, (_, rows, name, k) in zip(axes, shown, strict=True):
        _draw(ax, rows, k)
        parts = [style.shorten(name, 20)] if name else []
        parts += [style.shorten(rows[0].curves[k], 16)] if len(rows[0].curves) > 1 else []
        style.title(ax, ", ".join(parts), fontsize=style.TEXT_SIZE)
        ax.set_xlabel("score of the row")
        style.dress(ax, grid="y")
    for ax in axes[::columns]:
        ax.set_ylabel("P(class | score)")
        ax.yaxis.label.set_fontsize(style.TEXT_SIZE)
    _legend(figure, gathered[0], prob)
    return figure


def _draw(ax: Axes, rows: list[Rows], k: int) -> None:
    shown = evenly(rows[0].score[:, k], _ROWS)
    offsets = np.linspace(-_SPREAD / 2, _SPREAD / 2, len(rows))
    for place, (one, offset) in enumerate(zip(rows, offsets, strict=True)):
        colour, dash = _look(place)
        x = np.arange(len(shown)) + offset
        ax.vlines(
            x,
            one.lower[shown, k],
            one.upper[shown, k],
            colors=colour,
            linewidth=1.6,
            linestyle=dash,
        )
        ax.scatter(x, one.median[shown, k], s=9, color=colour, zorder=3, clip_on=False)
    if len(rows[0].classes) == 2:
        ax.axhline(EVEN, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    write_scores(ax, rows[0].score[shown, k], _TICKS)
    ax.set_ylim(-0.02, 1.02)


def _look(place: int) -> tuple[str, tuple[int, tuple[int, ...]]]:
    """Colour and dash of a prior; dashed ones begin again at the first colour."""
    turn, colour = divmod(place, len(_PRIORS))
    return _PRIORS[colour], _DASHES[min(turn, 1)]


def _legend(figure: Figure, cases: tuple[ResultSlice, ...], prob: float) -> None:
    entries: dict[str, Artist] = {}
    for place, case in enumerate(cases):
        colour, dash = _look(place)
        entries[style.shorten(str(case.prior))] = Line2D(
            [], [], color=colour, linestyle=dash, linewidth=1.6, marker="o", markersize=3
        )
    style.legend(figure, entries, columns=3)
    box = figure.legends[-1]
    box.set_title(f"{100 * prob:.6g}% bounds and posterior median under")
    box.get_title().set_fontsize(style.SMALL_SIZE)
    style.as_written(box.get_texts())
