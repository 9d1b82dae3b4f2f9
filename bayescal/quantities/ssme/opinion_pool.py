"""The classifiers' probabilities pooled into one, and how far the pool can be right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.special import logit, logsumexp
from scipy.stats import norm, t

from bayescal.core.quantity import Draws, Floats
from bayescal.core.scores import predicted_class
from bayescal.quantities.ssme.data import ScoreMatrix
from bayescal.quantities.ssme.priors import Tilt

# Logarithms of smaller probabilities say more of a classifier's arithmetic than of the label.
LEAST = 1e-4
# Rates nearer to 0 and 1 have log odds that say more of the number of rows.
_LEAST_RATE = 1e-3


def lifted(probs: Floats) -> Floats:
    """Lift probabilities to at least 1e-4, so that their logarithms are bounded."""
    above_0 = np.maximum(probs, LEAST)
    return np.asarray(above_0 / above_0.sum(axis=-1, keepdims=True))


def agreement_weights(probs: Floats, opinion_pool: str = "agreement") -> Floats:
    """Weigh classifiers by ``exp(-mean KL(mean of the others || own))`` over rows, or alike."""
    if len(probs) == 1 or opinion_pool == "mean":
        return np.full(len(probs), 1 / len(probs))
    others = (probs.sum(axis=0) - probs) / (len(probs) - 1)
    divergence = (others * np.log(others / probs)).sum(axis=2).mean(axis=1)
    weight = np.exp(divergence.min() - divergence)
    return np.asarray(weight / weight.sum())


def pooled(probs: Floats, weights: Floats) -> Floats:
    """Mean of the classifiers' probabilities under weights, (obs, class)."""
    return np.asarray(np.tensordot(weights, probs, 1))


class Agreement(NamedTuple):
    """How often classifiers agree, and how often their probabilities say they should."""

    agree: float  # how often one's most probable class is that of the others' pool, by weight
    sure: float  # how often the pool's is the label, by its own probabilities
    gap: float  # log odds of the one less of the other: their log probabilities should be steeper


def rates_of_agreement(probs: Floats, weights: Floats) -> Agreement:
    """Compare how often classifiers agree with how often their probabilities say they should."""
    sure = float(pooled(probs, weights).max(axis=1).mean())
    top = predicted_class(probs)
    without_each = weights * ~np.eye(len(weights), dtype=bool)
    without_each /= without_each.sum(axis=1, keepdims=True)
    agree = sum(
        weight * np.mean(own == predicted_class(pooled(probs, others)))
        for weight, own, others in zip(weights, top, without_each, strict=True)
    )
    # Shared errors raise it too: it centres a prior, no more. All rows of one class say nothing.
    of_agree, of_sure = logit(np.clip([agree, sure], _LEAST_RATE, 1 - _LEAST_RATE))
    gap = np.clip(of_agree - of_sure, -1.0, 2.5) if np.ptp(top) else 0.0
    return Agreement(float(agree), sure, float(gap))


# Degrees of freedom of the narrow and the wide part.
DEGREES: Final = (3.0, 4.0)
# Shared errors make classifiers agree; nothing but overconfidence makes them disagree.
_DISAGREEMENT = 2.0
# Share of the largest weight of the wide part where classifiers agree as they say, or of one.
_LEAST, _ALONE = 1 / 7, 3 / 7
# Scale of the wide part where there is only one classifier, in units of that of several.
_ALONE_WIDER = 2.0

# Normal units at which the table has the quantile of the mixture: beyond, it is linear.
_REACH, _STEP = 4.0, 1 / 32
UNITS: Final = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
# Where the distribution function is tabulated to be inverted, in scales of each part.
_GRID: Final = np.sinh(np.linspace(-8, 8, 4001)) / 8


class LogSlope(NamedTuple):
    """A mixture of two Student-t."""

    weight: float  # of the wide part
    centre: tuple[float, float]
    scale: tuple[float, float]

    @classmethod
    def of(cls, prior: Tilt, probs: Floats, weights: Floats) -> LogSlope:
        """Centre the wide part at the log slope that would explain how often classifiers agree."""
        if len(probs) == 1:
            wide, centre, weight = _ALONE_WIDER * prior.wide_scale, 0.0, _ALONE
        else:
            wide, centre = prior.wide_scale, rates_of_agreement(probs, weights).gap
            evidence = max(centre, -_DISAGREEMENT * centre)
            weight = _LEAST + (1 - _LEAST) * min(evidence, 1.0)
        return cls(
            prior.wide_weight * weight, (prior.slope_location, centre), (prior.slope_scale, wide)
        )

    def log_parts(self, values: Floats) -> Floats:
        """Log of weight times density of each part, (part, ...)."""
        # A part without weight keeps its shape: draws may be weighted towards it.
        log_weight = np.log(np.maximum([1 - self.weight, self.weight], np.finfo(np.float64).tiny))
        parts = zip(log_weight, DEGREES, self.centre, self.scale, strict=True)
        return np.array([own + t.logpdf(values, nu, at, scale) for own, nu, at, scale in parts])

    def table(self) -> Floats:
        """Quantiles at normal units, and their derivatives times a step, (2, unit)."""
        around = (at + scale * _GRID for at, scale in zip(self.centre, self.scale, strict=True))
        grid = np.unique(np.concatenate([*around]))
        parts = zip((1 - self.weight, self.weight), DEGREES, self.centre, self.scale, strict=True)
        below = sum(w * t.cdf(grid, nu, at, scale) for w, nu, at, scale in parts)
        values = np.interp(norm.cdf(UNITS), below, grid)
        density = np.exp(np.logaddexp(*self.log_parts(values)))
        return np.stack([values, _STEP * norm.pdf(UNITS) / density])


def log_slope_at(units: Any, table: Any) -> Any:
    """Log slope at normal units, by cubic interpolation; in NumPy and in PyTensor."""
    # In normal units the two parts of the mixture are side by side, with one mode.
    inside = units.clip(-_REACH, _REACH)
    place = (inside + _REACH) / _STEP
    left = place.clip(0, len(UNITS) - 2).astype("int64")
    u = place - left
    (y0, y1), (d0, d1) = ((table[i][left], table[i][left + 1]) for i in range(2))
    cubic = y0 + u * (d0 + u * (3 * (y1 - y0) - 2 * d0 - d1 + u * (2 * (y0 - y1) + d0 + d1)))
    return cubic + (units - inside) * (d0 * (1 - u) + d1 * u) / _STEP


ASSUMPTIONS: Final = ("pool right", "wide", "agreement")
"""Priors of the log slope: its narrow part, one around 0 that knows little, its wide part."""
SUMMARY: Final = ("lower", "median", "upper")
"""Ends of the central 90% interval, and the median."""
FEW_LABELS: Final = 100
"""With as many labels the assumptions hardly matter, and are not compared."""

_LEVELS = (0.05, 0.5, 0.95)
_KNOWS_LITTLE = 0.8
# Of fewer effective draws a 90% interval is too rough.
_LEAST_DRAWS = 100


def under_assumptions(
    slope: LogSlope, draws: Draws, metrics: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Summarise metrics under each assumption, (assumption, summary, ...); NaN if ruled out."""
    # Draws are weighted by the ratio of the assumption's prior to the model's.
    log_slope = draws["log_slope"].ravel()
    parts = slope.log_parts(log_slope)
    log_prior = np.logaddexp(*parts)
    little = t.logpdf(log_slope, DEGREES[1], 0, _KNOWS_LITTLE)
    log_weights = np.array([parts[0], little, parts[1]]) - log_prior
    weights = np.exp(log_weights - logsumexp(log_weights, axis=1, keepdims=True))
    share = np.exp(parts - log_prior).mean(axis=1)
    found = {
        name: np.array([_summary(values, own) for own in weights])
        for name, values in metrics.items()
    }
    return found | {"probability": np.array([share[0], np.nan, share[1]])}


def _summary(values: Floats, weights: Floats) -> Floats:
    flat = values.reshape(len(weights), -1)
    shape = (len(SUMMARY), *values.shape[2:])
    if 1 / (weights**2).sum() < _LEAST_DRAWS:
        return np.full(shape, np.nan)
    found = [_quantiles(column, weights) for column in flat.T]
    return np.stack(found, axis=-1).reshape(shape)


def _quantiles(values: Floats, weights: Floats) -> Floats:
    """Weighted quantiles of the draws in which the metric exists."""
    kept = np.isfinite(values)
    if not kept.any():
        return np.full(len(_LEVELS), np.nan)
    value, weight = values[kept], weights[kept]
    return np.asarray(np.quantile(value, _LEVELS, weights=weight, method="inverted_cdf"))


# Log odds of agreement less those of confidence: few calibrated classifiers lie outside.
_LESS, _MORE = -0.3, 1.0
_CAUTIOUS = "probably underconfident, share errors, or hardly ever predict a rare class"
# Standard errors: a pool that is right is 3 away in 3 of 1,000 samples.
_FAR = 3.0


def pool_warnings(
    matrix: ScoreMatrix, labeling: str = "random", opinion_pool: str = "agreement"
) -> list[str]:
    """Compare agreement with confidence, and rows labelled at random with the opinion pool."""
    probs = lifted(matrix.probs)
    weights = agreement_weights(probs, opinion_pool)
    found = _agreement(probs, weights)
    # On a row that is labelled for its rare class a pool that is right is mostly wrong.
    return found + (_labeled_rows(matrix, pooled(probs, weights)) if labeling == "random" else [])


def _agreement(probs: Floats, weights: Floats) -> list[str]:
    if len(probs) == 1:
        return []
    agree, sure, gap = rates_of_agreement(probs, weights)
    if _LESS <= gap <= _MORE:
        return []
    how, why = ("less", "probably overconfident") if gap < _LESS else ("more", _CAUTIOUS)
    return [
        f"classifiers agree {how} often ({agree:.0%} of the rows) than their probabilities say "
        f"({sure:.0%}): they are {why}."
    ]


def _labeled_rows(matrix: ScoreMatrix, pool: Floats) -> list[str]:
    """Test whether the pool's most probable class is right as often as it says."""
    top = pool[matrix.labeled].max(axis=1)
    if not len(top):
        return []
    right = predicted_class(pool[matrix.labeled]) == matrix.y[matrix.labeled]
    distance = (right - top).sum() / np.sqrt((top * (1 - top)).sum())
    if abs(distance) < _FAR:
        return []
    return [
        f"labelled rows contradict the classifiers: their pool is right on {right.mean():.0%} of "
        f"them, and should be on {top.mean():.0%} by its probabilities. Look at the labels, and at "
        "how rows were chosen."
    ]
