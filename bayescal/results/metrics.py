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
    """Whether one posterior holds the metrics of all classifiers, draw by draw on the same rows.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.

    Returns
    -------
    bool
        True for fits of `bayescal.ssme`; False where each classifier was fitted on its own.
    """
    return schema.has_variable(tree, schema.POSTERIOR, "accuracy")


def metrics_of(tree: xr.DataTree) -> list[str]:
    """List the metrics of a joint result.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.

    Returns
    -------
    list of str
        Names in the order of tables; empty for results of other kinds.
    """
    if not is_joint(tree):
        return []
    return [name for name in METRICS if schema.has_variable(tree, schema.POSTERIOR, name)]


def check_metric(tree: xr.DataTree, var: str) -> None:
    """Check that a joint result holds a metric.

    Parameters
    ----------
    tree : xarray.DataTree
        A joint result.
    var : str
        What is asked for.

    Raises
    ------
    InputError
        If it is not one of the result's metrics.
    """
    found = metrics_of(tree)
    if var not in found:
        raise InputError(
            f"var must be a metric of the result; got {var!r}. Choose from {', '.join(found)}."
        )


def metric_title(var: str) -> str:
    """Name a metric in running text.

    Parameters
    ----------
    var : str
        Its variable.

    Returns
    -------
    str
        "accuracy", "AUC", "log loss".

    Examples
    --------
    >>> metric_title("log_loss"), metric_title("ece")
    ('log loss', 'ECE')
    """
    return _TITLES.get(var, var.replace("_", " "))


def check_joint(tree: xr.DataTree, what: str) -> None:
    """Refuse results in which classifiers were fitted one by one.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    what : str
        What is asked for, as the subject of a sentence.

    Raises
    ------
    InputError
        If the result is none of one posterior for all classifiers.
    """
    schema.check_result(tree)
    if not is_joint(tree):
        raise InputError(
            f"{what} needs the metrics of all classifiers in one posterior; this result holds "
            f"{tree.attrs['quantity']!r}. Pass what bayescal.fit(bayescal.ssme, ...) returned."
        )


def check_separate(tree: xr.DataTree, what: str) -> None:
    """Refuse results that hold the metrics of several classifiers in one posterior.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    what : str
        What is asked for, as the subject of a sentence.

    Raises
    ------
    InputError
        If the result has no calibration error with bins of its own, but metrics.
    """
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
