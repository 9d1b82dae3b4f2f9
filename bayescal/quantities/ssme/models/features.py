"""What the tilt knows of a row: the opinion pool, each classifier's own logarithms, and bends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.models.log_slope import LogSlope
from bayescal.quantities.ssme.models.opinion_pool import agreement_weights, lifted, pooled
from bayescal.quantities.ssme.priors import Tilt

# Where classifiers are alike nothing is left of them: dividing by that would blow rounding up.
_LEAST_SPREAD = 1e-6
_LEAST_OWN_BEND = 1e-3


class Features(NamedTuple):
    """Features of rows, by class."""

    log_pool: Floats  # (obs, class): log of the pooled probability, centred over classes
    own: Floats  # (obs, class, classifier): each classifier's log probabilities, centred
    bend: Floats  # (obs, class): what a regression of the pooled probability on log_pool leaves
    own_bend: Floats  # (obs, class, classifier): the same of each classifier's, on its own too


def features_of(probs: Floats, prior: Tilt) -> tuple[Features, LogSlope]:
    """Compute the features of all rows, and the prior of the log slope that they suggest.

    Notes
    -----
    Own log probabilities keep what they share with the opinion pool's: weights that move together
    steepen or flatten the pool, most where the better classifiers do.
    """
    above_0 = lifted(probs)
    n, _, n_classes = above_0.shape
    equal = prior.opinion_pool == "mean"
    weights = np.full(n, 1 / n) if equal else agreement_weights(above_0)
    pool = pooled(above_0, weights)
    log_pool = _centred(np.log(pool))
    logs = _centred(np.log(above_0))
    own = logs - logs.mean(axis=1, keepdims=True)
    own /= np.maximum(own.std(axis=(1, 2), keepdims=True), _LEAST_SPREAD)
    bend = _residual(pool - 1 / n_classes, log_pool)
    bend /= max(float(bend.std()), _LEAST_SPREAD)
    own_bend = np.stack([_own_bend(p, log, log_pool) for p, log in zip(above_0, logs, strict=True)])
    found = Features(log_pool, np.moveaxis(own, 0, -1), bend, np.moveaxis(own_bend, 0, -1))
    return found, LogSlope.of(prior, above_0, weights)


def _centred(logs: Floats) -> Floats:
    return np.asarray(logs - logs.mean(axis=-1, keepdims=True))


def _own_bend(probs: Floats, logs: Floats, base: Floats) -> Floats:
    """Bend of one classifier; 0 where its probabilities follow from their logarithms."""
    left = _residual(probs - 1 / probs.shape[1], base, logs)
    spread = float(left.std())
    return left / spread if spread > _LEAST_OWN_BEND else np.zeros_like(left)


def _residual(values: Floats, *bases: Floats) -> Floats:
    """What a regression through the origin leaves."""
    matrix = np.stack([base.ravel() for base in bases], axis=1)
    found = np.linalg.lstsq(matrix, values.ravel(), rcond=None)[0]
    return np.asarray(values - (matrix @ found).reshape(values.shape))
