"""Calibration errors side by side, and differences of classifiers on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import xarray as xr
from matplotlib.figure import Figure

from bayescal.core.errors import InputError
from bayescal.plots import style
from bayescal.plots.forest import INNER, WIDTH, Mark, Row, case_rows, draw_forest, forest_legend
from bayescal.plots.kind import check_kind
from bayescal.results import access, schema
from bayescal.results.difference import Difference, difference
from bayescal.results.kind import kind_of
from bayescal.results.text import relation, signed

_ROW_INCHES: Final = 0.27
_FRAME_INCHES: Final = 1.35
_PLUG_IN: Final = "plug-in"


def plot_comparison(tree: xr.DataTree, var: str = "ece", prob: float = 0.9) -> Figure:
    """Draw a forest of the calibration errors of all cases, the smallest at the top.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    var : {"ece", "tce", "mce"}
        Which error.
    prob : float
        Posterior probability of the thin interval; the thick one has 50%.

    Returns
    -------
    matplotlib.figure.Figure
        A row a case: intervals, model-averaged mean, the paper's estimate as a hollow mark, and
        the numbers at the right.

    Raises
    ------
    InputError
        If the result has no such variable.
    """
    check_kind(tree, "errors", "a forest of calibration errors")
    found = access.cases(tree)
    points = {case: access.scalar(tree, schema.POINT_ESTIMATE, var, case) for case in found}
    marks = {case: {} if at is None else {_PLUG_IN: at} for case, at in points.items()}
    held = case_rows(tree, var, prob, marks, {case: case.label for case in found})
    rows = sorted(held.values(), key=lambda row: row.mean)
    figure = style.new_figure(WIDTH, _height(rows), style.notes_for(tree, found))
    ax = figure.subplots()
    looks = {_PLUG_IN: Mark(f"plug-in {var.upper()}")} if any(marks.values()) else {}
    draw_forest(ax, rows, looks)
    right = max(end for row in rows for end in (row.outer[1], *row.marks.values()))
    ax.set_xlim(0, max(1.05 * right, 1e-6))
    ax.set_xlabel(var.upper())
    forest_legend(figure, prob, list(looks.values()))
    return figure


def plot_differences(
    tree: xr.DataTree,
    var: str = "tce",
    prob: float = 0.9,
    *,
    reference: str | None = None,
    class_: str | None = None,
    group: str | None = None,
) -> Figure:
    """Draw a forest of the differences of every classifier's error or metric from one of them.

    Parameters
    ----------
    tree : xarray.DataTree
        A result of several classifiers on the same rows.
    var : {"tce", "ece", "mce"}
        Which error; of a result with metrics, any of them.
    prob : float
        Posterior probability of the thin interval; the thick one has 50%.
    reference : str, optional
        The classifier to subtract; the best by its mean by default.
    class_, group : str, optional
        Which class and group, needed where the result has several.

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
    shown = {name: access.find_case(tree, name, class_, group) for name in names}
    means = {name: access.averaged_mean(tree, var, case) for name, case in shown.items()}
    kind = kind_of(tree)
    higher = bool(kind.higher_is_better(var))
    best = max if higher else min
    base = (
        access.find_case(tree, reference).classifier
        if reference is not None
        else best(means, key=means.__getitem__)
    )
    rows = [
        _row(
            *(
                difference(tree, name, base, var, share, class_=class_, group=group)
                for share in (prob, INNER)
            ),
            higher=higher,
            converged=all(access.case_converged(tree, shown[one]) for one in (name, base)),
        )
        for name in names
        if name != base
    ]
    rows.sort(key=lambda row: -row.mean if higher else row.mean)
    figure = style.new_figure(WIDTH, _height(rows), style.notes_for(tree, list(shown.values())))
    ax = figure.subplots()
    draw_forest(ax, rows, {})
    ax.axvline(0, color=style.GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    low = min(0.0, *(row.outer[0] for row in rows))
    high = max(0.0, *(row.outer[1] for row in rows))
    margin = max(0.05 * (high - low), 1e-6)
    ax.set_xlim(low - margin, high + margin)
    where = ", ".join(style.shorten(value) for value in (class_, group) if value is not None)
    name = f"{kind.title(var)} minus that of {style.shorten(base)}"
    ax.set_xlabel(f"{name} ({where})" if where else name, parse_math=False)
    forest_legend(figure, prob, [])
    return figure


def _height(rows: Sequence[Row]) -> float:
    return _ROW_INCHES * len(rows) + _FRAME_INCHES


def _row(wide: Difference, narrow: Difference, *, higher: bool, converged: bool) -> Row:
    larger = wide.prob_first_larger
    worse = 1 - larger - wide.prob_equal if higher else larger
    ends = f"{signed(wide.mean)} ({signed(wide.lower)} to {signed(wide.upper)})"
    return Row(
        label=style.shorten(wide.first),
        mean=wide.mean,
        outer=(wide.lower, wide.upper),
        inner=(narrow.lower, narrow.upper),
        marks={},
        text=f"{ends}, P(worse) {relation(worse)}" if converged else schema.NOT_CONVERGED,
        converged=converged,
    )
