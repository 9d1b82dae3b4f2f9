"""Normal variables around a shared mean, sampled in coordinates of their conditional posterior.

Neither the centred nor the non-centred parametrisation serves every class: the first fails where
the labels say little beside the prior, the second where they say much. These coordinates are both,
each class by its own labels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.logprob.transforms import Transform


class _Conditional(Transform):  # type: ignore[misc]  # PyMC has no types
    """Variables as ``centre + width * value``, both given the shared mean and spread."""

    name = "conditional"
    ndim_supp = 1

    # PyMC passes the inputs of the variable; the distribution's parameters are the last of them.
    def forward(self, value: Any, *inputs: Any) -> Any:
        centre, width = _conditional(*inputs[-4:])
        return (value - centre) / width

    def backward(self, value: Any, *inputs: Any) -> Any:
        centre, width = _conditional(*inputs[-4:])
        return centre + width * value

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        return pt.log(_conditional(*inputs[-4:])[1]).sum()


def _conditional(mu: Any, tau: Any, pull: Any, precision: Any) -> tuple[Any, Any]:
    """Mean and standard deviation given mu and tau, if the likelihoods were normal."""
    variance = 1 / (precision + tau**-2)
    return variance * (pull + mu * tau**-2), pt.sqrt(variance)


def _log_density(value: Any, mu: Any, tau: Any, pull: Any, precision: Any) -> Any:
    apart = (value - mu) / tau
    return (-(apart**2) / 2 - pt.log(tau) - math.log(2 * math.pi) / 2).sum()


def _draw(
    mu: Any,
    tau: Any,
    pull: Any,
    precision: Any,
    rng: np.random.Generator | None = None,
    size: Any = None,
) -> Any:
    generator = rng or np.random.default_rng()
    return generator.normal(mu, tau, (*(size or ()), pull.shape[-1]))


def pooled_normal(name: str, mu: Any, tau: Any, pull: Any, precision: Any, dims: str) -> Any:
    """Add Normal(mu, tau) variables with likelihoods about ``exp(pull t - precision t**2 / 2)``."""
    return pm.CustomDist(
        name,
        mu,
        tau,
        pull,
        precision,
        logp=_log_density,
        random=_draw,
        signature="(),(),(k),(k)->(k)",
        default_transform=_Conditional(),
        dims=dims,
    )
