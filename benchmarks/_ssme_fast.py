"""The default model of `ssme` sampled without PyMC, for thousands of fits on the bank of tasks.

The density is that of `TiltModel`, written by hand in Numba; coefficients are drawn by Hamiltonian
Monte Carlo with a fixed number of steps, whitened at the mode, from the mode near each part of the
log slope's prior. A fit takes a tenth of a second; NUTS confirms some (`ssme_bank.py --check`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bayescal.quantities.ssme.opinion_pool import DEGREES
from bayescal.quantities.ssme.tilt import GROUP_DEGREES, TiltModel

type Floats = NDArray[np.float64]

# Rows over which the classes' mean probabilities are taken: as they hardly vary, fewer than NUTS's.
ROWS = 128
TUNE, DRAWS, STEPS, THIN = 120, 300, 5, 3
_SEED = 20


@numba.njit(fastmath=True, cache=True, error_model="numpy")
def _density(theta, x, base, y, power, scale, groups, nu, part, degrees, gradient):  # type: ignore[no-untyped-def]  # Numba infers types
    """Log density and its gradient; theta is units, then the log slope, then classes' units."""
    n_rows, n_classes, n_linear = x.shape
    n = len(y)
    shared = theta[n_linear]
    gradient[:] = 0.0
    total = 0.0
    slope = np.empty(n_classes)
    for k in range(n_classes):
        value = shared + theta[n_linear + 1 + k] * scale[n_linear + 1 + k]
        slope[k] = np.exp(min(8.0, max(-8.0, value)))
    linear = theta[:n_linear] * scale[:n_linear]
    prob = np.empty((n_rows, n_classes))
    mean = np.zeros(n_classes)
    for i in range(n_rows):
        largest = -np.inf
        for k in range(n_classes):
            eta = slope[k] * base[i, k]
            for d in range(n_linear):
                eta += x[i, k, d] * linear[d]
            prob[i, k] = eta
            largest = max(largest, eta)
        prob[i] = np.exp(prob[i] - largest)
        prob[i] /= prob[i].sum()
        if i < n:
            total += power * np.log(prob[i, y[i]] + 1e-300)
        else:
            mean += prob[i]
    if n_rows > n:
        total -= power * np.log(mean).sum()
    by_slope = np.zeros(n_classes)
    for i in range(n_rows):
        of_mean = (prob[i] / mean).sum() if i >= n else 0.0
        for k in range(n_classes):
            if i < n:
                push = power * ((y[i] == k) - prob[i, k])
            else:
                push = -power * prob[i, k] * (1.0 / mean[k] - of_mean)
            for d in range(n_linear):
                gradient[d] += push * x[i, k, d] * scale[d]
            by_slope[k] += push * base[i, k] * slope[k]
    for k in range(n_classes):
        gradient[n_linear] += by_slope[k]
        gradient[n_linear + 1 + k] += by_slope[k] * scale[n_linear + 1 + k]
    for g in range(len(groups)):
        start, stop = groups[g]
        square = 0.0
        for d in range(start, stop):
            square += theta[d] ** 2
        total -= (nu + stop - start) / 2 * np.log1p(square / nu)
        for d in range(start, stop):
            gradient[d] -= (nu + stop - start) / (nu + square) * theta[d]
    logs, pushes = np.empty(2), np.empty(2)
    for j in range(2):
        z = (shared - part[1, j]) / part[2, j]
        logs[j] = part[0, j] - (degrees[j] + 1) / 2 * np.log1p(z * z / degrees[j])
        pushes[j] = -(degrees[j] + 1) * z / (degrees[j] + z * z) / part[2, j]
    largest = logs.max()
    weight = np.exp(logs - largest)
    gradient[n_linear] += (weight * pushes).sum() / weight.sum()
    return total + largest + np.log(weight.sum())


@numba.njit(fastmath=True, cache=True, error_model="numpy")
def _chain(start, axes, tune, draws, steps, seed, arguments):  # type: ignore[no-untyped-def]  # Numba infers types
    """Hamiltonian Monte Carlo in whitened coordinates, steps tuned to accept 80 of 100."""
    np.random.seed(seed)  # noqa: NPY002  # Numba's own state
    size = len(start)
    gradient = np.empty(size)
    z = 0.3 * np.random.randn(size)  # noqa: NPY002  # Numba's own
    value = _density(start + axes @ z, *arguments, gradient)
    slope = axes.T @ gradient
    found = np.empty((draws, size))
    step, mean_step, surplus = 0.3, 0.0, 0.0
    for place in range(tune + draws):
        speed = np.random.randn(size)  # noqa: NPY002  # Numba's own
        before = value - 0.5 * (speed @ speed)
        z_new, slope_new, value_new = z.copy(), slope.copy(), value
        own = step * (0.8 + 0.4 * np.random.rand())  # noqa: NPY002  # Numba's own
        for _ in range(1 + int(2 * steps * np.random.rand())):  # noqa: NPY002  # Numba's own
            speed = speed + 0.5 * own * slope_new
            z_new = z_new + own * speed
            value_new = _density(start + axes @ z_new, *arguments, gradient)
            slope_new = axes.T @ gradient
            speed = speed + 0.5 * own * slope_new
        gain = value_new - 0.5 * (speed @ speed) - before
        accept = min(1.0, np.exp(gain)) if gain == gain else 0.0
        if np.random.rand() < accept:  # noqa: NPY002  # Numba's own
            z, slope, value = z_new, slope_new, value_new
        if place >= tune:
            found[place - tune] = start + axes @ z
            continue
        m = place + 1.0
        surplus += (0.8 - accept - surplus) / (m + 10)
        log_step = min(np.log(3.0) - np.sqrt(m) / 0.05 * surplus, np.log(1.2))
        mean_step += m**-0.75 * (log_step - mean_step)
        step = np.exp(mean_step if place == tune - 1 else log_step)
    return found


def draws_of(model: TiltModel, rng: np.random.Generator) -> dict[str, Floats]:
    """Draw the coefficients of a tilt without groups, (chain, draw, ...)."""
    arguments, sizes = _arguments(model)
    scale = arguments[4]
    n_linear = arguments[0].shape[2]
    gradient = np.empty(len(scale))

    def negative(theta: Floats) -> tuple[float, Floats]:
        return -_density(theta, *arguments, gradient), -gradient

    chains = []
    for centre in model.log_slope.centre:
        start = np.zeros(len(scale))
        start[n_linear] = centre
        mode = minimize(negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 40}).x
        axes = _whitening(mode, negative)
        seed = int(rng.integers(2**31))
        chains.append(_chain(mode, axes, TUNE, DRAWS, STEPS, seed, arguments)[::THIN])
    theta = np.stack(chains)
    parts = np.split(theta * scale, np.cumsum(sizes), axis=-1)
    intercept, weight, bend, own_bend, shared, classes = parts
    return {
        "intercept": intercept,
        "weight": weight,
        "bend": bend[..., 0],
        "own_bend": own_bend,
        "log_slope": shared[..., 0],
        "slope": np.exp(shared + classes),
    }


def _arguments(model: TiltModel) -> tuple[Any, list[int]]:
    """What the density is given, and the lengths of its coefficients by kind but for the last."""
    matrix, prior, slope = model.problem.matrix, model.prior, model.log_slope
    log_pool, own, bend, own_bend = model.features
    k, m = matrix.n_classes, matrix.n_classifiers
    # No other row enters where labels came at random.
    n_others = ROWS if model.problem.labeling == "one-per-class" else 0
    others = np.random.default_rng(_SEED).permutation(matrix.n_obs)[:n_others]
    rows = np.concatenate([model.problem.rows, others])
    units = np.broadcast_to(np.eye(k), (len(rows), k, k))
    x = np.concatenate([units, own[rows], bend[rows][..., None], own_bend[rows]], axis=2)
    sizes = [k, m, 1, m, 1]
    scales = [prior.intercept, prior.weight, prior.curvature, prior.own_curvature, 1.0]
    scale = np.repeat([*scales, prior.class_slope], [*sizes, k])
    ends = np.cumsum([0, *sizes, k])
    groups = np.array([pair for pair in pairwise(ends) if pair[0] != ends[4]])
    at_centre = np.diagonal(slope.log_parts(np.array(slope.centre)))
    part = np.array([np.maximum(at_centre, -1e3), slope.centre, slope.scale])
    y = model.problem.labels.astype(np.int64)
    degrees = np.array(DEGREES)
    return (x, log_pool[rows], y, model.power, scale, groups, GROUP_DEGREES, part, degrees), sizes


def _whitening(mode: Floats, negative: Any) -> Floats:
    """A square root of the inverse of the negative log density's curvature, by differences."""
    step = 1e-3
    moves = step * np.eye(len(mode))
    rows = [negative(mode + move)[1] - negative(mode - move)[1] for move in moves]
    curvature = np.array(rows) / (2 * step)
    values, axes = np.linalg.eigh((curvature + curvature.T) / 2)
    # Between the parts of the prior the density may bend upward: no direction is wider than units.
    return np.ascontiguousarray(axes / np.sqrt(np.maximum(values, 0.3)))
