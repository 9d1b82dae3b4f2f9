"""Half-normal variables as a rising function of normal ones, which samplers handle better."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

type Floats = NDArray[np.float64]


def half_normal(unit: Floats) -> Floats:
    """Turn standard normal values into half-normal ones.

    Parameters
    ----------
    unit : ndarray
        Values of a Normal(0, 1) variable.

    Returns
    -------
    ndarray
        The quantiles of HalfNormal(1) at the levels that `unit` are those of the normal.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.credal.half_normal import half_normal
    >>> half_normal(np.array([0.0, 9.0])).round(3).tolist()
    [0.674, 9.076]
    """
    return np.asarray(-ndtri_exp(log_ndtr(-unit) - math.log(2)))


def half_normal_slope(unit: Floats) -> Floats:
    """Differentiate `half_normal`.

    Parameters
    ----------
    unit : ndarray
        Values of a Normal(0, 1) variable.

    Returns
    -------
    ndarray
        Derivatives, in (0, 1).
    """
    return np.asarray(np.exp((half_normal(unit) ** 2 - unit**2) / 2) / 2)


def half_normal_tensor(unit: Any) -> Any:
    """Turn standard normal variables into half-normal ones, in PyTensor.

    Parameters
    ----------
    unit : TensorVariable
        Standard normal variables.

    Returns
    -------
    TensorVariable
        As `half_normal`.
    """
    import pytensor.tensor as pt

    root = math.sqrt(2)
    return root * pt.erfcinv(pt.erfc(unit / root) / 2)
