"""Pool several classifiers' probabilities into one, without labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

# Logarithms of smaller probabilities say more of a classifier's arithmetic than of the label.
FLOOR = 1e-4


def floored(probs: Floats) -> Floats:
    """Lift probabilities to at least 1e-4, so that their logarithms are bounded.

    Parameters
    ----------
    probs : ndarray of shape (..., class), in [0, 1]
        Probabilities.

    Returns
    -------
    ndarray of shape (..., class)
        Rows that sum to 1.
    """
    lifted = np.maximum(probs, FLOOR)
    return np.asarray(lifted / lifted.sum(axis=-1, keepdims=True))


def agreement_weights(probs: Floats) -> Floats:
    """Weigh classifiers by their agreement with the mean of the others.

    Parameters
    ----------
    probs : ndarray of shape (classifier, obs, class), above 0
        Probabilities.

    Returns
    -------
    ndarray of shape (classifier,)
        Positive weights that sum to 1; for one classifier, 1.

    Notes
    -----
    ``u_j`` is proportional to ``exp(-mean KL(mean of the others || p_j))``, over the rows: a
    classifier that gives little probability to what the others believe weighs little.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.ssme.pool import agreement_weights
    >>> alike, odd = [[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9], [0.8, 0.2]]
    >>> u = agreement_weights(np.array([alike, alike, odd]))
    >>> bool(u[0] == u[1] > u[2])
    True
    """
    if len(probs) == 1:
        return np.ones(1)
    others = (probs.sum(axis=0) - probs) / (len(probs) - 1)
    divergence = (others * np.log(others / probs)).sum(axis=2).mean(axis=1)
    weight = np.exp(divergence.min() - divergence)
    return np.asarray(weight / weight.sum())


def pooled(probs: Floats, weights: Floats) -> Floats:
    """Mean of the classifiers' probabilities under weights.

    Parameters
    ----------
    probs : ndarray of shape (classifier, obs, class)
        Probabilities.
    weights : ndarray of shape (classifier,)
        Weights that sum to 1.

    Returns
    -------
    ndarray of shape (obs, class)
        Pooled probabilities.
    """
    return np.asarray(np.tensordot(weights, probs, 1))
