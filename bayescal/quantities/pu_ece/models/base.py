"""What the posterior needs of every prior of label rates."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core import quantity
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.pu_ece.data import PUProblem


class LabelModel(quantity.LabelModel, Protocol):
    """Label rates and class prior of one problem under one prior."""

    def add_to_model(self) -> tuple[Any, Any]:
        """Add variables and observed counts to the model in context; give rates and masses."""
        ...

    def log_calibrated(self) -> float:
        """Log marginal likelihood of a calibrated classifier; NaN where it has no place."""
        ...

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of the variables before the data, (draw, ...)."""
        ...

    def class_prior(self, draws: Draws) -> Floats:
        """Share of positives among the unlabelled, (...)."""
        ...

    def cell_rates(self, draws: Draws) -> Floats:
        """Label rates of the cells, (..., cell)."""
        ...

    def masses(self, draws: Draws, rng: np.random.Generator) -> Floats:
        """Shares of the unlabelled population in the cells, (..., cell)."""
        ...

    def curve(self, draws: Draws, score: Floats) -> Floats:
        """Probability of the event at given scores, (..., point)."""
        ...

    def log_likelihood(self, draws: Draws) -> Floats:
        """Log probability of each cell's positives, (..., cell)."""
        ...

    def draw_positives(self, draws: Draws, rng: np.random.Generator) -> NDArray[np.int64]:
        """Positives of each cell as the model would count them anew, (..., cell)."""
        ...

    def draw_problem(self, draws: Draws, rng: np.random.Generator) -> PUProblem:
        """Counts as the model has them for one draw, (1, 1, ...), given what it conditions on."""
        ...
