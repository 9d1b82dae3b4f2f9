"""What the tilt knows of a row: the pool, each classifier's own word, and the pool's bend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.quantities.ssme.models.opinion_pool import agreement_weights, floored, pooled
from bayescal.quantities.ssme.priors import Tilt

type Floats = NDArray[np.float64]

# Where classifiers are alike nothing is left of them: dividing by that would blow rounding up.
_LEAST_SPREAD = 1e-6


class Features(NamedTuple):
    """Features of rows, by class.

    Parameters
    ----------
    log_pool : ndarray of shape (obs, class)
        Logarithm of the pooled probability.
    own : ndarray of shape (obs, class, classifier)
        Each classifier's log probabilities, centred.
    bend : ndarray of shape (obs, class)
        What the pooled probability leaves on the same regression.
    """

    log_pool: Floats
    own: Floats
    bend: Floats


def features_of(probs: Floats, prior: Tilt) -> Features:
    """Compute the features of all rows.

    Notes
    -----
    Own log probabilities are not rid of what they share with the pool's: weights that move together
    steepen or flatten the pool, most where the better classifiers do.
    """
    lifted = floored(probs)
    n = len(lifted)
    weights = agreement_weights(lifted) if prior.pool == "agreement" else np.full(n, 1 / n)
    pool = pooled(lifted, weights)
    log_pool = np.log(pool)
    base = log_pool - log_pool.mean(axis=1, keepdims=True)
    own = np.log(lifted)
    own -= own.mean(axis=2, keepdims=True)
    own -= own.mean(axis=1, keepdims=True)
    own /= np.maximum(own.std(axis=(1, 2), keepdims=True), _LEAST_SPREAD)
    bend = _residual(pool - 1 / pool.shape[1], base)
    return Features(
        log_pool,
        np.moveaxis(own, 0, -1),
        bend / max(float(bend.std()), _LEAST_SPREAD),
    )


def _residual(values: Floats, base: Floats) -> Floats:
    """What a regression through the origin on `base` leaves."""
    norm = float((base**2).sum())
    slope = float((values * base).sum()) / norm if norm > 0 else 0.0
    return np.asarray(values - slope * base)
