"""What the tilt knows of a row: the opinion pool, each classifier's own logarithms, and a bend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.models.opinion_pool import agreement_weights, lifted, pooled
from bayescal.quantities.ssme.priors import Tilt

# Where classifiers are alike nothing is left of them: dividing by that would blow rounding up.
_LEAST_SPREAD = 1e-6


class Features(NamedTuple):
    """Features of rows, by class."""

    log_pool: Floats  # (obs, class): logarithm of the pooled probability
    own: Floats  # (obs, class, classifier): each classifier's log probabilities, centred
    bend: Floats  # (obs, class): what a regression of the pooled probability on log_pool leaves


def features_of(probs: Floats, prior: Tilt) -> Features:
    """Compute the features of all rows.

    Notes
    -----
    Own log probabilities keep what they share with the opinion pool's: weights that move together
    steepen or flatten the pool, most where the better classifiers do.
    """
    above_0 = lifted(probs)
    n = len(above_0)
    equal = prior.opinion_pool == "mean"
    pool = pooled(above_0, np.full(n, 1 / n) if equal else agreement_weights(above_0))
    log_pool = np.log(pool)
    base = log_pool - log_pool.mean(axis=1, keepdims=True)
    own = np.log(above_0)
    own -= own.mean(axis=2, keepdims=True)
    own -= own.mean(axis=1, keepdims=True)
    own /= np.maximum(own.std(axis=(1, 2), keepdims=True), _LEAST_SPREAD)
    bend = _residual(pool - 1 / pool.shape[1], base)
    bend /= max(float(bend.std()), _LEAST_SPREAD)
    return Features(log_pool, np.moveaxis(own, 0, -1), bend)


def _residual(values: Floats, base: Floats) -> Floats:
    """What a regression through the origin on `base` leaves."""
    norm = float((base**2).sum())
    slope = float((values * base).sum()) / norm if norm > 0 else 0.0
    return np.asarray(values - slope * base)
