"""Sample one case: the same seed and index give the same draws, whatever else is fitted."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any, Final

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.health import MIN_ESS
from bayescal.core.quantity import Case, CaseArrays, DirectDraws, Draws
from bayescal.inference.threads import one_blas_thread
from bayescal.workflow.settings import Settings

# A model takes some megabytes; those used last are the likeliest to be used again.
_MOST_COMPILED: Final = 32
_COMPILED: OrderedDict[tuple[Any, ...], Any] = OrderedDict()


def fit_case(name: str, case: Case, settings: Settings, index: int) -> CaseArrays:
    """Sample case number `index` of the quantity `name`, and work out what its result holds."""
    rng = np.random.default_rng([settings.seed or 0, index])
    number = settings.chains * settings.draws
    stats: dict[str, Any] = {}
    with one_blas_thread():
        if settings.method == "direct":
            direct = case.model.direct_draws(number, rng)
            draws = _in_chains(direct, settings)
        else:
            direct = case.model.direct_draws(n, rng) if (n := case.evidence_draws) else None
            draws, stats = _nuts(name, case, settings, rng)
        arrays = case.arrays(draws, direct, rng)
        # Draws resampled from more than were kept carry no more information than their number.
        ess = number if direct is None else min(direct.ess, number)
        health = _health({key: arrays.posterior[key] for key in case.monitored}, stats, ess)
    diagnostics = {**arrays.diagnostics, **health}
    return replace(arrays, sample_stats=stats, diagnostics=diagnostics)


def _in_chains(direct: DirectDraws | None, settings: Settings) -> Draws:
    """Independent draws, cut into chains."""
    if direct is None:
        raise InputError(
            "these priors have no posterior without NUTS; got method='direct'. Pass method='nuts'."
        )
    shape = (settings.chains, settings.draws)
    return {
        name: values.reshape(*shape, *values.shape[1:]) for name, values in direct.draws.items()
    }


def _nuts(
    name: str, case: Case, settings: Settings, rng: np.random.Generator
) -> tuple[Draws, dict[str, Any]]:
    sampled = _compiled(name, case).sample(
        case.model.inputs(),
        draws=settings.draws,
        tune=settings.tune,
        chains=settings.chains,
        target_accept=settings.target_accept or case.model.target_accept,
        max_depth=case.model.max_depth,
        seed=int(rng.integers(2**31)),
    )
    draws = {key: sampled.posterior[key] for key in case.model.variables}
    return draws, dict(sampled.sample_stats)


def _compiled(name: str, case: Case) -> Any:
    """Compile a case's model, or take the one compiled for another case of its compile key."""
    # PyMC is imported only here, when a model is built.
    from bayescal.inference.sampler import compile_model

    key = (name, *case.model.compile_key)
    if key not in _COMPILED:
        _COMPILED[key] = compile_model(case.build_model())
    _COMPILED.move_to_end(key)
    while len(_COMPILED) > _MOST_COMPILED:
        _COMPILED.popitem(last=False)
    return _COMPILED[key]


def _health(monitored: Draws, stats: dict[str, Any], ess: float) -> dict[str, Any]:
    """Diagnostics by the result's names; independent draws have only an effective number."""
    if not stats:
        return {
            "rhat_max": np.nan,
            "ess_min": ess,
            "divergences": 0,
            "ebfmi_min": np.nan,
            "converged": ess >= MIN_ESS,
        }
    from bayescal.inference.diagnostics import check

    health = check(monitored, stats)
    return {**health._asdict(), "converged": health.converged}
