"""Calibrated probabilities of new rows, from a result."""

from __future__ import annotations

import xarray as xr
from numpy.typing import ArrayLike

from bayescal.core.checks import check_known
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.logits import as_logits
from bayescal.quantities.temperature.predictive import mean_probabilities
from bayescal.results import access, schema


def calibrate(
    result: xr.DataTree,
    logits: ArrayLike,
    *,
    classifier: str | None = None,
    scale: str = "logits",
) -> Floats:
    """Compute posterior-predictive probabilities of the classes of new rows.

    Parameters
    ----------
    result : xarray.DataTree
        Of ``bayescal.fit(bayescal.temperature, ...)``, also one loaded from a file.
    logits : array-like of shape (obs,), (obs, 1) or (obs, class)
        Logits of the classifier, or its probabilities with ``scale="probabilities"``; columns in
        the order of the result's classes. One column is that of the second of two classes.
    classifier : str, optional
        Which of several classifiers of the result.
    scale : {"logits", "probabilities"}, default "logits"
        What rows hold.

    Returns
    -------
    ndarray of shape (obs, class), in [0, 1]
        Probabilities; rows sum to 1. The most probable class is that of the largest logit.

    Raises
    ------
    InputError
        If the result is of another quantity, columns do not fit, or the classifier is unknown.

    Notes
    -----
    ``P(j | z) = E[softmax(alpha_k z)_j]`` with k the predicted class, over the posterior of
    alpha_k: its draws are replaced by 16 points of equal probability.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.temperature.truth("heterogeneous").scores(500, seed=1)
    >>> result = bc.fit(bc.temperature, scores, method="direct", seed=20)
    >>> bc.temperature.calibrate(result, [[4.0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]).shape
    (1, 10)
    """
    schema.check_result(result)
    if result.attrs["quantity"] != "temperature":
        raise InputError(
            "calibrate takes a result of temperature; this one is of "
            f"{result.attrs['quantity']}. Pass what bayescal.fit(bayescal.temperature, ...) gave."
        )
    log_alpha = _draws(result, classifier)
    found = as_logits(logits, scale, "logits")
    if found.shape[1] != log_alpha.shape[-1]:
        raise InputError(
            f"logits must have {log_alpha.shape[-1]} columns, one for each class of the result; "
            f"got {found.shape[1]}."
        )
    return mean_probabilities(found, log_alpha)


def _draws(result: xr.DataTree, classifier: str | None) -> Floats:
    """Log alphas of the classifier, (draw, class)."""
    names = access.classifier_names(result)
    if access.is_prior_grid(result):
        raise InputError("calibrate takes one fit; this result has one for each of several priors.")
    if classifier is None and len(names) > 1:
        raise InputError(f"classifier must be one of the result's; choose from {names}.")
    chosen = names[0] if classifier is None else classifier
    check_known(chosen, names, "classifier", "the result")
    case = access.find_case(result, chosen)
    return access.flat_draws(result, "log_alpha", case)
