"""What the sizes of the two samples say of label rates, and the masses that agree with both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

type Floats = NDArray[np.float64]

_STEPS = 60
_CLOSE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class SampleSizes:
    """What both sample sizes say of the shares of positives in cells.

    Notes
    -----
    The binomial likelihood leaves the number of positives free. It is given, and the mean label
    rate of the population is the class prior. With masses g / sum(g), where
    ``g ~ Gamma(total) / (1 + odds rate)`` before that, this is ``sum g (rate - class_prior) = 0``,
    whose density is nearly normal: the expected number of positives lies near `n_positive`, by the
    standard deviation that the shares of positives have over all rows. Both together are the
    likelihood of two samples of fixed sizes [1]_.

    References
    ----------
    .. [1] J. Qin, "Inferences for Case-Control and Semiparametric Two-Sample Density Ratio Models",
       Biometrika 85(3), 1998.
    """

    total: NDArray[Any]
    n_positive: float
    share: float
    variance: float = 1.0

    def at(self, cells: NDArray[Any], positive: NDArray[Any]) -> SampleSizes:
        """Take some of the cells; the others hold about the `positive` that were seen there."""
        other = np.setdiff1d(np.flatnonzero(self.total), cells)
        seen, rows = positive[other], self.total[other]
        # Seen counts are Poisson, of variance their mean, at most one more.
        spread = (rows * np.square(seen / rows - self.share)).sum() + (seen + 1).sum()
        rest = self.n_positive - float(seen.sum())
        return SampleSizes(self.total[cells], rest, self.share, self.variance + float(spread))

    def log_density(self, share: Floats, class_prior: Floats) -> Floats:
        """Log density of the sizes given shares of positives (..., cell), without constants."""
        off = share @ self.total - self.n_positive
        variance = self.spread(share)
        return np.asarray(-(off**2) / (2 * variance) - np.log(variance) / 2 - np.log(class_prior))

    def spread(self, share: Floats) -> Floats:
        """Variance of the expected number of positives, (...)."""
        return np.asarray(self.variance + np.square(share - self.share) @ self.total)


def log_sizes_density(
    rate: Floats, class_prior: Floats, total: NDArray[Any], n_positive: int
) -> Floats:
    """Log density of the two sample sizes given label rates of all cells, (...).

    Notes
    -----
    See `SampleSizes`; without constants.
    """
    number = total.sum()
    odds = n_positive / (number - n_positive) / class_prior
    share = expit(np.log(odds)[..., None] + np.log(rate.clip(1e-300)))
    return SampleSizes(total, n_positive, n_positive / number).log_density(share, class_prior)


def draw_joint_masses(
    rate: Floats,
    class_prior: Floats,
    total: NDArray[Any],
    n_positive: int,
    rng: np.random.Generator,
) -> Floats:
    """Draw shares of the unlabelled population in the cells given the label rates, (..., cell).

    Notes
    -----
    Positives tell of the masses too: the Gamma draws of the density above, tilted until the mean
    label rate is the class prior. Where no cell's rate is above the class prior, or none below it,
    they are left untilted.
    """
    gamma = rng.standard_gamma(np.broadcast_to(total.astype(float), rate.shape))
    odds = n_positive / (total.sum() - n_positive) / class_prior[..., None]
    base, off = 1 + odds * rate, rate - class_prior[..., None]
    held = total > 0
    # Positive denominators keep the tilt inside an interval that this squeezes onto (0, 1).
    pull = off[..., held] / base[..., held]
    lowest, highest = pull.min(axis=-1), pull.max(axis=-1)
    possible = (lowest < 0) & (highest > 0)
    low = np.where(possible, -1 / np.where(possible, highest, 1), 0.0)
    high = np.where(possible, -1 / np.where(possible, lowest, -1), 0.0)
    tilt = np.zeros(rate.shape[:-1])
    for _ in range(_STEPS):
        ratio = off / (base + tilt[..., None] * off)
        value, slope = (gamma * ratio).sum(axis=-1), -(gamma * ratio**2).sum(axis=-1)
        low, high = np.where(value > 0, tilt, low), np.where(value > 0, high, tilt)
        step = tilt - value / np.where(slope < 0, slope, -1)
        moved = np.where((step > low) & (step < high), step, (low + high) / 2)
        done = np.abs(moved - tilt).max(initial=0) < _CLOSE
        tilt = np.where(possible, moved, 0.0)
        if done:
            break
    mass = gamma / (base + tilt[..., None] * off)
    return np.asarray(mass / mass.sum(axis=-1, keepdims=True))
