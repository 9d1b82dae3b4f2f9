"""How imprecise a credal set is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from bayescal.core.quantity import Floats
from bayescal.quantities.credal.sets.credal_sets import reachable
from bayescal.quantities.credal.sets.projection import project


class Imprecision(NamedTuple):
    """Measures of how much credal sets leave open."""

    mean_width: Floats
    max_width: Floats
    upper_entropy: Floats


def imprecision(lower: ArrayLike, upper: ArrayLike) -> Imprecision:
    """Measure how much a credal set leaves open.

    Parameters
    ----------
    lower, upper : array-like of shape (..., class), in [0, 1]
        Bounds of proper sets.

    Returns
    -------
    Imprecision
        Widths of the reachable bounds, and the largest entropy.

    Raises
    ------
    InputError
        If a set is empty, or the bounds are none.

    Notes
    -----
    The member of the largest entropy is the projection of equal probabilities.

    References
    ----------
    .. [1] J. Abellán and S. Moral, "Maximum of entropy for credal sets", International Journal of
       Uncertainty, Fuzziness and Knowledge-Based Systems 11(5), 2003.

    Examples
    --------
    >>> from bayescal.quantities.credal.sets.imprecision import imprecision
    >>> found = imprecision([0.2, 0.4], [1.0, 0.7])
    >>> round(float(found.mean_width), 12), round(float(found.upper_entropy), 6)
    (0.3, 0.693147)
    """
    low, high = reachable(lower, upper)
    width = high - low
    flattest = project(np.full(low.shape, 1 / low.shape[-1]), low, high)
    return Imprecision(width.mean(axis=-1), width.max(axis=-1), entr(flattest).sum(axis=-1))
