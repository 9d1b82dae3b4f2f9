"""AUC and average precision of one score under many label draws at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.quantity import Floats

type Complex = NDArray[np.complex128]


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


def counted(positive: Floats, weight: Floats) -> Complex:
    """Positive weight and weight of each row, as real and imaginary part, (draw, obs).

    A processor adds both in the time of one, as it waits for the sum before; and sorting them
    takes one look-up.
    """
    both: Complex = np.empty(np.broadcast_shapes(positive.shape, weight.shape), dtype=complex)
    both.real, both.imag = positive, weight
    return both


def ranking_metrics(ranking: Ranking, rows: Complex) -> tuple[Floats, Floats]:
    """Area under the ROC curve, and average precision, of rows as of `counted`.

    Notes
    -----
    With tp and fp the positive and negative weight at or above a distinct score and d their steps,
    AUC = sum d(fp) (tp - d(tp) / 2) / (P N), AP = sum d(tp) tp / (tp + fp) / P. On hard labels
    these are scikit-learn's ``roc_auc_score`` and ``average_precision_score``, ties included.
    """
    step = _by_score(ranking, rows)
    total = np.cumsum(step, axis=1)
    step_tp, tp = step.real, total.real
    step_fp = step.imag - step_tp
    n_positive, n_negative = tp[:, -1], step_fp.sum(axis=1)
    area = np.vecdot(step_fp, tp) - 0.5 * np.vecdot(step_fp, step_tp)
    # Rows of no weight above the first that has some: 0 / 0, of which nothing is counted.
    precision = tp / np.maximum(total.imag, np.finfo(np.float64).tiny)
    hits = np.vecdot(step_tp, precision)
    return _ratio(area, n_positive * n_negative), _ratio(hits, n_positive)


def _by_score(ranking: Ranking, values: Complex) -> Complex:
    """Sums of (draw, obs) over rows of the same score, highest first."""
    # The order is in range; without a check of that NumPy writes straight into the result.
    ordered = np.take(values, ranking.order, axis=1, mode="clip")
    if len(ranking.starts) == len(ranking.order):
        return ordered
    sums: Complex = np.add.reduceat(ordered, ranking.starts, axis=1)
    return sums


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    found: Floats = np.full(part.shape, np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found
