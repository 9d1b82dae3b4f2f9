"""The shape that every model of the labels has in code, and where each is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core.sampled import Sampled
from bayescal.quantities.ssme.priors import Priors, Tilt
from bayescal.quantities.ssme.problem import Problem

type Floats = NDArray[np.float64]
type Draws = Mapping[str, Floats]


class Family(Sampled, Protocol):
    """Labels of one problem under one prior."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Those of them that a result holds."""
        ...

    def add_to_model(self) -> None:
        """Add variables and observed labels to the model in context."""
        ...

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of the variables before the labels, (draw, ...)."""
        ...

    def label_probs(self, draws: Draws) -> Floats:
        """Probability of each label of each row, (draw, obs, class), for draws (draw, ...)."""
        ...

    def log_likelihood(self, draws: Draws) -> Floats:
        """Log probability of each known label, raised to the power, (..., label)."""
        ...

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Log prior density by name of a shown variable, (...)."""
        ...


def family(problem: Problem, priors: Priors) -> Family:
    """Join a problem and its priors."""
    from bayescal.quantities.ssme.mixture import MixtureModel
    from bayescal.quantities.ssme.tilt import TiltModel

    if isinstance(priors.label, Tilt):
        return TiltModel.of(problem, priors.label, priors.power)
    return MixtureModel.of(problem, priors.label, priors.power)
