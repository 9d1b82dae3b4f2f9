"""Signs that the classifiers' probabilities are off, in sentences that a status shows."""

from __future__ import annotations

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.data import Panel
from bayescal.quantities.ssme.models.opinion_pool import (
    agreement_weights,
    lifted,
    pooled,
    rates_of_agreement,
)

# Log odds of agreement less those of confidence. Of panels whose classifiers are known to be
# calibrated, few lie outside.
_LESS, _MORE = -0.3, 1.0
# Standard errors: a pool that is right is 3 away in 3 of 1,000 samples.
_FAR = 3.0


def pool_warnings(panel: Panel) -> list[str]:
    """Compare agreement with confidence, and the labeled rows with the opinion pool."""
    probs = lifted(panel.probs)
    weights = agreement_weights(probs)
    return [*_agreement(probs, weights), *_labeled_rows(panel, pooled(probs, weights))]


def _agreement(probs: Floats, weights: Floats) -> list[str]:
    if len(probs) == 1:
        return []
    agree, sure, gap = rates_of_agreement(probs, weights)
    if _LESS <= gap <= _MORE:
        return []
    how, what = ("less", "overconfident") if gap < _LESS else ("more", "underconfident")
    return [
        f"classifiers agree {how} often ({agree:.0%} of the rows) than their probabilities say "
        f"({sure:.0%}): they are probably {what}" + (", or share errors." if gap > _MORE else ".")
    ]


def _labeled_rows(panel: Panel, pool: Floats) -> list[str]:
    """Test whether the pool's most probable class is right as often as it says."""
    top = pool[panel.labeled].max(axis=1)
    if not len(top):
        return []
    right = pool[panel.labeled].argmax(axis=1) == panel.y[panel.labeled]
    distance = (right - top).sum() / np.sqrt((top * (1 - top)).sum())
    if abs(distance) < _FAR:
        return []
    return [
        f"labeled rows contradict the classifiers: their pool is right on {right.mean():.0%} of "
        f"them, and should be on {top.mean():.0%} by its probabilities. Look at the labels, and at "
        "how rows were chosen."
    ]
