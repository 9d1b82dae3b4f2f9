"""A classifier that is known by the densities of its logits: its calibration error, and rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import (
    MOST_SIMULATED,
    check_is,
    check_whole,
    checked_numbers,
    generator,
    shown,
)
from bayescal.core.errors import InputError
from bayescal.core.intake import finite_numbers
from bayescal.core.logistic import finite_logits, sigmoid
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.pu_ece.data import PUScores
from bayescal.quantities.pu_ece.estimator import check_class_prior

type Seed = int | np.random.Generator | None

# Beyond ten standard deviations of every component the densities are below rounding.
_REACH: Final = 10.0
# The trapezoid rule is exact for a Gaussian to 1e-30 at a quarter of its standard deviation.
_STEP: Final = 0.25
POINTS: Final = 10_000


def checked_sizes(n: object) -> tuple[int, int]:
    """Take how many positive and unlabelled rows there are to be."""
    sizes = list(n) if isinstance(n, Iterable) and not isinstance(n, str | bytes) else []
    if len(sizes) != 2:
        raise InputError(f"n must be (n_positive, n_unlabeled); got {shown(n)}. Pass (100, 1000).")
    positive = check_whole(sizes[0], "n_positive", most=MOST_SIMULATED)
    return positive, check_whole(sizes[1], "n_unlabeled", most=MOST_SIMULATED)


@dataclass(frozen=True, slots=True)
class LogitMixture:
    """A mixture of Gaussians: the logits of one class.

    Parameters
    ----------
    weight : tuple of float, each above 0
        Shares of the Gaussians, which sum to 1.
    mean : tuple of float
        Their means.
    scale : tuple of float, each above 0
        Their standard deviations.

    Raises
    ------
    InputError
        If the lengths differ, a weight or scale is not above 0, or the weights do not sum to 1.

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.logit_mixtures import LogitMixture
    >>> two = LogitMixture(weight=(0.3, 0.7), mean=(-1.0, 2.0), scale=(1.0, 0.5))
    >>> two.density([2.0]).round(3).tolist()
    [0.56]
    """

    weight: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        for name, interval in (
            ("weight", "(0, 1]"),
            ("mean", "(-inf, inf)"),
            ("scale", "(0, inf)"),
        ):
            numbers = checked_numbers(getattr(self, name), name, interval)
            object.__setattr__(self, name, numbers)
        if not len(self.weight) == len(self.mean) == len(self.scale) > 0:
            raise InputError(
                "weight, mean and scale must have one number a Gaussian each; got "
                f"{len(self.weight)}, {len(self.mean)} and {len(self.scale)}."
            )
        if not math.isclose(math.fsum(self.weight), 1, rel_tol=1e-6):
            raise InputError(f"weights must sum to 1; got {math.fsum(self.weight):.6g}.")

    def log_density(self, logit: ArrayLike) -> Floats:
        """Give the logarithm of the density.

        Parameters
        ----------
        logit : array-like of shape (...)
            Logits.

        Returns
        -------
        ndarray of the same shape
            Where logits are finite.

        Raises
        ------
        InputError
            If logits are not finite.
        """
        at = (finite_numbers(logit, "logit")[..., None] - self.mean) / np.array(self.scale)
        parts = np.log(self.weight) - np.log(self.scale) - 0.5 * at**2
        return np.asarray(np.logaddexp.reduce(parts, axis=-1) - 0.5 * math.log(2 * math.pi))

    def density(self, logit: ArrayLike) -> Floats:
        """Give the density.

        Parameters
        ----------
        logit : array-like of shape (...)
            Logits.

        Returns
        -------
        ndarray of the same shape, at least 0
            Density of the logits.

        Raises
        ------
        InputError
            If logits are not finite.
        """
        return np.asarray(np.exp(self.log_density(logit)))

    def sample(self, n: int, seed: Seed = None) -> Floats:
        """Draw logits.

        Parameters
        ----------
        n : int
            How many.
        seed : int or Generator, optional
            Source of randomness; the same seed gives the same logits.

        Returns
        -------
        ndarray of shape (n,)
            Independent draws.
        """
        rng = generator(seed)
        check_whole(n, "n", 0, most=MOST_SIMULATED)
        share = np.array(self.weight) / math.fsum(self.weight)
        which = rng.choice(len(share), size=n, p=share)
        return np.asarray(rng.normal(np.array(self.mean)[which], np.array(self.scale)[which]))


@dataclass(frozen=True)
class MixtureTruth:
    """A classifier whose logits are mixtures of Gaussians in both classes, and what is true of it.

    Parameters
    ----------
    positive, negative : LogitMixture
        Logits of each class.
    class_prior : float, in (0, 1)
        Share of positives in the population.
    name : str, default "mixture"
        Its name.

    Raises
    ------
    InputError
        If `class_prior` does not lie in (0, 1).

    References
    ----------
    .. [1] Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled
       Learning", under review for Transactions on Machine Learning Research, 2025, section 5.1.
       https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.logit_mixtures import LogitMixture, MixtureTruth
    >>> over = MixtureTruth(
    ...     positive=LogitMixture((1.0,), (4.0,), (4.0,)),
    ...     negative=LogitMixture((1.0,), (-4.0,), (4.0,)),
    ...     class_prior=0.5,
    ... )
    >>> round(over.tce, 4)  # as of the simulated classifier "over"
    0.0754
    >>> over.scores((100, 1000), seed=1)
    <PUScores: classifiers 'mixture'; n_positive 100, n_unlabeled 1000>
    """

    positive: LogitMixture
    negative: LogitMixture
    class_prior: float
    name: str = "mixture"

    def __post_init__(self) -> None:
        check_is(self.name, str, "name", "Pass a word.")
        check_class_prior(self.class_prior)
        for name in ("positive", "negative"):
            check_is(getattr(self, name), LogitMixture, name, "Pass LogitMixture(...).")

    @cached_property
    def tce(self) -> float:
        """True calibration error, by the trapezoid rule on 10,000 logits."""
        return calibration_error(self, POINTS)

    def probability(self, score: ArrayLike) -> Floats:
        """Give P(Y = 1 | f = score), the true calibration curve.

        Parameters
        ----------
        score : array-like, in [0, 1]
            Scores.

        Returns
        -------
        ndarray of the same shape, in [0, 1]
            It need not rise: with different scales the classes change places in the tails.
        """
        logit = finite_logits(score)
        ratio = self.positive.log_density(logit) - self.negative.log_density(logit)
        return sigmoid(ratio + math.log(self.class_prior) - math.log1p(-self.class_prior))

    def sample(self, n: int, seed: Seed = None) -> tuple[Floats, NDArray[np.uint8]]:
        """Draw logits and labels.

        Parameters
        ----------
        n : int
            How many rows.
        seed : int or Generator, optional
            Source of randomness; the same seed gives the same rows.

        Returns
        -------
        logit : ndarray of shape (n,)
            Logits of a random sample of the population.
        label : ndarray of shape (n,), uint8
            Their labels.
        """
        rng = generator(seed)
        check_whole(n, "n", 0, most=MOST_SIMULATED)
        label = (rng.random(n) < self.class_prior).astype(np.uint8)
        logit = np.empty(n)
        for mixture, rows in ((self.positive, label == 1), (self.negative, label == 0)):
            logit[rows] = mixture.sample(int(rows.sum()), rng)
        return logit, label

    def labeled_scores(self, n: int, seed: Seed = None) -> Scores:
        """Draw scores with their labels.

        Parameters
        ----------
        n : int
            How many rows.
        seed : int or Generator, optional
            Source of randomness; the same seed gives the same rows.

        Returns
        -------
        Scores
            Scores under the classifier's name.

        Raises
        ------
        InputError
            If there is to be no row.
        """
        logit, label = self.sample(n, seed)
        return Scores(y_true=label, y_prob=sigmoid(logit), classifier=self.name, classes=(0, 1))

    def scores(self, n: tuple[int, int], seed: Seed = None) -> PUScores:
        """Draw positive and unlabelled scores.

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

        Raises
        ------
        InputError
            If one of the samples is to be empty.
        """
        rng = generator(seed)
        n_positive, n_unlabeled = checked_sizes(n)
        return PUScores(
            positive=sigmoid(self.positive.sample(n_positive, rng)),
            unlabeled=sigmoid(self.sample(n_unlabeled, rng)[0]),
            classifier=self.name,
        )


# Points of a grid that take a second, and a gigabyte at most.
_MOST_POINTS = 10_000_000


def calibration_error(truth: MixtureTruth, points: int) -> float:
    """Integrate the gap over the logits; with more points where a Gaussian is narrow."""
    z = _grid(truth, points)
    joint = truth.class_prior * truth.positive.density(z)
    total = joint + (1 - truth.class_prior) * truth.negative.density(z)
    return float(np.trapezoid(np.abs(joint - sigmoid(z) * total), z))


def _grid(truth: MixtureTruth, points: int) -> Floats:
    mean = np.array(truth.positive.mean + truth.negative.mean)
    scale = np.array(truth.positive.scale + truth.negative.scale)
    low, high = (mean - _REACH * scale).min(), (mean + _REACH * scale).max()
    needed = math.ceil((high - low) / (_STEP * scale.min()))
    if needed > _MOST_POINTS:
        raise InputError(
            "Gaussians of the mixture must not be so narrow beside the range of logits; the least "
            f"scale is {scale.min():.3g}, the range {high - low:.3g}. Leave out tied logits."
        )
    return np.linspace(low, high, max(points, needed))
