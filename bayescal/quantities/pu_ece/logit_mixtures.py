"""Classifiers known by the densities of their logits: calibration error, rows, and the fit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import (
    MOST_DRAWN,
    MOST_SIMULATED,
    check_is,
    check_whole,
    checked_numbers,
    generator,
    shown,
)
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.functionals import finite_logits, sigmoid
from bayescal.core.intake import finite_numbers
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.core.streams import Seed
from bayescal.quantities.pu_ece.data import PUScores
from bayescal.quantities.pu_ece.estimator import check_class_prior

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

    References
    ----------
    .. [1] The PU-ECE paper, section 5.1. https://openreview.net/forum?id=SvoBtLIrPZ

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


_TRIES: Final = 3
_ITERATIONS: Final = 500


# Beyond it squares of logits are no longer numbers that a mixture can be fitted to.
_LARGEST = 1e6


class MixtureTCE(NamedTuple):
    """True calibration error under fitted densities of the logits."""

    tce: float  #: True calibration error, in [0, 1].
    n_components_positive: int  #: Gaussians of the positives.
    n_components_negative: int  #: Gaussians of the negatives.
    truth: MixtureTruth  #: The Gaussians.


def tce_from_logits(
    positive: ArrayLike,
    negative: ArrayLike,
    *,
    class_prior: float,
    max_components: int = 10,
    points: int = POINTS,
    seed: Seed = None,
) -> MixtureTCE:
    """Compute the calibration error of a classifier from densities fitted to its logits.

    It takes rows of both classes, as a reference for estimates from positive and unlabelled ones.

    Parameters
    ----------
    positive, negative : array-like of shape (obs,)
        Logits of rows of each class.
    class_prior : float, in (0, 1)
        Share of positives in the population, whatever that of the rows given.
    max_components : int, default 10
        Largest number of Gaussians that is tried for a class.
    points : int, default 10_000
        Points of the trapezoid rule; more are taken where a Gaussian is so narrow as to need them.
    seed : int or Generator, optional
        Source of the starting values of the fits.

    Returns
    -------
    MixtureTCE
        The error, how many Gaussians describe each class, and the Gaussians.

    Raises
    ------
    InputError
        If logits are missing, infinite or all the same, or a number lies outside its range.

    Notes
    -----
    With p+ and p- the densities of the logit z in the classes and pi the class prior, the error is
    that of the score ``sigmoid(z)``::

        TCE = integral of | pi p+(z) - sigmoid(z) (pi p+(z) + (1 - pi) p-(z)) | dz

    Each density is a mixture of Gaussians fitted by EM, with the number of components from 1 to
    `max_components` that makes the Bayesian information criterion least. Fits that do not converge
    are left out. The experiments of [1]_ go on with rows drawn from the mixtures, whose true error
    is known: `MixtureTruth.scores` draws them. The result is as good as the mixtures: it inherits
    their sampling error, and is biased upward for a calibrated classifier, as every distance is.

    References
    ----------
    .. [1] The PU-ECE paper, section 5.1. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.pu_ece.logit_mixtures import tce_from_logits
    >>> rng = np.random.default_rng(1)
    >>> x = rng.standard_normal((2, 2000)) + [[1], [-1]]
    >>> found = tce_from_logits(*(4 * x), class_prior=0.5, seed=1)  # calibrated: 2 x
    >>> round(found.tce, 3), found.n_components_positive
    (0.077, 1)
    >>> found.truth.scores((100, 1000), seed=1)
    <PUScores: classifiers 'mixture'; n_positive 100, n_unlabeled 1000>
    """
    check_class_prior(class_prior)
    for count, name in ((max_components, "max_components"), (points, "points")):
        check_whole(count, name, most=MOST_DRAWN)
    rng = generator(seed)
    found, others = (
        _fit(_checked(logits, name), max_components, int(rng.integers(2**31)))
        for logits, name in ((positive, "positive"), (negative, "negative"))
    )
    truth = MixtureTruth(found, others, class_prior)
    tce = calibration_error(truth, points)
    return MixtureTCE(tce, len(found.weight), len(others.weight), truth)


def _checked(logits: ArrayLike, name: str) -> Floats:
    values = to_doubles(logits, name)
    if values.ndim != 1 or not len(values):
        raise InputError(f"{name} must hold one logit a row; got shape {values.shape}.")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(
            f"{name} logits must be finite; got {values[row]} at row {row}. "
            "Compute them from the classifier, not from scores that round to 0 or 1."
        )
    if np.abs(values).max() > _LARGEST:
        row = int(np.argmax(np.abs(values)))
        raise InputError(
            f"{name} logits must be {_LARGEST:g} at most in size; got {values[row]:.6g} at row "
            f"{row}. Divide them by a number."
        )
    # The variance of logits as near to each other as 1e-162 is 0 too.
    if values.min() == values.max() or values.std() == 0:
        raise InputError(f"{name} logits must differ; all are {values[0]:g}. They have no density.")
    return values


def _fit(logits: Floats, max_components: int, seed: int) -> LogitMixture:
    """Fit mixtures of 1, 2, ... Gaussians; return the one with the least BIC."""
    # EM's regularisation is absolute: standardised logits make it relative.
    centre, scale = logits.mean(), logits.std()
    rows = ((logits - centre) / scale)[:, None]
    most = min(max_components, len(np.unique(logits)))
    fits = [_converged(rows, count, seed) for count in range(1, most + 1)]
    best = min((fit for fit in fits if fit is not None), key=lambda fit: float(fit.bic(rows)))
    return LogitMixture(
        weight=tuple(best.weights_.tolist()),
        mean=tuple((centre + scale * best.means_[:, 0]).tolist()),
        scale=tuple((scale * np.sqrt(best.covariances_[:, 0, 0])).tolist()),
    )


def _converged(rows: Floats, n_components: int, seed: int) -> Any | None:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    mixture = GaussianMixture(
        n_components, n_init=_TRIES, max_iter=_ITERATIONS, random_state=seed, reg_covar=1e-6
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # left out below
        mixture.fit(rows)
    return mixture if mixture.converged_ else None
