"""Figures of metrics in one posterior: a forest a metric, and the ranks of classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import xarray as xr

from bayescal.plots.kinds import Drawing, Gallery
from bayescal.plots.metrics import plot_metrics, plot_ranks
from bayescal.plots.sensitivity import drawn_refits, plot_conclusions
from bayescal.results import schema
from bayescal.results.kinds import kind_of
from bayescal.results.metrics import metric_title

FUNCTIONS = ("plot_metrics", "plot_ranks")
MOST_METRICS = 3
MOST_ROWS = 60

plot_refits = partial(plot_conclusions, from_zero=False)


def figures(tree: xr.DataTree, prob: float) -> Gallery:
    """The main metrics, and the probability of each rank by the first."""
    if len(schema.cases(tree)) > MOST_ROWS:
        return Gallery()
    names = kind_of(tree).variables(tree)
    wide = [_forest(tree, var, prob) for var in names[:MOST_METRICS]]
    if names and len(schema.classifier_names(tree)) > 1:
        caption = "Posterior probability of each rank; the first column is that of being best."
        by = f"Ranks by {metric_title(names[0])}"
        wide.append(Drawing(partial(plot_ranks, tree, names[0]), by, caption))
    return Gallery(wide=wide)


def sensitivity(tree: xr.DataTree, prob: float) -> list[Drawing]:
    """Refits of a grid."""
    return drawn_refits(tree, prob) if schema.is_prior_grid(tree) else []


def warning(tree: xr.DataTree, shown: Sequence[schema.Case]) -> str:
    """The status says all."""
    return ""


def _forest(tree: xr.DataTree, var: str, prob: float) -> Drawing:
    title = metric_title(var)
    name = f"{title[0].upper()}{title[1:]}"
    caption = "Posterior mean and intervals."
    if schema.has_variable(tree, schema.REFERENCE_ESTIMATES, var):
        caption += (
            " Marks below each interval are reference estimates; where they lie far from it, the "
            "result depends on the model."
        )
    return Drawing(partial(plot_metrics, tree, var, prob), name, caption)
