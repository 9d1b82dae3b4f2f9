"""Each formula once, with operators only, so that the same line serves NumPy and PyTensor.

A bin is described by its mass (share of the rows), its label rate (share of them where the event
happened) and its confidence (mean score). The last axis runs over bins; axes before it broadcast.
An empty bin has mass 0 and contributes nothing, but its rate must be a number: NaN times 0 is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.columns import Floats
from bayescal.core.intake import to_probabilities


def log_binomial_coefficient(count: NDArray[Any], positives: NDArray[Any]) -> Floats:
    """Log of the number of ways to choose `positives` out of `count`, (...)."""
    from scipy.special import gammaln

    return np.asarray(
        gammaln(count + 1.0) - gammaln(positives + 1.0) - gammaln(count - positives + 1.0)
    )


def log_binomial(positives: NDArray[Any], count: NDArray[Any], rate: Floats) -> Floats:
    """Log probability of events given their rate, (..., cell)."""
    negatives = count - positives
    # Neither label has a say where it was not seen: 0 log 0 is 0.
    with np.errstate(divide="ignore"):
        found = np.log(np.where(positives > 0, rate, 1.0))
        negative = np.log1p(-np.where(negatives > 0, rate, 0.0))
    found *= positives
    negative *= negatives
    found += negative
    found += log_binomial_coefficient(count, positives)
    return found


type Tensor = Any
"""A NumPy array, a PyTensor tensor or an xarray variable: what has operators, ``sum``, ``max``."""


def calibration_gap(rate: Tensor, confidence: Tensor) -> Tensor:
    """Signed gap of each bin: above 0 where the classifier is under-confident, (..., bin)."""
    return rate - confidence


def expected_calibration_error(mass: Tensor, rate: Tensor, confidence: Tensor) -> Tensor:
    """Mean absolute gap, each bin weighted by its mass, (...).

    With the bins of an evaluation it is the binned ECE. With cells so fine that the score hardly
    varies inside one, it is the true calibration error, the mean of ``|E[Y | f] - f|``.
    """
    return (mass * abs(calibration_gap(rate, confidence))).sum(axis=-1)


def maximum_calibration_error(mass: Tensor, rate: Tensor, confidence: Tensor) -> Tensor:
    """Largest absolute gap of a bin that holds a row, of Naeini et al. (AAAI 2015), (...)."""
    return ((mass > 0) * abs(calibration_gap(rate, confidence))).max(axis=-1)


def squared_calibration_error(mass: Tensor, rate: Tensor, confidence: Tensor) -> Tensor:
    """Mean squared gap; its root is the l2 error of Kumar et al. (2019), Definition 2.1, (...)."""
    return (mass * calibration_gap(rate, confidence) ** 2).sum(axis=-1)


def debiased_squared_calibration_error(
    mass: Tensor, rate: Tensor, confidence: Tensor, count: Tensor
) -> Tensor:
    """Mean squared gap less what the noise of the label rates alone puts into it, (...).

    A. Kumar, P. Liang and T. Ma, "Verified Uncertainty Calibration", NeurIPS 2019, section 5.
    """
    # 1 but for rounding is one row, of unknown noise; the divisor is count - 1 of others.
    usable = count > 1 + 1e-9
    noise = rate * (1 - rate) / (count + 1 - 2 * usable)
    return (mass * usable * (calibration_gap(rate, confidence) ** 2 - noise)).sum(axis=-1)


def correlation(influences: Sequence[Floats], number: Floats | None = None) -> Floats:
    """Correlation of classifiers' estimates due to their shared rows.

    Under the Bayesian bootstrap, Dirichlet(1, ..., 1) weights shared by all classifiers, the
    estimates are to first order weighted sums of the rows' influences. Their correlation is then
    that of the influences over the rows, each `number` times, so nothing has to be resampled.
    """
    covariance = np.atleast_2d(np.cov(np.stack(influences), ddof=0, aweights=number))
    scale = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.clip(covariance / scale / scale[:, None], -1, 1)
    found = np.nan_to_num(found, nan=0.0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found, dtype=float)


def weighted_influence(influence: Floats, weight: Floats | None, number: Any = 1.0) -> Floats:
    """What rows add to a weighted mean, from what each adds if all weigh alike."""
    if weight is None:
        return influence
    return weight / weight.mean() * (influence - np.average(influence, weights=weight * number))


def bin_mean(weight: Tensor, values: Tensor, membership: Tensor) -> Tensor:
    """Weighted mean over the cells of each bin, (..., bin)."""
    return (weight * values) @ membership / (weight @ membership)


def sigmoid(logit: Floats) -> Floats:
    """Logistic function."""
    found = np.asarray(np.negative(logit))
    # The positive exponent overflows to infinity for logits below -709, and 1 / inf is the right 0.
    with np.errstate(over="ignore"):
        np.exp(found, out=found)
    found += 1
    return np.reciprocal(found, out=found)


def finite_logits(score: Any, name: str = "score") -> Floats:
    """Logits of probabilities of any shape; 0 and 1 count as the numbers next to them."""
    info = np.finfo(np.float64)
    inside = np.clip(to_probabilities(score, name), info.tiny, 1.0 - info.epsneg)
    return np.asarray(np.log(inside) - np.log1p(-inside))
