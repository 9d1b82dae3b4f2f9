"""A curve's Gaussian approximation that follows the class prior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayescal.inference.direct import Gaussian

type Floats = NDArray[np.float64]

# How early tails are stretched.
_BEND = 0.5
# Knots of the class prior's normal before they are stretched over its posterior.
LAST = 6
KNOTS = np.linspace(-LAST, LAST, 2 * LAST + 1)


@dataclass(frozen=True, eq=False)
class Along:
    """The curve's Gaussian at knots of the class prior's normal.

    Notes
    -----
    Where the class prior rises, high label rates come near 1: the coefficients' conditional mean
    bends, and their spread changes. Means between knots are cubic. Roots are blended, so that
    their diagonals keep their signs, by shares that are level at the knots.
    """

    middle: float
    spread: float
    gaussians: list[Gaussian]

    @cached_property
    def mean(self) -> Floats:
        """Means between knots, as `intervals` has them."""
        return intervals(np.stack([one.mean for one in self.gaussians]))

    @cached_property
    def root(self) -> Floats:
        """Roots at the knots, (knot, basis, basis)."""
        return np.stack([one.root for one in self.gaussians])

    def placed(self, value: Floats) -> tuple[Floats, Floats]:
        """Coefficients at standard normal values, the normal's last, and the log volume."""
        last = value[:, -1]
        place = np.clip(last + LAST, 0, len(KNOTS) - 1)
        left = np.minimum(place.astype(int), len(KNOTS) - 2)
        share = place - left
        coef = np.einsum("wd,dwb->db", np.stack(cubic_weights(share)), self.mean[left])
        share = level_share(share)[:, None]
        log_volume = np.log(self.spread * np.cosh(_BEND * last))
        for knot in np.unique(left).tolist():
            own, low, high = left == knot, self.root[knot], self.root[knot + 1]
            coef[own] += (1 - share[own]) * (value[own, :-1] @ low.T)
            coef[own] += share[own] * (value[own, :-1] @ high.T)
            diagonal = (1 - share[own]) * np.diag(low) + share[own] * np.diag(high)
            log_volume[own] += np.log(np.abs(diagonal)).sum(axis=1)
        return np.column_stack([coef, self.middle + self.spread * stretched(last)]), log_volume


def stretched(value: Floats) -> Floats:
    """Stretch the tails: `value` itself near 0, exponential far out."""
    return np.asarray(np.sinh(_BEND * value) / _BEND)


def intervals(table: Floats) -> Floats:
    """Values and slopes of a (knot, basis) table at both ends of an interval, (interval, 4, basis).

    The curve through them is cubic in each interval.
    """
    slope = np.gradient(table, axis=0)
    return np.stack([table[:-1], table[1:], slope[:-1], slope[1:]], axis=1)


def cubic_weights(t: Floats) -> list[Floats]:
    """Weights of the ends' values and slopes, t of the way from one to the other."""
    s = 1 - t
    return [s * s * (1 + 2 * t), t * t * (1 + 2 * s), s * s * t, -t * t * s]


def level_share(t: Floats) -> Floats:
    """Share of the upper end, t of the way to it, that changes neither there nor at the lower."""
    return t * t * (3 - 2 * t)
