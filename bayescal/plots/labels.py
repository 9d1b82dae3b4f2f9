"""A plan of labels: how wide the interval will be, and how probably it excludes a limit."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from bayescal.core.checks import check_is
from bayescal.plots import style
from bayescal.results.label_plan import ENOUGH, LabelPlan
from bayescal.results.text import count, percent

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
