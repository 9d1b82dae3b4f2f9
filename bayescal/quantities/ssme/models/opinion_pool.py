"""Pool several classifiers' probabilities into one, without labels."""

from __future__ import annotations

import numpy as np

from bayescal.core.quantity import Floats

# Logarithms of smaller probabilities say more of a classifier's arithmetic than of the label.
LEAST = 1e-4


def lifted(probs: Floats) -> Floats:
    """Lift probabilities to at least 1e-4, so that their logarithms are bounded."""
    above_0 = np.maximum(probs, LEAST)
    return np.asarray(above_0 / above_0.sum(axis=-1, keepdims=True))


def agreement_weights(probs: Floats) -> Floats:
    """Weigh classifiers by their agreement with the mean of the others, (classifier,).

    Notes
    -----
    ``u_j`` is proportional to ``exp(-mean KL(mean of the others || p_j))``, over the rows: a
    classifier that gives little probability to what the others find likely weighs little.
    """
    if len(probs) == 1:
        return np.ones(1)
    others = (probs.sum(axis=0) - probs) / (len(probs) - 1)
    divergence = (others * np.log(others / probs)).sum(axis=2).mean(axis=1)
    weight = np.exp(divergence.min() - divergence)
    return np.asarray(weight / weight.sum())


def pooled(probs: Floats, weights: Floats) -> Floats:
    """Mean of the classifiers' probabilities under weights, (obs, class)."""
    return np.asarray(np.tensordot(weights, probs, 1))
