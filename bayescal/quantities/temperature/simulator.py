"""Simulated logits whose class probabilities, and so calibration errors, are known.

Logits are normal, shifted up for a class drawn at random. True probabilities are the softmax of
logits times a number: one for all rows, one a predicted class, or one a logit with a shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from bayescal.core.bin_edges import place_in
from bayescal.core.binning import Binning
from bayescal.core.checks import (
    MOST_SIMULATED,
    check_is,
    check_number,
    check_whole,
    checked_numbers,
    generator,
    shown,
)
from bayescal.core.errors import InputError
from bayescal.core.intake import finite_numbers
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.core.streams import Seed, by_name


@dataclass(frozen=True)
class LogitTruth:
    """Simulated logits, and the class probabilities that are true of them.

    Parameters
    ----------
    name : str
        Name of the truth.
    alpha : tuple of float, above 0
        The number of each predicted class; of one truth they may be equal.
    coef, shift : tuple of float, optional
        Numbers and shifts of the logits in place of those of the predicted classes (vector
        scaling); of one alone the numbers are 1, or the shifts 0.
    spread : float, above 0, default 2
        Standard deviation of the logits.
    lift : float, default 5
        Added to the logit of a class drawn at random.

    Examples
    --------
    >>> import bayescal as bc
    >>> found = bc.datasets.temperature.truth("homogeneous")
    >>> found.scores(100, seed=1).n_classes
    10
    >>> round(float(found.probability([[2.0] + 9 * [0.0]])[0, 0]), 3)
    0.269
    """

    name: str
    alpha: tuple[float, ...]
    coef: tuple[float, ...] | None = None
    shift: tuple[float, ...] | None = None
    spread: float = 2.0
    lift: float = 5.0

    def __post_init__(self) -> None:
        check_is(self.name, str, "name", "Pass a word.")
        n = len(checked_numbers(self.alpha, "alpha", "(0, inf)", 2))
        for name in ("coef", "shift"):
            values = getattr(self, name)
            if values is not None and len(checked_numbers(values, name, "(-inf, inf)")) != n:
                got = shown(values)
                raise InputError(f"{name} must have one number a class, {n}; got {got}. Add them.")
        check_number(self.spread, "spread", "(0, inf)")
        check_number(self.lift, "lift", "(-inf, inf)")

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.alpha)

    def logits(self, n: int, seed: Seed = None) -> Floats:
        """Draw logits.

        Parameters
        ----------
        n : int
            Rows.
        seed : int or Generator, optional
            Source of randomness.

        Returns
        -------
        ndarray of shape (obs, class)
            Logits.
        """
        rng = generator(seed)
        check_whole(n, "n", most=MOST_SIMULATED)
        found = rng.normal(0, self.spread, (n, self.n_classes))
        found[np.arange(n), rng.integers(0, self.n_classes, n)] += self.lift
        return found

    def probability(self, logits: ArrayLike) -> Floats:
        """Give the true class probabilities of logits.

        Parameters
        ----------
        logits : array-like of shape (obs, class)
            Logits.

        Returns
        -------
        ndarray of shape (obs, class), in [0, 1]
            Rows sum to 1.
        """
        found = finite_numbers(logits, "logits")
        if found.ndim != 2 or found.shape[1] != self.n_classes:
            raise InputError(
                f"logits must have shape (obs, class) with {self.n_classes} classes; got "
                f"{found.shape}."
            )
        return np.asarray(softmax(self._moved(found), axis=1))

    def scores(self, n: int, seed: Seed = None, *, n_unlabeled: int = 0) -> Scores:
        """Draw rows with labels, and without.

        Parameters
        ----------
        n : int
            Labelled rows; they come first.
        seed : int or Generator, optional
            Source of randomness.
        n_unlabeled : int, default 0
            Rows without a label.

        Returns
        -------
        Scores
            Of one classifier.
        """
        rng = generator(seed)
        check_whole(n_unlabeled, "n_unlabeled", 0, most=MOST_SIMULATED)
        logits = self.logits(check_whole(n, "n", most=MOST_SIMULATED) + n_unlabeled, rng)
        label = (self._moved(logits) + rng.gumbel(size=logits.shape)).argmax(axis=1)
        known = [*label[:n].tolist(), *[None] * n_unlabeled]
        return Scores(y_true=known, y_prob=logits, from_logits=True, classes=range(self.n_classes))

    def class_errors(
        self, logits: Floats, confidence: Floats, binning: Binning
    ) -> tuple[float, Floats]:
        """Compute true calibration errors of confidences in the predicted class.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Many rows, which stand for the population.
        confidence : ndarray of shape (obs,), in [0, 1]
            Probability given to the class of the largest logit.
        binning : Binning
            Bins.

        Returns
        -------
        ece : float
            Of all rows.
        class_ece : ndarray of shape (class,)
            Of each predicted class; NaN where there are no rows.
        """
        predicted = logits.argmax(axis=1)
        gap = self.probability(logits)[np.arange(len(logits)), predicted] - confidence
        edges = binning.edges(confidence)
        n_bins = len(edges) - 1
        cell = predicted * n_bins + place_in(edges, confidence, binning.closed)
        summed = np.bincount(cell, gap, self.n_classes * n_bins)
        total = summed.reshape(self.n_classes, n_bins)
        with np.errstate(invalid="ignore"):
            each = np.abs(total).sum(axis=1) / np.bincount(predicted, minlength=self.n_classes)
        return float(np.abs(total.sum(axis=0)).sum() / len(logits)), each

    def _moved(self, logits: Floats) -> Floats:
        """True logits."""
        if self.coef is None and self.shift is None:
            return np.asarray(np.array(self.alpha)[logits.argmax(axis=1)][:, None] * logits)
        coef = 1.0 if self.coef is None else np.array(self.coef)
        return np.asarray(coef * logits + (0.0 if self.shift is None else np.array(self.shift)))


_EVEN = np.linspace(-1, 1, 10)
TRUTHS: Final[dict[str, LogitTruth]] = {
    found.name: found
    for found in (
        LogitTruth("heterogeneous", tuple(np.exp(-0.5 + 0.7 * _EVEN).tolist())),
        LogitTruth("homogeneous", (0.6,) * 10),
        LogitTruth(
            "vector",
            (1.0,) * 10,
            tuple((0.6 + 0.3 * _EVEN).tolist()),
            tuple((0.8 * _EVEN[::-1]).tolist()),
        ),
        LogitTruth("calibrated", (1.0,) * 10),
        LogitTruth("binary", (0.5, 1.5)),
    )
}
"""Simulated truths by name: numbers of predicted classes that differ, one number, a number and a
shift for each logit, calibrated logits, and two classes."""


truth = by_name(TRUTHS, __name__)
