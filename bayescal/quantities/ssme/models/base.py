"""The shape that every model of the labels has in code, and where each is found."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bayescal.core import quantity
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.ssme.data import Problem
from bayescal.quantities.ssme.priors import Priors, Tilt


class LabelModel(quantity.LabelModel, Protocol):
    """Labels of one problem under one prior."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Those of them that a result holds."""
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


def label_model(problem: Problem, priors: Priors) -> LabelModel:
    """Join a problem and its priors."""
    from bayescal.quantities.ssme.models.mixture import MixtureModel
    from bayescal.quantities.ssme.models.tilt import TiltModel

    if isinstance(priors.label, Tilt):
        return TiltModel.of(problem, priors.label, priors.power)
    return MixtureModel.of(problem, priors.label, priors.power)
