"""What models of this quantity promise, and the bounds that pseudo-observations give."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayescal.core.quantity import BaseModel, DirectDraws, Draws, Floats

if TYPE_CHECKING:
    from bayescal.quantities.credal.models.averaged import Averaged
    from bayescal.quantities.credal.models.bins import Imprecise, Isotonic
    from bayescal.quantities.credal.models.rising import Monotone


class PseudoObservations(NamedTuple):
    """Draws of a probability, and where its quantiles would be after s labels 0, and s labels 1."""

    prob: Floats
    prob_lower: Floats
    prob_upper: Floats


def add_pseudo_observations(prob: Floats, s: float) -> PseudoObservations:
    """Add pseudo-observations to a posterior given as draws, (draw, ...).

    A draw at the quantile q of the posterior is moved to the quantile q of the draws weighted by
    ``(1 - g)**s``, or ``g**s``: the likelihood of s labels 0, or 1. So the interval from the alpha
    quantile of `prob_lower` to the ``1 - alpha`` quantile of `prob_upper` allows for either label
    of the target row. With the improper prior ``1 / (g (1 - g))`` of a single bin and s = 1 it is
    Clopper and Pearson's.
    """
    by_row = np.ascontiguousarray(prob.reshape(len(prob), -1).T)
    lower, upper = np.empty_like(by_row), np.empty_like(by_row)
    even = (np.arange(len(prob)) + 0.5) / len(prob)
    # Row by row: what one takes stays in the cache, which halves the time of whole arrays.
    for row, draws in enumerate(by_row):
        order = draws.argsort()
        ranked = draws[order]
        lower[row, order] = np.minimum(_weighted(ranked, (1 - ranked) ** s, even), ranked)
        upper[row, order] = np.maximum(_weighted(ranked, ranked**s, even), ranked)
    return PseudoObservations(prob, *(part.T.reshape(prob.shape) for part in (lower, upper)))


def _weighted(ranked: Floats, weight: Floats, even: Floats) -> Floats:
    """Quantiles of weighted draws where the draws without weights have theirs, (draw,)."""
    reached = np.cumsum(weight)
    # Where every draw is 0 or 1 to the last digit, more labels move nothing.
    if reached[-1] <= 0:
        return ranked
    return np.asarray(np.interp(even, (reached - weight / 2) / reached[-1], ranked))


type LabelModel = Averaged | Monotone | Isotonic | Imprecise
"""Label rates of one problem under one prior; every array has a dim of the curves."""


class RateModel(BaseModel):
    """A model of label rates: one of any rank, whose variables are those that are sampled."""

    __slots__ = ()

    def completed(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> Draws:
        """Give the draws as they are."""
        return draws

    def representative(self, rank: Floats) -> Floats:
        """Rank of the same bounds: the rank itself."""
        return rank
