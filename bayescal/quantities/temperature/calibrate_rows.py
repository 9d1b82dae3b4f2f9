"""Calibrated probabilities of new rows, from a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayescal.core.checks import check_choice, check_known, listing
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.logits import INPUTS, as_logits, column_names, places_of
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
    classes: Sequence[Any] | None = None,
    scale: str | None = None,
) -> Floats:
    """Compute posterior-predictive probabilities of the classes of new rows.

    Parameters
    ----------
    result : xarray.DataTree
        Of ``bayescal.fit(bayescal.temperature, ...)``, also one loaded from a file.
    logits : array-like or DataFrame of shape (obs,), (obs, 1) or (obs, class)
        Logits or probabilities of the classifier, whichever the result was fitted to. Columns of a
        table are taken by their names, in any order; those of an array are in the order of the
        result's classes, unless `classes` says otherwise. One column is that of the second of two
        classes.
    classifier : str, optional
        Which of several classifiers of the result.
    classes : sequence of labels, optional
        The class of each column, for columns in another order or with other names.
    scale : {"logits", "probabilities"}, optional
        What rows hold: what the result was fitted to, and refused if it is something else.

    Returns
    -------
    ndarray of shape (obs, class), in [0, 1]
        Probabilities; rows sum to 1. The most probable class is that of the largest logit, unless
        vector scaling has a weight.

    Raises
    ------
    InputError
        If the result is of another quantity, columns or `classes` are not its classes, rows are on
        another scale than those it was fitted to, or the classifier is unknown.

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
    fitted = _scale(result, scale)
    found = as_logits(logits, fitted, "logits" if fitted == "logits" else "rows")
    known = access.json_attribute(result, "classes")
    if found.shape[1] != len(known):
        raise InputError(
            f"logits must have {len(known)} columns, one for each class of the result; "
            f"got {found.shape[1]}."
        )
    named = column_names(logits) if classes is None else [str(name) for name in classes]
    if named is not None and (classes is not None or len(named) > 1):
        # As they lie in memory without names, so that sums are the same to the last digit.
        found = np.ascontiguousarray(found[:, _order(named, known)])
    log_alpha = access.flat_draws(result, "log_alpha", case)
    return mean_probabilities(found, log_alpha, _scalings(result, case))


def _scale(result: xr.DataTree, scale: str | None) -> str:
    """What the result was fitted to, which the rows must be too."""
    if scale is not None:
        check_choice(scale, INPUTS, "scale")
    fitted = str(result.attrs.get("input_scale", scale or "logits"))
    if scale is None or scale == fitted:
        return fitted
    remedy = {
        "logits": "Pass the logarithms of the probabilities",
        "probabilities": "Pass the softmax of the logits",
    }
    raise InputError(
        f"rows must hold {fitted}, as those that the result was fitted to; got scale={scale!r}. "
        f"{remedy[fitted]}, or leave scale out."
    )


def _order(named: list[str], known: Sequence[str]) -> list[int]:
    """Places of the result's classes among columns."""
    found = places_of(named, known)
    if found is None:
        raise InputError(
            f"columns must be the classes of the result, {listing(known)}, in any order; got "
            f"{listing(named)}. Name the class of each column: classes=[...]."
        )
    return found


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
