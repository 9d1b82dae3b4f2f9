"""Sample one case: the same seed and names give the same draws, whatever else is fitted."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import MOST_DRAWN, check_choice, check_number, check_seed, check_whole
from bayescal.core.errors import InputError
from bayescal.core.quantity import Case, CaseArrays, DirectDraws, Draws, LabelModel, members
from bayescal.core.streams import stream
from bayescal.results.schema import MIN_ESS, NUTS_DRAWS, problems

if TYPE_CHECKING:
    from bayescal.inference.sampler import NutsDraws

METHODS: Final = ("nuts", "direct")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a fit; see `bayescal.fit`."""

    draws: int = 1000
    tune: int | None = None
    chains: int = 4
    target_accept: float | None = None
    seed: int | None = None
    method: str = "nuts"
    prob: float = 0.9

    def __post_init__(self) -> None:
        if self.seed is None:
            object.__setattr__(self, "seed", secrets.randbits(31))
        for name, least in (("draws", 4), ("tune", 1), ("chains", 1)):
            if (given := getattr(self, name)) is None and name == "tune":
                continue
            # NumPy's numbers cannot be written as JSON, nor be told apart from Python's near them.
            number = check_whole(given, name, least, most=MOST_DRAWN)
            object.__setattr__(self, name, number)
        object.__setattr__(self, "seed", check_seed(self.seed))
        check_choice(self.method, METHODS, "method")
        if self.target_accept is not None:
            remedy = "Pass 0.8, or 0.95 after divergences."
            accept = check_number(self.target_accept, "target_accept", "(0, 1)", remedy)
            object.__setattr__(self, "target_accept", accept)
        prob = check_number(self.prob, "prob", "(0, 1)", "Pass 0.9 for 90%.")
        object.__setattr__(self, "prob", prob)


def settings_and_options(
    given: Mapping[str, Any], **defaults: Any
) -> tuple[Settings, dict[str, Any]]:
    """Settings among the keyword arguments of a call, and the others: options of the quantity."""
    others = dict(given)
    own = {one.name: others.pop(one.name) for one in fields(Settings) if one.name in others}
    return Settings(**{**defaults, **own}), others


# A description of less weight hardly touches the average, however badly it was sampled.
_MATTERS: Final = 0.01
# A limit goes with the model's own steps: smaller ones need more of them.
_MAX_DEPTH: Final = 10
_CAREFUL: Final = 0.99
_WORTH: Final = 4 * MIN_ESS
# Of 100 fits of a sound model a few miss the limit of R-hat by chance.
_LENGTHS: Final = (1, 4)
# A model takes some megabytes; those used last are the likeliest to be used again.
_MOST_COMPILED: Final = 32
_COMPILED: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
_COMPILING: Final = Lock()


def fit_case(name: str, case: Case, settings: Settings, repetition: int = 0) -> CaseArrays:
    """Sample a case of the quantity `name` by its own random numbers, and work out its result."""
    named = (text for pair in sorted(case.coords.items()) for text in pair)
    rng = stream(settings.seed or 0, *named, number=repetition)
    sampled: dict[str, NutsDraws] = {}
    direct: DirectDraws | None
    with one_blas_thread():
        if settings.method == "direct" or not members(case.model):
            direct = case.model.direct_draws(settings.chains * settings.draws, rng)
            if direct is None:
                raise InputError(
                    "these priors have no posterior without NUTS; got method='direct'. Pass "
                    "method='nuts'."
                )
            arrays = case.arrays(_in_chains(direct.draws, settings), direct, rng)
            health = _independent(direct, settings)
        else:
            direct = case.model.direct_draws(n, rng) if (n := case.evidence_draws) else None
            arrays, sampled, health = _by_nuts(name, case, direct, settings, rng)
    first = next(iter(members(case.model)), "") if sampled else ""
    stats = {
        key if member == first else f"{member}_{key}": values
        for member, one in sampled.items()
        for key, values in one.sample_stats.items()
    }
    return replace(
        arrays,
        model_average={**arrays.model_average, **_nuts_draws(case, arrays, sampled, settings)},
        sample_stats=stats,
        diagnostics={**arrays.diagnostics, **health},
        sampler="nutpie NUTS" if sampled or direct is None else direct.method,
    )


def _by_nuts(
    name: str, case: Case, direct: DirectDraws | None, settings: Settings, rng: np.random.Generator
) -> tuple[CaseArrays, dict[str, NutsDraws], dict[str, Any]]:
    """Result, samples and diagnostics; chains that did not converge are sampled longer."""
    # Too few draws to keep are no better from longer chains, nor is E-BFMI, the density's.
    few = settings.chains * settings.draws < _WORTH
    for length in (1,) if few else getattr(case.model, "lengths", _LENGTHS):
        sampled = _nuts(name, case, direct, settings, length, rng)
        arrays = case.arrays(_draws_of_all(case.model, sampled, direct, settings, rng), direct, rng)
        health = _health(case, arrays, sampled) if sampled else _independent(direct, settings)
        if not problems({**health, "ebfmi_min": np.nan}):
            break
    kept = {member: one.thinned(settings.draws) for member, one in sampled.items()}
    return arrays, kept, health


def _place(case: Case, member: str) -> tuple[Any, ...]:
    """Where in the weights of an average a member stands: of which curve, which description."""
    names = case.axes.get("description", ())
    if member in names:
        return (names.index(member),)
    name, _, curve = member.rpartition(" ")
    return (int(curve), names.index(name)) if name in names else ()


def _that_matter(
    case: Case, arrays: CaseArrays, sampled: Mapping[str, NutsDraws]
) -> NDArray[np.bool_]:
    """Descriptions of an average that are not negligible, in the shape of their weights."""
    found = np.asarray(arrays.model_average.get("weight", 1.0)) >= _MATTERS
    if hasattr(case.model, "members_to_sample"):
        for name in sampled:
            found[_place(case, name)] = True
    return found


def _nuts_draws(
    case: Case, arrays: CaseArrays, sampled: Mapping[str, NutsDraws], settings: Settings
) -> dict[str, Any]:
    """Draws by NUTS under each description of an average, 0 for those drawn without it."""
    if settings.method == "direct" or "weight" not in arrays.model_average:
        return {}
    found = np.zeros(np.shape(arrays.model_average["weight"]), dtype=np.int64)
    for name in sampled:
        found[(..., *_place(case, name))] = settings.chains * settings.draws
    return {NUTS_DRAWS: found}


def _in_chains(draws: Draws, settings: Settings) -> Draws:
    """Independent draws, cut into chains; if there are fewer, some stand more than once."""
    shape = (settings.chains, settings.draws)
    return {name: np.resize(one, (*shape, *one.shape[1:])) for name, one in draws.items()}


def _nuts(
    name: str,
    case: Case,
    direct: DirectDraws | None,
    settings: Settings,
    length: int,
    rng: np.random.Generator,
) -> dict[str, NutsDraws]:
    """Sample the case's model, or those members of an average that matter."""
    every = members(case.model)
    weigh = getattr(case.model, "members_to_sample", None)
    found = {}
    for member in every if weigh is None else weigh(direct):
        model = every[member]
        # Chains that must be long also need small steps.
        accept = model.target_accept if length == 1 else max(model.target_accept, _CAREFUL)
        found[member] = _compiled(name, case, member, model).sample(
            model.inputs(),
            draws=length * settings.draws,
            tune=tuned_on(model, settings),
            chains=settings.chains,
            target_accept=settings.target_accept or accept,
            max_depth=model.max_depth if settings.target_accept is None else _MAX_DEPTH,
            seed=int(rng.integers(2**31)),
        )
    return found


def tuned_on(model: LabelModel, settings: Settings) -> int:
    """Draws of each chain that NUTS is tuned on; models written for 0.2 do not say."""
    return settings.tune or int(getattr(model, "tune", 300))


def _draws_of_all(
    model: LabelModel,
    sampled: Mapping[str, NutsDraws],
    direct: DirectDraws | None,
    settings: Settings,
    rng: np.random.Generator,
) -> Draws:
    """Draws of all members, (chain, draw, ...): of NUTS, or direct ones of the others."""
    draws: dict[str, Any] = {}
    for member in members(model):
        own: Draws
        if member in sampled:
            own = _kept(model, member, sampled[member], settings, rng)
        else:
            own = _in_chains(cast(Any, model).member_draws(member, direct), settings)
        # Curves of several classes have variables of the same names.
        draws |= {f"{member}/{key}" if key in draws else key: v for key, v in own.items()}
    return draws


def _kept(
    model: LabelModel, member: str, sampled: NutsDraws, settings: Settings, rng: np.random.Generator
) -> Draws:
    """As many draws of each chain as asked for, of chains that may be longer."""
    variables = members(model)[member].variables
    every = {key: sampled.posterior[key] for key in variables}
    if len(every[variables[0]][0]) == settings.draws:
        return every
    if hasattr(model, "shortened"):
        return cast(Draws, model.shortened(member, every, settings.draws, rng))
    thin = sampled.thinned(settings.draws).posterior
    return {key: thin[key] for key in variables}


def _compiled(name: str, case: Case, member: str, model: LabelModel) -> Any:
    """Compile a model, or take the one compiled for another case of its compile key."""
    key = (name, *model.compile_key)
    # Of fits in several threads the first compiles, and the others wait.
    with _COMPILING:
        if key not in _COMPILED:
            build: Any = case.build_model
            model_of_case = build(member) if member else build()
            # PyMC is imported only when a model is built.
            from bayescal.inference.sampler import compile_model

            _COMPILED[key] = compile_model(model_of_case)
        _COMPILED.move_to_end(key)
        while len(_COMPILED) > _MOST_COMPILED:
            _COMPILED.popitem(last=False)
        return _COMPILED[key]


def _health(case: Case, arrays: CaseArrays, sampled: Mapping[str, NutsDraws]) -> dict[str, Any]:
    """Diagnostics of NUTS by the result's names."""
    from bayescal.inference.diagnostics import check

    matters = _that_matter(case, arrays, sampled)
    stats = [
        one.sample_stats
        for name, one in sampled.items()
        if matters[(..., *_place(case, name))].any()
    ]
    # Draws of 0, where it is calibrated, are always well mixed.
    drawn = {**arrays.posterior, **arrays.given_miscalibration}
    # What an average mixes may hide a member that did not converge.
    of_members = [values[..., matters] for values in arrays.descriptions.values()]
    health = check([*(drawn[name] for name in case.monitored), *of_members], stats)
    return {**health._asdict(), "converged": health.converged}


def _independent(direct: DirectDraws | None, settings: Settings) -> dict[str, Any]:
    """Diagnostics of independent draws, which have only an effective number."""
    number = settings.chains * settings.draws
    # Draws resampled from more than were kept carry no more information than their number.
    ess = number if direct is None else min(direct.ess, number)
    figures = {"rhat_max": np.nan, "ess_min": ess, "divergences": 0, "ebfmi_min": np.nan}
    return {**figures, "converged": ess >= MIN_ESS}


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside the block; of several threads the first sets the limit."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> Any:
    """Libraries with thread pools that are loaded; looking for them takes milliseconds."""
    import scipy.linalg  # noqa: F401  # brings a BLAS of its own, found only when loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
