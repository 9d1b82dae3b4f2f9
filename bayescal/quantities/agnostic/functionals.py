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
    """ROC curves, of which point k has the k cells of the highest scores above the threshold."""
    tpr, fpr = (_share_above(values) for values in (positive, negative))
    twice = np.einsum("...k,...k", tpr[..., 1:] + tpr[..., :-1], fpr[..., 1:] - fpr[..., :-1])
    return RocDraws(fpr, tpr, np.asarray(twice / 2))


def _share_above(values: Floats) -> Floats:
    """Share of the total above each threshold, highest first."""
    share = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    above = share[..., 1:]
    np.cumsum(values[..., ::-1], axis=-1, out=above)
    total = above[..., -1:].copy()
    above /= np.where(total > 0, total, np.nan)
    return share


class PrefixSums(NamedTuple):
    """Largest, least and last of the sums of the first cells, the empty sum among them, (...)."""

    high: Floats
    low: Floats
    last: Floats

    @classmethod
    def of(cls, summands: Floats) -> PrefixSums:
        """Sum up, (..., cell)."""
        sums = np.cumsum(summands, axis=-1)
        high, low = (np.asarray(end(axis=-1, initial=0.0)) for end in (sums.max, sums.min))
        return cls(high, low, sums[..., -1] if sums.shape[-1] else np.zeros(sums.shape[:-1]))

    def between(self, before: Floats | float, after: Floats | float) -> PrefixSums:
        """Add a cell before the first one, and one behind the last."""
        total = before + self.last + after
        return PrefixSums(
            np.maximum(np.maximum(before + self.high, total), 0.0),
            np.minimum(np.minimum(before + self.low, total), 0.0),
            np.asarray(total),
        )

    @property
    def measures(self) -> dict[str, Floats]:
        """Largest absolute sum over neighbouring cells, c, and over those from the first on, ks."""
        return {"c": self.high - self.low, "ks": np.maximum(self.high, -self.low)}
