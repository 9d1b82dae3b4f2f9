"""Figures of answers that are no result: change over time, and a plan of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from bayescal.core.checks import check_is
from bayescal.core.text import distinct
from bayescal.plots import style
from bayescal.results.change import Change, Series, Window
from bayescal.results.label_plan import ENOUGH, LabelPlan
from bayescal.results.text import count, percent, probability

COLUMNS: Final = 2
MOST_PANELS: Final = 24
_WIDTH, _HEIGHT = 8.0, 2.1
_MOST_NAMES: Final = 7
_MOST_LABELS: Final = 24
_BASELINE: Final = 0.18


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
    rows = -(-len(shown) // columns)
    figure = style.ground(ax, _WIDTH, rows * _HEIGHT + 0.8)
    every = [window for one in shown for window in one.windows]
    low, high = min(0.0, *(one.lower for one in every)), max(0.0, *(one.upper for one in every))
    margin = 0.15 * (high - low)
    labelled = len(shown) == 1 and len(order) <= _MOST_LABELS
    short = distinct([one.name for one in shown], style.NAME_LENGTH)
    for at, (ax, one) in enumerate(
        zip(style.panels(figure, len(shown), columns, sharex=True, sharey=True), shown, strict=True)
    ):
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
    for run in _runs(one.windows, place):
        x = [place[window.name] for window in run]
        lower, upper = [window.lower for window in run], [window.upper for window in run]
        # A window alone between gaps has no area: its interval is a line.
        ax.vlines(x, lower, upper, color=style.BLUE, lw=1.0, alpha=0.35)
        ax.fill_between(x, lower, upper, **style.BAND)
        means = [window.mean for window in run]
        ax.plot(x, means, color=style.BLUE, lw=1.4, marker="o", ms=3.5)
    failed = [window for window in one.windows if not window.converged]
    x = [place[window.name] for window in failed]
    ax.plot(x, [window.mean for window in failed], "x", color=style.red(), ms=6, zorder=5)
    step = -(-len(order) // _MOST_NAMES)
    short = distinct(order[::step], 12)
    ax.set_xticks(range(0, len(order), step), [short[name] for name in order[::step]])
    style.as_written(ax.get_xticklabels())
    ax.set_xlim(-0.5, len(order) - 0.5)
    style.dress(ax, grid="y")


def _runs(windows: Sequence[Window], place: dict[str, int]) -> list[list[Window]]:
    """Windows that follow each other without a gap."""
    found: list[list[Window]] = []
    for window in windows:
        if found and place[window.name] == place[found[-1][-1].name] + 1:
            found[-1].append(window)
        else:
            found.append([window])
    return found


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
    figure = style.ground(ax, 1.0 + 3.4 * panels, 3.3)
    axes = style.panels(figure, panels, panels)
    entries = {
        f"mean width of the {percent(plan.prob)} interval": style.line(
            color=style.BLUE, lw=1.6, marker="o", ms=4
        ),
        f"{percent(plan.prob)} of samples": Patch(**style.BAND),
    }
    _draw_width(axes[0], plan)
    if plan.limit is not None:
        _draw_chance(axes[1], plan)
        entries |= {
            f"lies {side} {plan.limit:g}": Patch(color=colour, alpha=0.5, lw=0)
            for side, colour in _SIDES.items()
        }
    return style.legend(figure, entries)


def _draw_width(ax: Axes, plan: LabelPlan) -> None:
    table = plan.table
    ax.fill_between(table.n, table.width_lower, table.width_upper, **style.BAND)
    ax.plot(table.n, table.width, color=style.BLUE, lw=1.6, marker="o", ms=4)
    _dress(ax, plan, f"Width of the interval of {plan.title or plan.var}")
    ax.set_ylim(0, 1.06 * float(table.width_upper.max()) or 1.0)


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
    ax.set_xticklabels([count(n) for n in plan.n])
    ax.set_xlabel("labelled rows")
    style.dress(ax, grid="y")
    style.title(ax, title, fontsize=style.TEXT_SIZE)
