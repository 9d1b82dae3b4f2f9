"""A calibration curve that is linear in the score: calibrated, but for labels that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import erf, erfinv, logit, logsumexp, softmax

from bayescal.core.columns import Floats
from bayescal.core.quantity import DirectDraws, Draws
from bayescal.curves.cells import score_logit
from bayescal.inference.direct import CellLikelihood

# Points along each share of wrong labels, up to so many scales of its prior: no data need more.
_POINTS, _FAR = 31, 1e9
# They close in on where the log density is no more than this below its maximum.
_BELOW = 15.0


class _Nodes(NamedTuple):
    """Middles of equal parts of intervals, and the log integral over each."""

    at: Floats  # (interval, point)
    side: Floats  # (interval, 1)
    log_mass: Floats  # (interval, point)


def _near_maximum(density: Callable[[Floats], Floats], far: float, intervals: int) -> _Nodes:
    """Integrate concave log densities, each where it is near its maximum between 0 and `far`."""
    low, high = np.zeros((intervals, 1)), np.full((intervals, 1), far)
    while True:
        side = (high - low) / _POINTS
        at = low + side * (np.arange(_POINTS) + 0.5)
        found = density(at)
        near = found > found.max(axis=-1, keepdims=True) - _BELOW
        # The maximum may lie in the part beside.
        first = np.maximum(near.argmax(axis=-1, keepdims=True) - 1, 0)
        last = np.minimum(_POINTS + 1 - near[:, ::-1].argmax(axis=-1, keepdims=True), _POINTS)
        if (last - first > _POINTS / 2).all():
            return _Nodes(at, side, found + np.log(side))
        low, high = low + side * first, low + side * last


@dataclass(frozen=True, eq=False)
class Linear:
    """Rates of a (1 - score) + (1 - b) score.

    A share a of the negative labels of a calibrated classifier is wrong, and a share b of the
    positive ones. Both are half-normal of one scale, cut off at 1. They are summed over points of
    a, and of b given each: scores that are alike tell only of a difference between the two.
    """

    score: Floats
    cells: CellLikelihood
    scale: float
    exact: ClassVar[bool] = True

    @property
    def _all_wrong(self) -> float:
        """A share of 1, in units of the prior's scale."""
        return 1 / self.scale

    @property
    def _log_prior_mass(self) -> float:
        """Log of the integral of ``exp(-z^2 / 2)`` over the shares from 0 to 1."""
        return float(np.log(np.sqrt(np.pi / 2) * erf(self._all_wrong / np.sqrt(2))))

    @cached_property
    def _nodes(self) -> tuple[_Nodes, _Nodes]:
        """Of a, and of b given each point of a."""
        far, inner = min(_FAR, self._all_wrong), list[_Nodes]()

        def marginal(a: Floats) -> Floats:
            column = a.reshape(-1, 1)
            inner.append(_near_maximum(lambda b: self._log_density(column, b), far, a.size))
            return np.asarray(logsumexp(inner[-1].log_mass, axis=-1)[None])

        outer = _near_maximum(marginal, far, 1)
        return outer, inner[-1]

    def _log_density(self, a: Floats, b: Floats) -> Floats:
        shares = np.stack(np.broadcast_arrays(a, b), axis=-1)
        likelihood = self.cells.log_likelihood(logit(self._rate(shares, self.score)))
        return np.asarray(likelihood.sum(axis=-1) - np.square(shares).sum(axis=-1) / 2)

    def _rate(self, shares: Floats, score: Floats) -> Floats:
        wrong = self.scale * shares
        return np.asarray(wrong[..., :1] * (1 - score) + (1 - wrong[..., 1:]) * score)

    def sample(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Draws of the shares of wrong labels."""
        outer, inner = self._nodes
        log_mass = inner.log_mass + np.log(outer.side)
        drawn = rng.choice(log_mass.size, draws, p=softmax(log_mass.ravel()))
        place, other = np.divmod(drawn, _POINTS)
        of_a, mean = outer.at[0], (softmax(inner.log_mass, axis=-1) * inner.at).sum(axis=-1)
        apart = rng.random((2, draws)) - 0.5
        a = of_a[place] + outer.side[0] * apart[0]
        # Within a part of a, b follows its mean.
        b = inner.at[place, other] + inner.side[place, 0] * apart[1]
        b = np.abs(b + np.gradient(mean, of_a)[place] * (a - of_a[place]))
        evidence = logsumexp(log_mass) - 2 * self._log_prior_mass
        return DirectDraws(
            {"label_noise": np.stack([a, b], axis=-1)}, float(draws), "quadrature", float(evidence)
        )

    def deviation(self, draws: Draws) -> Floats:
        """Deviation of the cells' logits, (..., cell)."""
        return self.deviation_at(draws, self.score)

    def deviation_at(self, draws: Draws, score: Floats) -> Floats:
        """Deviation at any score, (..., point)."""
        return np.asarray(logit(self._rate(draws["label_noise"], score)) - score_logit(score))

    def log_prior_excess(self, draws: Draws) -> Floats:
        """Log prior density of the shares, less its mean before the data, (...)."""
        cut = self._all_wrong * np.exp(-(self._all_wrong**2) / 2 - self._log_prior_mass)
        return np.asarray(1 - cut - np.square(draws["label_noise"]).sum(axis=-1) / 2)

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Shares before the data, (draw, 2)."""
        within = rng.random((draws, 2)) * erf(self._all_wrong / np.sqrt(2))
        return {"label_noise": np.sqrt(2) * erfinv(within)}
