"""How well scores tell rows with the label from others, and what acting on them is worth.

A row is called positive where its score is at or above the threshold.
"""

from __future__ import annotations

from typing import Any, Final

from bayescal.measures.measure import functions_for
from bayescal.measures.scores import prevalence

type Tensor = Any

# Scores are rounded, those of float32 by up to half of this share: .7 is not below .7.
_ROUNDING: Final = 2**-23


def auc(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Area under the ROC curve; rows of one cell count as tied."""
    xp = functions_for(rate)
    positive, negative = mass * rate, mass * (1 - rate)
    below = xp.cumsum(negative, axis=-1) - negative / 2
    area = (positive * below).sum(axis=-1)
    return area / (positive.sum(axis=-1) * negative.sum(axis=-1))


def auprc(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Average precision: mean precision at the thresholds, weighted by the gain in recall."""
    xp = functions_for(rate)
    positive = mass * rate
    full = mass + 0 * positive
    above = xp.maximum(full.sum(axis=-1)[..., None] - xp.cumsum(full, axis=-1), 0.0) + full
    hits = positive.sum(axis=-1)[..., None] - xp.cumsum(positive, axis=-1) + positive
    return (positive * hits / xp.where(above > 0, above, 1.0)).sum(axis=-1) / positive.sum(axis=-1)


def accuracy(rate: Tensor, score: Tensor, mass: Tensor, threshold: float = 0.5) -> Tensor:
    """Share of rows that the threshold calls rightly."""
    called = is_called(score, threshold)
    return (mass * (called * rate + (1 - called) * (1 - rate))).sum(axis=-1)


def sensitivity(rate: Tensor, score: Tensor, mass: Tensor, threshold: float = 0.5) -> Tensor:
    """Share of the rows with the label that are called positive: recall."""
    positive = mass * rate
    return (positive * is_called(score, threshold)).sum(axis=-1) / positive.sum(axis=-1)


def specificity(rate: Tensor, score: Tensor, mass: Tensor, threshold: float = 0.5) -> Tensor:
    """Share of the rows without the label that are called negative."""
    negative = mass * (1 - rate)
    return (negative * (1 - is_called(score, threshold))).sum(axis=-1) / negative.sum(axis=-1)


def ppv(rate: Tensor, score: Tensor, mass: Tensor, threshold: float = 0.5) -> Tensor:
    """Share of the rows called positive that have the label: precision."""
    called = mass * is_called(score, threshold)
    return (called * rate).sum(axis=-1) / called.sum(axis=-1)


def npv(rate: Tensor, score: Tensor, mass: Tensor, threshold: float = 0.5) -> Tensor:
    """Share of the rows called negative that do not have the label."""
    passed = mass * (1 - is_called(score, threshold))
    return (passed * (1 - rate)).sum(axis=-1) / passed.sum(axis=-1)


def is_called(score: Tensor, threshold: Tensor) -> Tensor:
    """1 where a score is called positive, else 0."""
    return 1.0 * (score >= threshold * (1 - _ROUNDING))


def net_benefit(rate: Tensor, score: Tensor, mass: Tensor, threshold: float) -> Tensor:
    """True positives less false positives at the threshold's odds, a row.

    One that is treated at a score of `threshold` or more values a true positive
    ``(1 - threshold) / threshold`` times as much as a false one costs.
    """
    odds = threshold / (1 - threshold)
    return (mass * is_called(score, threshold) * (rate - (1 - rate) * odds)).sum(axis=-1)


def net_benefit_all(rate: Tensor, score: Tensor, mass: Tensor, threshold: float) -> Tensor:
    """Net benefit of treating every row."""
    overall = prevalence(rate, score, mass)
    return overall - (1 - overall) * threshold / (1 - threshold)


def cost(
    rate: Tensor,
    score: Tensor,
    mass: Tensor,
    threshold: float = 0.5,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
) -> Tensor:
    """Mean cost a row of calling scores at or above the threshold positive."""
    called = is_called(score, threshold)
    wrong = false_positive * called * (1 - rate) + false_negative * (1 - called) * rate
    return (mass * wrong).sum(axis=-1)
