"""A class prior as a smooth function of a standard normal, so that one model serves every prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import betaincinv, betaln, expit, logit, ndtr, xlogy

from bayescal.core.priors import Beta
from bayescal.quantities.pu_ece.priors import ClassPrior, PriorDraws

type Floats = NDArray[np.float64]

LAST = 6.5
"""Standard normals beyond this, 1 in 10 billion, are taken to be at it."""
INTERVALS = 52
KNOTS = np.linspace(-LAST, LAST, INTERVALS + 1)
STEP = 2 * LAST / INTERVALS
_LOG_ROOT = np.log(2 * np.pi) / 2
# A prior that comes this near to 0 or 1 would leave no positives, or nothing else.
_LARGEST_LOGIT = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class PriorMap:
    """The class prior's logit at each knot, with its slope; cubic between the knots."""

    value: Floats  # (knot,)
    slope: Floats  # (knot,)

    @classmethod
    def of(cls, prior: ClassPrior) -> PriorMap:
        """Tabulate the quantiles of a prior."""
        match prior:
            case Beta():
                return _of_beta(prior)
            case PriorDraws():
                return _of_draws(prior)
            case float():
                return cls(np.full(len(KNOTS), logit(prior)), np.zeros(len(KNOTS)))

    @property
    def known(self) -> bool:
        """Whether the class prior is one number."""
        return not self.slope.any()

    def __call__(self, normal: Floats) -> tuple[Floats, Floats]:
        """Class prior and its derivative, (...)."""
        place = np.clip((normal + LAST) / STEP, 0, INTERVALS)
        left = np.minimum(place.astype(int), INTERVALS - 1)
        t = place - left
        low, high = self.value[left], self.value[left + 1]
        start, stop = STEP * self.slope[left], STEP * self.slope[left + 1]
        found = hermite(t, low, high, start, stop)
        rise = 6 * t * (1 - t) * (high - low)
        rise += (1 - t) * (1 - 3 * t) * start + t * (3 * t - 2) * stop
        prior = expit(found)
        return prior, prior * (1 - prior) * rise / STEP

    def log_density(self, normal: Floats) -> Floats:
        """Log density of the class prior at a place given by its standard normal, (...)."""
        if self.known:
            return np.zeros(np.shape(normal))
        return np.asarray(-(normal**2) / 2 - _LOG_ROOT - np.log(self(normal)[1]))


def logit_in_graph(normal: Any, value: Any, slope: Any) -> Any:
    """Compute the logit of the class prior in a PyTensor graph, as `PriorMap` does."""
    import pytensor.tensor as pt

    place = pt.clip((normal + LAST) / STEP, 0, INTERVALS)
    left = pt.clip(pt.floor(place), 0, INTERVALS - 1).astype("int64")
    return hermite(
        place - left, value[left], value[left + 1], STEP * slope[left], STEP * slope[left + 1]
    )


# Operators only: NumPy and PyTensor share the line.
def hermite(t: Any, low: Any, high: Any, start: Any, stop: Any) -> Any:
    """Cubic between two knots, from values and slopes at both."""
    s = 1 - t
    return s * s * ((1 + 2 * t) * low + t * start) + t * t * ((1 + 2 * s) * high - s * stop)


def _of_beta(prior: Beta) -> PriorMap:
    """Quantiles from the nearer tail: the other has no digits left."""
    below = betaincinv(prior.alpha, prior.beta, ndtr(np.minimum(KNOTS, 0)))
    above = betaincinv(prior.beta, prior.alpha, ndtr(-np.maximum(KNOTS, 0)))
    with np.errstate(divide="ignore"):
        value = np.where(
            KNOTS < 0, np.log(below) - np.log1p(-below), np.log1p(-above) - np.log(above)
        )
    value = np.clip(value, -_LARGEST_LOGIT, _LARGEST_LOGIT)
    p, q = expit(value), expit(-value)
    # The logit has the density p**alpha q**beta / B, and gains phi(z) / density a unit of z.
    log_density = xlogy(prior.alpha, p) + xlogy(prior.beta, q) - betaln(prior.alpha, prior.beta)
    slope = np.exp(-(KNOTS**2) / 2 - _LOG_ROOT - log_density)
    return PriorMap(value, np.where(np.abs(value) < _LARGEST_LOGIT, slope, 0.0))


def _of_draws(prior: PriorDraws) -> PriorMap:
    """Quantiles of the draws' logits, smoothed by a Gaussian kernel of Silverman's width."""
    at = logit(np.asarray(prior.values))
    width = 0.9 * at.std() * len(at) ** -0.2
    grid = np.linspace(at.min() - 8 * width, at.max() + 8 * width, 4001)
    below = ndtr((grid[:, None] - at) / width).mean(axis=1)
    kept = np.flatnonzero(np.diff(below, prepend=-1) > 0)
    value = np.interp(ndtr(KNOTS), below[kept], grid[kept])
    # Slopes that keep the cubic from turning back where draws leave a gap.
    return PriorMap(value, PchipInterpolator(KNOTS, value).derivative()(KNOTS))
