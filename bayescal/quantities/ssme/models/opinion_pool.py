"""Pool several classifiers' probabilities into one, without labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logit

from bayescal.core.quantity import Floats

# Logarithms of smaller probabilities say more of a classifier's arithmetic than of the label.
LEAST = 1e-4
# Rates nearer to 0 and 1 have log odds that say more of the number of rows.
_LEAST_RATE = 1e-3


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


class Agreement(NamedTuple):
    """How often classifiers agree, and how often their probabilities say they should."""

    agree: float
    sure: float
    gap: float


def rates_of_agreement(probs: Floats, weights: Floats) -> Agreement:
    """Compare how often classifiers agree with how often their probabilities say they should.

    Notes
    -----
    ``agree`` is how often the most probable class of a classifier is the one of the others' pool,
    averaged over classifiers by weight; ``sure`` how often the pool's most probable class is the
    label, by its own probabilities; ``gap`` the difference of their log odds. Classifiers that
    agree more than they are sure are too cautious: their log probabilities should be steeper by
    about this much, as a logarithm. Shared errors raise it too, so that it centres a prior and is
    not an estimate. It is kept within -1 and 2.5.
    """
    sure = float(pooled(probs, weights).max(axis=1).mean())
    agree = float(
        sum(
            weight * np.mean(own.argmax(axis=1) == pooled(probs, others).argmax(axis=1))
            for weight, own, others in zip(weights, probs, _without_each(weights), strict=True)
        )
    )
    odds = logit(np.clip([agree, sure], _LEAST_RATE, 1 - _LEAST_RATE))
    return Agreement(agree, sure, float(np.clip(odds[0] - odds[1], -1.0, 2.5)))


def _without_each(weights: Floats) -> Floats:
    """Weights of the others for each classifier, (classifier, classifier)."""
    others = np.tile(weights, (len(weights), 1))
    np.fill_diagonal(others, 0.0)
    return np.asarray(others / others.sum(axis=1, keepdims=True))
