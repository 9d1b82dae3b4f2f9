"""The shape that every prior of label rates has in code, and where each is found."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bayescal.core import quantity
from bayescal.core.calibration_curve.problem import Problem
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.ece.priors import (
    HierarchicalBins,
    IndependentBins,
    LabelRatePrior,
    SmoothCurve,
)


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


def label_model(problem: Problem, prior: LabelRatePrior) -> LabelModel:
    """Join a problem and a prior."""
    from bayescal.quantities.ece.models.hierarchical_bins import Hierarchical
    from bayescal.quantities.ece.models.independent_bins import Independent
    from bayescal.quantities.ece.models.smooth_curve import Curve

    match prior:
        case SmoothCurve():
            return Curve.of(problem, prior)
        case IndependentBins():
            return Independent(problem, prior)
        case HierarchicalBins():
            return Hierarchical(problem, prior)
