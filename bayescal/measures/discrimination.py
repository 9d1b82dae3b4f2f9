"""How well scores tell rows with the label from others, over all thresholds and at one.

A row is called positive where its score is at or above the threshold.
"""

from __future__ import annotations

from typing import Any, Final

from bayescal.measures.measure import functions_for

type Tensor = Any

# Mean scores of cells are rounded: .3 is not below a threshold of .3.
_ROUNDING: Final = 1e-12


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
    above = full.sum(axis=-1)[..., None] - xp.cumsum(full, axis=-1) + full
    hits = positive.sum(axis=-1)[..., None] - xp.cumsum(positive, axis=-1) + positive
    return (positive * hits / above).sum(axis=-1) / positive.sum(axis=-1)


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
    return 1.0 * (score >= threshold - _ROUNDING)
