"""Labels of rows: drawn from their probabilities, and what a model of them can do."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core import quantity
from bayescal.core.checks import MOST_DRAWN, check_whole
from bayescal.core.quantity import Draws, Floats
from bayescal.quantities.ssme.data import ScoreMatrix


def check_draws(n_draws: int | None) -> None:
    """Refuse a number of draws of the labels that is none."""
    if n_draws is not None:
        check_whole(n_draws, "n_draws", most=MOST_DRAWN)


def draw_labels(prob: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw labels as one-hot rows, (draw, obs, class)."""
    return labels_at(prob, rng.random((n_draws, len(prob))))


def labels_at(prob: Floats, uniform: Floats) -> Floats:
    """Labels that uniform random numbers fall on, as one-hot rows, (..., obs, class)."""
    place = classes_at(prob, uniform)
    # Class by class in memory, as metrics take them.
    return (
        np.stack([place == k for k in range(prob.shape[-1])])
        .astype(np.float64)
        .transpose(*range(1, place.ndim + 1), 0)
    )


def classes_at(prob: Floats, uniform: Floats) -> NDArray[np.intp]:
    """The same as places of the classes, (..., obs)."""
    # Class by class, as NumPy is slow on the sums of a short axis.
    bound = np.zeros(prob.shape[:-1])
    place = np.zeros(np.broadcast_shapes(bound.shape, uniform.shape), dtype=np.intp)
    # The last bound is left out: rounding could put it below a uniform number.
    for k in range(prob.shape[-1] - 1):
        bound += prob[..., k]
        place += uniform >= bound
    return place


def with_known_labels(matrix: ScoreMatrix, prob_label: Floats) -> Floats:
    """Put certainty where labels are known."""
    prob = np.array(prob_label, dtype=np.float64)
    prob[..., matrix.labeled, :] = matrix.known
    return prob


EVERY_ROW = slice(None)


class LabelModel(quantity.LabelModel, Protocol):
    """Labels of one problem under one prior."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Those of the variables that a result holds."""

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of the variables before the labels, (draw, ...)."""

    def label_probs(self, draws: Draws, rows: Any = EVERY_ROW) -> Floats:
        """Probability of each label of some rows, (..., obs, class)."""

    def log_likelihood(self, draws: Draws) -> Floats:
        """Log probability of each known label, raised to the power, (..., label)."""
