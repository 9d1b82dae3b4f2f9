"""What draws of the calibration curve imply, cell by cell: the measure, costs and ROC curves.

A cell has a score, a mass and a label rate; cells run by rising score along the last axis, and
axes before it are of draws.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.quantities.agnostic.decisions import DecisionRule

type Floats = NDArray[np.floating]


def cost_draws(rule: DecisionRule, score: Floats, positive: Floats, negative: Floats) -> Floats:
    """Cost of a rule, given the mass or number of positives and negatives in each cell, (...)."""
    of_positive, of_negative = rule.cost_table[rule.action_of(score)].T
    return np.asarray(positive @ of_positive + negative @ of_negative)


def draw_labels(
    count: NDArray[np.int64], rate: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw the positives and negatives of the rows in each cell, (..., cell)."""
    positive = rng.binomial(count, rate).astype(np.float64)
    return positive, count - positive


class RocDraws(NamedTuple):
    """An ROC curve of each draw, from (0, 0) to (1, 1), a point for each cell."""

    fpr: Floats  # (..., cell + 1)
    tpr: Floats  # (..., cell + 1)
    auc: Floats  # (...)


def roc_draws(positive: Floats, negative: Floats) -> RocDraws:
    """ROC curves from the positives and negatives in each cell; NaN where there is no row of one.

    Point k has the k cells of the highest scores above the threshold.
    """
    tpr, fpr = (_share_above(values) for values in (positive, negative))
    return RocDraws(fpr, tpr, np.asarray(np.trapezoid(tpr, fpr, axis=-1)))


def _share_above(values: Floats) -> Floats:
    """Share of the total above each threshold, highest first."""
    above = np.cumsum(values[..., ::-1], axis=-1)
    total = above[..., -1:]
    share = np.full(above.shape, np.nan)
    np.divide(above, total, out=share, where=total > 0)
    return np.concatenate([np.zeros_like(total), share], axis=-1)
