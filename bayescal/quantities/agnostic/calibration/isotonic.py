"""Isotonic regression (pool adjacent violators): the measure becomes 0 on the rows fitted to."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from bayescal.quantities.agnostic.calibration.link import Link
from bayescal.quantities.agnostic.calibration.tied_scores import tied_scores


def isotonic_calibration(score: ArrayLike, *, label: ArrayLike) -> Link:
    """Calibrate by isotonic regression of the labels on the scores.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores.
    label : array-like of shape (obs,)
        0 and 1, -1 and 1, or booleans.

    Returns
    -------
    Link
        The calibrating function.

    Raises
    ------
    InputError
        If scores or labels are not such.

    Notes
    -----
    Algorithm 1 of [1]_: slopes of the greatest convex minorant of cumulated labels. Tied scores are
    pooled first; without that, equal scores would get unequal values. On the rows fitted to, c_emp
    of the result is 0, and no nondecreasing function has a smaller
    ``max |sum of labels - values|`` over runs of rows (Claims 5 and 6).

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, "On the interpretability of conditional probability
       estimates in the agnostic setting", Electronic Journal of Statistics 11(2), 2017,
       section 3.3.3 and Algorithm 1. https://doi.org/10.1214/17-EJS1376SI

    Examples
    --------
    >>> from bayescal.quantities.agnostic.calibration.isotonic import isotonic_calibration
    >>> link = isotonic_calibration([0.1, 0.2, 0.3, 0.4], label=[0, 1, 0, 1])
    >>> link([0.1, 0.2, 0.3, 0.4]).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    tied = tied_scores(score, label)
    starts = isotonic_regression(tied.positive / tied.rows, weights=tied.rows).blocks[:-1]
    # Quotients of sums, rounded once, so that the sums of blocks agree to rounding.
    value = np.add.reduceat(tied.positive, starts) / np.add.reduceat(tied.rows, starts)
    sizes = np.diff(starts, append=len(tied.score))
    return Link(tied.score, np.repeat(value, sizes))
