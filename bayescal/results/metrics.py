"""Names that plots, report and command line still import; to be removed with those imports."""

from __future__ import annotations

import xarray as xr

from bayescal.results.kind import check_variable, kind_name, kind_of, require_kind
from bayescal.results.kinds.metrics import HIGHER, LOWER
from bayescal.results.kinds.metrics import ORDER as METRICS
from bayescal.results.text import variable_title as metric_title

__all__ = [
    "HIGHER",
    "LOWER",
    "METRICS",
    "check_joint",
    "check_metric",
    "check_separate",
    "is_joint",
    "metric_title",
    "metrics_of",
]

check_metric = check_variable


def is_joint(tree: xr.DataTree) -> bool:
    """Use `kind_of` instead."""
    return kind_name(tree) == "metrics"


def metrics_of(tree: xr.DataTree) -> list[str]:
    """Use `kind_of(tree).variables` instead."""
    return kind_of(tree).variables(tree) if is_joint(tree) else []


def check_joint(tree: xr.DataTree, what: str) -> None:
    """Use `require_kind` instead."""
    require_kind(tree, "metrics", what, "Use bayescal.summary instead.")


def check_separate(tree: xr.DataTree, what: str) -> None:
    """Use `require_kind` instead."""
    remedies = {"metrics": "plot_metrics or plot_ranks", "rows": "plot_probability, plot_decisions"}
    remedy = remedies.get(kind_name(tree), "summary")
    require_kind(tree, "errors", what, f"Draw it with bayescal.plots.{remedy}.")
