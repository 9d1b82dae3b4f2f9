"""The shape that every prior of label rates has in code, and where each is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core.curve import SmoothCurve
from bayescal.core.sampled import Exact, Sampled
from bayescal.quantities.pu_ece.priors import Priors
from bayescal.quantities.pu_ece.problem import PUProblem

type Floats = NDArray[np.float64]
type Draws = Mapping[str, Floats]


class Family(Sampled, Protocol):
    """Label rates and class prior of one problem under one prior."""

    @property
    def structure(self) -> tuple[Any, ...]:
        """What tells one compiled model from another; the last is the number of cells, padded."""
        ...

    def add_to_model(self) -> tuple[Any, Any]:
        """Add variables and observed counts to the model in context; give rates and masses."""
        ...

    def exact(self, draws: int, rng: np.random.Generator) -> Exact | None:
        """Posterior without NUTS; None where there is none."""
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

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Log prior density of variables and class prior, of the draws' shapes."""
        ...


def family(problem: PUProblem, priors: Priors) -> Family:
    """Join a problem and its priors."""
    from bayescal.quantities.pu_ece.bins import Bins
    from bayescal.quantities.pu_ece.curve import Curve

    if isinstance(priors.label_rate, SmoothCurve):
        return Curve.of(problem, priors.label_rate, priors.class_prior)
    return Bins.of(problem, priors.label_rate, priors.class_prior)
