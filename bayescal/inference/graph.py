"""Parts of PyMC models: whitened coefficients, and binomial counts given the logit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.logprob.transforms import Transform
from scipy.special import expit


class _Whitening(Transform):  # type: ignore[misc]  # PyMC has no types
    """Coefficients as ``mean + scale * (root @ value)``, the distribution's own parameters."""

    name = "whitened"
    ndim_supp = 1

    # PyMC passes the inputs of the variable; the distribution's parameters are the last of them.
    def forward(self, value: Any, *inputs: Any) -> Any:
        mean, scale, root = inputs[-3:]
        return pt.linalg.solve_triangular(root, (value - mean) / scale, lower=False)

    # Products and sums where a matrix product would do: Numba compiles them in a tenth of the time.
    def backward(self, value: Any, *inputs: Any) -> Any:
        mean, scale, root = inputs[-3:]
        return mean + scale * (root * value).sum(axis=-1)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        _, scale, root = inputs[-3:]
        return pt.log(scale).sum() + pt.log(pt.abs(root.diagonal())).sum()


class _BlockWhitening(Transform):  # type: ignore[misc]  # PyMC has no types
    """``value = mean + root @ standard``, block by block."""

    name = "whitened"
    ndim_supp = 2

    def forward(self, value: Any, *inputs: Any) -> Any:
        mean, root = inputs[-2:]
        return pt.linalg.solve_triangular(root, value - mean, lower=False, b_ndim=1)

    def backward(self, value: Any, *inputs: Any) -> Any:
        mean, root = inputs[-2:]
        return mean + (root * value[:, None, :]).sum(axis=-1)

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        return pt.log(pt.abs(inputs[-1].diagonal(axis1=-2, axis2=-1))).sum()


def _log_density(value: Any, *parameters: Any) -> Any:
    return -(value**2 + math.log(2 * math.pi)).sum() / 2


def _draw(
    mean: Any, scale: Any, root: Any, rng: np.random.Generator | None = None, size: Any = None
) -> Any:
    generator = rng or np.random.default_rng()
    return generator.standard_normal((*(size or ()), mean.shape[-1]))


def whitened_normal(name: str, mean: Any, root: Any, dims: str, scale: Any = None) -> Any:
    """Add independent Normal(0, 1) variables, sampled where the other arguments put the posterior.

    There the variables are about ``mean + scale * (root @ value)``, for values about standard
    normal. `scale` is 1 unless it is given; it may depend on other variables, as may `mean`.

    Notes
    -----
    With 1e8 rows the posterior of a curve's coefficients is a needle in 30 dimensions, with 100
    rows it is nearly the prior; in these coordinates both are close to a standard normal, so that
    the cost of sampling does not grow with the rows.
    """
    return pm.CustomDist(
        name,
        mean,
        mean * 0 + 1 if scale is None else scale,
        root,
        logp=_log_density,
        random=_draw,
        signature="(p),(p),(p,p)->(p)",
        default_transform=_Whitening(),
        dims=dims,
    )


def _draw_blocks(
    mean: Any, root: Any, rng: np.random.Generator | None = None, size: Any = None
) -> Any:
    generator = rng or np.random.default_rng()
    return generator.standard_normal((*(size or ()), *mean.shape[-2:]))


def whitened_blocks(name: str, mean: Any, root: Any, dims: tuple[str, str]) -> Any:
    """Add independent Normal(0, 1) variables in blocks, each sampled where its posterior is."""
    return pm.CustomDist(
        name,
        mean,
        root,
        logp=_log_density,
        random=_draw_blocks,
        signature="(g,b),(g,b,b)->(g,b)",
        default_transform=_BlockWhitening(),
        dims=dims,
    )


def _log_binomial(value: Any, count: Any, logit_p: Any, log_coefficient: Any) -> Any:
    return log_coefficient + value * logit_p - count * pt.softplus(logit_p)


def _draw_counts(
    count: Any,
    logit_p: Any,
    log_coefficient: Any,
    rng: np.random.Generator | None = None,
    size: Any = None,
) -> Any:
    generator = rng or np.random.default_rng()
    return generator.binomial(count, expit(logit_p), size=size)


def logit_binomial(
    name: str, count: Any, logit_p: Any, log_coefficient: Any, observed: Any, dims: Any
) -> Any:
    """Observe binomial counts, (cell,).

    Notes
    -----
    The density is that of ``pm.Binomial(name, n=count, logit_p=logit_p)``, which computes three
    log-gammas of the data a cell at every gradient: half the time of a fit.
    """
    return pm.CustomDist(
        name,
        count,
        logit_p,
        log_coefficient,
        logp=_log_binomial,
        random=_draw_counts,
        observed=observed,
        dims=dims,
        # Of weighted rows, counts are effective numbers.
        dtype=count.dtype,
    )
