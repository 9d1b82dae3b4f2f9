"""Rows: probability against the score, what bounds decide, bounds by prior, and credal sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Polygon

from bayescal.core.bin_edges import evenly
from bayescal.core.checks import check_choice, check_is, check_whole
from bayescal.core.columns import Whole
from bayescal.core.errors import InputError
from bayescal.core.quantity import ROW, Floats
from bayescal.core.text import counted, distinct, percent, shorten
from bayescal.plots import style
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.rows import EVEN, Rows, read_rows, row_conclusions

_MARKS: Final = 12
_TICK: Final = 0.028
_MOST_ROWS: Final = 80
_TICKS: Final = 9
_KINDS: Final = (style.BLUE, style.ORANGE, style.GREY)
_REFIT_ROWS: Final = 16
_REFIT_COLUMNS: Final = 2
_REFIT_TICKS: Final = 6
_MOST_PANELS: Final = 12
_SPREAD: Final = 0.6
_PRIORS: Final = (style.BLUE, style.VERMILLION, style.ORANGE, style.GREEN, style.GREY)
_DASHES: Final[tuple[tuple[int, tuple[int, ...]], ...]] = ((0, ()), (0, (2, 1)))


def plot_probability(
    tree: xr.DataTree,
    classifier: str | None = None,
    class_: str | None = None,
    prob: float = 0.9,
    *,
    ax: Axes | None = None,
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
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior mean in its band, the Venn-Abers probabilities p0 and p1 as steps, label rates
        of the calibration rows as marks with an area in proportion to the rows, and their scores as
        ticks: above, cells of rows with the label, below, without. One of several priors has none.

    Raises
    ------
    InputError
        If the result is of another kind, or has no such classifier or class.
    """
    style.check_role(tree, ROW, "a plot of probabilities")
    case, rows, k = _find(tree, classifier, class_, prob)
    figure, ax = _one_panel(ax, (5.2, 4.9), tree, case, rows.curves[k])
    _draw_curve(ax, rows, k)
    # Fits under several priors have cells of their own, of which the result holds none.
    with_cells = access.has_variable(tree, schema.CONSTANT_DATA, schema.CELL_SCORE)
    if with_cells:
        _draw_cells(ax, tree, case, k)
    style.draw_diagonal(ax)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.045, 1.045), xlabel="score")
    entries: dict[str, Artist] = {
        f"posterior mean and {percent(prob)} bounds": Patch(facecolor=style.BLUE, alpha=0.4),
        "Venn-Abers p0, p1 (no interval)": style.line(color=style.VERMILLION, lw=1.0),
    }
    if with_cells:
        mark = style.mark(marker="o", mfc=style.paper(), mec=style.ink(), ms=5)
        entries["label rates of calibration rows"] = mark
    entries["score as it is"] = style.diagonal()
    return style.legend(figure, entries)


def plot_decisions(
    tree: xr.DataTree,
    classifier: str | None = None,
    class_: str | None = None,
    prob: float = 0.9,
    *,
    ax: Axes | None = None,
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
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        Bounds and posterior means of up to 80 rows, evenly spaced in order; p0 to p1 beside each.

    Raises
    ------
    InputError
        If the result is of another kind, or has no such classifier or class.
    """
    style.check_role(tree, ROW, "a plot of decisions")
    case, rows, k = _find(tree, classifier, class_, prob)
    figure, ax = _one_panel(ax, (7.0, 4.3), tree, case, rows.curves[k])
    own = rows.is_open[:, rows.classes.index(rows.curves[k])]
    # The class is decided on, open, or ruled out.
    kind = np.where(own, np.where(rows.n_open == 1, 0, 1), 2)
    _draw_rows(ax, rows, k, kind)
    if len(rows.classes) == 2:
        ax.axhline(EVEN, color=style.ink(), lw=0.8, ls=(0, (4, 3)), zorder=1)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel(f"target rows in order of score ({len(rows.row)} in the result)")
    return _decision_legend(figure, rows, k, kind, prob)


def _find(
    tree: xr.DataTree, classifier: str | None, class_: str | None, prob: float
) -> tuple[ResultSlice, Rows, int]:
    """The case, its rows, and the curve of the class."""
    case = access.find_case(tree, classifier)
    rows = read_rows(tree, case, prob)
    if class_ is None:
        return case, rows, 0
    check_choice(class_, rows.curves, "class_")
    return case, rows, rows.curves.index(class_)


def _one_panel(
    ax: Axes | None, inches: tuple[float, float], tree: xr.DataTree, case: ResultSlice, class_: str
) -> tuple[style.Ground, Axes]:
    """A figure whose vertical axis is the probability of a class."""
    figure, (ax,) = style.panels(ax, 1, 1, *inches, style.notes_for(tree, [case]))
    ax.set_ylabel(f"P({shorten(class_, 20)} | score)")
    style.title(ax, style.full_title(tree, case))
    style.dress(ax, grid="y")
    return figure, ax


def _draw_curve(ax: Axes, rows: Rows, k: int) -> None:
    order = np.argsort(rows.score[:, k], kind="stable")
    x = rows.score[order, k]
    if x[0] == x[-1]:
        # A band of one score would have no width.
        order, x = order[[0, 0]], x[0] + np.array([-0.01, 0.01])
    ax.fill_between(x, rows.lower[order, k], rows.upper[order, k], **style.BAND)
    ax.plot(x, rows.mean[order, k], color=style.BLUE, lw=1.7, zorder=4)
    for values, dash in ((rows.p0, "-"), (rows.p1, (0, (3, 1.2)))):
        ax.step(x, values[order, k], where="mid", color=style.VERMILLION, lw=1.0, ls=dash, zorder=3)


def _draw_cells(ax: Axes, tree: xr.DataTree, case: ResultSlice, k: int) -> None:
    """Label rates of neighbouring cells together, and a tick a cell."""
    held = access.values(tree, schema.CONSTANT_DATA, case, schema.CELL_SCORE, schema.CELL_COUNT)
    held.append(access.cell_events(tree, case).values)
    score, count, events = (one if one.ndim == 1 else one[k] for one in held)
    full = count > 0
    score, count, events = score[full], count[full], events[full]
    below, above = (-1.4 * _TICK, -_TICK / 2), (1 + _TICK / 2, 1 + 1.4 * _TICK)
    for parts, ends in ((events > 0, above), (events < count, below)):
        ax.vlines(score[parts], *ends, color=style.ink(), lw=0.6, alpha=0.7)
    # Cells hold nearly equal numbers of rows, so that equal numbers of cells make fair marks.
    marks = np.array_split(np.arange(len(score)), min(_MARKS, len(score)))
    total = np.array([count[mark].sum() for mark in marks])
    rate = np.array([events[mark].sum() for mark in marks]) / total
    middle = [np.average(score[mark], weights=count[mark]) for mark in marks]
    area = np.maximum(45 * total / total.max(), 5)
    look: dict[str, Any] = {"facecolor": style.paper(), "edgecolor": style.ink(), "lw": 1.0}
    ax.scatter(middle, rate, area, zorder=5, clip_on=False, **look)


def _draw_rows(ax: Axes, rows: Rows, k: int, kind: Whole) -> None:
    shown = evenly(rows.score[:, k], _MOST_ROWS)
    x = np.arange(len(shown))
    colours = [_KINDS[one] for one in kind[shown]]
    ax.vlines(x, rows.lower[shown, k], rows.upper[shown, k], colors=colours, lw=2.4)
    ax.vlines(x + 0.36, rows.p0[shown, k], rows.p1[shown, k], colors=style.VERMILLION, lw=1)
    look: dict[str, Any] = {"marker": "_", "color": style.ink(), "lw": 1.3}
    ax.scatter(x, rows.mean[shown, k], 14, zorder=3, clip_on=False, **look)
    ax.set_xlim(-1, len(shown))
    _write_scores(ax, rows.score[shown, k], _TICKS)


def _write_scores(ax: Axes, score: Floats, most: int) -> None:
    """Write scores where rows stand: a few of them show how they rise."""
    ticks = evenly(np.arange(len(score)), most)
    ax.set_xticks(ticks, [f"{score[tick]:.2f}" for tick in ticks])


def _decision_legend(figure: style.Ground, rows: Rows, k: int, kind: Whole, prob: float) -> Figure:
    short = distinct(rows.classes, 20)
    name = short[rows.curves[k]]
    words = (f"decided: {name}", "open: more than one class", f"{name} ruled out")
    if len(rows.classes) == 2:
        words = (*words[:2], f"decided: {short[rows.classes[0]]}")
    entries: dict[str, Artist] = {
        f"{text} ({counted(int((kind == place).sum()), 'row')})": style.line(color=colour, lw=2.4)
        for place, (text, colour) in enumerate(zip(words, _KINDS, strict=True))
    }
    entries["Venn-Abers p0 to p1"] = style.line(color=style.VERMILLION, lw=1)
    return style.legend(
        figure, entries, head=f"{percent(prob)} bounds, a dash at the posterior mean"
    )


def plot_row_sensitivity(tree: xr.DataTree, prob: float = 0.9, ax: Axes | None = None) -> Figure:
    """Draw bounds and posterior means of rows under each prior."""
    found = row_conclusions(tree, prob)
    gathered = access.along(tree, schema.PRIOR_NAME)
    panels = [
        (cases, [read_rows(tree, case, prob) for case in cases], one.case)
        for cases, one in zip(gathered, found, strict=True)
    ]
    shown = [(*panel, k) for panel in panels for k in range(len(panel[1][0].curves))]
    shown = shown[:_MOST_PANELS]
    columns = min(_REFIT_COLUMNS, len(shown))
    notes = style.notes_for(tree, access.cases(tree))
    notes += style.not_robust("Decisions are", [one.case for one in found if not one.robust])
    width = 6.4 if columns == 1 else 8.2
    figure, axes = style.panels(ax, len(shown), columns, width, 1.0, notes, tall=2.5, sharey=True)
    for ax, (_, rows, name, k) in zip(axes, shown, strict=True):
        _draw_refits(ax, rows, k)
        parts = [distinct([one.case for one in found], 20)[name]] if name else []
        curves = rows[0].curves
        parts += [distinct(curves, 16)[curves[k]]] if len(curves) > 1 else []
        style.title(ax, ", ".join(parts), fontsize=style.TEXT_SIZE)
        ax.set_xlabel("score of the row")
        style.dress(ax, grid="y")
    for ax in axes[::columns]:
        ax.set_ylabel("P(class | score)")
    return _refits_legend(figure, gathered[0], prob)


def _draw_refits(ax: Axes, rows: list[Rows], k: int) -> None:
    shown = evenly(rows[0].score[:, k], _REFIT_ROWS)
    offsets = np.linspace(-_SPREAD / 2, _SPREAD / 2, len(rows))
    for place, (one, offset) in enumerate(zip(rows, offsets, strict=True)):
        colour, dash = _look(place)
        x = np.arange(len(shown)) + offset
        ax.vlines(x, one.lower[shown, k], one.upper[shown, k], colors=colour, lw=1.6, ls=dash)
        ax.scatter(x, one.mean[shown, k], s=9, color=colour, zorder=3, clip_on=False)
    if len(rows[0].classes) == 2:
        ax.axhline(EVEN, color=style.GREY, lw=0.8, ls=(0, (4, 3)), zorder=0)
    _write_scores(ax, rows[0].score[shown, k], _REFIT_TICKS)
    ax.set_ylim(-0.02, 1.02)


def _look(place: int) -> tuple[str, tuple[int, tuple[int, ...]]]:
    """Colour and dash of a prior; dashed ones begin again at the first colour."""
    turn, colour = divmod(place, len(_PRIORS))
    return _PRIORS[colour], _DASHES[min(turn, 1)]


def _refits_legend(figure: style.Ground, cases: tuple[ResultSlice, ...], prob: float) -> Figure:
    entries: dict[str, Artist] = {}
    short = distinct([str(case.prior) for case in cases])
    for place, case in enumerate(cases):
        colour, dash = _look(place)
        entries[short[str(case.prior)]] = style.line(
            color=colour, ls=dash, lw=1.6, marker="o", ms=3
        )
    return style.legend(
        figure, entries, columns=3, head=f"{percent(prob)} bounds and posterior mean under"
    )


_SETS: Final = 6
_SET_COLUMNS: Final = 3
# Corners of the triangle: the first class at the left, the second at the right, the third on top.
_CORNERS: Final = np.array([(0.0, 0.0), (1.0, 0.0), (0.5, np.sqrt(0.75))])
_THREE: Final = 3


def plot_credal_sets(
    tree: xr.DataTree,
    rows: Sequence[int] | None = None,
    classifier: str | None = None,
    prob: float = 0.9,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw the credal sets of a few rows, a panel a row.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of `bayescal.credal` with three classes or more.
    rows : sequence of int, optional
        Places of rows in the result (``obs``); by default six, the most certain to the most open.
    classifier : str, optional
        Which classifier; the first by default.
    prob : float, in (0, 1), default 0.9
        Posterior probability of the bounds of each class.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        Of three classes, triangles of all class probabilities with the set of those between the
        bounds; of more, bounds class by class. Posterior means (on triangles scaled to sum to
        1) and the Venn-Abers probabilities, merged, are marked.

    Raises
    ------
    InputError
        If the result is of another kind, has two classes, or no such row or classifier.
    """
    style.check_role(tree, ROW, "a plot of credal sets")
    case = access.find_case(tree, classifier)
    held = read_rows(tree, case, prob)
    if len(held.classes) < _THREE:
        raise InputError(
            "a plot of credal sets needs three classes or more; this result has two. Draw it with "
            "bayescal.plots.plot_decisions."
        )
    certain_first = evenly(held.n_open - held.p_decision.max(axis=1), _SETS)
    chosen = certain_first.tolist() if rows is None else _checked(rows, len(held.row))
    columns = min(_SET_COLUMNS, len(chosen))
    three = len(held.classes) == _THREE
    tall = 2.25 if three else 0.24 * len(held.classes) + 0.75
    width, notes = 2.35 * columns + 0.5, style.notes_for(tree, [case])
    figure, axes = style.panels(
        ax, len(chosen), columns, width, 0.75, notes, tall=tall, sharey=not three
    )
    short = distinct([*held.classes, "open"], 18)
    for ax, place in zip(axes, chosen, strict=True):
        (_draw_triangle if three else _draw_intervals)(ax, held, place)
        said = "open" if held.n_open[place] > 1 else held.classes[int(held.decision[place])]
        style.title(ax, f"row {held.row[place]}: {short[said]}", fontsize=style.TEXT_SIZE)
    return _sets_legend(figure, prob, three=three)


def _checked(rows: Sequence[int], n: int) -> list[int]:
    check_is(rows, (Sequence, np.ndarray), "rows", "Pass [0, 1], say.")
    index = "Take places from the index of bayescal.row_table."
    places = [check_whole(place, "rows", 0, index, n - 1) for place in rows]
    if not places:
        raise InputError("rows must name at least one; got none. Leave it out.")
    return places


def _draw_triangle(ax: Axes, held: Rows, place: int) -> None:
    ax.add_patch(Polygon(_CORNERS, closed=True, fill=False, edgecolor=style.GREY, lw=0.8))
    for share in (0.25, 0.5, 0.75):
        for k in range(_THREE):
            ends = np.full((2, _THREE), 0.0)
            ends[:, k] = share
            ends[(0, 1), ((k + 1) % 3, (k + 2) % 3)] = 1 - share
            ax.plot(*(ends @ _CORNERS).T, color=style.PALE, lw=0.5, zorder=0)
    region = between(held.lower[place], held.upper[place])
    if len(region):
        ax.add_patch(
            Polygon(region @ _CORNERS, facecolor=style.BLUE, alpha=0.35, edgecolor=style.BLUE)
        )
    mean, merged = held.mean[place] / held.mean[place].sum(), held.merged[place]
    for at, marker, colour in ((mean, "o", style.BLUE), (merged, "D", style.VERMILLION)):
        drawn: dict[str, Any] = {"color": colour, "edgecolor": style.paper(), "lw": 0.6}
        x, y = at @ _CORNERS
        ax.scatter(x, y, s=20, marker=marker, zorder=4, **drawn)
    short = distinct(held.classes, 12)
    for name, (x, y) in zip(held.classes, _CORNERS, strict=True):
        shift, above = (0.02, "bottom") if y else (-0.03, "top")
        look: dict[str, Any] = {"fontsize": style.SMALL_SIZE, "color": style.ink()}
        ax.text(x, y + shift, short[name], ha="center", va=above, parse_math=False, **look)
    # Ticks of an axis that is off are not drawn, but a layout makes space for them.
    ax.set(xlim=(-0.16, 1.16), ylim=(-0.14, 1.02), aspect="equal", xticks=[], yticks=[])
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


def _draw_intervals(ax: Axes, held: Rows, place: int) -> None:
    y = np.arange(len(held.classes))
    colours = [style.BLUE if stays else style.GREY for stays in held.is_open[place]]
    ax.hlines(y, held.lower[place], held.upper[place], colors=colours, lw=2.6)
    for values, marker, colour, low in (
        (held.mean, "o", colours, 0.0),
        (held.merged, "D", style.VERMILLION, 0.24),
    ):
        look: dict[str, Any] = {"color": colour, "edgecolor": style.paper(), "lw": 0.4}
        ax.scatter(values[place], y + low, 13, marker=marker, zorder=3, clip_on=False, **look)
    style.dress(ax, grid="x")
    ax.set(xlim=(0, 1), ylim=(len(y) - 0.4, -0.6))
    short = distinct(held.classes, 16)
    style.name_rows(ax, range(len(y)), [short[name] for name in held.classes])
    ax.set_xticks((0, 0.5, 1), ("0", "0.5", "1"))


def _sets_legend(figure: style.Ground, prob: float, *, three: bool) -> Figure:
    bounds = f"{percent(prob)} bounds"
    entries: dict[str, Artist] = (
        {f"between the {bounds}": Patch(facecolor=style.BLUE, alpha=0.35)}
        if three
        else {
            f"{bounds}, not ruled out": style.line(color=style.BLUE, lw=2.6),
            f"{bounds}, ruled out": style.line(color=style.GREY, lw=2.6),
        }
    )
    for title, marker, colour in (
        ("posterior means, scaled" if three else "posterior mean", "o", style.BLUE),
        ("Venn-Abers, merged", "D", style.VERMILLION),
    ):
        entries[title] = style.mark(marker=marker, color=colour, ms=4.5)
    return style.legend(figure, entries, columns=3 if three else 2)
