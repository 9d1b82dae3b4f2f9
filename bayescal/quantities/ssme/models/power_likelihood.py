"""Categorical labels whose likelihood is raised to a power."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.special import softmax

from bayescal.quantities.ssme.metrics.label_draws import classes_at


def _log_density(value: Any, eta: Any, power: Any) -> Any:
    classes = pt.arange(eta.shape[1])  # type: ignore[no-untyped-call]  # PyTensor's
    chosen = pt.eq(value[:, None], classes)
    log_prob = (eta * chosen).sum(axis=-1) - pm.math.logsumexp(eta, axis=-1, keepdims=False)
    return (power * log_prob).sum()


def _draw(eta: Any, power: Any, rng: np.random.Generator | None = None, size: Any = None) -> Any:
    # The power weighs what labels say of the coefficients; given those, labels come as they are.
    shape = eta.shape[:-1] if size is None else size
    uniform = (rng or np.random.default_rng()).random(shape)
    return classes_at(softmax(eta, axis=-1), uniform)


def power_categorical(name: str, eta: Any, power: Any, observed: Any) -> Any:
    """Observe labels, (label,)."""
    return pm.CustomDist(
        name,
        eta,
        power,
        logp=_log_density,
        random=_draw,
        observed=observed,
        dtype="int64",
        signature="(label,class),(label)->(label)",
    )
