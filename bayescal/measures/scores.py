"""Proper scores of a curve, how well scores discriminate, and what acting on them is worth.

Of scores s with label rates r and the overall rate r0, a proper score is miscalibration less
discrimination plus uncertainty: the mean divergence of s from r, that of r0 from r, and the score
of r0 itself. A row is called positive where its score is at or above the threshold.
"""

from __future__ import annotations

from typing import Any, Final

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
    return brier_miscalibration(rate, prevalence(rate, score, mass)[..., None], mass)


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
    loss = -rate * _log(score, xp) - (1 - rate) * _log(1 - score, xp)
    return _mean(loss, rate, score, mass, xp)


def log_loss_miscalibration(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Part of the log loss due to miscalibration: mean divergence of score from label rate."""
    xp = functions_for(rate)
    # Label by label, so that it is exactly 0 where both are the same.
    event, none = (
        x * (_log(x, xp) - _log(y, xp)) for x, y in ((rate, score), (1 - rate, 1 - score))
    )
    return _mean(event + none, rate, score, mass, xp)


def log_loss_discrimination(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """What the scores tell apart, in log loss: information of the score about the label."""
    return log_loss_miscalibration(rate, prevalence(rate, score, mass)[..., None], mass)


def log_loss_uncertainty(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Log loss of the overall rate: entropy of the label."""
    xp = functions_for(rate)
    overall = prevalence(rate, score, mass)
    return -overall * _log(overall, xp) - (1 - overall) * _log(1 - overall, xp)


def _mean(loss: Tensor, rate: Tensor, score: Tensor, mass: Tensor, xp: Any) -> Tensor:
    """Mean loss over rows, infinite where scores of exactly 0 or 1 are wrong of some."""
    wrong = ((rate > 0) & (score <= 0)) | ((rate < 1) & (score >= 1))
    return (mass * xp.where(wrong & (mass > 0), xp.inf, loss)).sum(axis=-1)


def _log(x: Tensor, xp: Any) -> Tensor:
    """Logarithm; of 0, which counts 0 times or is infinitely wrong, a finite number."""
    return xp.log(xp.where(x > 0, x, 1.0))


# Scores are rounded, those of float32 by up to half of this share: .7 is not below .7.
_ROUNDING: Final = 2**-23


def auc(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Area under the ROC curve; rows of nearly one score count as tied."""
    xp = functions_for(rate)
    positive, negative = mass * rate, mass * (1 - rate)
    below = xp.cumsum(negative, axis=-1) - negative / 2
    area = (positive * below).sum(axis=-1)
    return xp.minimum(area / (positive.sum(axis=-1) * negative.sum(axis=-1)), 1.0)


def auprc(rate: Tensor, score: Tensor, mass: Tensor, within: Tensor = 1.0) -> Tensor:
    """Average precision: mean precision at the thresholds, weighted by the gain in recall.

    `within` (cell,) is the share of its cell that a row is called with: 1 if all are tied, or 1/2.
    """
    xp = functions_for(rate)
    positive, full = mass * rate, mass + 0 * rate
    above = xp.maximum(full.sum(axis=-1)[..., None] - xp.cumsum(full, axis=-1), 0.0)
    hits = xp.maximum(positive.sum(axis=-1)[..., None] - xp.cumsum(positive, axis=-1), 0.0)
    above, hits = above + within * full, hits + within * positive
    precision = hits / xp.where(above > 0, above, 1.0)
    return xp.minimum((positive * precision).sum(axis=-1) / positive.sum(axis=-1), 1.0)


def accuracy(rate: Tensor, score: Tensor, mass: Tensor, threshold: float = 0.5) -> Tensor:
    """Share of rows that the threshold calls rightly."""
    called = is_called(score, threshold)
    right = called * rate + (1 - called) * (1 - rate)
    return functions_for(rate).minimum((mass * right).sum(axis=-1), 1.0)


def sensitivity(rate: Tensor, score: Tensor, mass: Tensor, threshold: float = 0.5) -> Tensor:
    """Share of the rows with the label that are called positive: recall."""
    positive = mass * rate
    return (positive * is_called(score, threshold)).sum(axis=-1) / positive.sum(axis=-1)


def specificity(rate: Tensor, score: Tensor, mass: Tensor, threshold: float = 0.5) -> Tensor:
    """Share of the rows without the label that are called negative."""
    negative = mass * (1 - rate)
    return (negative * (1 - is_called(score, threshold))).sum(axis=-1) / negative.sum(axis=-1)


def ppv(
    rate: Tensor, score: Tensor, mass: Tensor, threshold: float = 0.5, added: Tensor = (0.0, 0.0)
) -> Tensor:
    """Share of the rows called positive that have the label: precision.

    `added` (2, ...) is the mass of a row without or with the label that counts among them, too.
    """
    return _share_of(mass * is_called(score, threshold), rate, added[1], added[0])


def npv(
    rate: Tensor, score: Tensor, mass: Tensor, threshold: float = 0.5, added: Tensor = (0.0, 0.0)
) -> Tensor:
    """Share of the rows called negative that do not have the label; `added` as of `ppv`."""
    return _share_of(mass * (1 - is_called(score, threshold)), 1 - rate, *added)


def _share_of(mass: Tensor, rate: Tensor, right: Tensor, wrong: Tensor) -> Tensor:
    """Share of right calls, with masses (...) added: all of few may be right by chance."""
    total = mass.sum(axis=-1)
    share = ((mass * rate).sum(axis=-1) + right) / (total + right + wrong)
    return functions_for(rate).where(total > 0, share, float("nan"))


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
