"""What every model of the labels can do."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from bayescal.core import quantity
from bayescal.core.quantity import Draws, Floats

EVERY_ROW = slice(None)


class LabelModel(quantity.LabelModel, Protocol):
    """Labels of one problem under one prior."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Those of the variables that a result holds."""
        ...

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of the variables before the labels, (draw, ...)."""
        ...

    def label_probs(self, draws: Draws, rows: Any = EVERY_ROW) -> Floats:
        """Probability of each label of some rows, (..., obs, class)."""
        ...

    def log_likelihood(self, draws: Draws) -> Floats:
        """Log probability of each known label, raised to the power, (..., label)."""
        ...
