"""What draws of the calibration curve imply, cell by cell: the measure, costs and ROC curves.

A cell has a score, a mass and a label rate; cells run by rising score along the last axis, and
axes before it are of draws.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.quantities.agnostic.decisions.rule import DecisionRule

type Floats = NDArray[np.float64]


def measure_draws(score: Floats, mass: Floats, rate: Floats) -> tuple[Floats, Floats]:
    """Calibration measure c, and the one over prefixes, of each draw, (...)."""
    sums = np.cumsum(mass * (score - rate), axis=-1)
    high, low = np.maximum(sums.max(axis=-1), 0), np.minimum(sums.min(axis=-1), 0)
    return high - low, np.maximum(high, -low)


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


def tpr_at(curves: RocDraws, fpr: Floats) -> Floats:
    """True positive rate of each curve at given false positive rates, (..., point).

    A vertical piece of a curve counts with its upper end.
    """
    shape = curves.fpr.shape
    flat = zip(curves.fpr.reshape(-1, shape[-1]), curves.tpr.reshape(-1, shape[-1]), strict=True)
    found = np.array([np.interp(fpr, x, y) for x, y in flat])
    return found.reshape(*shape[:-1], len(fpr))


class Band(NamedTuple):
    """A band around a curve, (point,)."""

    lower: Floats
    upper: Floats


def pointwise_band(curves: Floats, prob: float) -> Band:
    """Equal-tailed interval at each point of curves (draw, point)."""
    lower, upper = np.quantile(curves, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    return Band(lower, upper)


def simultaneous_band(curves: Floats, prob: float) -> Band:
    """Band that holds whole curves (draw, point) with a given probability.

    Notes
    -----
    The sup-t band by quantiles: the same quantiles at every point, moved outwards until the share
    of draws that lie inside everywhere reaches `prob`. A draw's depth is its least distance in
    ranks from either end, over the points; the band runs between the order statistics of the depth
    that `prob` of the draws reach.

    References
    ----------
    .. [1] J. L. Montiel Olea and M. Plagborg-Møller, "Simultaneous confidence bands: Theory,
       implementation, and an application to SVARs", Journal of Applied Econometrics 34(1), 2019,
       Algorithm 2. https://doi.org/10.1002/jae.2656
    """
    n = len(curves)
    ordered = np.sort(curves, axis=0)
    # Of tied values the deepest rank counts: a point where all draws agree excludes none.
    below, above = _places(ordered, curves, "right"), n - _places(ordered, curves, "left")
    depth = np.sort(np.minimum(below, above).min(axis=0))
    # At least `prob` of the draws have this depth or more.
    reached = int(depth[n - int(np.ceil(prob * n - 1e-9))])
    return Band(ordered[reached - 1], ordered[n - reached])


def _places(ordered: Floats, curves: Floats, side: Literal["left", "right"]) -> NDArray[np.int64]:
    """Places of the values among those of all draws, (point, draw)."""
    columns = zip(ordered.T, curves.T, strict=True)
    return np.stack([np.searchsorted(among, values, side) for among, values in columns])
