"""AUC and average precision of one score under many label draws at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.quantity import Floats


class Ranking(NamedTuple):
    """Rows from the highest score to the lowest, tied ones together."""

    order: NDArray[np.int64]  # (obs,): row numbers by falling score
    starts: NDArray[np.int64]  # (distinct,): where each distinct score begins in `order`


def rank(score: Floats) -> Ranking:
    """Sort rows by falling score."""
    order = np.argsort(-score, kind="stable")
    falling = score[order]
    starts = np.flatnonzero(np.concatenate(([True], falling[1:] != falling[:-1])))
    return Ranking(order, starts)


def ranking_metrics(ranking: Ranking, positive: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Area under the ROC curve, and average precision.

    Notes
    -----
    With tp and fp the positive and negative weight at or above a distinct score and d their steps,
    AUC = sum d(fp) (tp - d(tp) / 2) / (P N), AP = sum d(tp) tp / (tp + fp) / P. On hard labels
    these are scikit-learn's ``roc_auc_score`` and ``average_precision_score``, ties included.
    """
    step_tp = _by_score(ranking, positive)
    step_all = _by_score(ranking, weight)
    tp, above = np.cumsum(step_tp, axis=1), np.cumsum(step_all, axis=1)
    step_fp = step_all - step_tp
    n_positive, n_negative = tp[:, -1], step_fp.sum(axis=1)
    area = np.vecdot(step_fp, tp) - 0.5 * np.vecdot(step_fp, step_tp)
    # Rows of no weight above the first that has some: 0 / 0, of which nothing is counted.
    precision = tp / np.maximum(above, np.finfo(np.float64).tiny)
    hits = np.vecdot(step_tp, precision)
    return _ratio(area, n_positive * n_negative), _ratio(hits, n_positive)


def _by_score(ranking: Ranking, values: Floats) -> Floats:
    """Sums of (draw, obs) over rows of the same score, highest first."""
    # The order is in range; without a check of that NumPy writes straight into the result.
    ordered = np.take(values, ranking.order, axis=1, mode="clip")
    if len(ranking.starts) == len(ranking.order):
        return ordered
    sums: Floats = np.add.reduceat(ordered, ranking.starts, axis=1)
    return sums


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    found: Floats = np.full(part.shape, np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found
