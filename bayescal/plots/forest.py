"""A forest: a row an answer, with its intervals, its mean, marks beside it, and its numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayescal.plots import style
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import interval
from bayescal.results.text import number, percent

WIDTH: Final = 7.0
INNER: Final = 0.5
"""Probability of the thick interval."""


class Mark(NamedTuple):
    """How an estimate beside the posterior is drawn."""

    title: str
    marker: str = "D"
    edge: str = style.VERMILLION
    face: str = "white"


class Row(NamedTuple):
    """One line of a forest; `marks` are estimates by name."""

    label: str
    mean: float
    outer: tuple[float, float]
    inner: tuple[float, float]
    marks: Mapping[str, float]
    text: str
    converged: bool


def case_rows(
    tree: xr.DataTree,
    var: str,
    prob: float,
    marks: Mapping[ResultSlice, Mapping[str, float]],
    labels: Mapping[ResultSlice, str],
) -> dict[ResultSlice, Row]:
    """One row a case, in the order of the cases."""
    ends = [interval(tree, var, share) for share in (prob, INNER)]
    found = {}
    for case in access.cases(tree):
        (low, high), (near, far) = (map(float, access.at(one, case).values) for one in ends)
        mean, converged = access.averaged_mean(tree, var, case), access.case_converged(tree, case)
        text = f"{number(mean)} ({number(low)} to {number(high)})"
        if math.isnan(mean):
            text = "undefined"
        found[case] = Row(
            style.shorten(labels[case]),
            mean,
            (low, high),
            (near, far),
            marks[case],
            text if converged else schema.NOT_CONVERGED,
            converged,
        )
    return found


def draw_forest(
    ax: Axes, rows: Sequence[Row], looks: Mapping[str, Mark], *, below: float = 0.0
) -> None:
    """Draw rows from the top down, their numbers at the right, marks `below` their line."""
    places = range(len(rows))
    colours = [style.BLUE if row.converged else style.RED for row in rows]
    for ends, width, alpha in (("outer", 1.2, 1.0), ("inner", 4.0, 0.55)):
        lower, upper = zip(*(getattr(row, ends) for row in rows), strict=True)
        ax.hlines(places, lower, upper, colors=colours, linewidth=width, alpha=alpha, zorder=2)
    ax.scatter([row.mean for row in rows], places, s=25, c=colours, clip_on=False, zorder=4)
    for name, look in looks.items():
        found = [(row.marks[name], at + below) for at, row in enumerate(rows) if name in row.marks]
        if found:
            x, y = zip(*found, strict=True)
            ax.scatter(
                x,
                y,
                s=20,
                marker=look.marker,
                facecolor=look.face,
                edgecolor=look.edge,
                linewidth=1.2,
                clip_on=False,
                zorder=3,
            )
    style.dress(ax, grid="x")
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    style.name_rows(ax, places, [row.label for row in rows])
    right = ax.secondary_yaxis("right")
    right.set_yticks(places, [row.text for row in rows])
    right.tick_params(axis="y", length=0, labelsize=style.SMALL_SIZE)
    right.spines["right"].set_visible(False)
    for label, row in zip(right.get_yticklabels(), rows, strict=True):
        label.set_color(style.INK if row.converged else style.RED)
        label.set_fontweight("normal" if row.converged else "bold")


def forest_legend(figure: Figure, prob: float, looks: Sequence[Mark], columns: int = 4) -> None:
    """Explain the marks of a forest."""
    entries = {
        "posterior mean": style.mark(color=style.BLUE, marker="o", markersize=5),
        f"{INNER:.0%} interval": style.line(color=style.BLUE, linewidth=4, alpha=0.55),
        f"{percent(prob)} interval": style.line(color=style.BLUE, linewidth=1.2),
    }
    for look in looks:
        colours = {"markerfacecolor": look.face, "markeredgecolor": look.edge}
        entries[look.title] = style.mark(marker=look.marker, markersize=4.5, **colours)
    style.legend(figure, entries, columns)
