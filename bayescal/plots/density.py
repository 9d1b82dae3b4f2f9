"""The density of draws that cannot be negative."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

_MOST_DRAWS: Final = 4000


def density(draws: NDArray[Any], at: NDArray[Any]) -> NDArray[np.float64]:
    """Kernel density of draws from [0, inf), with what leaks below 0 folded back.

    Parameters
    ----------
    draws : array
        Any shape, none below 0; NaN is left out.
    at : array
        Where to evaluate, shape (point,), none below 0.

    Returns
    -------
    array
        Shape (point,); all 0 if the draws are all the same, since a point has no density.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 5, 501)
    >>> f = density(np.random.default_rng(0).exponential(size=4000), x)
    >>> bool(abs(f.sum() * 0.01 - 1) < 0.02)
    True
    """
    flat = np.asarray(draws, dtype=np.float64).ravel()
    flat = flat[~np.isnan(flat)]
    # Even steps through the draws keep every chain; the picture does not change beyond this many.
    flat = flat[:: max(1, flat.size // _MOST_DRAWS)]
    if flat.size < 2 or np.ptp(flat) <= 1e-12 * np.abs(flat).max():
        return np.zeros(len(at))
    kernel = gaussian_kde(flat)
    return np.asarray(kernel(at) + kernel(-at), dtype=np.float64)
