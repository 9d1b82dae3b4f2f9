"""Calibration error over time, with its band: a panel a series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from bayescal.plots import style
from bayescal.results.summary import Series, Window
from bayescal.results.text import percent

COLUMNS: Final = 2
MOST_PANELS: Final = 24
_WIDTH, _HEIGHT = 8.0, 2.1
_MOST_NAMES: Final = 7


def draw_windows(series: Sequence[Series], order: Sequence[str], prob: float) -> Figure:
    """Draw the posterior mean and the interval of every window, on one scale."""
    shown = series[:MOST_PANELS]
    columns = min(COLUMNS, len(shown))
    rows = -(-len(shown) // columns)
    figure = style.new_figure(_WIDTH, rows * _HEIGHT + 0.6)
    top = max(window.upper for one in shown for window in one.windows)
    for at, (ax, one) in enumerate(
        zip(style.panels(figure, len(shown), columns, sharex=True, sharey=True), shown, strict=True)
    ):
        _panel(ax, one, order)
        ax.set_ylim(0, 1.05 * top)
        if at % columns == 0:
            ax.set_ylabel("calibration error")
    style.legend(
        figure,
        {
            "posterior mean": style.line(color=style.BLUE, linewidth=1.4, marker="o", markersize=4),
            f"{percent(prob)} interval": Patch(color=style.BLUE, alpha=0.22, linewidth=0),
            "not converged": style.mark(color=style.RED, marker="x", markersize=6),
        },
        3,
    )
    return figure


def _panel(ax: Axes, one: Series, order: Sequence[str]) -> None:
    place = {name: at for at, name in enumerate(order)}
    for run in _runs(one.windows, place):
        x = [place[window.name] for window in run]
        lower, upper = [window.lower for window in run], [window.upper for window in run]
        # A window alone between gaps has no area: its interval is a line.
        ax.vlines(x, lower, upper, color=style.BLUE, linewidth=1.0, alpha=0.35)
        ax.fill_between(x, lower, upper, color=style.BLUE, alpha=0.22, linewidth=0)
        means = [window.mean for window in run]
        ax.plot(x, means, color=style.BLUE, linewidth=1.4, marker="o", markersize=3.5)
    failed = [window for window in one.windows if not window.converged]
    x = [place[window.name] for window in failed]
    ax.plot(x, [window.mean for window in failed], "x", color=style.RED, markersize=6, zorder=5)
    step = -(-len(order) // _MOST_NAMES)
    ax.set_xticks(range(0, len(order), step), [style.shorten(name, 12) for name in order[::step]])
    style.as_written(ax.get_xticklabels())
    ax.set_xlim(-0.5, len(order) - 0.5)
    style.dress(ax, grid="y")
    style.title(ax, style.shorten(one.name), fontsize=style.TEXT_SIZE)


def _runs(windows: Sequence[Window], place: dict[str, int]) -> list[list[Window]]:
    """Windows that follow each other without a gap."""
    found: list[list[Window]] = []
    for window in windows:
        if found and place[window.name] == place[found[-1][-1].name] + 1:
            found[-1].append(window)
        else:
            found.append([window])
    return found
