"""Coefficients that share one heavy-tailed scale: a spherical multivariate Student-t."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

from bayescal.core.quantity import Floats

DEGREES = 3.0


def student_group(name: str, shape: tuple[int, ...], dims: tuple[str, ...]) -> Any:
    """Add units to the PyMC model in context, a vector or a number.

    Notes
    -----
    The scale that they share, with its inverse-gamma prior, is integrated out: there is no funnel
    for the sampler to enter.
    """
    import pymc as pm

    if not shape:
        return pm.StudentT(name, nu=DEGREES)
    return pm.CustomDist(
        name,
        np.zeros(shape),
        logp=_log_density,
        random=_draw,
        dims=dims,
        signature="(unit)->(unit)",
    )


def log_density(units: Floats, ndim: int) -> Floats:
    """Log density of units whose last `ndim` dims, 0 or 1, are those of the group."""
    square = (units**2).sum(axis=-1) if ndim else units**2
    return np.asarray(_density_at(units.shape[-1] if ndim else 1, np.log1p(square / DEGREES)))


def draw(draws: int, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw units, (draw, *shape)."""
    return np.asarray(_draw(np.zeros(shape), rng, (draws, *shape)))


def _density_at(size: int, log_distance: Any) -> Any:
    """Log density at a distance."""
    half = (DEGREES + size) / 2
    constant = gammaln(half) - gammaln(DEGREES / 2) - size / 2 * np.log(DEGREES * np.pi)
    return float(constant) - half * log_distance


def _log_density(value: Any, centre: Any) -> Any:
    import pytensor.tensor as pt

    size = centre.type.shape[-1]
    return _density_at(size, pt.log1p(((value - centre) ** 2).sum() / DEGREES))


def _draw(centre: Floats, rng: np.random.Generator | None = None, size: Any = None) -> Floats:
    rng = rng or np.random.default_rng()
    shape = centre.shape if size is None else tuple(size)
    # One scale for each group: all but the last dim of a vector are draws.
    lead = (*shape[:-1], 1) if centre.ndim else shape
    return centre + rng.standard_normal(shape) / np.sqrt(rng.chisquare(DEGREES, lead) / DEGREES)
