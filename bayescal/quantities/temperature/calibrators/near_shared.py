"""Algorithm 1's regularisation: the parameters of every slice within a distance of shared ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone

from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.calibrators.base import LogitCalibrator, ParametricCalibrator
from bayescal.quantities.temperature.calibrators.class_wise import class_wise
from bayescal.quantities.temperature.calibrators.temperature import TemperatureScaling
from bayescal.quantities.temperature.loss import Integers, labeled_rows

# Each step solves a system of as many equations.
_MOST_PARAMETERS: Final = 600


class Part(NamedTuple):
    """The rows of a slice."""

    logits: Floats  # (obs, class)
    label: Integers  # (obs,)
    weight: Floats  # (obs,)


class Near(NamedTuple):
    """The shared calibrator, and that of each slice."""

    shared: LogitCalibrator
    each: Sequence[LogitCalibrator]


def fit_near(base: LogitCalibrator, parts: Sequence[Part], gamma: float) -> Near:
    """Minimise the loss of all slices over parameters at most `gamma` from shared ones."""
    if isinstance(base, TemperatureScaling) and base.loss == "nll":
        return _temperatures(base, parts, gamma)
    if isinstance(base, ParametricCalibrator):
        return _parametric(base, parts, gamma)
    raise InputError(
        f"gamma must be infinity for {base!r}, whose loss is not known to be convex in parameters. "
        "Pass TemperatureScaling(), PlattScaling() or VectorScaling() as base, or leave gamma out."
    )


def _temperatures(base: TemperatureScaling, parts: Sequence[Part], gamma: float) -> Near:
    logits, label, weight = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    of = np.repeat(np.arange(len(parts)), [len(part.label) for part in parts])
    rows = labeled_rows(logits, label, of, len(parts), weight)
    found = class_wise(rows, gamma, base.alpha_min, base.alpha_max)

    def with_number(alpha: float) -> LogitCalibrator:
        made = clone(base)
        made.alpha_ = float(alpha)
        return made  # type: ignore[no-any-return]  # scikit-learn has no types

    return Near(with_number(found.shared), [with_number(alpha) for alpha in found.alpha])


def _parametric(base: ParametricCalibrator, parts: Sequence[Part], gamma: float) -> Near:
    n_slices, start = len(parts), _pooled(base, parts)
    size = len(start)
    if (n_slices + 1) * size > _MOST_PARAMETERS:
        raise InputError(
            f"gamma must be infinity, or slices fewer: {n_slices} of {type(base).__name__} and a "
            f"shared one have {(n_slices + 1) * size} parameters, more than {_MOST_PARAMETERS}. "
            "Bundle classes, or leave gamma out."
        )
    losses = [base.objective(*part) for part in parts]
    mass = np.array([part.weight.sum() for part in parts])
    mass /= mass.sum()

    def loss(flat: Floats) -> tuple[float, Floats]:
        points = flat.reshape(-1, size)
        values, slopes = zip(*(f(x) for f, x in zip(losses, points[1:], strict=True)), strict=True)
        slope = np.vstack([np.zeros(size), mass[:, None] * np.array(slopes)])
        return float(mass @ values), slope.ravel()

    def room(flat: Floats) -> Floats:
        points = flat.reshape(-1, size)
        return np.asarray(1 - ((points[1:] - points[0]) ** 2).sum(axis=1) / gamma**2)

    def room_slope(flat: Floats) -> Floats:
        points = flat.reshape(-1, size)
        apart = 2 * (points[1:] - points[0]) / gamma**2
        found = np.zeros((n_slices, n_slices + 1, size))
        found[:, 0] = apart
        found[np.arange(n_slices), np.arange(n_slices) + 1] = -apart
        return found.reshape(n_slices, -1)

    every = np.tile(start, n_slices + 1)
    if gamma > 0:
        within = {"type": "ineq", "fun": room, "jac": room_slope}
        every = minimize(
            loss,
            every,
            jac=True,
            method="SLSQP",
            bounds=base.domain(parts[0].logits.shape[1])[1] * (n_slices + 1),
            constraints=[within],
            options={"maxiter": 1000, "ftol": 1e-13},
        ).x
    shared, *each = (_at(base, point) for point in every.reshape(-1, size))
    return Near(shared, each)


def _pooled(base: ParametricCalibrator, parts: Sequence[Part]) -> Floats:
    """Parameters of the calibrator of all slices."""
    every = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return base.least_loss(*every)


def _at(base: ParametricCalibrator, point: Floats) -> Any:
    made = clone(base)
    made.take(point)
    return made
