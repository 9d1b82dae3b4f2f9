"""What every model of label rates has."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core import quantity
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.quantities.credal.data import Problem
from bayescal.quantities.credal.models.pseudo_observations import PseudoObservations


class LabelModel(quantity.LabelModel, Protocol):
    """Label rates of one problem under one prior; every array has a dim of the curves."""

    @property
    def problem(self) -> Problem:
        """The counts."""
        ...

    def completed(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> Draws:
        """Turn what was sampled into `variables`, (chain, draw, curve, ...)."""
        ...

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of the variables before the data, (draw, curve, ...)."""
        ...

    def cell_prob(self, draws: Draws) -> Floats:
        """Probability of the label in each cell, (..., curve, cell)."""
        ...

    def with_pseudo_observations(self, draws: Draws, rank: Floats) -> PseudoObservations:
        """Probabilities and bounds, (draw, obs, curve), at ranks (obs, curve)."""
        ...

    def representative(self, rank: Floats) -> Floats:
        """Rank of the same bounds for each rank, one alone for all ranks that share theirs."""
        ...


class AsSampled:
    """A model whose variables are those that are sampled."""

    __slots__ = ()

    def completed(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> Draws:
        """Give the draws as they are."""
        return draws


def in_columns(per_cell: Floats, cell: NDArray[np.int64]) -> Floats:
    """Look up the value of each row's cell, (draw, obs, curve)."""
    return np.asarray(per_cell[:, np.arange(cell.shape[1]), cell])
