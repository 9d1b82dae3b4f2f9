"""Simulated binary classifiers whose true calibration error is known.

A feature X is drawn from half N(1, 1) and half N(-1, 1), a label Y with probability P(Y=1 | X), and
a classifier gives the score ``f(X) = sigmoid(b0 + b1 X)``. With P(Y=1 | x) = sigmoid(2 x) the score
is calibrated for b0 = 0, b1 = 2, and wrong in a known way for any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import (
    MOST_SIMULATED,
    check_call,
    check_whole,
    checked_numbers,
    checked_words,
    generator,
)
from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.core.functionals import sigmoid
from bayescal.core.scores import Scores
from bayescal.core.streams import LogisticScore, Seed, by_name

# Beyond nine standard deviations of either half the density is below rounding.
_REACH: Final = 10.0
_GRID: Final = 4001


def _logistic(x: Floats) -> Floats:
    return sigmoid(2.0 * x)


def _wiggle(x: Floats) -> Floats:
    return sigmoid(2.0 * x + 0.8 * np.sin(3.0 * x))


def _fast_wiggle(x: Floats) -> Floats:
    return sigmoid(2.0 * x + 0.8 * np.sin(8.0 * x))


# The features whose score 2 x is the logit of is 0.6 and 0.85.
_JUMPS: Final = (math.log(0.6 / 0.4) / 2, math.log(0.85 / 0.15) / 2)


def _jump(x: Floats) -> Floats:
    score = _logistic(x)
    return np.where((x > _JUMPS[0]) & (x < _JUMPS[1]), score - 0.2, score)


def _density(x: Floats) -> Floats:
    halves = np.exp(-0.5 * (x - 1.0) ** 2) + np.exp(-0.5 * (x + 1.0) ** 2)
    return np.asarray(halves / math.sqrt(8 * math.pi))


def _draw(
    n: int, seed: Seed, event_probability: Callable[[Floats], Floats]
) -> tuple[Floats, NDArray[np.uint8]]:
    """Features and labels."""
    rng = generator(seed)
    check_whole(n, "n", most=MOST_SIMULATED)
    x = rng.standard_normal(n) + rng.choice([-1.0, 1.0], n)
    return x, (rng.random(n) < event_probability(x)).astype(np.uint8)


@dataclass(frozen=True)
class Truth(LogisticScore):
    """A simulated classifier and what is true of it.

    Parameters
    ----------
    name : str
        Its name in `TRUTHS`.
    b0, b1 : float
        Intercept and slope of the score's logit; `b1` above 0.
    event_probability : callable
        P(Y=1 | x) of an array of features.
    breaks : tuple of float, default ()
        Features at which `event_probability` jumps.

    Examples
    --------
    >>> from bayescal.quantities.ece.simulator import truth
    >>> over = truth("over")
    >>> score, label = over.sample(1000, seed=1)
    >>> round(over.tce, 4)
    0.0754
    """

    name: str
    b0: float
    b1: float
    event_probability: Callable[[Floats], Floats]
    breaks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        self._check()
        check_call(self.event_probability, "event_probability", needed=True)
        checked_numbers(self.breaks, "breaks", "(-inf, inf)", least=0)

    def sample(self, n: int, seed: Seed = None) -> tuple[Floats, NDArray[np.uint8]]:
        """Draw rows.

        Parameters
        ----------
        n : int
            How many.
        seed : int or Generator, optional
            Source of randomness; the same seed gives the same rows.

        Returns
        -------
        score : ndarray of shape (obs,), in [0, 1]
            The classifier's scores.
        label : ndarray of shape (obs,), uint8
            The labels, 0 or 1.
        """
        x, label = _draw(n, seed, self.event_probability)
        return self.score(x), label

    def scores(self, n: int, seed: Seed = None) -> Scores:
        """Draw rows as the quantity takes them.

        Parameters
        ----------
        n : int
            How many.
        seed : int or Generator, optional
            Source of randomness; the same seed gives the same rows.

        Returns
        -------
        Scores
            The rows of `sample`, under the truth's name.
        """
        score, label = self.sample(n, seed)
        return Scores(y_true=label, y_prob=score, classifier=self.name)

    @cached_property
    def tce(self) -> float:
        """True calibration error E|P(Y=1 | f) - f|, by quadrature over the feature."""
        from scipy.integrate import quad

        def integrand(x: float) -> float:
            return abs(float(self._gap(np.asarray(x)))) * float(_density(np.asarray(x)))

        ends = [-_REACH, *sorted([*self.breaks, *self._crossings()]), _REACH]
        # Smooth between its kinks, so that each piece converges at once.
        parts = [quad(integrand, low, high, epsabs=1e-13)[0] for low, high in pairwise(ends)]
        return float(sum(parts))

    def _gap(self, x: Floats) -> Floats:
        return np.asarray(self.event_probability(x) - self.score(x))

    def _crossings(self) -> list[float]:
        """Find where the calibration curve crosses the diagonal."""
        from scipy.optimize import brentq

        x = np.linspace(-_REACH, _REACH, _GRID)
        gap = self._gap(x)
        # It may be 0 at a point of the grid.
        turns = np.flatnonzero((gap[1:] > 0) != (gap[:-1] > 0))
        return [brentq(self._gap, x[i], x[i + 1]) for i in turns]


TRUTHS: Final[dict[str, Truth]] = {
    truth.name: truth
    for truth in (
        Truth("calibrated", 0.0, 2.0, _logistic),
        Truth("near", -0.05, 1.97, _logistic),
        Truth("better", -0.2, 1.9, _logistic),
        Truth("less", -0.5, 1.5, _logistic),
        Truth("over", 0.0, 4.0, _logistic),
        Truth("wiggle", 0.0, 2.0, _wiggle),
        Truth("jump", 0.0, 2.0, _jump, _JUMPS),
        Truth("fast_wiggle", 0.0, 2.0, _fast_wiggle),
        Truth("far_over", 0.0, 8.0, _logistic),
    )
}
"""All named truths: first the six smooth ones, then the three that are hard on a smooth model."""

SMOOTH: Final = ("calibrated", "near", "better", "less", "over", "wiggle")
STRESS: Final = ("jump", "fast_wiggle", "far_over")


truth = by_name(TRUTHS, __name__)


class Panel(NamedTuple):
    """Several classifiers on the same rows.

    Parameters
    ----------
    score : dict of str to ndarray of shape (obs,)
        Scores by classifier, ready for ``Scores.stack``.
    label : ndarray of shape (obs,), uint8
        The labels that they share.
    tce : dict of str to float
        True calibration error of each; the truth of a difference is the difference of these.
    """

    score: dict[str, Floats]
    label: NDArray[np.uint8]
    tce: dict[str, float]


def sample_panel(
    n: int,
    seed: Seed = None,
    names: Sequence[str] = ("calibrated", "near", "better", "less", "over"),
) -> Panel:
    """Draw rows that several classifiers score.

    Parameters
    ----------
    n : int
        How many rows.
    seed : int or Generator, optional
        Source of randomness; the same seed gives the same rows.
    names : sequence of str
        Which truths; they must share P(Y=1 | x), since a row has one label.

    Returns
    -------
    Panel
        Scores by name, the labels, and the true calibration errors.

    Raises
    ------
    InputError
        If a name is unknown, or the truths differ in P(Y=1 | x).

    Examples
    --------
    >>> from bayescal.quantities.ece.simulator import sample_panel
    >>> panel = sample_panel(100, seed=1, names=["less", "over"])
    >>> round(panel.tce["over"] - panel.tce["less"], 4)
    0.001
    """
    members = [truth(name) for name in checked_words(names, "names")]
    event_probability = members[0].event_probability
    for member in members:
        if member.event_probability is not event_probability:
            raise InputError(
                f"the truths of a panel must share P(Y=1 | x), since a row has one label; "
                f"{members[0].name!r} and {member.name!r} do not. Sample them apart."
            )
    x, label = _draw(n, seed, event_probability)
    return Panel(
        {member.name: member.score(x) for member in members},
        label,
        {member.name: member.tce for member in members},
    )
