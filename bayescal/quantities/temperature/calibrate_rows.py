"""Calibrated probabilities of new rows, from a result."""

from __future__ import annotations

import xarray as xr
from numpy.typing import ArrayLike

from bayescal.core.checks import check_known
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.logits import as_logits
from bayescal.quantities.temperature.predictive import (
    Scalings,
    mean_probabilities,
    scalings_of,
)
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice


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
        Probabilities; rows sum to 1. The most probable class is that of the largest logit, unless
        vector scaling has a weight.

    Raises
    ------
    InputError
        If the result is of another quantity, columns do not fit, or the classifier is unknown.

    Notes
    -----
    ``P(j | z) = E[softmax(alpha_k z)_j]`` with k the predicted class, over the posterior of
    alpha_k: its draws are replaced by 16 points of equal probability. Vector scaling adds
    ``E[softmax(coef * z + shift)_j]``, of 128 draws, with its posterior probability as weight.

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
    case = _case(result, classifier)
    found = as_logits(logits, scale, "logits")
    log_alpha = access.flat_draws(result, "log_alpha", case)
    if found.shape[1] != log_alpha.shape[-1]:
        raise InputError(
            f"logits must have {log_alpha.shape[-1]} columns, one for each class of the result; "
            f"got {found.shape[1]}."
        )
    return mean_probabilities(found, log_alpha, _scalings(result, case))


def _case(result: xr.DataTree, classifier: str | None) -> ResultSlice:
    """The classifier's part of the result."""
    names = access.classifier_names(result)
    if access.is_prior_grid(result):
        raise InputError("calibrate takes one fit; this result has one for each of several priors.")
    if classifier is None and len(names) > 1:
        raise InputError(f"classifier must be one of the result's; choose from {names}.")
    chosen = names[0] if classifier is None else classifier
    check_known(chosen, names, "classifier", "the result")
    return access.find_case(result, chosen)


def _scalings(result: xr.DataTree, case: ResultSlice) -> Scalings | None:
    """Draws of vector scaling, where it was fitted."""
    if not access.has_variable(result, schema.POSTERIOR, "shift"):
        return None
    weight = access.variable(result, schema.MODEL_AVERAGE, "weight", case).values
    draws = {name: access.flat_draws(result, name, case) for name in ("log_coef", "shift")}
    return scalings_of(draws, weight)
