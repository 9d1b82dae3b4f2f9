"""The shape that every prior of label rates has in code, and where each is found."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core import quantity
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.credal.data import Problem
from bayescal.quantities.credal.models.pseudo_observations import PseudoObservations
from bayescal.quantities.credal.priors import (
    ImpreciseDirichlet,
    IncrementIsotonic,
    LabelRatePrior,
    MonotoneCurve,
)


class LabelModel(quantity.LabelModel, Protocol):
    """Label rates of one problem under one prior; every array has a dim of the curves."""

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of the variables before the data, (draw, curve, ...)."""
        ...

    def cell_prob(self, draws: Draws) -> Floats:
        """Probability of the label in each cell, (..., curve, cell)."""
        ...

    def with_pseudo_observations(self, draws: Draws, rank: Floats) -> PseudoObservations:
        """Probabilities and bounds, (draw, obs, curve), at ranks (obs, curve)."""
        ...


def cells_of(prior: LabelRatePrior) -> int:
    """Give the number of cells that a prior's model counts rows in."""
    from bayescal.quantities.credal.models.monotone import CELLS

    return CELLS if isinstance(prior, MonotoneCurve) else prior.bins


def label_model(problem: Problem, prior: LabelRatePrior) -> LabelModel:
    """Join a problem and a prior."""
    from bayescal.quantities.credal.models.imprecise_dirichlet import Imprecise
    from bayescal.quantities.credal.models.isotonic import Isotonic
    from bayescal.quantities.credal.models.monotone import Monotone

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
