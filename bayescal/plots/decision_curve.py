"""Decision curves: net benefit by threshold, and below it how sure the choice is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final

import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from bayescal.core.text import distinct
from bayescal.plots import style
from bayescal.results import access
from bayescal.results.decision_curve import USEFUL, decision_curve
from bayescal.results.text import percent

if TYPE_CHECKING:
    import pandas as pd

_WIDTH: Final = 7.0
_TALL, _LOW = 3.0, 1.0
_COLOURS: Final = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.VERMILLION)
_LINES: Final = ("solid", (0, (5, 2)), (0, (1, 1.2)))
_ALL: Final[dict[str, Any]] = {"color": style.GREY, "linewidth": 1.2}
_NONE: Final[dict[str, Any]] = {"linewidth": 1.0}
_LOSS: Final = 0.2
"""How far below 0 net benefit is shown, as a share of the highest."""


def plot_decision_curve(
    tree: xr.DataTree,
    thresholds: Sequence[float] | None = None,
    prob: float = 0.9,
    *,
    class_: str | None = None,
    group: str | None = None,
) -> Figure:
    """Draw the net benefit of acting on the scores against the threshold.

    Parameters
    ----------
    tree : xarray.DataTree
        A result that holds a calibration curve, of one classifier or several.
    thresholds : sequence of float, optional
        Increasing, in (0, 1); by default up to the highest score, see `bayescal.decision_curve`.
    prob : float
        Posterior probability of the bands, of each threshold for itself.
    class_, group : str, optional
        Which class and group, needed where the result has several.

    Returns
    -------
    matplotlib.figure.Figure
        Net benefit with bands, beside treating all and treating none; below it P(useful), of
        several classifiers P(best), and EVPI. The panels belong together, so that there is no `ax`.

    Raises
    ------
    InputError
        If the result holds no calibration curve, a threshold lies outside (0, 1), they do not
        increase, or a name is unknown or must be given.
    """
    found = decision_curve(tree, thresholds, prob, class_=class_, group=group).table
    curves = {str(name): own for name, own in found.groupby("classifier", sort=False)}
    # Colours, then other lines in the same colours.
    every = ({"color": one, "linestyle": line} for line in cycle(_LINES) for one in _COLOURS)
    looks: dict[str, Any] = dict(zip(curves, every, strict=False))
    shown = [
        one
        for one in access.cases(tree)
        if class_ in (None, one.class_) and group in (None, one.group)
    ]
    lower = _lower_panels(found, len(curves) > 1)
    height = _TALL + _LOW * len(lower) + 0.6
    figure = style.new_figure(_WIDTH, height, style.notes_for(tree, shown))
    ratios = [_TALL, *[_LOW] * len(lower)]
    top, *rest = figure.subplots(1 + len(lower), 1, sharex=True, height_ratios=ratios)
    _draw_benefit(top, curves, looks)
    for ax, (column, name) in zip(rest, lower.items(), strict=True):
        _draw_below(ax, curves, looks, column)
        ax.set_ylabel(name)
    (rest[-1] if rest else top).set_xlabel("Threshold")
    for ax in (top, *rest):
        style.dress(ax, grid="y")
    short = distinct(looks, style.NAME_LENGTH)
    entries: dict[str, Artist] = {
        short[name]: style.line(lw=1.6, **look) for name, look in looks.items()
    }
    entries |= {
        "treat all": style.line(**_ALL),
        "treat none": style.line(color=style.ink(), **_NONE),
    }
    entries[f"{percent(prob)} band of each point"] = Patch(color=style.GREY, alpha=0.3, lw=0)
    style.legend(figure, entries, 3)
    style.as_written(figure.legends[0].get_texts())
    return figure


def _lower_panels(table: pd.DataFrame, several: bool) -> dict[str, str]:
    """Columns of the table that have a panel, and its label."""
    found = {"p_useful": "P(useful)"}
    if table["evpi"].notna().all():
        found |= {"p_best": "P(best)"} if several else {}
        found["evpi"] = "EVPI"
    return found


def _draw_benefit(
    ax: Axes, curves: dict[str, pd.DataFrame], looks: dict[str, dict[str, Any]]
) -> None:
    """Net benefit of every strategy; at high thresholds treating all is far below."""
    first = next(iter(curves.values()))
    at = first["threshold"]
    ax.fill_between(at, first["all_lower"], first["all_upper"], color=style.GREY, alpha=0.2, lw=0)
    ax.plot(at, first["all_mean"], **_ALL)
    ax.axhline(0, color=style.ink(), **_NONE)
    for name, own in curves.items():
        colour = looks[name]["color"]
        ax.fill_between(at, own["lower"], own["upper"], color=colour, alpha=0.2, lw=0)
        ax.plot(at, own["mean"], lw=1.6, **looks[name])
    highest = max(float(own[["upper", "all_upper"]].to_numpy().max()) for own in curves.values())
    highest = max(highest, 1e-6)
    ax.set_ylim(-_LOSS * highest, 1.05 * highest)
    ax.set_xlim(float(at.iloc[0]), max(float(at.iloc[-1]), float(at.iloc[0]) + 1e-6))
    ax.set_ylabel("Net benefit")


def _draw_below(
    ax: Axes, curves: dict[str, pd.DataFrame], looks: dict[str, dict[str, Any]], column: str
) -> None:
    """A probability of each classifier, or EVPI, which is of all strategies together."""
    first = next(iter(curves.values()))
    at = first["threshold"]
    if column == "evpi":
        ax.fill_between(at, 0, first[column], color=style.ink(), alpha=0.15, lw=0)
        ax.plot(at, first[column], color=style.ink(), lw=1.2)
        ax.set_ylim(0, max(1.1 * float(first[column].max()), 1e-6))
        return
    if column == "p_best":
        ax.plot(at, first["p_best_all"], **_ALL)
        ax.plot(at, first["p_best_none"], color=style.ink(), **_NONE)
    else:
        ax.axhline(USEFUL, color=style.GREY, lw=0.8, ls=(0, (4, 3)))
    for name, own in curves.items():
        ax.plot(at, own[column], lw=1.4, **looks[name])
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks((0, 0.5, 1))
