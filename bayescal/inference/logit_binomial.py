"""Binomial counts given the logit, with the binomial coefficient computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.special import expit


def _log_density(value: Any, count: Any, logit_p: Any, log_coefficient: Any) -> Any:
    return log_coefficient + value * logit_p - count * pt.softplus(logit_p)


def _draw(
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
        logp=_log_density,
        random=_draw,
        observed=observed,
        dims=dims,
        # Of weighted rows, counts are effective numbers.
        dtype=count.dtype,
    )
