"""Half-normal variables as a rising function of normal ones, which samplers handle better."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

type Floats = NDArray[np.float64]


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
