"""Cases side by side: forests of errors, metrics and differences, and ranks of classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bayescal.core.errors import InputError
from bayescal.core.quantity import ERROR, LESS, METRIC, MORE
from bayescal.core.text import capital, distinct, number, percent, relation, shorten, signed
from bayescal.plots import style
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.compare import RANK, Difference, best, difference
from bayescal.results.intervals import interval
from bayescal.results.measure import chosen_variable, with_measure
from bayescal.results.summary import heading

WIDTH: Final = 7.0
INNER: Final = 0.5
"""Probability of the thick interval."""


class Mark(NamedTuple):
    """How an estimate beside the posterior is drawn: hollow, or of one colour."""

    title: str
    marker: str = "D"
    colour: str = style.VERMILLION
    hollow: bool = True

    @property
    def faces(self) -> dict[str, Any]:
        """Colours of the mark and of its edge."""
        return {
            "facecolor": style.paper() if self.hollow else self.colour,
            "edgecolor": self.colour,
        }


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
    short, found = distinct(labels.values()), {}
    for case in access.cases(tree):
        outer, inner = (access.ends(one, case) for one in ends)
        mean, converged = access.posterior_mean(tree, var, case), access.case_converged(tree, case)
        text = f"{number(mean)} ({number(outer[0])} to {number(outer[1])})"
        text = "undefined" if math.isnan(mean) else text
        text = text if converged else schema.NOT_CONVERGED
        found[case] = Row(short[labels[case]], mean, outer, inner, marks[case], text, converged)
    return found


def draw_forest(
    ax: Axes, rows: Sequence[Row], looks: Mapping[str, Mark], *, below: float = 0.0
) -> None:
    """Draw rows from the top down, their numbers at the right, marks `below` their line."""
    places = range(len(rows))
    colours = [style.BLUE if row.converged else style.red() for row in rows]
    # Lines, not a collection of them, are what a legend on the user's axes keeps clear of.
    for row, at, colour in zip(rows, places, colours, strict=True):
        look: dict[str, Any] = {"color": colour, "solid_capstyle": "butt", "zorder": 2}
        ax.plot(row.outer, (at, at), lw=1.2, **look)
        ax.plot(row.inner, (at, at), lw=4.0, alpha=0.55, **look)
    ax.scatter([row.mean for row in rows], places, s=25, c=colours, clip_on=False, zorder=4)
    for name, mark in looks.items():
        found = [(row.marks[name], at + below) for at, row in enumerate(rows) if name in row.marks]
        if found:
            x, y = zip(*found, strict=True)
            ax.scatter(
                x, y, s=20, marker=mark.marker, lw=1.2, **mark.faces, clip_on=False, zorder=3
            )
    style.dress(ax, grid="x")
    ax.set_ylim(len(rows) - 0.4, -0.6)
    style.name_rows(ax, places, [row.label for row in rows])
    right = ax.secondary_yaxis("right")
    right.set_yticks(places, [row.text for row in rows])
    right.tick_params(axis="y", length=0, labelsize=style.SMALL_SIZE)
    right.spines["right"].set_visible(False)
    for label, row in zip(right.get_yticklabels(), rows, strict=True):
        label.set_color(style.ink() if row.converged else style.red())
        label.set_fontweight("normal" if row.converged else "bold")


def forest_legend(
    figure: style.Ground, prob: float, looks: Sequence[Mark], columns: int = 4
) -> Figure:
    """Explain the marks of a forest."""
    entries = {
        "posterior mean": style.mark(color=style.BLUE, marker="o", ms=5),
        f"{INNER:.0%} interval": style.line(color=style.BLUE, lw=4, alpha=0.55),
        f"{percent(prob)} interval": style.line(color=style.BLUE, lw=1.2),
    }
    for look in looks:
        colours = {f"marker{part}": colour for part, colour in look.faces.items()}
        entries[look.title] = style.mark(marker=look.marker, ms=4.5, **colours)
    return style.legend(figure, entries, columns)


_ROW_INCHES: Final = 0.27
_FRAME_INCHES: Final = 1.35
_PLUG_IN: Final = "plug-in"


def plot_comparison(
    tree: xr.DataTree, var: str | None = None, prob: float = 0.9, *, ax: Axes | None = None
) -> Figure:
    """Draw a forest of the calibration errors of all cases, the smallest at the top.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    var : str, optional
        Which error: "ece", "tce", "mce", or a measure such as "e90"; by default the main one, TCE.
    prob : float, default 0.9
        Posterior probability of the thin interval; the thick one has 50%.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        A row a case: intervals, mean, the paper's estimate as a hollow mark, numbers at the right.

    Raises
    ------
    InputError
        If the result has no such variable.
    """
    tree, shown = style.chosen(tree, var, ERROR, "a forest of calibration errors")
    var = shown.name
    found = access.cases(tree)
    points = {case: access.point(tree, var, case) for case in found}
    marks = {case: {} if at is None else {_PLUG_IN: at} for case, at in points.items()}
    held = case_rows(tree, var, prob, marks, {case: case.label for case in found})
    rows = sorted(held.values(), key=lambda row: row.mean)
    figure, (ax,) = style.panels(ax, 1, 1, WIDTH, _height(rows), style.notes_for(tree, found))
    drawn = access.described(tree, shown.point or shown.name).title
    looks = {_PLUG_IN: Mark(f"plug-in {drawn}")} if any(marks.values()) else {}
    draw_forest(ax, rows, looks)
    right = max(end for row in rows for end in (row.outer[1], *row.marks.values()))
    ax.set(xlim=(0, max(1.05 * right, 1e-6)), xlabel=shown.title)
    return forest_legend(figure, prob, list(looks.values()))


def plot_differences(
    tree: xr.DataTree,
    var: str | None = None,
    prob: float = 0.9,
    *,
    reference: str | None = None,
    class_: str | None = None,
    group: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw a forest of the differences of every classifier's error or metric from one of them.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of several classifiers on the same rows.
    var : str, optional
        Which error, metric or measure; by default the main one.
    prob : float, default 0.9
        Posterior probability of the thin interval; the thick one has 50%.
    reference : str, optional
        The classifier to subtract; by default that of the best mean, or of the smallest.
    class_, group : str, optional
        Which class and group, needed where the result has several.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        A row a classifier; right of 0 its error or metric is larger than the reference's.

    Raises
    ------
    InputError
        If there is a single classifier, or the result does not know how the errors correlate.
    """
    schema.check_result(tree)
    names = access.classifier_names(tree)
    if len(names) < 2:
        raise InputError(
            f"differences need two classifiers; the result has only {names[0]!r}. "
            "Fit several with Scores.stack."
        )
    tree, var = with_measure(tree, var)
    compared = access.main(tree) if var is None else access.described(tree, var)
    var = compared.name
    shown = {name: access.find_case(tree, name, class_, group) for name in names}
    means = {name: access.posterior_mean(tree, var, case) for name, case in shown.items()}
    higher = compared.better == MORE
    best = max if higher else min
    base = best(means, key=means.__getitem__)
    if reference is not None:
        base = access.find_case(tree, reference).classifier
    short = distinct(names)
    rows = []
    for name in (one for one in names if one != base):
        found = partial(difference, tree, name, base, var, class_=class_, group=group)
        fine = all(access.case_converged(tree, shown[one]) for one in (name, base))
        wide = found(prob)
        rows.append(_row(short[name], wide, found(INNER), compared.better, fine))
    rows.sort(key=lambda row: -row.mean if higher else row.mean)
    notes = style.notes_for(tree, list(shown.values()))
    figure, (ax,) = style.panels(ax, 1, 1, WIDTH, _height(rows), notes)
    draw_forest(ax, rows, {})
    ax.axvline(0, color=style.GREY, lw=1, ls=(0, (4, 3)), zorder=1)
    low = min(0.0, *(row.outer[0] for row in rows))
    high = max(0.0, *(row.outer[1] for row in rows))
    margin = max(0.05 * (high - low), 1e-6)
    ax.set_xlim(low - margin, high + margin)
    # Names and numbers leave little width, and small differences have long tick labels.
    ax.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
    where = ", ".join(shorten(value) for value in (class_, group) if value is not None)
    # Of metrics of the curve the differences are of the labelled rows, which their title says.
    name = f"{wide.title} minus that of {short[base]}"
    ax.set_xlabel(f"{name} ({where})" if where else name)
    return forest_legend(figure, prob, [])


def _height(rows: Sequence[Row]) -> float:
    return _ROW_INCHES * len(rows) + _FRAME_INCHES


def _row(
    label: str, wide: Difference, narrow: Difference, better: str | None, converged: bool
) -> Row:
    larger = wide.prob_first_larger
    worse = 1 - larger - wide.prob_equal if better == MORE else larger
    chance = f"P({'worse' if better else 'larger'}) {relation(worse)}"
    ends = f"{signed(wide.mean)} ({signed(wide.lower)} to {signed(wide.upper)})"
    text = f"{ends}, {chance}" if converged else schema.NOT_CONVERGED
    outer, inner = ((one.lower, one.upper) for one in (wide, narrow))
    return Row(label, wide.mean, outer, inner, {}, text, converged)


_METRIC_INCHES: Final = 0.42
_HEAD_INCHES: Final = 0.3
_METRIC_FRAME_INCHES: Final = 1.4
_BELOW: Final = 0.27
_SHORT: Final = 26
_MOST_WRITTEN: Final = 15
"""Ranks up to which probabilities are written into the cells."""
_WRITTEN_FROM: Final = 0.005
_POINT: Final = "point estimate"
_KNOWN: Final = {
    "ensemble": Mark("ensemble, no fit", "s", style.GREY),
    "labeled": Mark("labelled rows alone", "^", style.ORANGE, hollow=False),
}
_OTHERS: Final = ("v", "P", "X", "p", "*")
"""Markers of reference estimates by any other method."""
_SHADES: Final = LinearSegmentedColormap.from_list("to blue", [f"{style.BLUE}00", style.BLUE])


def plot_metrics(
    tree: xr.DataTree, var: str | None = None, prob: float = 0.9, *, ax: Axes | None = None
) -> Figure:
    """Draw a forest of a metric of all classifiers, the best at the top.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with metrics, such as of `bayescal.ssme`, or with a calibration curve.
    var : str, optional
        Metric: of `bayescal.ssme` accuracy, ece, auc, auprc, mce, log_loss or brier; of a
        calibration curve a measure such as "slope" or "brier". By default the main one.
    prob : float, default 0.9
        Posterior probability of the thin interval; the thick one has 50%.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        A row a classifier, a panel a class and group: intervals and posterior mean, and below them
        the point estimate and reference estimates as marks, where the result has them.

    Raises
    ------
    InputError
        If the result is of another kind, or has no such metric.
    """
    tree, metric = style.chosen(tree, var, METRIC, "a forest of metrics")
    var = metric.name
    found = access.cases(tree)
    marks = {case: _marks(tree, var, case) for case in found}
    panels = _panels(tree, var, prob, marks)
    heads = _HEAD_INCHES * len(panels) if len(panels) > 1 else 0.0
    height = _METRIC_INCHES * len(found) + heads + _METRIC_FRAME_INCHES
    notes = style.notes_for(tree, found)
    ratios = [len(rows) for rows in panels.values()]
    figure, axes = style.panels(
        ax, len(panels), 1, WIDTH, height, notes, sharex=True, height_ratios=ratios
    )
    methods = list(dict.fromkeys(name for one in marks.values() for name in one))
    looks = _looks(access.point_label(tree), methods)
    short = distinct(panels)
    for ax, (name, shown) in zip(axes, panels.items(), strict=True):
        draw_forest(ax, shown, looks, below=_BELOW)
        if len(panels) > 1:
            style.title(ax, short[name], fontsize=style.TEXT_SIZE)
    axes[-1].set_xlim(*_ends([row for shown in panels.values() for row in shown]))
    better = {MORE: " (higher is better)", LESS: " (lower is better)", None: ""}
    axes[-1].set_xlabel(f"{capital(heading(metric))}{better[metric.better]}")
    return forest_legend(figure, prob, list(looks.values()), columns=3)


def plot_ranks(tree: xr.DataTree, var: str | None = None, *, ax: Axes | None = None) -> Figure:
    """Draw the posterior probability of each rank of each classifier.

    Parameters
    ----------
    tree : xarray.DataTree
        A result with metrics, such as of `bayescal.ssme`, of two classifiers or more.
    var : str, optional
        Metric to rank by; by default the main one. See `bayescal.best`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw on, where there is one panel; those of a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        A row a classifier, a column a rank, a panel a class and group; darker is more probable.

    Raises
    ------
    InputError
        If the result is of another kind, has no such metric, or only one classifier.
    """
    tree, var = chosen_variable(tree, var)
    found = best(tree, var).prob_rank
    lead = [dim for dim in found.dims if dim not in (schema.CLASSIFIER, RANK)]
    panels = found.stack(panel=lead) if lead else found.expand_dims("panel")
    panels = panels.transpose("panel", schema.CLASSIFIER, RANK)
    n, size = found.sizes[schema.CLASSIFIER], panels.sizes["panel"]
    width = max(min(2, size) * (1.6 + min(0.42 * n, 7.0)), 4.8)
    notes = style.notes_for(tree, access.cases(tree))
    figure, axes = style.panels(ax, size, 2, width, 0.5, notes, tall=0.3 * n + 0.75)
    places = [", ".join(f"{panel[dim].item()}" for dim in lead) for panel in panels]
    short = distinct(places, _SHORT)
    for ax, panel, where in zip(axes, panels, places, strict=True):
        _draw_ranks(ax, panel)
        if where:
            style.title(ax, short[where], fontsize=style.TEXT_SIZE)
    drawn = style.figure_of(figure)
    # Wider than a panel may be: of several the whole figure has it.
    label = drawn.supxlabel if size > 1 else axes[0].set_xlabel
    what = access.described(tree, var).title
    label(f"Rank by {what}, 1 is best", fontsize=style.TEXT_SIZE, parse_math=False)
    return drawn


def _panels(
    tree: xr.DataTree, var: str, prob: float, marks: dict[ResultSlice, dict[str, float]]
) -> dict[str, list[Row]]:
    """Rows by class, group and prior, the best first."""
    labels = {case: case.classifier for case in marks}
    panels: dict[str, list[Row]] = {}
    for case, row in case_rows(tree, var, prob, marks, labels).items():
        place = ", ".join(filter(None, (*case.names[1:], case.prior)))
        panels.setdefault(place, []).append(row)
    sign = -1 if access.described(tree, var).better == MORE else 1
    for rows in panels.values():
        rows.sort(key=lambda row: math.inf if math.isnan(row.mean) else sign * row.mean)
    return panels


def _marks(tree: xr.DataTree, var: str, case: ResultSlice) -> dict[str, float]:
    point = access.point(tree, var, case)
    found = {_POINT: point} if point is not None else {}
    found |= access.reference_estimates(tree, var, case)
    return {name: at for name, at in found.items() if not math.isnan(at)}


def _looks(point: str, names: Sequence[str]) -> dict[str, Mark]:
    """How each estimate is drawn; a method that is not known here takes the next free marker."""
    free = iter(_OTHERS)
    return {
        name: Mark(point)
        if name == _POINT
        else _KNOWN.get(name) or Mark(name, next(free, "."), style.GREY, hollow=False)
        for name in names
    }


def _ends(rows: Sequence[Row]) -> tuple[float, float]:
    """Limits around all that is drawn; not beyond 0 or 1 where nothing is."""
    drawn = [value for row in rows for value in (*row.outer, *row.marks.values())]
    drawn = [value for value in drawn if not math.isnan(value)] or [0.0, 1.0]
    margin = max(0.05 * (max(drawn) - min(drawn)), 0.005)
    top = 1.0 if max(drawn) <= 1.0 else math.inf
    bottom = 0.0 if min(drawn) >= 0.0 else -math.inf
    return max(min(drawn) - margin, bottom), min(max(drawn) + margin, top)


def _draw_ranks(ax: Axes, shares: xr.DataArray) -> None:
    """One panel: classifiers by their expected rank, cells shaded from white to blue."""
    n = shares.sizes[RANK]
    values = shares.values
    expected = values @ shares[RANK].values
    order = sorted(range(n), key=lambda k: expected[k])
    shown = values[order]
    ax.imshow(shown, cmap=_SHADES, vmin=0, vmax=1, aspect="auto")
    names = [str(shares[schema.CLASSIFIER].values[k]) for k in order]
    short = distinct(names, _SHORT)
    style.name_rows(ax, range(n), [short[name] for name in names])
    style.dress(ax)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    step = -(-n // _MOST_WRITTEN)
    ax.set_xticks(range(0, n, step), [str(k + 1) for k in range(0, n, step)])
    if n > _MOST_WRITTEN:
        return
    for row, column in ((i, j) for i in range(n) for j in range(n)):
        value = shown[row, column]
        if value >= _WRITTEN_FROM:
            ax.text(
                column,
                row,
                "> .99" if value > 0.995 else f"{value:.2f}".removeprefix("0"),
                ha="center",
                va="center",
                fontsize=style.SMALL_SIZE - 0.5,
                color=style.ON_COLOUR if value > 0.85 else style.ink(),
            )
