"""Calibrated probabilities of rows, averaged over the draws of a posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import softmax

from bayescal.core.bins.binning import Binning
from bayescal.core.checks import check_choice, check_known, listing
from bayescal.core.errors import InputError
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.temperature.data import Problem, Rows
from bayescal.quantities.temperature.estimator import CellSums
from bayescal.quantities.temperature.logits import (
    INPUTS,
    Integers,
    as_logits,
    column_names,
    places_of,
    predicted_class,
)
from bayescal.quantities.temperature.model import NEGLIGIBLE
from bayescal.quantities.temperature.priors import MODELS, VECTOR
from bayescal.quantities.temperature.vector_scaling import centred, scaled_probabilities
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


POINTS: Final = 16
"""Points of equal posterior probability that stand for the draws of a class."""
SCALINGS: Final = 128
"""Draws of vector scaling that stand for all."""
# Numbers of a block that stay in a core's cache through the passes over it.
_BLOCK: Final = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Scalings:
    """Draws of vector scaling, and its posterior probability."""

    log_coef: Floats  # (draw, class)
    shift: Floats  # (draw, class)
    weight: float

    def thinned(self, draws: int) -> Scalings:
        """At most so many draws, evenly spaced."""
        kept = len(self.shift)
        at = np.linspace(0, kept - 1, min(draws, kept)).astype(np.intp)
        return Scalings(self.log_coef[at], self.shift[at], self.weight)

    def mean_probabilities(self, logits: Floats) -> Floats:
        """Mean of the class probabilities of rows, (obs, class)."""
        rows, found = centred(logits), np.zeros_like(logits)
        for coef, shift in zip(self.log_coef, self.shift, strict=True):
            found += scaled_probabilities(rows, coef, shift)
        return found / len(self.shift)


def scalings_of(draws: Draws, weight: Floats) -> Scalings:
    """Draws of vector scaling in a posterior with these probabilities of its models."""
    coef, shift = (draws[name].reshape(-1, draws[name].shape[-1]) for name in ("log_coef", "shift"))
    kept = np.where(weight < NEGLIGIBLE, 0.0, weight)
    return Scalings(coef, shift, float(kept[MODELS.index(VECTOR)] / kept.sum()))


def points_of(log_alpha: Floats) -> Floats:
    """Middles of parts of equal probability of each class's draws, (point, class)."""
    middles = (np.arange(POINTS) + 0.5) / POINTS
    return np.quantile(log_alpha.reshape(-1, log_alpha.shape[-1]), middles, axis=0)


def mean_probabilities(
    logits: Floats, log_alpha: Floats, scalings: Scalings | None = None
) -> Floats:
    """Posterior mean of the class probabilities of rows, (obs, class)."""
    alpha = np.exp(points_of(log_alpha))[:, predicted_class(logits)]
    found = np.zeros_like(logits)
    for each in alpha:
        found += softmax(each[:, None] * logits, axis=1)
    found /= POINTS
    if scalings is None or scalings.weight == 0:
        return found
    other = scalings.thinned(SCALINGS).mean_probabilities(logits)
    return np.asarray((1 - scalings.weight) * found + scalings.weight * other)


class Confidence(NamedTuple):
    """Probabilities of the predicted class, at the points of its number."""

    places: Floats
    at: Floats
    calibrated: Floats
    uncalibrated: Floats


def confidences(logits: Floats, predicted: Integers, log_alpha: Floats) -> Confidence:
    """Probabilities of the predicted class of rows."""
    flat = log_alpha.reshape(-1, log_alpha.shape[-1])
    places = np.vstack([flat.min(axis=0), points_of(flat), flat.max(axis=0)])
    # Log alphas of 0 are those of no calibration.
    every = np.vstack([places, np.zeros(places.shape[1])])
    at = np.empty((len(every), len(logits)))
    rows = max(1, _BLOCK // logits.shape[1])
    for start in range(0, len(logits), rows):
        part = slice(start, start + rows)
        # In an array of its own: transposed logits may lie as they are needed, and be the caller's.
        gap = np.array(logits[part].T, order="C")
        gap -= gap.max(axis=0)
        for number, alpha in enumerate(np.exp(every[:, predicted[part]])):
            at[number, part] = 1 / np.exp(alpha * gap).sum(axis=0)
    return Confidence(places, at[:-1], at[1:-2].mean(axis=0), at[-1])


def scaled_confidences(
    part: Problem, scalings: Scalings, per_weight: Floats
) -> tuple[Floats, Floats]:
    """Probabilities of the predicted class, and log likelihood by class, of each draw."""
    rows, predicted, label = centred(part.logits), part.predicted, part.label
    place, known, n_classes = np.arange(len(rows)), part.known, part.n_classes
    weight = part.effective(per_weight)
    at = np.empty((len(scalings.shift), len(rows)))
    fit = np.empty((len(scalings.shift), n_classes))
    for number, (coef, shift) in enumerate(zip(scalings.log_coef, scalings.shift, strict=True)):
        prob = scaled_probabilities(rows, coef, shift)
        at[number] = prob[place, predicted]
        given = np.log(np.maximum(prob[known, label[known]], np.finfo(float).tiny))
        given = given if weight is None else weight[known] * given
        fit[number] = np.bincount(predicted[known], given, n_classes)
    return at, fit


class ConfidenceSums(NamedTuple):
    """Sums over all rows by predicted class and bin, before calibration and after."""

    before: CellSums
    after: CellSums
    places: Floats
    log_likelihood: Floats

    def plus(self, other: ConfidenceSums) -> ConfidenceSums:
        """Join with the sums of other rows."""
        return ConfidenceSums(
            self.before.plus(other.before),
            self.after.plus(other.after),
            self.places,
            self.log_likelihood + other.log_likelihood,
        )


def confidence_sums(
    problem: Rows, log_alpha: Floats, scalings: Scalings | None, binning: Binning
) -> ConfidenceSums:
    """Go through the rows, and sum up what draws of the numbers make of them."""
    of = partial(
        _sums_of,
        log_alpha=log_alpha,
        scalings=scalings,
        binning=binning,
        per_weight=problem.facts().per_weight,
    )
    return problem.summed(of)


def _sums_of(
    part: Problem,
    log_alpha: Floats,
    scalings: Scalings | None,
    binning: Binning,
    per_weight: Floats,
) -> ConfidenceSums:
    found = confidences(part.logits, part.predicted, log_alpha)
    score, values, fit = found.calibrated, [found.at], np.zeros((0, part.n_classes))
    if scalings is not None:
        scaled, fit = scaled_confidences(part, scalings, per_weight)
        share = scalings.weight
        score = (1 - share) * score + share * scaled.mean(axis=0)
        values.append(scaled)
    before, after = (
        CellSums.of(x, part.predicted, part.label, part.n_classes, binning, values, part.weight)
        for x in (found.uncalibrated, score)
    )
    return ConfidenceSums(before, after, found.places, fit)
