"""Calibrated probabilities: the mean over the posterior of the numbers that move logits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from scipy.special import softmax

from bayescal.core.bins.binning import Binning
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.temperature.class_errors import CellSums
from bayescal.quantities.temperature.data import Problem, Rows
from bayescal.quantities.temperature.logits import predicted_class
from bayescal.quantities.temperature.loss import Integers
from bayescal.quantities.temperature.models.average import NEGLIGIBLE
from bayescal.quantities.temperature.models.vector_scaling import centred, scaled_probabilities
from bayescal.quantities.temperature.priors import MODELS, VECTOR

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
        held = len(self.shift)
        at = np.linspace(0, held - 1, min(draws, held)).astype(np.intp)
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


class ScaledConfidence(NamedTuple):
    """What each draw of vector scaling gives to the rows."""

    at: Floats
    log_likelihood: Floats


def scaled_confidences(part: Problem, scalings: Scalings, per_weight: Floats) -> ScaledConfidence:
    """Probabilities of the predicted class, and of the labels, by effective rows."""
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
    return ScaledConfidence(at, fit)


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
        per_weight=problem.per_weight(),
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
        scaled = scaled_confidences(part, scalings, per_weight)
        share = scalings.weight
        score = (1 - share) * score + share * scaled.at.mean(axis=0)
        values.append(scaled.at)
        fit = scaled.log_likelihood
    before, after = (
        CellSums.of(x, part.predicted, part.label, part.n_classes, binning, values, part.weight)
        for x in (found.uncalibrated, score)
    )
    return ConfidenceSums(before, after, found.places, fit)
