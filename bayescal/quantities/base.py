"""Bases of a quantity's model, priors and cases: what a simple one need not say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayescal.core.quantity import BaseModel as BaseModel
from bayescal.core.quantity import BasePriors as BasePriors
from bayescal.core.quantity import (
    Case,
    CaseArrays,
    DirectDraws,
    Draws,
    Groups,
    bound_values,
    bound_words,
    hash_of,
)

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
