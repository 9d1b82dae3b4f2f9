"""Signs that labels or scores are not what they were passed as, or that a model is wrong."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.columns import MISSING, Floats

if TYPE_CHECKING:
    from bayescal.core.scores import Scores


# Of data that are what they were passed as, fewer than this share show a sign by chance.
RARE: Final = 0.001
# No label is impossible under what scores may have been before a sigmoid.
_LEAST: Final = 0.001
_ROUNDING: Final = 1e-5
# Some rows are this sure of a label, or that a class is not theirs.
_SURE: Final = 0.95


# Of replications from a model that is right, one fit in five hundred is farther out.
_FAR: Final = 0.001
# An estimate of few rows is often the least that is possible, and equal to others but for rounding.
_EQUAL: Final = 1e-9


class Sign(str):
    """A sentence of a result's status that `bayescal.fit` warns of, too."""

    __slots__ = ()


def all_labels(n: float) -> str:
    """The start of a sentence on labels that are all of one class."""
    return "the only label is" if n == 1 else f"all {n} labels are"


def label_signs(score: ArrayLike, negative: ArrayLike, positive: ArrayLike) -> list[Sign]:
    r"""Compare the scores of one label with how often rows have it.

    The area under the ROC curve is a two-sample U statistic. Where its expectation is 1/2 or more,
    ``P(AUC <= 1/2 - t) <= exp(-2 min(n_0, n_1) t^2)`` (Hoeffding 1963, section 5), in samples of
    any size. The likelihood of other probabilities exceeds that of calibrated scores by a factor of
    1 / p with a probability of at most p, by Markov's inequality.
    """
    value, counts = _by_score(score, negative, positive)
    return [*_reversed(counts), *_sigmoid(value, counts)]


def reversed_signs(score: ArrayLike, negative: ArrayLike, positive: ArrayLike) -> list[Sign]:
    """The first of `label_signs`, of any two samples that should be ranked."""
    return _reversed(_by_score(score, negative, positive)[1])


def _by_score(score: ArrayLike, negative: ArrayLike, positive: ArrayLike) -> tuple[Floats, Floats]:
    """Distinct scores, (score,), and the rows of each label with each, (score, 2)."""
    counts = np.stack([negative, positive], axis=-1).astype(np.float64)
    held = counts.any(axis=1)
    value, place = np.unique(np.asarray(score, np.float64)[held], return_inverse=True)
    by_score = np.zeros((len(value), 2))
    np.add.at(by_score, place, counts[held])
    return value, by_score


def signs_of_scores(scores: Scores) -> list[Sign]:
    """Compare the labels with the scores of each classifier, which sentences name."""
    known = scores.y_true != MISSING
    label = scores.y_true[known]
    found = []
    for name, prob in zip(scores.classifiers, scores.y_prob[:, known], strict=True):
        found += [Sign(f"{name}: {sign}") for sign in signs_of_rows(prob, label)]
    return found


def class_signs(scores: Scores, classifier: str) -> list[Sign]:
    """Compare the labels of three classes or more with the scores; none of two classes."""
    if scores.is_binary:
        return []
    known = scores.y_true != MISSING
    prob = scores.y_prob[scores.classifiers.index(classifier)][known]
    return signs_of_rows(prob, scores.y_true[known])


def signs_of_rows(prob: NDArray[np.floating], label: NDArray[Any]) -> list[Sign]:
    """Compare probabilities, (obs,) or of each class, (obs, class), with labels, (obs,)."""
    if prob.ndim == 1 or prob.shape[1] == 2:
        return label_signs(prob if prob.ndim == 1 else prob[:, 1], label == 0, label == 1)
    right = int((prob.argmax(axis=1) == label).sum())
    return [*below_chance(right, *prob.shape), *_softmax(prob.astype(np.float64), label)]


def below_chance(right: int, n: int, n_classes: int) -> list[Sign]:
    """Say so where the most probable class is right less often than a guess, by a binomial test."""
    from scipy.special import bdtr

    if not n or bdtr(right, n, 1 / n_classes) >= RARE:
        return []
    return [
        Sign(
            f"the most probable class is right in {right} of {n} labelled rows, clearly less often "
            f"than a guess among {n_classes} classes. Check the labels, and which class each "
            "column of scores is of."
        )
    ]


def area_under_roc(counts: NDArray[Any]) -> float:
    """AUC of rows without and with the event by rising score, (score, 2); NaN without both."""
    negative, positive = np.asarray(counts, np.float64).T
    pairs = negative.sum() * positive.sum()
    above = positive.sum() - np.cumsum(positive)
    return float(negative @ (above + positive / 2) / pairs) if pairs > 0 else np.nan


def _reversed(counts: Floats) -> list[Sign]:
    fewest = float(counts.sum(axis=0).min())
    if not fewest:
        return []
    area = area_under_roc(counts)
    if area + np.sqrt(np.log(1 / RARE) / (2 * fewest)) >= 0.5:
        return []
    return [
        Sign(
            f"the scores look reversed: their AUC is {area:.3f}, clearly below 1/2, so that the "
            "label they are the probability of is rarer where they are higher. Check the labels "
            "and pos_label, or pass 1 - score."
        )
    ]


def _sigmoid(score: Floats, counts: Floats) -> list[Sign]:
    """Compare scores with the probabilities that they may be a sigmoid of, or a softmax."""
    with np.errstate(divide="ignore"):
        before = np.log(score) - np.log1p(-score)
    if not len(before) or abs(before).max() > 1 + _ROUNDING:
        return []
    if before.min() < -_ROUNDING:
        # Two columns: their logits differ by 2 p - 1. Weak classifiers stay farther inside.
        if min(-before.min(), before.max()) < _SURE:
            return []
        before = (before + 1) / 2
    return _logits(_log_likelihood(before, counts) - _log_likelihood(score, counts))


def _log_likelihood(prob: Floats, counts: Floats) -> float:
    prob = np.clip(prob, _LEAST, 1 - _LEAST)
    return float(np.log1p(-prob) @ counts[:, 0] + np.log(prob) @ counts[:, 1])


def _softmax(prob: Floats, label: NDArray[Any]) -> list[Sign]:
    """Compare probabilities of classes with those that they may be a softmax of."""
    if not len(prob) or prob.min() <= 0:
        return []
    before = np.log(prob)
    before += (1 - before.sum(axis=1, keepdims=True)) / prob.shape[1]
    if before.min() < -_ROUNDING or before.min() > 1 - _SURE:
        return []
    rows, least = np.arange(len(prob)), _LEAST / prob.shape[1]
    before = np.clip(before, least, None)
    before /= before.sum(axis=1, keepdims=True)
    return _logits(float(np.log(before[rows, label] / prob[rows, label]).sum()))


def _logits(log_ratio: float) -> list[Sign]:
    if log_ratio < np.log(1 / RARE):
        return []
    low, high = 0.5, 1 / (1 + math.exp(-1))
    return [
        Sign(
            "the scores look like probabilities that were taken for logits: all come from values "
            f"between 0 and 1 (two classes: scores of {low:.2f} to {high:.2f}), which fit the "
            "labels far better. Leave from_logits out."
        )
    ]


def contradiction(seen: float | Floats, drawn: Floats, over: str = "") -> list[str]:
    """Say so where an estimate (`over` what) is hardly possible under the posterior."""
    gap = drawn - seen
    below, above = float((gap <= _EQUAL).mean()), float((gap >= -_EQUAL).mean())
    if min(below, above) >= _FAR:
        return []
    low, high = np.quantile(drawn, [0.05, 0.95])
    why = "The model misses something in the data; look at the bins, and compare priors."
    if below < _FAR:
        why = (
            "So near are scores that were calibrated on these very rows, or rows that are not "
            "independent; take rows that the scores have not seen."
        )
    return [
        f"the plug-in estimate{over}, {seen:.4f}, and the posterior contradict each other: "
        f"data drawn from the posterior give {low:.4f} to {high:.4f} (90%). {why}"
    ]
