"""Simulated panels of binary classifiers of known accuracy, ranking and calibration error.

A row has true log odds L, normal over the population, and is positive with probability
``sigmoid(L)``. Each classifier sees L through noise of its own, and stretches and shifts what it
sees: ``logit f_j = intercept_j + slope_j (L + noise_j e_j)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from bayescal.core.checks import MOST_SIMULATED, check_is, check_number, check_whole, generator
from bayescal.core.errors import InputError
from bayescal.core.functionals import finite_logits, sigmoid
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.core.streams import Seed, by_name

# Standard deviations of a classifier's view that integrals reach to, and points that they take.
_REACH: Final = 10.0
_POINTS: Final = 40_001
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
# Standard deviation up to which so many nodes are right to 1e-10, and even nodes beyond.
_WIDE: Final = 2.0
_LOGITS: Final = np.linspace(-40, 40, 161)
_LOGISTIC: Final = sigmoid(_LOGITS) * sigmoid(-_LOGITS) / 2
_N_BINS: Final = 10


class Distortion(NamedTuple):
    """What a simulated classifier makes of the true log odds.

    Parameters
    ----------
    intercept : float, default 0
        Shift of its logit.
    slope : float, above 0, default 1
        Stretch of its logit; above 1 it is overconfident.
    noise : float, at least 0, default 0
        Standard deviation of the noise through which it sees the log odds.
    """

    intercept: float = 0.0
    slope: float = 1.0
    noise: float = 0.0


def _true(metric: str, what: str) -> property:
    """Make the property of a panel that gives a metric of each classifier."""

    def each(panel: PanelTruth) -> Floats:
        return np.array([found[metric] for found in panel._integrals])

    return property(each, doc=f"True {what} of each classifier, (classifier,).")


@dataclass(frozen=True)
class PanelTruth:
    """Simulated classifiers of the same rows, and what is true of them.

    Parameters
    ----------
    name : str
        Name of the panel.
    classifiers : mapping of str to Distortion
        Classifiers by name.
    mean : float, default 0
        Mean of the true log odds.
    spread : float, above 0, default 2
        Their standard deviation.

    Notes
    -----
    A classifier's view ``u = L + noise e`` is normal, and so is L given one or all of the views:
    every probability is the mean of a sigmoid over a normal, by quadrature to 1e-10, every metric
    an integral over u. They are limits of large samples; a sample's calibration error is above.

    Examples
    --------
    >>> import bayescal as bc
    >>> mixed = bc.datasets.ssme.truth("mixed")
    >>> mixed.scores(20, 1000, seed=1)
    <Scores: classifiers 'sharp', 'noisy', 'over'; n_obs 1020, n_labeled 20; classes 0, 1>
    >>> mixed.accuracy.round(3).tolist()
    [0.766, 0.678, 0.755]
    """

    name: str
    classifiers: dict[str, Distortion]
    mean: float = 0.0
    spread: float = 2.0

    def __post_init__(self) -> None:
        check_is(self.name, str, "name", "Pass a word.")
        check_is(self.classifiers, Mapping, "classifiers", "Pass {'a': Distortion()}.")
        if not self.classifiers:
            raise InputError("a panel needs at least one classifier; got none.")
        check_number(self.mean, "mean", "(-inf, inf)")
        check_number(self.spread, "spread", "(0, inf)")
        for name, found in self.classifiers.items():
            check_is(found, Distortion, f"classifiers[{name!r}]", "Pass Distortion().")
            check_number(found.intercept, f"intercept of {name!r}", "(-inf, inf)")
            check_number(found.slope, f"slope of {name!r}", "(0, inf)")
            check_number(found.noise, f"noise of {name!r}", "[0, inf)")

    def scores(self, n_labeled: int, n_unlabeled: int, seed: Seed = None) -> Scores:
        """Draw rows, some of them labelled at random.

        Parameters
        ----------
        n_labeled, n_unlabeled : int
            How many rows of each, of the labelled ones at least one; they come first.
        seed : int or Generator, optional
            Source of randomness; the same seed gives the same rows.

        Returns
        -------
        Scores
            Of all classifiers.
        """
        rng = generator(seed)
        check_whole(n_labeled, "n_labeled", most=MOST_SIMULATED)
        n = n_labeled + check_whole(n_unlabeled, "n_unlabeled", 0, most=MOST_SIMULATED)
        log_odds = rng.normal(self.mean, self.spread, n)
        event = rng.random(n) < sigmoid(log_odds)
        prob = {}
        for name, found in self.classifiers.items():
            view = log_odds + found.noise * rng.standard_normal(n)
            prob[name] = sigmoid(found.intercept + found.slope * view)
        known = [*event[:n_labeled].astype(int).tolist(), *[None] * n_unlabeled]
        return Scores.stack(prob, y_true=known, classes=[0, 1])

    def probability(self, scores: ArrayLike) -> Floats:
        """Give P(Y = 1 | all classifiers' scores).

        Parameters
        ----------
        scores : array-like of shape (classifier, ...), in (0, 1)
            Scores of the same rows, in the order of `classifiers`.

        Returns
        -------
        ndarray of shape (...)
            The probability, to 1e-10.
        """
        logits = finite_logits(scores, "scores")
        if logits.shape[:1] != (len(self.classifiers),):
            raise InputError(
                f"scores must be those of {len(self.classifiers)} classifiers; got {logits.shape}."
            )
        found = np.array(list(self.classifiers.values()))
        intercept, slope, noise = found.T.reshape(3, -1, *(1 for _ in logits.shape[1:]))
        view = (logits - intercept) / slope
        clear = np.flatnonzero(noise.ravel() == 0)
        if clear.size:
            return sigmoid(view[clear[0]])
        precision = 1 / self.spread**2 + float((1 / noise**2).sum())
        centre = (self.mean / self.spread**2 + (view / noise**2).sum(axis=0)) / precision
        return _mean_sigmoid(centre, precision**-0.5)

    accuracy = _true("accuracy", "accuracy")
    ece = _true("ece", "mean gap between score and rate over ten bins of equal mass")
    auc = _true("auc", "area under the ROC curve")
    auprc = _true("auprc", "area under the curve of precision and recall")
    mce = _true("mce", "largest gap of the bins of `ece`")
    log_loss = _true("log_loss", "log loss")
    brier = _true("brier", "Brier score")

    @cached_property
    def _integrals(self) -> list[dict[str, float]]:
        return [_metrics(one, self.mean, self.spread) for one in self.classifiers.values()]


def _mean_sigmoid(centre: Floats, deviation: float) -> Floats:
    """Mean of the sigmoid of a normal."""
    if deviation > _WIDE:
        # Of the distribution function of a normal over a logistic one: the same, and smooth.
        return np.asarray(ndtr((centre[..., None] - _LOGITS) / deviation) @ _LOGISTIC)
    weights = _WEIGHTS / _WEIGHTS.sum()
    return np.asarray(sigmoid(centre[..., None] + deviation * _NODES) @ weights)


def _metrics(classifier: Distortion, mean: float, spread: float) -> dict[str, float]:
    """Metrics by the trapezoid rule over the classifier's view."""
    intercept, slope, noise = classifier
    width = float(np.hypot(spread, noise))
    z = np.linspace(-_REACH, _REACH, _POINTS)
    view = mean + width * z
    # The log odds given the view are normal again.
    share = (spread / width) ** 2
    rate = _mean_sigmoid(mean + share * (view - mean), noise * share**0.5)
    logit = intercept + slope * view
    score = sigmoid(logit)
    mass = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)

    def below(values: Floats) -> Floats:
        step = (values[1:] + values[:-1]) / 2 * (z[1] - z[0])
        return np.concatenate([[0.0], step.cumsum()])

    def total(values: Floats) -> float:
        return float(below(mass * values)[-1])

    positive = below(mass * rate)
    negative = below(mass * (1 - rate))
    above = positive[-1] - positive
    precision = np.divide(
        above, above + negative[-1] - negative, out=rate.copy(), where=z < _REACH / 2
    )
    threshold = (-intercept / slope - mean) / width
    wrong = np.interp(threshold, z, positive) + negative[-1] - np.interp(threshold, z, negative)
    edges = ndtri(np.arange(1, _N_BINS) / _N_BINS)
    surplus = np.interp([-_REACH, *edges, _REACH], z, below(mass * (score - rate)))
    gaps = np.abs(np.diff(surplus)) * _N_BINS
    return {
        "accuracy": float(1 - wrong),
        "ece": float(gaps.mean()),
        "auc": total(rate * negative) / float(positive[-1] * negative[-1]),
        "auprc": total(rate * precision) / float(positive[-1]),
        "mce": float(gaps.max()),
        "log_loss": total(rate * np.logaddexp(0, -logit) + (1 - rate) * np.logaddexp(0, logit)),
        "brier": total(rate * (1 - score) ** 2 + (1 - rate) * score**2),
    }


def _panel(name: str, mean: float = 0.0, **views: tuple[float, float, float]) -> PanelTruth:
    return PanelTruth(name, {key: Distortion(*view) for key, view in views.items()}, mean)


TRUTHS: Final[dict[str, PanelTruth]] = {
    found.name: found
    for found in (
        _panel("alike", a=(0.0, 0.8, 1.0), b=(0.0, 0.8, 1.0), c=(0.0, 0.8, 1.0)),
        _panel("mixed", sharp=(0.0, 1.0, 0.5), noisy=(0.3, 0.6, 2.0), over=(-0.4, 2.0, 0.7)),
        _panel("under", a=(0.0, 0.3, 0.5), b=(0.1, 0.35, 0.8), c=(-0.1, 0.25, 0.6)),
        _panel("odd", a=(0.0, 0.9, 0.6), b=(0.1, 1.1, 0.8), odd=(2.0, 0.3, 5.0)),
        _panel("rare", -3.0, a=(0.0, 1.0, 0.8), b=(0.5, 1.3, 1.0), c=(-0.5, 0.7, 1.5)),
    )
}
"""Simulated panels by name: classifiers alike, unlike, all under-confident, with one that is bad
and calls most rows positive, and of a rare class."""


truth = by_name(TRUTHS, __name__)
