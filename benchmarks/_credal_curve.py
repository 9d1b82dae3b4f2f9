"""Draws of the rising curve's posterior for many small fits: importance sampling, else NUTS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.inference.sampler import compile_model
from bayescal.quantities.credal.models.monotone import N_FREE, Monotone
from bayescal.quantities.credal.posterior import CredalCase

type Floats = NDArray[np.float64]

ENOUGH = 800
_FREEDOM = 8
_PROPOSALS = (4000, 4000, 8000, 16000)
_COMPILED: dict[tuple[Any, ...], Any] = {}


def curve_draws(
    case: CredalCase, draws: int, rng: np.random.Generator
) -> tuple[Mapping[str, Any], bool]:
    """Draws of a binary task's curve, (draw, curve, ...), and whether NUTS had to give them."""
    rates = case.model
    assert isinstance(rates, Monotone)
    unit, weight = _adapted(rates, rng)
    if 1 / (weight**2).sum() >= ENOUGH:
        chosen = unit[rng.choice(len(unit), draws, p=weight)]
        intercept, rise = rates.variables_at(chosen, 0)
        return {"intercept": intercept[:, None], "weight": rise[:, None, :]}, False
    if rates.compile_key not in _COMPILED:
        _COMPILED[rates.compile_key] = compile_model(case.build_model())
    sampled = _COMPILED[rates.compile_key].sample(
        rates.inputs(),
        draws=draws // 2,
        tune=300,
        chains=2,
        target_accept=rates.target_accept,
        max_depth=rates.max_depth,
        seed=int(rng.integers(2**31)),
    )
    flat = (sampled.posterior[name] for name in rates.variables)
    values = (value.reshape(-1, *value.shape[2:]) for value in flat)
    return dict(zip(rates.variables, values, strict=True)), True


def _adapted(rates: Monotone, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Rounds of proposals, each with the moments that the one before found, until one serves."""
    mean, root = rates.gaussian(0)
    for number in _PROPOSALS:
        unit, weight = _weighted(rates, mean, root, number, rng)
        effective = 1 / (weight**2).sum()
        if effective >= ENOUGH:
            break
        if effective < 5 * N_FREE:
            continue
        mean = weight @ unit
        gap = unit - mean
        root = np.linalg.cholesky(gap.T @ (weight[:, None] * gap) + 1e-9 * np.eye(N_FREE))
    return unit, weight


def _weighted(
    rates: Monotone, mean: Floats, root: Floats, number: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Proposals from a t distribution, and their normalised weights."""
    normal = rng.standard_normal((number, N_FREE))
    standard = normal / np.sqrt(rng.chisquare(_FREEDOM, number) / _FREEDOM)[:, None]
    unit = mean + standard @ root.T
    log_proposal = -(_FREEDOM + N_FREE) / 2 * np.log1p((standard**2).sum(axis=1) / _FREEDOM)
    log_weight = rates.log_density(unit, 0) - log_proposal
    weight = np.exp(log_weight - log_weight.max())
    return unit, weight / weight.sum()
