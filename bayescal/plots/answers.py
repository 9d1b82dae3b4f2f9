"""Figures of answers that are no result: change over time, a plan of labels, decision curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from bayescal.core.checks import check_is
from bayescal.core.text import count, counted, distinct, percent, probability
from bayescal.plots import style
from bayescal.results import access, schema
from bayescal.results.answers import ENOUGH, USEFUL, LabelPlan, decision_curve, strategy
from bayescal.results.change import Change, Series, Window

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Final = 2
MOST_PANELS: Final = 24
_WIDTH, _HEIGHT = 8.0, 2.1
_MOST_NAMES: Final = 7
_MOST_LABELS: Final = 24
_BASELINE: Final = 0.18
_DIGIT: Final = 0.024
"""Width of a digit of a tick label, as a share of the axis of a plan."""


def plot_change(change: Change, *, ax: Axes | None = None) -> Figure:
    """Draw what windows hold and where one is worse than the baseline.

    Parameters
    ----------
    change : Change
        What `bayescal.change` returned.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        Posterior mean and interval of every window, the interval of the baseline across all of
        them, and above a window the probability that it is worse, in bold where it is an alarm.

    Raises
    ------
    InputError
        If `change` is something else.
    """
    check_is(change, Change, "change", "Pass what bayescal.change returned.")
    order = [window.name for window in change.windows]
    one = Series(change.variable.full or change.variable.title, change.windows, change)
    return draw_windows([one], order, change.prob, change.variable.title, ax)


def draw_windows(
    series: Sequence[Series],
    order: Sequence[str],
    prob: float,
    name: str = "calibration error",
    ax: Axes | None = None,
) -> Figure:
    """Draw the posterior mean and the interval of every window, on one scale."""
    shown = series[:MOST_PANELS]
    columns = min(COLUMNS, len(shown))
    figure, axes = style.panels(
        ax, len(shown), columns, _WIDTH, 0.8, tall=_HEIGHT, sharex=True, sharey=True
    )
    every = [window for one in shown for window in one.windows]
    low, high = min(0.0, *(one.lower for one in every)), max(0.0, *(one.upper for one in every))
    margin = 0.15 * (high - low) or 1e-6
    labelled = len(shown) == 1 and len(order) <= _MOST_LABELS
    short = distinct([one.name for one in shown])
    for at, (ax, one) in enumerate(zip(axes, shown, strict=True)):
        _panel(ax, one, order)
        style.title(ax, short[one.name], fontsize=style.TEXT_SIZE)
        if one.change is not None:
            _draw_change(ax, one.change, one.windows, order, every=labelled)
        ax.set_ylim(low and low - margin, high + margin)
        if at % columns == 0:
            ax.set_ylabel(name)
    return style.legend(figure, _entries(shown, prob), 3)


def _entries(shown: Sequence[Series], prob: float) -> dict[str, Artist]:
    """The legend."""
    found: dict[str, Artist] = {
        "posterior mean": style.line(color=style.BLUE, lw=1.4, marker="o", ms=4),
        f"{percent(prob)} interval": Patch(**style.BAND),
        "not converged": style.mark(color=style.red(), marker="x", ms=6),
    }
    changes = [one.change for one in shown if one.change is not None]
    if changes:
        alarm = f"alarm: P(worse than the baseline), the number, ≥ {changes[0].alarm:g}"
        found["baseline"] = Patch(color=style.GREY, alpha=_BASELINE, lw=0)
        found[alarm] = style.mark(color=style.VERMILLION, marker="o", ms=6)
    return found


def _draw_change(
    ax: Axes, change: Change, windows: Sequence[Window], order: Sequence[str], *, every: bool
) -> None:
    """The baseline across all windows, alarms, and their probabilities, or those of all windows."""
    place = {name: at for at, name in enumerate(order)}
    base = next(window for window in windows if window.name == change.baseline)
    ax.axhspan(base.lower, base.upper, color=style.GREY, alpha=_BASELINE, lw=0, zorder=0)
    for window in windows:
        alarm = window.name in change.alarms
        at = place[window.name]
        if alarm:
            ax.plot(at, window.mean, "o", color=style.VERMILLION, ms=6, zorder=4)
        if alarm or (every and window is not base):
            chance = float(change.table.loc[window.name, "baseline_prob_worse"])
            look: dict[str, Any] = {"ha": "center", "fontsize": style.SMALL_SIZE - 1}
            look |= {"fontweight": "bold", "color": style.VERMILLION} if alarm else {}
            style.write(ax, probability(chance), (at, window.upper), (0, 3), **look)


def _panel(ax: Axes, one: Series, order: Sequence[str]) -> None:
    place = {name: at for at, name in enumerate(order)}
    # Windows that follow each other without a gap are joined.
    by_gap = groupby(enumerate(one.windows), lambda own: place[own[1].name] - own[0])
    for run in ([window for _, window in own] for _, own in by_gap):
        x = [place[window.name] for window in run]
        lower, upper = [window.lower for window in run], [window.upper for window in run]
        means = [window.mean for window in run]
        _draw_means(ax, x, means, lower, upper, lw=1.4, ms=3.5)
    failed = [window for window in one.windows if not window.converged]
    x = [place[window.name] for window in failed]
    ax.plot(x, [window.mean for window in failed], "x", color=style.red(), ms=6, zorder=5)
    step = -(-len(order) // _MOST_NAMES)
    short = distinct(order[::step], 12)
    ax.set_xticks(range(0, len(order), step), [short[name] for name in order[::step]])
    style.as_written(ax.get_xticklabels())
    ax.set_xlim(-0.5, len(order) - 0.5)
    style.dress(ax, grid="y")


def _draw_means(ax: Axes, x: Any, mean: Any, lower: Any, upper: Any, **look: Any) -> None:
    """Means in their intervals; one that stands alone has no area, its interval is a line."""
    ax.vlines(x, lower, upper, color=style.BLUE, lw=1.0, alpha=0.35)
    ax.fill_between(x, lower, upper, **style.BAND)
    ax.plot(x, mean, color=style.BLUE, marker="o", **look)


_SIDES = {"below": style.GREEN, "above": style.VERMILLION}


def plot_label_plan(plan: LabelPlan, *, ax: Axes | None = None) -> Figure:
    """Draw the expected width of the interval, and P(it excludes the limit), by number of labels.

    Parameters
    ----------
    plan : LabelPlan
        What `bayescal.plan_labels` returned.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        Width with its spread over samples; beside it, where there is a limit, the probabilities
        that the interval lies wholly below it and wholly above it, one on top of the other.

    Raises
    ------
    InputError
        If it is no plan.
    """
    check_is(plan, LabelPlan, "plan", "Pass what bayescal.plan_labels returned.")
    panels = 1 if plan.limit is None else 2
    said = f"{schema.NOT_CONVERGED}: the fit that is planned from."
    notes = [] if plan.converged else [style.Note(said, style.ON_COLOUR, style.RED)]
    figure, axes = style.panels(ax, panels, panels, 1.0 + 3.4 * panels, 3.3, notes)
    entries = {
        f"mean width of the {percent(plan.prob)} interval": style.line(
            color=style.BLUE, lw=1.6, marker="o", ms=4
        ),
        f"{percent(plan.prob)} of samples": Patch(**style.BAND),
    }
    table = plan.table
    _draw_means(axes[0], table.n, table.width, table.width_lower, table.width_upper, lw=1.6, ms=4)
    _dress(axes[0], plan, f"Width of the interval of {plan.title or plan.var}")
    axes[0].set_ylim(0, 1.06 * float(table.width_upper.max()) or 1.0)
    if plan.limit is not None:
        _draw_chance(axes[1], plan)
        entries |= {
            f"lies {side} {plan.limit:g}": Patch(color=colour, alpha=0.5, lw=0)
            for side, colour in _SIDES.items()
        }
    return style.legend(figure, entries)


def _draw_chance(ax: Axes, plan: LabelPlan) -> None:
    """Both sides of the limit as areas that add up."""
    table, base = plan.table, 0.0 * plan.table.prob_below
    for side, colour in _SIDES.items():
        top = base + table[f"prob_{side}"]
        ax.fill_between(table.n, base, top, color=colour, alpha=0.5, lw=0)
        base = top
    ax.plot(table.n, base, color=style.ink(), lw=1.4, marker="o", ms=4)
    ax.axhline(ENOUGH, color=style.GREY, lw=1, ls=(0, (4, 3)))
    _dress(ax, plan, f"P(the interval excludes {plan.limit:g})")
    ax.set_ylim(0, 1.04)


def _dress(ax: Axes, plan: LabelPlan, title: str) -> None:
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(plan.n))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticklabels(_written(plan.n))
    ax.set_xlabel("labelled rows")
    style.dress(ax, grid="y")
    style.title(ax, title, fontsize=style.TEXT_SIZE)


def _written(numbers: Sequence[int]) -> list[str]:
    """Labels on a log scale, from the last one on those that have space."""
    wide, end, found = _DIGIT * math.log(numbers[-1] / numbers[0]), math.inf, [""] * len(numbers)
    for at in reversed(range(len(numbers))):
        if math.log(numbers[at]) <= end:
            found[at] = count(numbers[at])
            end = math.log(numbers[at]) - wide * len(found[at])
    return found


_CURVE_WIDTH: Final = 7.0
_TALL, _LOW = 3.0, 1.0
_COLOURS: Final = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.VERMILLION)
_LINES: Final = ("solid", (0, (5, 2)))
_OTHERS: Final[dict[str, Any]] = {"color": style.GREY, "lw": 0.6, "alpha": 0.6, "zorder": 1.5}
"""Look of the curves that are not named, of many."""
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
    prob : float, default 0.9
        Posterior probability of the bands, of each threshold for itself.
    class_, group : str, optional
        Which class and group, needed where the result has several.

    Returns
    -------
    matplotlib.figure.Figure
        Net benefit with bands, beside treating all and treating none; below it P(useful), of
        several classifiers P(best), and EVPI. Of more than ten, those that have the highest mean
        at most thresholds are named, others are grey. The panels belong together: there is no `ax`.

    Raises
    ------
    InputError
        If the result holds no calibration curve, a threshold lies outside (0, 1), they do not
        increase, or a name is unknown or must be given.
    """
    found = decision_curve(tree, thresholds, prob, class_=class_, group=group).table
    curves = {str(name): own for name, own in found.groupby("classifier", sort=False)}
    # Colours, then other lines in the same colours.
    every = [{"color": one, "linestyle": line} for line in _LINES for one in _COLOURS]
    looks: dict[str, Any] = dict(zip(_named(found, list(curves), len(every)), every, strict=False))
    shown = [
        one
        for one in access.cases(tree)
        if class_ in (None, one.class_) and group in (None, one.group)
    ]
    # Columns of the table that have a panel, and its label.
    lower = {"p_useful": "P(useful)"}
    if found["evpi"].notna().all():
        lower |= {"p_best": "P(best)"} if len(curves) > 1 else {}
        lower["evpi"] = "EVPI"
    height = _TALL + _LOW * len(lower) + 0.6
    figure = style.new_figure(_CURVE_WIDTH, height, style.notes_for(tree, shown))
    ratios = [_TALL, *[_LOW] * len(lower)]
    top, *rest = figure.subplots(1 + len(lower), 1, sharex=True, height_ratios=ratios)
    _draw_benefit(top, curves, looks)
    for ax, (column, name) in zip(rest, lower.items(), strict=True):
        _draw_below(ax, curves, looks, column)
        ax.set_ylabel(name)
    (rest[-1] if rest else top).set_xlabel("Threshold")
    for ax in (top, *rest):
        style.dress(ax, grid="y")
    short = distinct(looks)
    entries: dict[str, Artist] = {
        strategy(short[name]): style.line(lw=1.6, **look) for name, look in looks.items()
    }
    if left := len(curves) - len(looks):
        entries[counted(left, "other")] = style.line(**_OTHERS)
    entries |= {
        "treat all": style.line(**_ALL),
        "treat none": style.line(color=style.ink(), **_NONE),
    }
    entries[f"{percent(prob)} band of each point"] = Patch(color=style.GREY, alpha=0.3, lw=0)
    style.legend(figure, entries, 3)
    style.as_written(figure.legends[0].get_texts())
    return figure


def _named(table: pd.DataFrame, names: list[str], most: int) -> list[str]:
    """The classifiers that are named: all, or of many those that lead at most thresholds."""
    if len(names) <= most:
        return names
    first = table.loc[table.groupby("threshold")["mean"].idxmax(), "classifier"]
    leading = set(first.value_counts().index[:most])
    return [name for name in names if name in leading]


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
        look = looks.get(name, _OTHERS)
        if name in looks:
            band = {"color": look["color"], "alpha": 0.2, "lw": 0}
            ax.fill_between(at, own["lower"], own["upper"], **band)
        ax.plot(at, own["mean"], **{"lw": 1.6, **look})
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
        ax.plot(at, own[column], **{"lw": 1.4, **looks.get(name, _OTHERS)})
    ax.set(ylim=(-0.03, 1.03), yticks=(0, 0.5, 1))
