"""Figures of metrics in one posterior: a forest a metric, and the ranks of classifiers."""

from __future__ import annotations

from functools import partial

import xarray as xr

from bayescal.plots.comparison import plot_metrics, plot_ranks
from bayescal.plots.kind import Drawing, Gallery
from bayescal.plots.reliability import has_class_reliability, plot_class_reliability
from bayescal.plots.sensitivity import plot_conclusions
from bayescal.results import access, schema
from bayescal.results.kind import kind_of
from bayescal.results.text import capital

FUNCTIONS = ("plot_metrics", "plot_ranks", "plot_roc", "plot_class_reliability")
MOST_METRICS = 3
MOST_ROWS = 60

plot_refits = partial(plot_conclusions, from_zero=False)


def figures(tree: xr.DataTree, prob: float) -> Gallery:
    """The main metrics, and the probability of each rank by the first."""
    if len(access.cases(tree)) > MOST_ROWS:
        return Gallery()
    kind = kind_of(tree)
    names = kind.variables(tree)
    wide = [_forest(tree, var, prob) for var in names[:MOST_METRICS]]
    if len(access.classifier_names(tree)) > 1:
        ranked = next((name for name in names if kind.higher_is_better(name) is not None), None)
        if ranked is not None:
            caption = "Posterior probability of each rank; the first column is that of being best."
            by = f"Ranks by {kind.title(ranked)}"
            wide.append(Drawing(partial(plot_ranks, tree, ranked), by, caption))
    if has_class_reliability(tree):
        wide += [_reliability(tree, name, prob) for name in access.classifier_names(tree)]
    return Gallery(wide=wide)


def _reliability(tree: xr.DataTree, classifier: str, prob: float) -> Drawing:
    caption = (
        "Accuracy against confidence of the labelled rows of each predicted class, before "
        "calibration and after; with the posterior mean of the calibration error before and after. "
        "These rows are those that the calibration was fitted to."
    )
    draw = partial(plot_class_reliability, tree, classifier, prob=prob)
    return Drawing(draw, f"Reliability of each class, {classifier}", caption)


def _forest(tree: xr.DataTree, var: str, prob: float) -> Drawing:
    name = capital(kind_of(tree).title(var))
    caption = "Posterior mean and intervals."
    if access.has_variable(tree, schema.REFERENCE_ESTIMATES, var):
        caption += (
            " Marks below each interval are reference estimates; where they lie far from it, the "
            "result depends on the model."
        )
    return Drawing(partial(plot_metrics, tree, var, prob), name, caption)
