"""Half-normal weights: as functions of normal ones, and with their scale integrated out.

What PyTensor needs too is written twice, as SciPy's functions have other names there.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from bayescal.core.quantity import Floats


def half_normal(unit: Floats) -> Floats:
    """Turn standard normal values into half-normal ones."""
    return np.asarray(-ndtri_exp(log_ndtr(-unit) - math.log(2)))


def half_normal_slope(unit: Floats) -> Floats:
    """Differentiate `half_normal`."""
    return np.asarray(np.exp((half_normal(unit) ** 2 - unit**2) / 2) / 2)


def half_normal_tensor(unit: Any) -> Any:
    """Turn standard normal variables into half-normal ones, in PyTensor."""
    import pytensor.tensor as pt

    root = math.sqrt(2)
    return root * pt.erfcinv(pt.erfc(unit / root) / 2)


# Far below the square of any weight that matters; keeps the singularity at 0 finite.
_LEAST: Final = 1e-200


def log_mixture(square: Any) -> Floats:
    """Log density of eight half-normal variables over their common scale.

    Notes
    -----
    With tau ~ HalfNormal(1) and w_j = tau z_j, z_j ~ HalfNormal(1), j = 1, ..., 8, and r the root
    of the sum of squares, the integral over tau is a Bessel function of the order 7/2::

        p(w) = (2/pi)**4 r**-7 exp(-r) (r**3 + 6 r**2 + 15 r + 15)
    """
    r = np.sqrt(square + _LEAST)
    return np.asarray(_CONSTANT - r - 7 * np.log(r) + np.log(_cubic(r)))


def log_mixture_tensor(square: Any) -> Any:
    """Log density as `log_mixture`, up to a constant, in PyTensor."""
    import pytensor.tensor as pt

    r = pt.sqrt(square + _LEAST)
    return pt.log(_cubic(r)) - r - 7 * pt.log(r)


def mixture_slope(square: Any) -> Floats:
    """Derivative of `log_mixture` by the sum of squares."""
    r = np.sqrt(square + _LEAST)
    by_r = -1 - 7 / r + (3 * r**2 + 12 * r + 15) / _cubic(r)
    return np.asarray(by_r / (2 * r))


def _cubic(r: Any) -> Any:
    return ((r + 6) * r + 15) * r + 15


_CONSTANT: Final = 4 * math.log(2 / math.pi)
