"""ROC curves from calibrated scores, without labels, and how far they may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_number, check_same_length
from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.intervals import checked_probabilities

if TYPE_CHECKING:
    from bayescal.results.bands import RocRegion

type Floats = NDArray[np.floating]


class Roc(NamedTuple):
    """An ROC curve."""

    threshold: Floats
    fpr: Floats
    tpr: Floats
    auc: float


def roc(score: ArrayLike, *, probability: ArrayLike | None = None) -> Roc:
    """Compute the ROC curve that the scores imply if they are calibrated; section 4 of the paper.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores of unlabelled rows.
    probability : array-like of shape (obs,), in [0, 1], optional
        Probability that each row is positive, by default its score. With labels 0 and 1 it is the
        usual ROC curve.

    Returns
    -------
    Roc
        A point for each distinct score, and (0, 0).

    Raises
    ------
    InputError
        If scores or probabilities are not such, or imply no positive or no negative row.

    Notes
    -----
    ``TPR(p) = sum f 1{f > p} / sum f`` and ``FPR(p) = sum (1 - f) 1{f > p} / (n - sum f)``. The
    paper prints ``f < p``: `printed_roc`.

    Examples
    --------
    >>> import bayescal as bc
    >>> curve = bc.agnostic.roc([0.25, 0.75])
    >>> curve.tpr.tolist(), curve.fpr.tolist(), curve.auc
    ([0.0, 0.75, 1.0], [0.0, 0.25, 1.0], 0.75)
    """
    scores = checked_probabilities(score, "score")
    chances = scores if probability is None else checked_probabilities(probability, "probability")
    check_same_length(len(scores), "score", len(chances), "probability")
    order = np.argsort(scores)[::-1]
    falling = scores[order]
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    hits = np.append(0.0, np.cumsum(chances[order])[ends])
    alarms = np.append(0.0, np.cumsum(1 - chances[order])[ends])
    if not (hits[-1] > 0 and alarms[-1] > 0):
        only = "negative" if hits[-1] == 0 else "positive"
        raise InputError(
            f"an ROC curve needs positive and negative rows; by their probabilities all rows are "
            f"{only}. Pass rows of both."
        )
    tpr, fpr = hits / hits[-1], alarms / alarms[-1]
    return Roc(np.append(falling[ends], -np.inf), fpr, tpr, float(np.trapezoid(tpr, fpr)))


def printed_roc(score: ArrayLike, *, probability: ArrayLike | None = None) -> Roc:
    """Compute the curve of the paper's formulas as printed, with ``f < p`` for ``f > p``.

    Section 4 of the paper.

    Parameters
    ----------
    score, probability
        As for `roc`.

    Returns
    -------
    Roc
        Its thresholds rise, from the least score up to inf.

    Raises
    ------
    InputError
        As for `roc`.

    Notes
    -----
    ``TPR(p) = sum f 1{f < p} / sum f`` and ``FPR(p) = sum (1 - f) 1{f < p} / (n - sum f)`` are the
    shares of the positives and of the negatives that are called negative. So the curve is that of
    `roc` turned by half a turn, and its area one less that of `roc`.
    """
    curve = roc(score, probability=probability)
    threshold = np.append(curve.threshold[-2::-1], np.inf)
    return Roc(threshold, 1 - curve.fpr[::-1], 1 - curve.tpr[::-1], 1 - curve.auc)


def roc_region(score: ArrayLike, c: float) -> RocRegion:
    """Bound the ROC curve of unlabelled rows, given their calibration measure.

    Section 4 of the paper.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores of the unlabelled rows.
    c : float, in [0, 1]
        Calibration measure of these rows, or a bound of it.

    Returns
    -------
    RocRegion
        At the thresholds of ``roc(score)``.

    Raises
    ------
    InputError
        If scores are not probabilities or imply one class, or `c` does not lie in [0, 1].

    Notes
    -----
    ``(sum f 1{f > p} ± n c) / sum f`` for the true positive rate, and the same with 1 - f for the
    false positive rate, whose region the paper does not print. If the rows' measure is c at most,
    the true curve lies in the region at all thresholds at once: the positives above p and those up
    to p are each off by n c at most, and so is their sum.

    Examples
    --------
    >>> import bayescal as bc
    >>> region = bc.agnostic.roc_region([0.25, 0.75], 0.125)
    >>> region.tpr_lower.tolist(), region.tpr_upper.tolist()
    ([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    """
    from bayescal.results.bands import RocRegion

    check_number(c, "c", "[0, 1]", "Pass a calibration measure.")
    curve = roc(score)
    scores = checked_probabilities(score, "score")
    miscount = c * len(scores)
    negatives, positives = float((1 - scores).sum()), float(scores.sum())
    return RocRegion(
        *_between(curve.fpr, miscount / negatives), *_between(curve.tpr, miscount / positives)
    )


def _between(rate: Floats, slack: float) -> tuple[Floats, Floats]:
    """Rates within the slack; 0 and 1, without and with all rows, are certain."""
    inside = np.full(rate.shape, slack)
    inside[[0, -1]] = 0.0
    return np.maximum(rate - inside, 0), np.minimum(rate + inside, 1)
