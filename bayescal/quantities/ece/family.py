"""The shape that every prior of label rates has in code, and where each is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core.problem import Problem
from bayescal.core.sampled import Exact, Sampled
from bayescal.quantities.ece.priors import (
    HierarchicalBins,
    IndependentBins,
    LabelRatePrior,
    SmoothCurve,
)

type Floats = NDArray[np.float64]
type Draws = Mapping[str, Floats]


class Family(Sampled, Protocol):
    """Label rates of one problem under one prior."""

    def add_to_model(self) -> Any:
        """Add variables and the observed counts to the pm.Model in context; give the cell rates."""
        ...

    def prior_rates(self, draws: int, rng: np.random.Generator) -> Floats:
        """Label rates of the cells before the data, (draw, cell)."""
        ...

    def exact(self, draws: int, rng: np.random.Generator) -> Exact:
        """Posterior without NUTS."""
        ...

    def cell_rates(self, draws: Draws, rng: np.random.Generator) -> Floats:
        """Label rates of the cells, (..., cell), from draws of the family's variables."""
        ...

    def curve(self, draws: Draws, rates: Floats, score: Floats) -> Floats:
        """Probability of the event at given scores, (..., point)."""
        ...

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Log prior density of the family's variables, of the draws' shapes."""
        ...


def family(problem: Problem, prior: LabelRatePrior) -> Family:
    """Join a problem and a prior."""
    from bayescal.quantities.ece.curve import Curve
    from bayescal.quantities.ece.hierarchical import Hierarchical
    from bayescal.quantities.ece.independent import Independent

    match prior:
        case SmoothCurve():
            return Curve.of(problem, prior)
        case IndependentBins():
            return Independent(problem, prior)
        case HierarchicalBins():
            return Hierarchical(problem, prior)
