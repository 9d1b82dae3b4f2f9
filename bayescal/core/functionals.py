"""Each formula once, with operators only, so that the same line serves NumPy and PyTensor.

A bin is described by its mass (share of the rows), its label rate (share of them where the event
happened) and its confidence (mean score). The last axis runs over bins; axes before it broadcast.
An empty bin has mass 0 and contributes nothing, but its rate must be a number: NaN times 0 is NaN.
"""

from __future__ import annotations

from typing import Any

type Tensor = Any
"""A NumPy array, a PyTensor tensor or an xarray variable: what has operators, ``sum``, ``max``."""


def calibration_gap(rate: Tensor, confidence: Tensor) -> Tensor:
    """Signed gap of each bin: above 0 where the classifier is under-confident.

    Parameters
    ----------
    rate : array or tensor of shape (..., bin)
        Label rates.
    confidence : array or tensor of shape (..., bin)
        Mean scores.

    Returns
    -------
    array or tensor of shape (..., bin)
        Gaps in [-1, 1].

    Examples
    --------
    >>> from bayescal.core.functionals import calibration_gap
    >>> calibration_gap(0.75, 0.5)
    0.25
    """
    return rate - confidence


def expected_calibration_error(mass: Tensor, rate: Tensor, confidence: Tensor) -> Tensor:
    """Mean absolute gap, each bin weighted by its mass.

    Parameters
    ----------
    mass : array or tensor of shape (..., bin)
        Shares of the rows, summing to 1.
    rate : array or tensor of shape (..., bin)
        Label rates.
    confidence : array or tensor of shape (..., bin)
        Mean scores.

    Returns
    -------
    array or tensor of shape (...)
        Expected calibration error in [0, 1].

    Notes
    -----
    With the bins of an evaluation it is the binned ECE. With cells so fine that the score hardly
    varies inside one, it is the true calibration error, the mean of ``|E[Y | f] - f|``.

    References
    ----------
    .. [1] "Estimating Expected Calibration Error for Positive-Unlabeled Learning", Transactions on
       Machine Learning Research, 2025, Eq. (1).

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.core.functionals import expected_calibration_error
    >>> mass, rate, confidence = np.array([[0.5, 0.5], [0.25, 1.0], [0.5, 0.75]])
    >>> float(expected_calibration_error(mass, rate, confidence))
    0.25
    """
    return (mass * abs(calibration_gap(rate, confidence))).sum(axis=-1)


def maximum_calibration_error(mass: Tensor, rate: Tensor, confidence: Tensor) -> Tensor:
    """Largest absolute gap of a bin that holds a row.

    Parameters
    ----------
    mass : array or tensor of shape (..., bin)
        Shares of the rows; a bin of mass 0 is left out.
    rate : array or tensor of shape (..., bin)
        Label rates.
    confidence : array or tensor of shape (..., bin)
        Mean scores.

    Returns
    -------
    array or tensor of shape (...)
        Maximum calibration error in [0, 1].

    References
    ----------
    .. [1] M. P. Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining Well Calibrated Probabilities
       Using Bayesian Binning", AAAI 2015, section "Calibration measures".

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.core.functionals import maximum_calibration_error
    >>> mass, rate, confidence = np.array([[1.0, 0.0], [0.25, 1.0], [0.5, 0.5]])
    >>> float(maximum_calibration_error(mass, rate, confidence))
    0.25
    """
    return ((mass > 0) * abs(calibration_gap(rate, confidence))).max(axis=-1)


def squared_calibration_error(mass: Tensor, rate: Tensor, confidence: Tensor) -> Tensor:
    """Mean squared gap; its root is the l2 calibration error.

    Parameters
    ----------
    mass : array or tensor of shape (..., bin)
        Shares of the rows, summing to 1.
    rate : array or tensor of shape (..., bin)
        Label rates.
    confidence : array or tensor of shape (..., bin)
        Mean scores.

    Returns
    -------
    array or tensor of shape (...)
        Squared error in [0, 1].

    References
    ----------
    .. [1] A. Kumar, P. Liang and T. Ma, "Verified Uncertainty Calibration", NeurIPS 2019,
       Definition 2.1 with p = 2.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.core.functionals import squared_calibration_error
    >>> mass, rate, confidence = np.array([[0.5, 0.5], [0.5, 1.0], [0.5, 0.5]])
    >>> float(squared_calibration_error(mass, rate, confidence))
    0.125
    """
    return (mass * calibration_gap(rate, confidence) ** 2).sum(axis=-1)


def debiased_squared_calibration_error(
    mass: Tensor, rate: Tensor, confidence: Tensor, count: Tensor
) -> Tensor:
    """Mean squared gap less what the noise of the label rates alone puts into it.

    Parameters
    ----------
    mass : array or tensor of shape (..., bin)
        Shares of the rows, summing to 1.
    rate : array or tensor of shape (..., bin)
        Observed label rates.
    confidence : array or tensor of shape (..., bin)
        Mean scores.
    count : array or tensor of shape (..., bin)
        Numbers of rows. A bin of fewer than two rows is left out, as its noise is not estimable.

    Returns
    -------
    array or tensor of shape (...)
        Estimate of the squared error; it may be negative, as an unbiased estimate of 0 must.

    References
    ----------
    .. [1] A. Kumar, P. Liang and T. Ma, "Verified Uncertainty Calibration", NeurIPS 2019,
       section 5, the debiased estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.core.functionals import debiased_squared_calibration_error
    >>> mass, rate, confidence, count = np.array([[1.0], [0.5], [0.0], [2.0]])
    >>> float(debiased_squared_calibration_error(mass, rate, confidence, count))
    0.0
    """
    usable = count > 1
    # count - 1 where the bin is used; elsewhere the divisor only has to differ from 0.
    noise = rate * (1 - rate) / (count + 1 - 2 * usable)
    return (mass * usable * (calibration_gap(rate, confidence) ** 2 - noise)).sum(axis=-1)


def bin_mean(weight: Tensor, values: Tensor, membership: Tensor) -> Tensor:
    """Weighted mean over the cells of each bin.

    Parameters
    ----------
    weight : array or tensor of shape (..., cell)
        Weights; those of each bin's cells must not all be 0.
    values : array or tensor of shape (..., cell)
        Values.
    membership : array or tensor of shape (cell, bin)
        1 where the cell lies in the bin, else 0.

    Returns
    -------
    array or tensor of shape (..., bin)
        Means.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.core.functionals import bin_mean
    >>> both = np.array([[1.0], [1.0]])
    >>> bin_mean(np.array([1.0, 3.0]), np.array([0.0, 1.0]), both).tolist()
    [0.75]
    """
    return (weight * values) @ membership / (weight @ membership)
