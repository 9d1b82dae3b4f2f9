"""How wide a Gaussian kernel should be: improved Sheather-Jones, and the normal reference."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Final

import numpy as np
from scipy.fft import dct
from scipy.optimize import brentq

from bayescal.core.quantity import Floats

_NODES = 1 << 14
_STEPS = 5
# Squared bandwidths on [0, 1] between which the solution is looked for, and the first one tried.
_LEAST, _START, _LARGEST = 1e-12, 0.01, 0.1
# The quartiles of a standard normal are this far apart.
_NORMAL_IQR = 1.3489795003921634


def bandwidth(coords: Floats, rule: str, scale: float = 1.0) -> float:
    """One bandwidth for all coordinates: the least of their own."""
    widths = [RULES[rule](column) for column in coords.T if np.ptp(column) > 0]
    return scale * min(widths, default=1.0)


def normal_reference(values: Floats) -> float:
    """Bandwidth of least asymptotic error if the density were normal.

    References
    ----------
    .. [1] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", 1986,
       Eqs. (3.28) and (3.30).
    """
    spread = float(np.std(values, ddof=1))
    low, high = np.percentile(values, [25, 75])
    if high > low:
        spread = min(spread, float(high - low) / _NORMAL_IQR)
    return float((4 / 3) ** 0.2 * spread * len(values) ** -0.2)


def improved_sheather_jones(values: Floats) -> float:
    """Bandwidth by a plug-in rule that assumes no normal density.

    Notes
    -----
    The grid has 2^14 nodes and reaches half the range beyond the data on both sides. t is in units
    of the squared *grid*. Software that multiplies by the range of the data instead (KDEpy 1.1)
    returns half of this bandwidth or less.

    References
    ----------
    .. [1] Z. I. Botev, J. F. Grotowski and D. P. Kroese, "Kernel density estimation via diffusion",
       Annals of Statistics 38(5), 2010, section 3 and algorithm 1.
       https://doi.org/10.1214/10-AOS799
    """
    span = float(np.ptp(values))
    length = 2 * span
    mass = _linear_binning((values - values.min() + 0.5 * span) / length)
    # Squared cosine coefficients of the density on [0, 1].
    power = dct(mass, type=2)[1:] ** 2
    n = len(np.unique(values))

    def gap(t: float) -> float:
        return t - fixed_point(t, n, power)

    upper = _START
    while gap(upper) < 0:
        upper *= 2
        if upper > _LARGEST:
            return normal_reference(values)
    lower = upper / 2
    while gap(lower) >= 0:
        upper, lower = lower, lower / 2
        if lower < _LEAST:
            return normal_reference(values)
    return length * sqrt(brentq(gap, lower, upper, xtol=_LEAST, rtol=1e-10))


def fixed_point(t: float, n: int, power: Floats) -> float:
    """The function whose fixed point is the squared bandwidth on [0, 1]."""
    frequency = pi**2 * np.arange(1, len(power) + 1, dtype=np.float64) ** 2

    def roughness(order: int, time: float) -> float:
        """Squared norm of a derivative of the density, smoothed for some time."""
        # Beyond this many frequencies the factor exp(-frequency time) is 0 in double precision.
        m = int(np.searchsorted(frequency, 800 / time))
        damped = frequency[:m] ** order * np.exp(-frequency[:m] * time)
        return float(0.5 * np.sum(power[:m] * damped))

    norm = roughness(_STEPS + 2, t)
    for order in range(_STEPS + 1, 1, -1):
        if norm <= 0:
            return np.inf
        odd = float(np.prod(np.arange(1, 2 * order, 2, dtype=np.float64)))
        constant = (1 + 0.5 ** (order + 0.5)) / 3
        time = (2 * constant * odd / (n * sqrt(2 * pi) * norm)) ** (2 / (3 + 2 * order))
        norm = roughness(order, time)
    return float((2 * n * sqrt(pi) * norm) ** -0.4) if norm > 0 else np.inf


def _linear_binning(place: Floats) -> Floats:
    """Shares of points at grid nodes (cell middles), each split between the two beside it."""
    at = place * _NODES - 0.5
    left = np.floor(at).astype(np.int64)
    right_share = at - left
    mass = np.bincount(left, 1 - right_share, _NODES) + np.bincount(left + 1, right_share, _NODES)
    return mass / len(place)


RULES: Final[dict[str, Callable[[Floats], float]]] = {
    "isj": improved_sheather_jones,
    "normal-reference": normal_reference,
}
