"""Logistic recalibration of the population: intercept and slope of the curve in logits.

The best ``sigma(a + b logit s)`` for label rates known by score minimises the mean Kullback-Leibler
divergence, which is convex; rows with a score of exactly 0 or 1 have no logit and are left out.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from bayescal.measures.measure import functions_for

type Tensor = Any

# Steps get small after 5 to 10 in ordinary cases; without an end the logits have no best line.
_STEPS: Final = 30
_SMALL: Final = 1e-7


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
    a = _start(rate, weight, xp)
    for _ in range(_STEPS):
        p = 1 / (1 + xp.exp(-(a[..., None] + logit)))
        ratio = (weight * (rate - p)).sum(axis=-1) / (weight * p * (1 - p)).sum(axis=-1)
        # The curvature changes by a factor of e a unit at most: so far lies the root, or farther.
        step = xp.sign(ratio) * xp.log1p(abs(ratio))
        a = a + step
        if xp is np and not (abs(step) > _SMALL).any():
            break
    return _settled(a, step, xp)


def _line(rate: Tensor, score: Tensor, mass: Tensor) -> tuple[Tensor, Tensor]:
    """Intercept and slope by Newton's method from a slope of 0, (...) each."""
    xp = functions_for(rate)
    logit, weight = _inner(score, mass, xp)
    powers = xp.stack([xp.ones_like(logit), logit, logit**2], axis=1)
    wanted = (weight * rate) @ powers
    a = _start(rate, weight, xp)
    b = 0 * a
    for _ in range(_STEPS):
        p = 1 / (1 + xp.exp(-a[..., None] - b[..., None] * logit))
        weighed = weight * p
        off, spread = wanted - weighed @ powers, (weighed * (1 - p)) @ powers
        g0, g1 = off[..., 0], off[..., 1]
        h0, h1, h2 = spread[..., 0], spread[..., 1], spread[..., 2]
        det = h0 * h2 - h1**2
        up, turn = (h2 * g0 - h1 * g1) / det, (h0 * g1 - h1 * g0) / det
        a, b = a + up, b + turn
        step = abs(up) + abs(turn)
        if xp is np and not (step > _SMALL).any():
            break
    return _settled(a, step, xp), _settled(b, step, xp)


def _start(rate: Tensor, weight: Tensor, xp: Any) -> Tensor:
    """0, or nearer to a low overall rate, which is a step a unit away, and not below it."""
    overall = xp.log((weight * rate).sum(axis=-1) / (weight * (1 - rate)).sum(axis=-1))
    return xp.minimum(overall + 10, 0.0)


def _settled(value: Tensor, step: Tensor, xp: Any) -> Tensor:
    """A root that was found, without rounding: where the rates are the scores, exactly 1 or 0."""
    return xp.where(abs(step) <= _SMALL, np.round(value, 12) if xp is np else value, np.nan)


def _inner(score: Tensor, mass: Tensor, xp: Any) -> tuple[Tensor, Tensor]:
    """Logits, and masses that are 0 where there is none."""
    inner = (score > 0) & (score < 1)
    within = xp.where(inner, score, 0.5)
    return xp.log(within / (1 - within)), mass * inner
