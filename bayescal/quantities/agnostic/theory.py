"""The paper's theory in numbers: Theorem 1, its examples, and the measure of three classes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.checks import (
    MOST_DRAWN,
    check_call,
    check_number,
    check_row_sums,
    check_same_length,
    check_whole,
    generator,
    shown,
)
from bayescal.core.columns import Whole, to_doubles, to_numpy
from bayescal.core.errors import InputError
from bayescal.core.intake import check_same_order
from bayescal.core.quantity import Floats
from bayescal.quantities.agnostic.estimator import checked_scores, checked_weights

type Verifier = Callable[[Whole, Whole], bool]

# Thresholds of all classifiers at once are 2**n by n numbers.
_MOST_FEATURES = 12


def untestable_distance(score: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Compute B_f, the l1 distance that no test can rule out; Theorem 1 of the paper.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores of a sample of the features, or of all of them.
    weight : array-like of shape (obs,), at least 0, optional
        Their probabilities, up to a factor; by default equal.

    Returns
    -------
    float
        ``E min(f, 1 - f)``, in [0, 0.5].

    Notes
    -----
    Where no feature has a probability of eps / n**2 or more, no test on n rows accepts with
    probability above (1 + eps) / 2 if the scores are the true probabilities, and below
    (1 - eps) / 2 if they are B_f or more from them, in mean; see `hidden_labels`.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.agnostic.untestable_distance([0.125, 0.5, 0.75])
    0.2916666666666667
    """
    check_same_order(weight=weight, score=score)
    scores = checked_scores(score, "score")
    distance = np.minimum(scores, 1 - scores)
    if weight is None:
        return float(distance.mean())
    return float(distance @ checked_weights(weight, len(scores)))


class PassRates(NamedTuple):
    """How often a verifier accepts, by `hidden_labels`."""

    random_labels: float  #: Share of samples accepted when labels are drawn anew for each row.
    fixed_labels: float  #: The same when each feature keeps its label.
    repeats: float  #: Share of the latter samples in which a feature occurs twice.


def hidden_labels(
    verifier: Verifier, probability: ArrayLike, n: int, draws: int, seed: int | None = None
) -> PassRates:
    """Simulate Lemma 1 of the paper: a test cannot see whether labels are random or fixed.

    Parameters
    ----------
    verifier : callable
        From features, (n,), as places in `probability`, and labels 0 and 1, (n,), to acceptance.
    probability : array-like of shape (feature,), in [0, 1]
        P(Y = 1 | x) of features that are equally probable.
    n : int
        Rows of a sample.
    draws : int
        Number of samples of each kind.
    seed : int, optional
        Source of randomness.

    Returns
    -------
    PassRates
        The rates of acceptance.

    Notes
    -----
    The fixed labels of a sample are drawn once for each feature, with its probability. While no
    feature occurs twice, the sample is distributed as one of random labels, so that the rates
    differ by the share of repeats at most. But with fixed labels P(Y = 1 | x) is 0 or 1, at the
    distance ``min(f, 1 - f)`` or more from any score f.

    Examples
    --------
    >>> import bayescal as bc
    >>> always = lambda feature, label: True
    >>> bc.agnostic.hidden_labels(always, [0.5] * 100, n=2, draws=10, seed=1).fixed_labels
    1.0
    """
    chances = checked_scores(probability, "probability")
    check_call(verifier, "verifier", needed=True)
    check_whole(n, "n", most=MOST_DRAWN)
    check_whole(draws, "draws", most=MOST_DRAWN)
    rng = generator(seed)
    accepted, repeats = np.zeros(2), 0
    for _ in range(draws):
        feature = rng.integers(len(chances), size=(2, n))
        random = rng.random(n) < chances[feature[0]]
        fixed = (rng.random(len(chances)) < chances)[feature[1]]
        accepted += [
            verifier(feature[0], random.astype(np.int64)),
            verifier(feature[1], fixed.astype(np.int64)),
        ]
        repeats += len(np.unique(feature[1])) < n
    random_rate, fixed_rate = accepted / draws
    return PassRates(float(random_rate), float(fixed_rate), repeats / draws)


def interleaved_classifiers(n: int) -> Floats:
    """Give the classifiers of Example 2, whose intervals are as rich as can be.

    Example 2 of the paper.

    Parameters
    ----------
    n : int
        Number of features, 12 at most.

    Returns
    -------
    ndarray of shape (2**n, n), in [0, 1]
        Scores of classifier i: ``i / 2**n``, less ``1 / 2**(n + 1)`` for x in the i-th subset.

    Notes
    -----
    For fixed p1, p2 the sets ``{x: p1 < f(x) <= p2}`` of all classifiers have a VC dimension of 2
    at most; those of all p1, p2 have the dimension n.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.agnostic.interleaved_classifiers(1).tolist()
    [[0.5], [0.75]]
    """
    check_whole(n, "n", most=_MOST_FEATURES)
    subset = np.array(list(product((0, 1), repeat=n)))
    place = np.arange(1, 2**n + 1)[:, None]
    return np.asarray(place / 2**n - subset / 2 ** (n + 1))


def shattering_weights(features: ArrayLike, sign: ArrayLike, norm: float = 1.0) -> Floats:
    """Find the linear score of the paper's Claim 3 that has a given sign in every row.

    Parameters
    ----------
    features : array-like of shape (obs, feature)
        Linearly independent rows, fewer than features.
    sign : array-like of shape (obs,)
        -1 or 1 in each row.
    norm : float, above 0, default 1.0
        Norm of the weights.

    Returns
    -------
    ndarray of shape (feature,)
        Weights w with ``w @ x`` the same positive multiple of the sign in every row.

    Raises
    ------
    InputError
        If the rows are not linearly independent.

    Notes
    -----
    With them a support vector machine with Platt scaling gives scores near 1 where the sign is 1,
    and near 0 elsewhere. So its intervals fit any labels, and their Rademacher complexity is 1/2 at
    least: calibration on training rows shows nothing.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.agnostic.shattering_weights([[1, 0, 0], [0, 1, 0]], [1, -1], norm=2**0.5).round(6)
    array([ 1., -1.,  0.])
    """
    check_number(norm, "norm", "(0, inf)")
    rows = to_doubles(features, "features")
    usable = rows.ndim == 2 and rows.size > 0 and np.isfinite(rows).all()
    if not usable or np.linalg.matrix_rank(rows) < len(rows):
        raise InputError(
            f"the rows of features must be linearly independent; got shape {rows.shape}. "
            "Pass fewer rows than features."
        )
    wanted = to_doubles(sign, "sign")
    if wanted.shape != rows.shape[:1] or not (np.abs(wanted) == 1).all():
        raise InputError("sign must be -1 or 1 in each row of features; it is not. Pass one a row.")
    weights = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    weights /= np.abs(weights).max()  # the squares of very large or small ones are no numbers
    return np.asarray(norm * weights / np.linalg.norm(weights))


# All lines through two rows are tried.
_MOST_ROWS = 1000
# Rows closer to a line, relative to the rows' distance, lie on it.
_ON_LINE = 1e-12


def half_plane_measure(prob: ArrayLike, *, label: ArrayLike) -> float:
    """Compute the empirical c_2 of three classes; section 5 of the paper.

    Parameters
    ----------
    prob : array-like of shape (obs, 3), in [0, 1]
        Probabilities of the classes; rows sum to 1. 1,000 rows at most.
    label : array-like of shape (obs,)
        The true class, 0, 1 or 2.

    Returns
    -------
    float
        The largest ``|sum of scores - labels|`` of a class in a half-plane, over the rows.

    Notes
    -----
    A decision between two actions divides the triangle of probabilities by one line, so c_2 is what
    bounds its cost. A line that parts the rows can be moved until it holds two of them, so the
    lines through pairs are enough, in time in proportion to the cube of the rows. How to compute
    c_k, over intersections of k - 1 half-spaces, for large k is an open question of the paper.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.agnostic.half_plane_measure([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], label=[0, 1])
    0.25
    """
    probs, classes = to_doubles(prob, "prob"), to_numpy(label, "label")
    if probs.ndim != 2 or probs.shape[1] != 3 or not 1 <= len(probs) <= _MOST_ROWS:
        raise InputError(
            f"prob must have shape (obs, 3) with 1 to {_MOST_ROWS} rows; got {probs.shape}. "
            "Take a sample of the rows."
        )
    check_same_length(len(probs), "prob", len(classes), "label")
    check_same_order(label=label, prob=prob)
    if not ((probs >= 0) & (probs <= 1)).all():
        raise InputError("prob must lie in [0, 1]. Pass probabilities.")
    check_row_sums(probs, "prob")
    if classes.ndim != 1 or not np.isin(classes, (0, 1, 2)).all():
        raise InputError(
            f"label must be 0, 1 or 2 in each row; got {shown(classes.tolist())}. Code them."
        )
    places, row = np.unique(probs[:, :2], axis=0, return_inverse=True)
    surplus = probs - np.eye(3)[classes.astype(np.int64)]
    sums = np.zeros((len(places), 3))
    np.add.at(sums, row.reshape(-1), surplus)
    most = np.abs(sums.sum(axis=0)).max()
    for pivot in range(len(places)):
        most = max(most, _through(places, sums, pivot))
    return float(most) / len(probs)


def _through(places: Floats, sums: Floats, pivot: int) -> float:
    """Largest |sum| of a half-plane whose border is a line through the pivot and another place."""
    away = places - places[pivot]
    apart = np.hypot(*away.T)
    most = 0.0
    for other in np.delete(np.arange(len(places)), pivot):
        direction = away[other]
        side = direction[0] * away[:, 1] - direction[1] * away[:, 0]
        slack = _ON_LINE * apart[other] * apart
        on = np.abs(side) <= slack
        order = np.flatnonzero(on)[np.argsort(away[on] @ direction)]
        strict = sums[side > slack].sum(axis=0)
        along = np.vstack([np.zeros(3), np.cumsum(sums[order], axis=0)])
        # Beginnings of the line, or what is left of it: its ends.
        taken = np.vstack([strict + along, strict + along[-1] - along])
        most = max(most, float(np.abs(taken).max()))
    return most
