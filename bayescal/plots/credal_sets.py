"""Credal sets of single rows: on the triangle for three classes, as intervals for others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Polygon
from numpy.typing import NDArray

from bayescal.core.checks import check_is, check_whole
from bayescal.core.errors import InputError
from bayescal.plots import style
from bayescal.plots.kind import check_kind
from bayescal.results import access
from bayescal.results.rows import Rows, evenly, read_rows
from bayescal.results.text import percent

_SHOWN: Final = 6
_COLUMNS: Final = 3
# Corners of the triangle: the first class at the left, the second at the right, the third on top.
_CORNERS: Final = np.array([(0.0, 0.0), (1.0, 0.0), (0.5, np.sqrt(0.75))])
_THREE: Final = 3

type Floats = NDArray[np.float64]


def plot_credal_sets(
    tree: xr.DataTree,
    rows: Sequence[int] | None = None,
    classifier: str | None = None,
    prob: float = 0.9,
) -> Figure:
    """Draw the credal sets of a few rows, a panel a row.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of `bayescal.credal` with three classes or more.
    rows : sequence of int, optional
        Places of rows in the result (``obs``); by default six, from the most certain one to the
        most open one.
    classifier : str, optional
        Which classifier; the first by default.
    prob : float, in (0, 1), default 0.9
        Posterior probability of the bounds of each class.

    Returns
    -------
    matplotlib.figure.Figure
        Of three classes, triangles of all class probabilities with the set of those between the
        bounds; of more, bounds class by class. Posterior medians (on triangles scaled to sum to
        1) and the Venn-Abers probabilities, merged, are marked.

    Raises
    ------
    InputError
        If the result is of another kind, has two classes, or no such row or classifier.
    """
    check_kind(tree, "rows", "a plot of credal sets")
    case = access.find_case(tree, classifier)
    held = read_rows(tree, case, prob)
    if len(held.classes) < _THREE:
        raise InputError(
            "a plot of credal sets needs three classes or more; this result has two. Draw it with "
            "bayescal.plots.plot_decisions."
        )
    chosen = _chosen(held) if rows is None else _checked(rows, len(held.row))
    columns = min(_COLUMNS, len(chosen))
    lines = -(-len(chosen) // columns)
    three = len(held.classes) == _THREE
    height = 2.25 if three else 0.24 * len(held.classes) + 0.75
    figure = style.new_figure(
        2.35 * columns + 0.5, lines * height + 0.75, style.notes_for(tree, [case])
    )
    axes = style.panels(figure, len(chosen), columns, sharey=not three)
    for ax, place in zip(axes, chosen, strict=True):
        (_draw_triangle if three else _draw_intervals)(ax, held, place)
        said = "open" if held.n_open[place] > 1 else held.classes[int(held.decision[place])]
        style.title(
            ax, f"row {held.row[place]}: {style.shorten(said, 18)}", fontsize=style.TEXT_SIZE
        )
    _legend(figure, prob, three=three)
    return figure


def _checked(rows: Sequence[int], n: int) -> list[int]:
    """Places of rows to draw."""
    check_is(rows, (Sequence, np.ndarray), "rows", "Pass [0, 1], say.")
    index = "Take places from the index of bayescal.row_table."
    places = [check_whole(place, "rows", 0, index, n - 1) for place in rows]
    if not places:
        raise InputError("rows must name at least one; got none. Leave it out.")
    return places


def _chosen(held: Rows) -> list[int]:
    """Rows from the most certain to the most open one."""
    return [int(place) for place in evenly(held.n_open - held.p_decision.max(axis=1), _SHOWN)]


def _draw_triangle(ax: Axes, held: Rows, place: int) -> None:
    ax.add_patch(Polygon(_CORNERS, closed=True, fill=False, edgecolor=style.GREY, linewidth=0.8))
    for share in (0.25, 0.5, 0.75):
        for k in range(_THREE):
            ends = np.full((2, _THREE), 0.0)
            ends[:, k] = share
            ends[(0, 1), ((k + 1) % 3, (k + 2) % 3)] = 1 - share
            ax.plot(*(ends @ _CORNERS).T, color=style.PALE, linewidth=0.5, zorder=0)
    region = between(held.lower[place], held.upper[place])
    if len(region):
        ax.add_patch(
            Polygon(region @ _CORNERS, facecolor=style.BLUE, alpha=0.35, edgecolor=style.BLUE)
        )
    _mark(ax, held.median[place] / held.median[place].sum() @ _CORNERS, "o", style.BLUE)
    _mark(ax, held.merged[place] @ _CORNERS, "D", style.VERMILLION)
    aligns = (("center", "top"), ("center", "top"), ("center", "bottom"))
    shifts = ((0, -0.03), (0, -0.03), (0, 0.02))
    for name, corner, (across, up), shift in zip(
        held.classes, _CORNERS, aligns, shifts, strict=True
    ):
        ax.text(
            corner[0] + shift[0],
            corner[1] + shift[1],
            style.shorten(name, 12),
            ha=across,
            va=up,
            fontsize=style.SMALL_SIZE,
            color=style.INK,
            parse_math=False,
        )
    ax.set_xlim(-0.16, 1.16)
    ax.set_ylim(-0.14, 1.02)
    ax.set_aspect("equal")
    # Ticks of an axis that is off are not drawn, but a layout makes space for them.
    ax.set_xticks([])
    ax.set_yticks([])
    ax.axis("off")


def between(lower: Floats, upper: Floats) -> Floats:
    """Corners of the set of class probabilities between bounds, (corner, 3)."""
    corners = np.eye(_THREE)
    for k in range(_THREE):
        for sign, end in ((1.0, lower[k]), (-1.0, upper[k])):
            corners = _cut(corners, sign * (corners[:, k] - end))
    return corners


def _cut(corners: Floats, inside: Floats) -> Floats:
    """Corners of the part of a polygon where a linear function is not below 0."""
    kept: list[Floats] = []
    for k in range(len(corners)):
        j = (k + 1) % len(corners)
        if inside[k] >= 0:
            kept.append(corners[k])
        if inside[k] * inside[j] < 0:
            share = inside[k] / (inside[k] - inside[j])
            kept.append(corners[k] + share * (corners[j] - corners[k]))
    return np.array(kept).reshape(-1, _THREE)


def _mark(ax: Axes, at: Floats, marker: str, colour: str) -> None:
    ax.scatter(
        at[0], at[1], s=20, marker=marker, color=colour, edgecolor="white", linewidth=0.6, zorder=4
    )


def _draw_intervals(ax: Axes, held: Rows, place: int) -> None:
    y = np.arange(len(held.classes))
    colours = [style.BLUE if stays else style.GREY for stays in held.is_open[place]]
    ax.hlines(y, held.lower[place], held.upper[place], colors=colours, linewidth=2.6)
    for values, marker, colour, low in (
        (held.median, "o", colours, 0.0),
        (held.merged, "D", style.VERMILLION, 0.24),
    ):
        ax.scatter(
            values[place],
            y + low,
            s=13,
            marker=marker,
            color=colour,
            edgecolor="white",
            linewidth=0.4,
            zorder=3,
            clip_on=False,
        )
    style.dress(ax, grid="x")
    ax.set_xlim(0, 1)
    ax.set_ylim(len(y) - 0.4, -0.6)
    style.name_rows(ax, range(len(y)), [style.shorten(name, 16) for name in held.classes])
    ax.set_xticks((0, 0.5, 1), ("0", "0.5", "1"))


def _legend(figure: Figure, prob: float, *, three: bool) -> None:
    bounds = f"{percent(prob)} bounds"
    entries: dict[str, Artist] = (
        {f"between the {bounds}": Patch(facecolor=style.BLUE, alpha=0.35)}
        if three
        else {
            f"{bounds}, open": style.line(color=style.BLUE, linewidth=2.6),
            f"{bounds}, ruled out": style.line(color=style.GREY, linewidth=2.6),
        }
    )
    for title, marker, colour in (
        ("posterior medians, scaled" if three else "posterior median", "o", style.BLUE),
        ("Venn-Abers, merged", "D", style.VERMILLION),
    ):
        entries[title] = style.mark(marker=marker, color=colour, markersize=4.5)
    style.legend(figure, entries, columns=3 if three else 2)
