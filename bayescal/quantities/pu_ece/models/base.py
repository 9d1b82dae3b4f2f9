"""The shape that every prior of label rates has in code, and where each is found."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from bayescal.core import quantity
from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.priors import Priors


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


def label_model(problem: PUProblem, priors: Priors) -> LabelModel:
    """Join a problem and its priors."""
    from bayescal.quantities.pu_ece.models.mixture_bins import Bins
    from bayescal.quantities.pu_ece.models.smooth_curve import Curve

    if isinstance(priors.label_rate, SmoothCurve):
        return Curve.of(problem, priors.label_rate, priors.class_prior)
    return Bins.of(problem, priors.label_rate, priors.class_prior)
