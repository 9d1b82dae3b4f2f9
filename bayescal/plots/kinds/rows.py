"""Figures of class probabilities row by row: curves, decisions, credal sets."""

from __future__ import annotations

from functools import partial

import xarray as xr
from matplotlib.figure import Figure

from bayescal.plots.kind import Drawing, Gallery
from bayescal.plots.rows import (
    plot_credal_sets,
    plot_decisions,
    plot_probability,
    plot_row_sensitivity,
)
from bayescal.plots.sensitivity import plot_conclusions
from bayescal.plots.style import shorten
from bayescal.results import access
from bayescal.results.access import ResultSlice
from bayescal.results.rows import VAR
from bayescal.results.text import percent

FUNCTIONS = ("plot_probability", "plot_decisions", "plot_credal_sets")
MOST_FIGURES = 8
MOST_CURVES = 4


def figures(tree: xr.DataTree, prob: float) -> Gallery:
    """Of the first classifiers, probabilities against scores, and decisions or credal sets."""
    classes = [str(name) for name in access.json_attribute(tree, "classes")]
    binary = len(classes) == 2
    curves = classes[1:] if binary else classes[: MOST_CURVES - 1]
    cases = access.cases(tree)
    shown = cases[: max(MOST_FIGURES // (len(curves) + 1), 1)]
    of_rows = _decisions if binary else _sets
    left = len(cases) - len(shown)
    return Gallery(
        columns=[_curve(tree, case, name, prob) for case in shown for name in curves],
        wide=[of_rows(tree, case, prob) for case in shown],
        note=f"Figures of the first classifiers; bayescal.plots draws the other {left}."
        if left
        else "",
    )


def plot_refits(tree: xr.DataTree, var: str | None, prob: float, threshold: float | None) -> Figure:
    """Bounds of a few rows under each prior, or a variable with one number a case."""
    shown = tree.attrs.get("conclusion_var", VAR) if var is None else var
    if isinstance(shown, str) and shown == VAR:
        return plot_row_sensitivity(tree, prob)
    return plot_conclusions(tree, var, prob, threshold, from_zero=False)


def _curve(tree: xr.DataTree, case: ResultSlice, class_: str, prob: float) -> Drawing:
    name = shorten(case.title)
    return Drawing(
        partial(plot_probability, tree, case.classifier, class_, prob),
        f"Probability of {shorten(class_)}, {name}",
        f"At each score, the {percent(prob)} bounds of the probability of the class given the "
        "score. The steps are p0 and p1, which are not bounds of it.",
        f"Probability of {shorten(class_)} against the score of {name}, with posterior bounds.",
    )


def _decisions(tree: xr.DataTree, case: ResultSlice, prob: float) -> Drawing:
    return Drawing(
        partial(plot_decisions, tree, case.classifier, None, prob),
        f"Decisions, {shorten(case.title)}",
        "Rows in order of their score. A row whose bounds contain one half is open: either class "
        "may be the more probable one.",
    )


def _sets(tree: xr.DataTree, case: ResultSlice, prob: float) -> Drawing:
    return Drawing(
        partial(plot_credal_sets, tree, None, case.classifier, prob),
        f"Credal sets, {shorten(case.title)}",
        "Class probabilities between the bounds, from the most certain row to the most open one.",
    )
