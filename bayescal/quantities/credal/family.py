"""The shape that every prior of label rates has in code, and where each is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core.sampled import Sampled
from bayescal.quantities.credal.imagined import Imagined
from bayescal.quantities.credal.priors import (
    ImpreciseDirichlet,
    IncrementIsotonic,
    LabelRatePrior,
    MonotoneCurve,
)
from bayescal.quantities.credal.problem import Problem

type Floats = NDArray[np.float64]
type Draws = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Exact:
    """The posterior without NUTS.

    Attributes
    ----------
    draws : mapping of str to ndarray of shape (draw, ...)
        Independent draws of the family's variables.
    ess : float
        Effective number of draws.
    """

    draws: Draws
    ess: float


class Family(Sampled, Protocol):
    """Label rates of one problem under one prior; every array has a dim of the curves."""

    def add_to_model(self) -> None:
        """Add variables and observed counts to the model in context."""
        ...

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of the variables before the data, (draw, curve, ...)."""
        ...

    def exact(self, draws: int, rng: np.random.Generator) -> Exact | None:
        """Posterior without NUTS; None where there is none."""
        ...

    def cell_prob(self, draws: Draws) -> Floats:
        """Probability of the label in each cell, (..., curve, cell)."""
        ...

    def imagined(self, draws: Draws, rank: Floats) -> Imagined:
        """Probabilities and bounds, (draw, obs, curve), at ranks (obs, curve)."""
        ...

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Log prior density of each variable, summed over all but chains and draws."""
        ...


def cells_of(prior: LabelRatePrior) -> int:
    """Give the number of cells that a prior's model counts rows in."""
    from bayescal.quantities.credal.monotone import CELLS

    return CELLS if isinstance(prior, MonotoneCurve) else prior.bins


def family(problem: Problem, prior: LabelRatePrior) -> Family:
    """Join a problem and a prior."""
    from bayescal.quantities.credal.imprecise import Imprecise
    from bayescal.quantities.credal.isotonic import Isotonic
    from bayescal.quantities.credal.monotone import Monotone

    match prior:
        case MonotoneCurve():
            return Monotone.of(problem, prior)
        case IncrementIsotonic():
            return Isotonic(problem, prior)
        case ImpreciseDirichlet():
            return Imprecise(problem, prior)


def in_columns(per_cell: Floats, cell: NDArray[np.int64]) -> Floats:
    """Look up the value of each row's cell, (draw, obs, curve)."""
    return np.asarray(per_cell[:, np.arange(cell.shape[1]), cell])
