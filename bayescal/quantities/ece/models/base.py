"""What the posterior needs of every prior of label rates."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bayescal.core import quantity
from bayescal.core.quantity import Draws, Floats


class LabelModel(quantity.LabelModel, Protocol):
    """Label rates of one problem under one prior."""

    def prior_rates(self, draws: int, rng: np.random.Generator) -> Floats:
        """Label rates of the cells before the data, (draw, cell)."""
        ...

    def cell_rates(self, draws: Draws, rng: np.random.Generator) -> Floats:
        """Label rates of the cells, (..., cell), from draws of the variables."""
        ...

    def curve(self, draws: Draws, rates: Floats, score: Floats) -> Floats:
        """Probability of the event at given scores, (..., point)."""
        ...
