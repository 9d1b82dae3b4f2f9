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
    """Evaluate the I-splines.

    Parameters
    ----------
    rank : ndarray of shape (m,), in [0, 1]
        Places.

    Returns
    -------
    ndarray of shape (m, 8), in [0, 1]
        Each column rises from 0 at rank 0 to 1 at rank 1, later columns later.

    Notes
    -----
    ``I_j = sum_{m >= j} B_m`` with B_m quadratic B-splines on knots at ``sin(pi k / 14)**2``,
    k = 0, ..., 7.

    References
    ----------
    .. [1] J. O. Ramsay, "Monotone Regression Splines in Action", Statistical Science 3(4), 1988,
       Eq. (5). https://doi.org/10.1214/ss/1177012761

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.credal.splines import i_splines
    >>> i_splines(np.array([0.0, 1.0])).sum(axis=1).tolist()
    [0.0, 8.0]
    """
    from scipy.interpolate import BSpline

    knots = np.concatenate([[0.0] * _DEGREE, _BREAKS, [1.0] * _DEGREE])
    basis = BSpline.design_matrix(rank, knots, _DEGREE).toarray()
    return np.asarray(np.clip(basis[:, :0:-1].cumsum(axis=1)[:, ::-1], 0, 1))
