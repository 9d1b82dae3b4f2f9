"""What acting on the scores is worth: net benefit, and the cost of errors."""

from __future__ import annotations

from typing import Any

from bayescal.measures.discrimination import is_called
from bayescal.measures.scores import prevalence

type Tensor = Any


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
