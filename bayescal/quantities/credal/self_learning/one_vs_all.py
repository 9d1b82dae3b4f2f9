"""A small binary network for each class against the rest, trained by plain gradient descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from bayescal.core.checks import check_number, check_whole
from bayescal.core.quantity import Floats


@dataclass(frozen=True, slots=True)
class SgdSettings:
    """Networks of one hidden layer and their training.

    Parameters
    ----------
    hidden : int, at least 1, default 16
        Units of the hidden layer (tanh): the paper's m.
    learning_rate : float, above 0, default 0.1
        Step size, without momentum or weight decay: the paper's tau.
    epochs : int, at least 1, default 20
        Passes over the rows of each training.
    batch_size : int, at least 1, default 10
        Rows of each step.

    Raises
    ------
    InputError
        If a number is out of range.
    """

    hidden: int = 16
    learning_rate: float = 0.1
    epochs: int = 20
    batch_size: int = 10

    def __post_init__(self) -> None:
        for name in ("hidden", "epochs", "batch_size"):
            check_whole(getattr(self, name), name)
        check_number(self.learning_rate, "learning_rate", "(0, inf)")


class OneVsAllNetworks:
    """Binary networks h^1, ..., h^K, which share nothing but the rows that they see.

    Notes
    -----
    The loss of a row with the label p^k in [0, 1] is KL(p^k || h^k(x)) of two classes, (2) of the
    paper [1]_, as (5) has it for each class. A further training starts from the weights that the
    one before ended with.

    References
    ----------
    .. [1] V. M. Bordini, S. Destercke and B. Quost, "Self-Learning from Pairwise Credal Labels",
       ECAI 2024, sections 2.3 and 3.1. https://hal.science/hal-04886134
    """

    def __init__(
        self, features: int, classes: int, settings: SgdSettings, rng: np.random.Generator
    ) -> None:
        self._settings, self._rng = settings, rng
        hidden = settings.hidden
        # Uniform within the root of the number of inputs, as usual for such layers.
        self._weights = [
            rng.uniform(-1, 1, (classes, features, hidden)) / np.sqrt(features),
            rng.uniform(-1, 1, (classes, 1, hidden)) / np.sqrt(features),
            rng.uniform(-1, 1, (classes, hidden, 1)) / np.sqrt(hidden),
            rng.uniform(-1, 1, (classes, 1, 1)) / np.sqrt(hidden),
        ]

    def fit(self, x: Floats, label: Floats) -> OneVsAllNetworks:
        """Train all networks further."""
        size = self._settings.batch_size
        for _ in range(self._settings.epochs):
            order = self._rng.permutation(len(x))
            for first in range(0, len(x), size):
                rows = order[first : first + size]
                self._step(x[rows], label[rows])
        return self

    def _step(self, x: Floats, label: Floats) -> None:
        """One step of gradient descent on the mean loss of a batch."""
        inner, score = self._forward(x)
        slope = ((score - label) / len(x)).T[:, :, None]
        by_inner = slope * np.swapaxes(self._weights[2], 1, 2) * (1 - inner**2)
        gradients = (
            x.T @ by_inner,
            by_inner.sum(axis=1, keepdims=True),
            np.swapaxes(inner, 1, 2) @ slope,
            slope.sum(axis=1, keepdims=True),
        )
        for weights, gradient in zip(self._weights, gradients, strict=True):
            weights -= self._settings.learning_rate * gradient

    def scores(self, x: Floats) -> Floats:
        """Probabilities of each class against the rest; they need not sum to 1."""
        return self._forward(x)[1]

    def predict_proba(self, x: Floats) -> Floats:
        """Probabilities of the classes: the scores over their sum."""
        score = self.scores(x)
        return np.asarray(score / score.sum(axis=1, keepdims=True))

    def _forward(self, x: Floats) -> tuple[Floats, Floats]:
        """Hidden units (class, obs, hidden) and scores (obs, class)."""
        first, first_intercept, last, last_intercept = self._weights
        inner = np.tanh(x @ first + first_intercept)
        return inner, expit((inner @ last + last_intercept)[..., 0].T)
