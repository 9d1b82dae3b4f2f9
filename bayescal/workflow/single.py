"""Fit one case: NUTS or the exact draws, the quantities from them, and whether to believe them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.room import Case, Room
from bayescal.results.assemble import CaseResult
from bayescal.workflow.settings import Settings

type Arrays = Mapping[str, NDArray[Any]]

# The evidence needs no more; its error is far below a unit in the second decimal of p_calibrated.
_EVIDENCE_DRAWS = 2000


def fit_case(room: Room, case: Case, settings: Settings, index: int) -> CaseResult:
    """Fit one case."""
    rng = np.random.default_rng([settings.seed, index])
    number = settings.chains * settings.draws
    exact = case.exact(number if settings.quick else _EVIDENCE_DRAWS, rng)
    draws: Arrays
    stats: Arrays
    if settings.quick:
        draws, stats = _exact_draws(exact, settings), {}
    else:
        draws, stats = _sample(room, case, settings, rng)
    pieces = case.pieces(draws, exact, rng)
    # Draws resampled from more than were kept cannot tell more than their own number.
    ess = number if exact is None else min(exact.ess, number)
    health = _health({name: pieces.posterior[name] for name in room.WATCHED}, stats, ess)
    return CaseResult(
        coords=dict(case.coords),
        posterior=pieces.posterior,
        prior=pieces.prior,
        sample_stats=stats,
        log_likelihood=pieces.log_likelihood,
        log_prior=pieces.log_prior,
        observed_data=pieces.observed_data,
        constant_data=pieces.constant_data,
        point_estimate=pieces.point_estimate,
        bounds=pieces.bounds,
        bounds_attrs=pieces.bounds_attrs,
        model_average=pieces.model_average,
        diagnostics={**pieces.diagnostics, **health},
        sensitivity=pieces.sensitivity,
        yardsticks=pieces.yardsticks,
    )


def _exact_draws(exact: Any, settings: Settings) -> Arrays:
    """Draws without NUTS, cut into chains."""
    if exact is None:
        raise InputError(
            "these priors have no posterior without NUTS; got quick=True. Leave quick out."
        )
    shape = (settings.chains, settings.draws)
    return {name: values.reshape(*shape, *values.shape[1:]) for name, values in exact.draws.items()}


def _sample(
    room: Room, case: Case, settings: Settings, rng: np.random.Generator
) -> tuple[Arrays, Arrays]:
    # PyMC is imported only here, when a model is built.
    from bayescal.workflow.compiled import compiled_model

    sampled = compiled_model(room, case).sample(
        case.inputs(),
        draws=settings.draws,
        tune=settings.tune,
        chains=settings.chains,
        target_accept=settings.target_accept or case.target_accept,
        max_depth=case.max_depth,
        seed=int(rng.integers(2**31)),
    )
    return {name: sampled.posterior[name] for name in case.variables}, sampled.sample_stats


def _health(watched: Arrays, stats: Arrays, ess: float) -> dict[str, Any]:
    """Diagnostics by the result's names; independent draws have only an effective number."""
    from bayescal.core.health import MIN_ESS

    if not stats:
        return {
            "rhat_max": np.nan,
            "ess_min": ess,
            "divergences": 0,
            "ebfmi_min": np.nan,
            "converged": ess >= MIN_ESS,
        }
    from bayescal.inference.diagnostics import check

    health = check(watched, stats)
    return {**health._asdict(), "converged": health.converged}
