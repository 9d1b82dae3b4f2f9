"""What every room promises, so that fitting, sensitivity, simulation and CLI treat all alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core.sampled import Sampled

if TYPE_CHECKING:
    import pymc as pm

type Arrays = Mapping[str, Any]


class Reference(NamedTuple):
    """A work that a room stands on.

    Parameters
    ----------
    key : str
        Short name.
    citation : str
        Authors, title, venue, year and address.
    where : str
        What is taken from it, and the section or equation.
    """

    key: str
    citation: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Arrays of one case by group of the result and name of the variable.

    Attributes
    ----------
    posterior, prior, log_likelihood, log_prior : mapping of str to ndarray
        Of shape (chain, draw, ...).
    observed_data, constant_data, point_estimate, bounds : mapping of str to ndarray or number
    model_average, diagnostics : mapping of str to number
    sensitivity : mapping of str to ndarray
        The answer as a function of what is assumed.
    yardsticks : mapping of str to ndarray
        Other estimates of the same quantities, to be read beside the posterior.
    bounds_attrs : mapping of str to mapping
        ``kind`` and ``assumption`` of each bound, in words.
    """

    posterior: Arrays
    prior: Arrays = field(default_factory=dict)
    log_likelihood: Arrays = field(default_factory=dict)
    log_prior: Arrays = field(default_factory=dict)
    observed_data: Arrays = field(default_factory=dict)
    constant_data: Arrays = field(default_factory=dict)
    point_estimate: Arrays = field(default_factory=dict)
    bounds: Arrays = field(default_factory=dict)
    bounds_attrs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    model_average: Arrays = field(default_factory=dict)
    diagnostics: Arrays = field(default_factory=dict)
    sensitivity: Arrays = field(default_factory=dict)
    yardsticks: Arrays = field(default_factory=dict)


class ExactPosterior(Protocol):
    """A posterior without NUTS: independent draws and the evidence."""

    @property
    def draws(self) -> Mapping[str, NDArray[np.float64]]:
        """Draws by variable, (draw, ...)."""
        ...

    @property
    def ess(self) -> float:
        """Effective number of draws."""
        ...


class Case(Sampled, Protocol):
    """One model to fit: a classifier, a class, or all groups of them at once."""

    @property
    def coords(self) -> Mapping[str, str]:
        """Where the case stands in a result."""
        ...

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """Names along dims that the one model answers for at once, such as groups."""
        ...

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dims of the variables, without chain, draw and those of the coords."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What a reader must know of the data, in sentences."""
        ...

    def fingerprint(self) -> str:
        """Hash of the data and bins."""
        ...

    def build_model(self) -> pm.Model:
        """Model, unsampled."""
        ...

    def exact(self, draws: int, rng: np.random.Generator) -> Any:
        """Posterior without NUTS, an `ExactPosterior`; None where there is none."""
        ...

    def pieces(
        self, draws: Mapping[str, NDArray[Any]], exact: Any, rng: np.random.Generator
    ) -> Pieces:
        """What the result holds of this case."""
        ...


class Room(Protocol):
    """A paper's quantity: its estimate, its bounds, and its model.

    Rooms are modules; type checkers hold a module against this Protocol.
    """

    @property
    def NAME(self) -> str:  # noqa: N802  # as modules name their constants
        """Short name, as on the command line."""
        ...

    @property
    def TITLE(self) -> str:  # noqa: N802
        """Name in words."""
        ...

    @property
    def ESTIMAND(self) -> str:  # noqa: N802
        """What is estimated, in sentences."""
        ...

    @property
    def REFERENCES(self) -> tuple[Reference, ...]:  # noqa: N802
        """The works that the room stands on."""
        ...

    @property
    def DIMS(self) -> Mapping[str, tuple[str, ...]]:  # noqa: N802
        """Dims of the variables, without chain, draw and those of the cases."""
        ...

    @property
    def WATCHED(self) -> tuple[str, ...]:  # noqa: N802
        """Posterior variables that must have converged."""
        ...

    @property
    def Priors(self) -> Any:  # noqa: N802  # a class, looked up by name
        """Priors of the room's model, a frozen dataclass with defaults."""
        ...

    @property
    def estimate(self) -> Callable[..., Any]:
        """The paper's estimate, from data to a NamedTuple."""
        ...

    @property
    def bounds(self) -> Callable[..., Any]:
        """The paper's theory, from sizes to a NamedTuple."""
        ...

    @property
    def build_model(self) -> Callable[..., pm.Model]:
        """From data and priors to an unsampled pm.Model."""
        ...

    @property
    def cases(self) -> Callable[..., Sequence[Case]]:
        """From data, priors and options to the models to fit."""
        ...

    @property
    def describe(self) -> Callable[..., dict[str, Any]]:
        """From data and options to the root attributes that only the room knows."""
        ...

    @property
    def pairing(self) -> Callable[..., NDArray[np.float64] | None]:
        """From data, cases and draws to the correlation of classifiers over shared rows."""
        ...

    @property
    def replicate(self) -> Callable[..., tuple[Any, dict[str, Any]]]:
        """From a case and random numbers to a case of simulated labels, and what they came from."""
        ...
