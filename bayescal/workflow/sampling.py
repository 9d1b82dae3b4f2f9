"""Sample one case: the same seed and names give the same draws, whatever else is fitted."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import MOST_DRAWN, check_choice, check_number, check_seed, check_whole
from bayescal.core.errors import InputError
from bayescal.core.health import MIN_ESS
from bayescal.core.quantity import Case, CaseArrays, DirectDraws, Draws, LabelModel, members
from bayescal.core.streams import stream

METHODS: Final = ("nuts", "direct")
# Statistics by which a fit is judged.
STATS: Final = ("diverging", "energy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a fit; see `bayescal.fit`."""

    draws: int = 1000
    tune: int = 300
    chains: int = 4
    target_accept: float | None = None
    seed: int | None = None
    method: str = "nuts"
    prob: float = 0.9

    def __post_init__(self) -> None:
        if self.seed is None:
            object.__setattr__(self, "seed", secrets.randbits(31))
        for name, least in (("draws", 4), ("tune", 1), ("chains", 1)):
            # NumPy's whole numbers cannot be written as JSON.
            number = check_whole(getattr(self, name), name, least, most=MOST_DRAWN)
            object.__setattr__(self, name, number)
        object.__setattr__(self, "seed", check_seed(self.seed))
        check_choice(self.method, METHODS, "method")
        if self.target_accept is not None:
            remedy = "Pass 0.8, or 0.95 after divergences."
            check_number(self.target_accept, "target_accept", "(0, 1)", remedy)
        check_number(self.prob, "prob", "(0, 1)", "Pass 0.9 for 90%.")


def settings_and_options(
    given: Mapping[str, Any], **defaults: Any
) -> tuple[Settings, dict[str, Any]]:
    """Settings among the keyword arguments of a call, and the others: options of the quantity."""
    names = {field.name for field in fields(Settings)}
    own = {name: value for name, value in given.items() if name in names}
    others = {name: value for name, value in given.items() if name not in names}
    return Settings(**{**defaults, **own}), others


# A description of less weight hardly touches the average, however badly it was sampled.
_MATTERS: Final = 0.01
# A model takes some megabytes; those used last are the likeliest to be used again.
_MAX_DEPTH = 10
_MOST_COMPILED: Final = 32
_COMPILED: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
_COMPILING: Final = Lock()


def fit_case(name: str, case: Case, settings: Settings, repetition: int = 0) -> CaseArrays:
    """Sample a case of the quantity `name`, and work out what its result holds.

    Its random numbers belong to the seed, its coords and the repetition.
    """
    named = (text for pair in sorted(case.coords.items()) for text in pair)
    rng = stream(settings.seed or 0, *named, number=repetition)
    number = settings.chains * settings.draws
    stats: dict[str, Any] = {}
    with one_blas_thread():
        if settings.method == "direct" or not members(case.model):
            found = _direct(case, number, rng)
            draws, sampler = _in_chains(found, settings), found.method
            direct: DirectDraws | None = found
        else:
            direct = case.model.direct_draws(n, rng) if (n := case.evidence_draws) else None
            draws, stats = _nuts(name, case, settings, rng)
            sampler = "nutpie NUTS"
        arrays = case.arrays(draws, direct, rng)
        # Draws resampled from more than were kept carry no more information than their number.
        ess = number if direct is None else min(direct.ess, number)
        # Draws of 0, where it is calibrated, are always well mixed.
        drawn = {**arrays.posterior, **arrays.given_miscalibration}
        monitored = {key: drawn[key] for key in case.monitored}
        # What an average mixes may hide a member that did not converge.
        matter = _that_matter(arrays)
        monitored |= {f"{k} by description": v[..., matter] for k, v in arrays.descriptions.items()}
        health = _health(monitored, _counted(stats, case, matter), ess)
    diagnostics = {**arrays.diagnostics, **health}
    return replace(arrays, sample_stats=stats, diagnostics=diagnostics, sampler=sampler)


def _that_matter(arrays: CaseArrays) -> NDArray[np.bool_]:
    """Descriptions of an average, in its order, that are not negligible, (description,)."""
    return np.asarray(arrays.model_average.get("weight", 0.0)) >= _MATTERS


def _counted(stats: Mapping[str, Any], case: Case, matter: NDArray[np.bool_]) -> dict[str, Any]:
    """Statistics of the members that are not negligible."""
    names = case.axes.get("description", ())
    own = dict(stats)
    for place, member in enumerate(members(case.model)):
        if member in names and not matter[names.index(member)]:
            prefix = f"{member}_" if place else ""
            own = {key: v for key, v in own.items() if key not in {prefix + k for k in STATS}}
    return own


def _direct(case: Case, number: int, rng: np.random.Generator) -> DirectDraws:
    found = case.model.direct_draws(number, rng)
    if found is None:
        raise InputError(
            "these priors have no posterior without NUTS; got method='direct'. Pass method='nuts'."
        )
    return found


def _in_chains(direct: DirectDraws, settings: Settings) -> Draws:
    """Independent draws, cut into chains."""
    shape = (settings.chains, settings.draws)
    return {
        name: values.reshape(*shape, *values.shape[1:]) for name, values in direct.draws.items()
    }


def _nuts(
    name: str, case: Case, settings: Settings, rng: np.random.Generator
) -> tuple[Draws, dict[str, Any]]:
    """Sample the case's model, or each member of an average, its statistics beside the others'."""
    draws: dict[str, Any] = {}
    stats: dict[str, Any] = {}
    for member, model in members(case.model).items():
        sampled = _compiled(name, case, member, model).sample(
            model.inputs(),
            draws=settings.draws,
            tune=settings.tune,
            chains=settings.chains,
            target_accept=settings.target_accept or model.target_accept,
            # A limit goes with the model's own steps: smaller ones need more of them.
            max_depth=model.max_depth if settings.target_accept is None else _MAX_DEPTH,
            seed=int(rng.integers(2**31)),
        )
        # Curves of several classes have variables of the same names.
        own = {key: sampled.posterior[key] for key in model.variables}
        draws |= {f"{member}/{key}" if key in draws else key: v for key, v in own.items()}
        stats |= {f"{member}_{key}" if stats else key: v for key, v in sampled.sample_stats.items()}
    return draws, stats


def _compiled(name: str, case: Case, member: str, model: LabelModel) -> Any:
    """Compile a model, or take the one compiled for another case of its compile key."""
    key = (name, *model.compile_key)
    # Of fits in several threads the first compiles, and the others wait.
    with _COMPILING:
        # PyMC is imported only here, when a model is built.
        from bayescal.inference.sampler import compile_model

        if key not in _COMPILED:
            build: Any = case.build_model
            _COMPILED[key] = compile_model(build(member) if member else build())
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


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside the block; the former limits return, after errors too.

    Of blocks in several threads at once, the first sets the limit.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> Any:
    """Libraries with thread pools that are loaded; looking for them takes milliseconds."""
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own, found only when loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
