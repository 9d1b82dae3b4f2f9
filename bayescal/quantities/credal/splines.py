"""Quadratic I-splines: smooth functions that rise from 0 to 1, for curves that never fall."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

SPLINES: Final = 8
_DEGREE: Final = 2
# Of one more quadratic B-spline than there are I-splines: their sum is 1 and drops out.
# Breaks crowd towards both ends, where logits of probabilities near 0 and 1 are steepest.
_BREAKS: Final = np.sin(np.linspace(0, np.pi / 2, SPLINES)) ** 2


def i_splines(rank: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evaluate the I-splines, (m, 8).

    Notes
    -----
    ``I_j = sum_{m >= j} B_m`` with B_m quadratic B-splines on knots at ``sin(pi k / 14)**2``,
    k = 0, ..., 7.

    References
    ----------
    .. [1] J. O. Ramsay, "Monotone Regression Splines in Action", Statistical Science 3(4), 1988,
       Eq. (5). https://doi.org/10.1214/ss/1177012761
    """
    from scipy.interpolate import BSpline

    knots = np.concatenate([[0.0] * _DEGREE, _BREAKS, [1.0] * _DEGREE])
    basis = BSpline.design_matrix(rank, knots, _DEGREE).toarray()
    return np.asarray(np.clip(basis[:, :0:-1].cumsum(axis=1)[:, ::-1], 0, 1))
