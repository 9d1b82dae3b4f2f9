"""Bases of a quantity's model, priors and cases: what a simple one need not say."""

from __future__ import annotations

import hashlib
import json
import pickle
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from bayescal.core.quantity import (
    Case,
    CaseArrays,
    DirectDraws,
    Draws,
    Groups,
    bound_values,
    bound_words,
)

if TYPE_CHECKING:
    import pymc as pm


class BaseModel:
    """Base of a `LabelModel`, a frozen dataclass: what a simple model need not say."""

    __slots__ = ()

    target_accept: ClassVar[float] = 0.8
    max_depth: ClassVar[int] = 10
    tune: ClassVar[int] = 300

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws | None:
        """Posterior without NUTS: none."""
        return None

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior densities: none to be scaled."""
        return {}

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """The model with its data: each is compiled for itself."""
        return (type(self).__name__, _hash(self))

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Values of pm.Data: none, the data are constants of the model."""
        return {}


class BasePriors:
    """Base of a quantity's Priors, a frozen dataclass of priors by the names of parameters."""

    __slots__ = ()

    def describe(self) -> str:
        """Say the priors in words."""
        named = {one.name: getattr(self, one.name) for one in fields(cast(Any, self))}
        return "; ".join(f"{name} ~ {prior.describe()}" for name, prior in named.items())

    def to_json(self) -> str:
        """Write the priors as JSON."""
        return json.dumps(asdict(cast(Any, self)))

    def alternatives(self) -> dict[str, Any]:
        """Priors to compare these with, by name: none but these."""
        return {"default": self}


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
        return _hash(self)

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


def _hash(value: object) -> str:
    return hashlib.sha256(pickle.dumps(value)).hexdigest()
