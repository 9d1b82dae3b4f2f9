"""Deviations of groups from common coefficients, in the coordinates of an approximate posterior."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.logprob.transforms import Transform

from bayescal.inference.graph import product


class _GroupedWhitening(Transform):  # type: ignore[misc]  # PyMC has no types
    """``deviation = group_centre - link (common - centre) + group_root @ value``, by group."""

    name = "whitened"
    ndim_supp = 2

    def forward(self, value: Any, *inputs: Any) -> Any:
        residual = value - _expected(*inputs[-5:])
        return pt.linalg.solve_triangular(inputs[-2], residual, lower=False, b_ndim=1)

    def backward(self, value: Any, *inputs: Any) -> Any:
        return _expected(*inputs[-5:]) + product(inputs[-2], value, upper=True)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        return pt.log(pt.abs(inputs[-2].diagonal(axis1=-2, axis2=-1))).sum()


def _expected(common: Any, centre: Any, group_centre: Any, group_root: Any, link: Any) -> Any:
    """Mean of the deviations given the common coefficients."""
    groups, size = group_centre.shape
    moved = product(link.reshape((groups * size, size)), common - centre)
    return group_centre - moved.reshape((groups, size))


def _log_density(value: Any, scale: Any, *_: Any) -> Any:
    standard = value / scale
    return -(standard**2 + math.log(2 * math.pi)).sum() / 2 - value.shape[0] * pt.log(scale).sum()


def _draw(scale: Any, *inputs: Any, rng: np.random.Generator, size: Any) -> Any:
    group_centre = inputs[-3]
    return rng.normal(0, scale[..., None, :], (*(size or ()), *group_centre.shape[-2:]))


def whitened_deviations(scale: Any, *inputs: Any) -> Any:
    """Add independent Normal(0, scale) ``deviation`` of each group, (group, basis).

    `inputs` are those of `_expected`.
    """
    return pm.CustomDist(
        "deviation",
        scale,
        *inputs,
        logp=_log_density,
        random=_draw,
        signature="(b),(b),(b),(g,b),(g,b,b),(g,b,b)->(g,b)",
        default_transform=_GroupedWhitening(),
        dims=("group", "basis"),
    )
