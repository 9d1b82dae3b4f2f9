"""Simulated classifiers of known calibration error, seen through positives and unlabelled rows.

The simulator of section 5.1 of the PU-ECE paper: a share pi of the population is positive, a
feature X is N(1, 1) for positives and N(-1, 1) for negatives, so that
``P(Y = 1 | x) = sigmoid(2 x + logit(pi))``, and a classifier gives ``f(X) = sigmoid(b0 + b1 X)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_known
from bayescal.core.errors import InputError
from bayescal.core.pu_scores import PUScores

type Floats = NDArray[np.float64]
type Seed = int | np.random.Generator | None

# Beyond ten standard deviations of either class the density is below rounding.
_REACH: Final = 11.0
_GRID: Final = 200_001


def _sigmoid(logit: Floats) -> Floats:
    # The positive exponent overflows to infinity for logits below -709, and 1 / inf is the right 0.
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-logit)))


@dataclass(frozen=True)
class PUTruth:
    """A simulated classifier and what is true of it.

    Parameters
    ----------
    name : str
        Its name.
    b0, b1 : float
        Intercept and slope of the score's logit; `b1` above 0.
    class_prior : float, in (0, 1), default 0.5
        Share of positives in the population. With ``b0 = logit(class_prior)`` and ``b1 = 2`` the
        classifier is calibrated.

    Examples
    --------
    >>> from bayescal.datasets.pu_ece import truth
    >>> over = truth("over")
    >>> over.scores((100, 1000), seed=1)
    <PUScores: classifiers 'over'; n_positive 100, n_unlabeled 1000>
    >>> round(over.tce, 4)
    0.0754
    """

    name: str
    b0: float
    b1: float
    class_prior: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.class_prior < 1:
            raise InputError(f"class_prior must lie in (0, 1); got {self.class_prior}.")
        if not self.b1 > 0:
            raise InputError(f"b1 must be above 0; got {self.b1}. Scores rise with the feature.")

    def score(self, x: ArrayLike) -> Floats:
        """Give the classifier's score of a feature.

        Parameters
        ----------
        x : array-like
            Features.

        Returns
        -------
        ndarray of the same shape, in [0, 1]
            ``sigmoid(b0 + b1 x)``.
        """
        return _sigmoid(self.b0 + self.b1 * np.asarray(x, np.float64))

    def event_probability(self, x: ArrayLike) -> Floats:
        """Give P(Y = 1 | x).

        Parameters
        ----------
        x : array-like
            Features.

        Returns
        -------
        ndarray of the same shape, in [0, 1]
            ``sigmoid(2 x + logit(class_prior))``.
        """
        odds = math.log(self.class_prior / (1 - self.class_prior))
        return _sigmoid(2 * np.asarray(x, np.float64) + odds)

    def scores(self, n: tuple[int, int], seed: Seed = None) -> PUScores:
        """Draw both samples.

        Parameters
        ----------
        n : (n_positive, n_unlabeled)
            How many rows of each.
        seed : int or Generator, optional
            Source of randomness; the same seed gives the same rows.

        Returns
        -------
        PUScores
            Scores under the classifier's name.
        """
        rng = np.random.default_rng(seed)
        n_positive, n_unlabeled = n
        positive = rng.normal(1.0, 1.0, n_positive)
        side = np.where(rng.random(n_unlabeled) < self.class_prior, 1.0, -1.0)
        return PUScores(
            positive=self.score(positive),
            unlabeled=self.score(rng.normal(side, 1.0)),
            classifier=self.name,
        )

    @cached_property
    def tce(self) -> float:
        """True calibration error, ``E |P(Y = 1 | f) - f|``, by the trapezoid rule to 1e-9."""
        x = np.linspace(-_REACH, _REACH, _GRID)
        gap = np.abs(self.event_probability(x) - self.score(x))
        return float(np.trapezoid(gap * self._density(x), x))

    def _density(self, x: Floats) -> Floats:
        normal = [np.exp(-0.5 * (x - side) ** 2) / math.sqrt(2 * math.pi) for side in (1.0, -1.0)]
        return self.class_prior * normal[0] + (1 - self.class_prior) * normal[1]


TRUTHS: Final[dict[str, PUTruth]] = {
    found.name: found
    for found in (
        PUTruth("calibrated", 0.0, 2.0),
        PUTruth("near", -0.05, 1.97),
        PUTruth("better", -0.2, 1.9),
        PUTruth("less", -0.5, 1.5),
        PUTruth("over", 0.0, 4.0),
    )
}
"""Simulated classifiers by name, from calibrated to badly over-confident."""


def truth(name: str) -> PUTruth:
    """Look a simulated classifier up.

    Parameters
    ----------
    name : str
        Key of `TRUTHS`.

    Returns
    -------
    PUTruth
        The classifier.

    Raises
    ------
    InputError
        If there is none of that name.

    Examples
    --------
    >>> from bayescal.datasets.pu_ece import truth
    >>> truth("calibrated").tce
    0.0
    """
    check_known(name, list(TRUTHS), "truth", "TRUTHS")
    return TRUTHS[name]
