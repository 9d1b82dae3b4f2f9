"""The intercept of a calibration curve, found from the mean label rate that it must have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

type Floats = NDArray[np.float64]

# Newton doubles the digits: the intercept returned is a step beyond this.
_CLOSE = 1e-7
_MAX_STEPS = 200
_FAR = 80.0
# Enough from a start within a logit, as NUTS has; each takes one pass over the cells.
_GRAPH_STEPS = 2
_LONGEST = 3.0
SMALLEST = 1e-12
"""A mean label rate is kept this far from 0 and 1."""


def solve_intercept(base: Floats, rise: Floats, weight: Floats, mean_rate: Floats) -> Floats:
    """Find how far to raise a curve so that its mean label rate is the one given, (...)."""
    shape = base.shape[:-1]
    logits, wanted = base.reshape(-1, base.shape[-1]), np.broadcast_to(mean_rate, shape).ravel()
    found = np.zeros(len(logits))
    low, high = (np.full(len(logits), end / rise.min()) for end in (-_FAR, _FAR))
    left = np.arange(len(logits))
    for _ in range(_MAX_STEPS):
        intercept = found[left]
        rate = expit(logits[left] + intercept[:, None] * rise)
        mean, other = rate @ weight, (1 - rate) @ weight
        below = mean < wanted[left]
        low[left[below]], high[left[~below]] = intercept[below], intercept[~below]
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (rate * (1 - rate) * rise) @ weight / (mean * other)
            step = intercept - (np.log(mean / other) - logit(wanted[left])) / slope
        inside = (step > low[left]) & (step < high[left])
        found[left] = np.where(inside, step, (low[left] + high[left]) / 2)
        left = left[np.abs(found[left] - intercept) > _CLOSE * (1 + np.abs(intercept))]
        if not left.size:
            break
    return found.reshape(shape)


def intercept_in_graph(base: Any, rise: Any, weight: Any, mean_rate: Any, start: Any) -> Any:
    """Do the same in a PyTensor graph, with the derivatives of the solution.

    Notes
    -----
    The steps towards the solution are hidden from differentiation; one last step from it is not,
    and its derivative is that of the implicit function.
    """
    import pytensor.tensor as pt
    from pytensor.gradient import disconnected_grad

    wanted = pt.log(mean_rate) - pt.log1p(-mean_rate)
    intercept = start
    for _ in range(_GRAPH_STEPS):
        rate = pt.sigmoid(base + intercept * rise)
        mean = pt.clip((weight * rate).sum(), SMALLEST, 1 - SMALLEST)
        slope = (weight * rate * (1 - rate) * rise).sum() / (mean * (1 - mean))
        gap = pt.log(mean) - pt.log1p(-mean) - wanted
        intercept = intercept - pt.clip(gap / (slope + SMALLEST), -_LONGEST, _LONGEST)
    found = disconnected_grad(intercept)  # type: ignore[no-untyped-call]
    rate = pt.sigmoid(base + found * rise)
    by_intercept = (weight * rate * (1 - rate) * rise).sum()
    slope = disconnected_grad(by_intercept)  # type: ignore[no-untyped-call]
    return found - ((weight * rate).sum() - mean_rate) / slope
