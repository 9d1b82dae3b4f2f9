"""The metrics if the opinion pool is right, if nothing is known of it, if agreement is a guide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from scipy.special import logsumexp
from scipy.stats import t

from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.ssme.models.log_slope import DEGREES, LogSlope

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
    """Summarise every metric under each assumption, (assumption, summary, ...).

    Notes
    -----
    Draws are weighted by the ratio of the assumption's prior to the model's. ``probability`` is the
    posterior probability of the narrow and of the wide part; the other prior is not in the model.
    An assumption that the labels rule out has too few effective draws, and is NaN.
    """
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
    held = np.isfinite(values)
    if not held.any():
        return np.full(len(_LEVELS), np.nan)
    order = np.argsort(values[held])
    below = weights[held][order].cumsum()
    place = np.searchsorted(below, np.array(_LEVELS) * below[-1])
    return np.asarray(values[held][order][place])
