"""Results that hold metrics of several classifiers from one joint posterior, and what is better."""

from __future__ import annotations

from typing import Final

import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import schema
from bayescal.results.credal_rows import is_credal

HIGHER: Final = ("accuracy", "auc", "auprc")
"""Metrics of which more is better."""
LOWER: Final = ("ece", "mce", "log_loss", "brier")
"""Metrics of which less is better."""
METRICS: Final = ("accuracy", "ece", "auc", "auprc", "mce", "log_loss", "brier")
"""In the order of tables."""

_TITLES: Final = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "auprc": "AUPRC",
    "brier": "Brier score",
    "ece": "ECE",
    "log_loss": "log loss",
    "mce": "MCE",
    "tce": "TCE",
}


def is_joint(tree: xr.DataTree) -> bool:
    """Whether one posterior holds the metrics of all classifiers, draw by draw on the same rows."""
    return schema.has_variable(tree, schema.POSTERIOR, "accuracy")


def metrics_of(tree: xr.DataTree) -> list[str]:
    """List the metrics of a joint result."""
    if not is_joint(tree):
        return []
    return [name for name in METRICS if schema.has_variable(tree, schema.POSTERIOR, name)]


def check_metric(tree: xr.DataTree, var: str) -> None:
    """Check that a joint result holds a metric."""
    found = metrics_of(tree)
    if var not in found:
        raise InputError(
            f"var must be a metric of the result; got {var!r}. Choose from {', '.join(found)}."
        )


def metric_title(var: str) -> str:
    """Name a metric in running text."""
    return _TITLES.get(var, var.replace("_", " "))


def check_joint(tree: xr.DataTree, what: str) -> None:
    """Refuse results in which classifiers were fitted one by one."""
    schema.check_result(tree)
    if not is_joint(tree):
        raise InputError(
            f"{what} needs the metrics of all classifiers in one posterior; this result holds "
            f"{tree.attrs['quantity']!r}. Pass what bayescal.fit(bayescal.ssme, ...) returned."
        )


def check_separate(tree: xr.DataTree, what: str) -> None:
    """Refuse results that hold the metrics of several classifiers in one posterior."""
    schema.check_result(tree)
    if is_joint(tree):
        raise InputError(
            f"{what} needs a calibration fit; this result holds metrics of several classifiers in "
            "one posterior. Draw it with bayescal.plots.plot_metrics or plot_ranks."
        )
    if is_credal(tree):
        raise InputError(
            f"{what} needs a calibration fit; this result holds class probabilities row by row. "
            "Draw it with bayescal.plots.plot_probability, plot_decisions or plot_credal_sets."
        )
