"""Simulated classifiers of known calibration error, seen through positives and unlabelled rows.

The simulator of section 5.1 of the PU-ECE paper: a share pi of the population is positive, a
feature X is N(1, 1) for positives and N(-1, 1) for negatives, so that
``P(Y = 1 | x) = sigmoid(2 x + logit(pi))``, and a classifier gives ``f(X) = sigmoid(b0 + b1 X)``.
`MixtureTruth` is any other classifier, by the densities of its logits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_number, generator
from bayescal.core.columns import Floats
from bayescal.core.functionals import sigmoid
from bayescal.core.intake import finite_numbers
from bayescal.core.streams import LogisticScore, Seed, by_name
from bayescal.quantities.pu_ece.data import PUScores
from bayescal.quantities.pu_ece.logit_mixtures import LogitMixture as LogitMixture
from bayescal.quantities.pu_ece.logit_mixtures import MixtureTruth as MixtureTruth
from bayescal.quantities.pu_ece.logit_mixtures import checked_sizes

# Beyond ten standard deviations of either class the density is below rounding.
_REACH: Final = 11.0
# The feature's coefficient in the true logit: half the squared distance of the classes' means.
_SLOPE: Final = 2.0


@dataclass(frozen=True)
class PUTruth(LogisticScore):
    """A simulated classifier and what is true of it.

    Parameters
    ----------
    name : str
        Its name.
    b0, b1 : float
        Intercept and slope of the score's logit; `b1` above 0.
    class_prior : float, in (0, 1), default 0.5
        Share of positives. With ``b0 = logit(class_prior)`` and ``b1 = 2`` it is calibrated.

    References
    ----------
    .. [1] The PU-ECE paper, section 5.1. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.simulator import truth
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
        check_number(self.class_prior, "class_prior", "(0, 1)")
        self._check()

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
        return sigmoid(_SLOPE * finite_numbers(x, "x") + self._prior_logit)

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
        rng = generator(seed)
        n_positive, n_unlabeled = checked_sizes(n)
        positive = rng.normal(1.0, 1.0, n_positive)
        side = np.where(rng.random(n_unlabeled) < self.class_prior, 1.0, -1.0)
        return PUScores(
            positive=self.score(positive),
            unlabeled=self.score(rng.normal(side, 1.0)),
            classifier=self.name,
        )

    @cached_property
    def tce(self) -> float:
        """True calibration error, ``E |P(Y = 1 | f) - f|``, by quadrature over the feature."""
        from scipy.integrate import quad

        def integrand(x: float) -> float:
            at = np.asarray(x)
            gap = abs(float(self.event_probability(at) - self.score(at)))
            return gap * float(self._density(at))

        # Both logits are straight lines, so that the curve crosses the diagonal once at most.
        ends = [-_REACH, -1.0, 1.0, _REACH]
        if self.b1 != _SLOPE:
            crossing = (self._prior_logit - self.b0) / (self.b1 - _SLOPE)
            ends = sorted([*ends, min(max(crossing, -_REACH), _REACH)])
        # Smooth between its kinks, so that each piece converges at once.
        return float(sum(quad(integrand, *piece, epsabs=1e-13)[0] for piece in pairwise(ends)))

    @property
    def _prior_logit(self) -> float:
        return math.log(self.class_prior) - math.log1p(-self.class_prior)

    def _density(self, x: Floats) -> Floats:
        positive, negative = (np.exp(-0.5 * (x - mean) ** 2) for mean in (1.0, -1.0))
        mixture = self.class_prior * positive + (1 - self.class_prior) * negative
        return np.asarray(mixture / math.sqrt(2 * math.pi))


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
"""Simulated classifiers by name, with an error from 0 to .075; the scores are those of the same
names in `bayescal.quantities.ece.simulator`, to show what labels are worth."""


truth = by_name(TRUTHS, __name__)


class PUDigits(NamedTuple):
    """Handwritten digits as positives (5 to 9) and unlabelled rows.

    Parameters
    ----------
    train : ndarray of shape (obs, 64)
        Pixels from 0 to 1, positives first.
    selected : ndarray of shape (obs,), uint8
        1 for the positives of `train`, 0 for its unlabelled rows.
    positive, unlabeled : ndarray of shape (obs, 64)
        Rows to evaluate on.
    label : ndarray of shape (obs,), uint8
        True labels of `unlabeled`, to check an evaluation that does not see them.
    class_prior : float
        Share of positives among all digits.
    """

    train: Floats
    selected: NDArray[np.uint8]
    positive: Floats
    unlabeled: Floats
    label: NDArray[np.uint8]
    class_prior: float


def digits(seed: Seed = None) -> PUDigits:
    """Cut scikit-learn's handwritten digits into positives and unlabelled rows.

    Parameters
    ----------
    seed : int or Generator, optional
        Source of the cut.

    Returns
    -------
    PUDigits
        Half of the digits to train on, half to evaluate on; of each half the positives of three
        rows in ten are the positive sample, and the other seven rows the unlabelled one.

    Notes
    -----
    The task of the paper's experiment on MNIST, 5-9 against 0-4, on scikit-learn's digits.

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.simulator import digits
    >>> found = digits(seed=1)
    >>> len(found.unlabeled), round(found.class_prior, 2)
    (630, 0.5)
    """
    from sklearn.datasets import load_digits

    pixels, digit = load_digits(return_X_y=True)
    pixels, label = pixels / 16, (digit >= 5).astype(np.uint8)
    order = generator(seed).permutation(len(label))
    half = len(order) // 2
    parts = []
    for rows in (order[:half], order[half:]):
        sampled, rest = np.split(rows, [3 * len(rows) // 10])
        parts.append((sampled[label[sampled] == 1], rest))
    (train_positive, train_rest), (positive, rest) = parts
    return PUDigits(
        train=pixels[np.concatenate([train_positive, train_rest])],
        selected=np.repeat([1, 0], [len(train_positive), len(train_rest)]).astype(np.uint8),
        positive=pixels[positive],
        unlabeled=pixels[rest],
        label=label[rest],
        class_prior=float(label.mean()),
    )
