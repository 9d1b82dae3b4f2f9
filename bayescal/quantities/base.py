"""Quantities of other packages: bases of simple ones, and those written for version 0.2."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache, wraps
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from bayescal.core.quantity import (
    ERROR,
    METRIC,
    ROW,
    Case,
    CaseArrays,
    DirectDraws,
    Draws,
    Groups,
    Plan,
    Quantity,
    Variable,
    bound_values,
    bound_words,
    hash_of,
)
from bayescal.core.quantity import BaseModel as BaseModel
from bayescal.core.quantity import BasePriors as BasePriors

if TYPE_CHECKING:
    import pymc as pm


class BaseCase(ABC):
    """Base of a `Case`, a frozen dataclass with `coords` and `model`, that only has to answer."""

    coords: Mapping[str, str]
    model: Any

    axes: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    warnings: ClassVar[Sequence[str]] = ()
    evidence_draws: ClassVar[int] = 0

    @abstractmethod
    def answer(self, draws: Draws, rng: np.random.Generator) -> Groups:
        """Turn draws of the model's variables, (chain, draw, ...), into arrays by group."""

    @abstractmethod
    def simulate(self, rng: np.random.Generator) -> tuple[Case, Mapping[str, Any]]:
        """Draw parameters from the prior and labels from the model: the new case, and the truth."""

    @property
    def monitored(self) -> tuple[str, ...]:
        """The variables of the model."""
        return tuple(self.model.variables)

    def fingerprint(self) -> str:
        """Hash of everything that the case holds."""
        return hash_of(self)

    def build_model(self) -> pm.Model:
        """Build the PyMC model, unsampled."""
        import pymc as pm

        with pm.Model(coords={dim: list(names) for dim, names in self.axes.items()}) as model:
            self.model.add_to_model()
        return model

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """The answer as a record; bounds in it are taken apart into numbers and words."""
        groups = dict(self.answer(draws, rng))
        bounds = groups.pop("bounds", {})
        groups.setdefault("log_prior", self.model.log_prior(draws))
        return CaseArrays(
            coords=self.coords,
            bounds=bound_values(bounds),
            bounds_attrs=bound_words(bounds),
            **groups,
        )


@cache
def adapted(quantity: Any) -> Quantity:
    """A quantity of this contract as it is; one of version 0.2 with variables."""
    if hasattr(quantity, "VARIABLES") or not hasattr(quantity, "KIND"):
        return cast(Quantity, quantity)
    warnings.warn(
        f"{quantity.NAME} is written for bayescal 0.2: replace its KIND, and the dims of its "
        "cases, by VARIABLES. The next version will not read it.",
        DeprecationWarning,
        stacklevel=3,
    )

    @wraps(quantity.plan)
    def plan(*given: Any, **options: Any) -> Plan:
        found: Plan = quantity.plan(*given, **options)
        return found._replace(variables=_variables(quantity.KIND, found.cases[0]))

    names = {name: getattr(quantity, name) for name in dir(quantity) if not name.startswith("__")}
    # Worker processes import it.
    names["__name__"] = getattr(quantity, "__name__", quantity.NAME)
    return SimpleNamespace(**{**names, "plan": plan, "VARIABLES": ()})


def _variables(kind: str, case: Any) -> Sequence[Variable]:
    """What the kind says of the variables, with the dims that the case says."""
    from bayescal.results.io import variables_of_kind

    main = variables_of_kind(kind, case.monitored)
    named = {one.name for one in main if one.role in (ERROR, METRIC, ROW)}
    dims = dict(case.dims)
    return [
        *(one._replace(dims=dims.get(one.name, ())) for one in main),
        *(Variable(name, name, own) for name, own in dims.items() if name not in named),
    ]
