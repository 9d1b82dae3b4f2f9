"""Brier score and log loss of a curve, and what they are made of.

Of scores s with label rates r and the overall rate r0, a proper score is miscalibration less
discrimination plus uncertainty: the mean divergence of s from r, that of r0 from r, and the score
of r0 itself.
"""

from __future__ import annotations

from typing import Any

from bayescal.measures.measure import functions_for

type Tensor = Any


def brier(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Brier score: mean squared difference of score and label."""
    return (mass * (rate * (1 - score) ** 2 + (1 - rate) * score**2)).sum(axis=-1)


def brier_miscalibration(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Part of the Brier score due to miscalibration, Murphy's reliability."""
    return (mass * (rate - score) ** 2).sum(axis=-1)


def brier_discrimination(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """What the scores tell apart, in Brier score: Murphy's resolution."""
    return (mass * (rate - prevalence(rate, score, mass)[..., None]) ** 2).sum(axis=-1)


def brier_uncertainty(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Brier score of the overall rate."""
    overall = prevalence(rate, score, mass)
    return overall * (1 - overall)


def scaled_brier(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Share of the uncertainty that the scores take away: index of prediction accuracy."""
    return 1 - brier(rate, score, mass) / brier_uncertainty(rate, score, mass)


def prevalence(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Overall rate of the event."""
    # Masses may sum to a little more than 1.
    return functions_for(rate).minimum((mass * rate).sum(axis=-1), 1.0)


def log_loss(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Mean negative log probability that the score gives to the label, in nats."""
    xp = functions_for(rate)
    return -(mass * (_x_log(rate, score, xp) + _x_log(1 - rate, 1 - score, xp))).sum(axis=-1)


def log_loss_miscalibration(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Part of the log loss due to miscalibration: mean divergence of score from label rate."""
    return _divergence(rate, score, mass)


def log_loss_discrimination(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """What the scores tell apart, in log loss: information of the score about the label."""
    return _divergence(rate, prevalence(rate, score, mass)[..., None], mass)


def log_loss_uncertainty(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Log loss of the overall rate: entropy of the label."""
    xp = functions_for(rate)
    overall = prevalence(rate, score, mass)
    return -_x_log(overall, overall, xp) - _x_log(1 - overall, 1 - overall, xp)


def _divergence(rate: Tensor, other: Tensor, mass: Tensor) -> Tensor:
    """Mean Kullback-Leibler divergence of `other` from the label rates."""
    xp = functions_for(rate)
    # Label by label, so that it is exactly 0 where both are the same.
    event, none = (
        _x_log(x, x, xp) - _x_log(x, y, xp) for x, y in ((rate, other), (1 - rate, 1 - other))
    )
    return (mass * (event + none)).sum(axis=-1)


def _x_log(x: Tensor, y: Tensor, xp: Any) -> Tensor:
    """``x log y``, 0 where x is 0; minus infinity where y is 0 and x is not."""
    safe = xp.where(y > 0, y, 1.0)
    return xp.where(x > 0, x * xp.log(safe) - xp.where(y > 0, 0.0, xp.inf), 0.0)
