"""Logistic recalibration of the population: intercept and slope of the curve in logits.

The best ``sigma(a + b logit s)`` for label rates known by score minimises the mean Kullback-Leibler
divergence, which is convex; rows with a score of exactly 0 or 1 have no logit and are left out.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.measures.measure import functions_for

type Tensor = Any

# Rounding is reached after 5 to 10 steps in ordinary cases.
_STEPS: Final = 30
_ROUNDING: Final = 1e-11


def slope(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Calibration slope: 1 where calibrated, below 1 where scores are too extreme."""
    return _line(rate, score, mass)[1]


def intercept(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Intercept beside the slope: logit of the label rate at a score of 0.5."""
    return _line(rate, score, mass)[0]


def citl(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Intercept given a slope of 1: above 0 where scores are too low on the whole."""
    xp = functions_for(rate)
    logit, weight = _inner(score, mass, xp)
    a = 0 * rate[..., 0]
    for _ in range(_STEPS):
        p = 1 / (1 + xp.exp(-(a[..., None] + logit)))
        off = (weight * (rate - p)).sum(axis=-1)
        ratio = off / (weight * p * (1 - p)).sum(axis=-1)
        # The curvature changes by a factor of e a unit at most: so far lies the root, or farther.
        step = xp.sign(ratio) * xp.log1p(abs(ratio))
        a = a + step
        if xp is np and _is_small(step):
            break
    return a


def _line(rate: Tensor, score: Tensor, mass: Tensor) -> tuple[Tensor, Tensor]:
    """Intercept and slope by Newton's method from a slope of 0, (...) each."""
    xp = functions_for(rate)
    logit, weight = _inner(score, mass, xp)
    a = 0 * rate[..., 0]
    b = a
    for _ in range(_STEPS):
        p = 1 / (1 + xp.exp(-(a[..., None] + b[..., None] * logit)))
        off, spread = weight * (rate - p), weight * p * (1 - p)
        g0, g1 = off.sum(axis=-1), (off * logit).sum(axis=-1)
        h0, h1 = spread.sum(axis=-1), (spread * logit).sum(axis=-1)
        h2 = (spread * logit**2).sum(axis=-1)
        det = h0 * h2 - h1**2
        steps = (h2 * g0 - h1 * g1) / det, (h0 * g1 - h1 * g0) / det
        a, b = a + steps[0], b + steps[1]
        if xp is np and all(map(_is_small, steps)):
            break
    return a, b


def _is_small(step: NDArray[np.float64]) -> bool:
    """Whether nothing but rounding is left, or nothing can be found."""
    return not (np.abs(step) > _ROUNDING).any()


def _inner(score: Tensor, mass: Tensor, xp: Any) -> tuple[Tensor, Tensor]:
    """Logits, and masses that are 0 where there is none."""
    inner = (score > 0) & (score < 1)
    within = xp.where(inner, score, 0.5)
    return xp.log(within / (1 - within)), mass * inner
