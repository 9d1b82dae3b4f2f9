"""What theory says of the measure: how far it may be from the true one, and a test of c = 0."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import MOST_DRAWN, check_flag, check_number, check_whole, generator
from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.core.quantity import Bound
from bayescal.core.text import surely
from bayescal.quantities.agnostic.estimator import checked_rows, interval_measure

_VALIDATION = "rows are independent, and the classifier was not trained on them"
_TO_HULL = "sup |G_e - cv(F)|"
_PRINTED = f"{_VALIDATION}; does not hold in every case, see the documentation"


class Bounds(NamedTuple):
    """Bounds of the calibration measure c from its estimate c_emp on a validation set."""

    upper: Bound  #: Of c - c_emp.
    upper_printed: Bound  #: The same, Claim 4 as printed.
    lower: Bound  #: Of ``|c_emp - c|``.
    lower_printed: Bound  #: The same, Claim 4 as printed.


# The root of a number of rows beyond all use, whose square is a float still.
_MOST_ROWS = 1e12


def bounds(n: int, delta: float = 0.1) -> Bounds:
    """Bound the distance between the calibration measure and its estimate.

    Parameters
    ----------
    n : int
        Number of labelled rows.
    delta : float, default 0.1
        How improbable it may be that a bound fails, each for itself.

    Returns
    -------
    Bounds
        Each with its kind and its assumption in words. A value of 1 or more says nothing.

    Notes
    -----
    For the one interval that attains c, c_emp is at least a mean of n independent variables in
    [-1, 1], so that Hoeffding's inequality gives ``c <= c_emp + sqrt(2 log(1 / delta) / n)``. Claim
    4 prints ``sqrt(log(2 / delta) / (2 n))``, that of variables of range 1, and fails: the page of
    its theory has a counter-example. The other way the deviation is bounded in all intervals at
    once: with G the difference of two distribution functions it is at most ``4 sup |G|``, and by
    the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant [2]_
    ``4 sqrt(log(2 / delta) / (2 n))``: at delta = .05 5.4 / sqrt(n), for Claim 4's 46.5 / sqrt(n).

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, 2017, Claim 4. https://doi.org/10.1214/17-EJS1376SI
    .. [2] P. Massart, Annals of Probability 18(3), 1990. https://doi.org/10.1214/aop/1176990746

    Examples
    --------
    >>> import bayescal as bc
    >>> found = bc.agnostic.bounds(10_000, delta=0.05)
    >>> round(found.upper.value, 4), round(found.lower.value, 4)
    (0.0245, 0.0543)
    """
    rows = check_whole(n, "n")
    check_delta(delta)
    sure = f"with probability {surely(delta)} or more"
    return Bounds(
        Bound(one_sided(rows, delta), f"upper bound of c - c_emp {sure}", _VALIDATION),
        Bound(
            math.sqrt(math.log(2 / delta) / (2 * rows)),
            f"upper bound of c - c_emp {sure}, as printed in Claim 4",
            _PRINTED,
        ),
        Bound(of_all(rows, delta), f"upper bound of |c_emp - c| {sure}", _VALIDATION),
        Bound(
            (16 * math.sqrt(2 * math.pi) + 2 * math.sqrt(2 * math.log(8 / delta)))
            / math.sqrt(rows),
            f"upper bound of c_emp - c {sure}, as printed in Claim 4",
            _VALIDATION,
        ),
    )


def uniform_deviation(n: int, delta: float = 0.1) -> float:
    """Bound ``|c_emp - c|``, and the error of the positives in every interval, all at once.

    Parameters
    ----------
    n, delta
        As for `bounds`.

    Returns
    -------
    float
        ``4 sqrt(log(2 / delta) / (2 n))``; proved in the notes of `bounds`.
    """
    check_delta(delta)
    return of_all(check_whole(n, "n"), delta)


def sample_size(precision: float, delta: float = 0.1, *, two_sided: bool = False) -> int:
    """Give the number of rows that brings c_emp within a precision of c.

    Parameters
    ----------
    precision : float, above 0
        Largest difference that is tolerated.
    delta : float, default 0.1
        How improbable it may be that the difference is larger.
    two_sided : bool, default False
        Whether ``|c - c_emp|`` is meant, not c - c_emp only.

    Returns
    -------
    int
        The least n at which the safe bound of `bounds` is not above `precision`.

    Examples
    --------
    >>> import bayescal as bc
    >>> [bc.agnostic.sample_size(0.05, 0.05, two_sided=both) for both in (False, True)]
    [2397, 11805]
    """
    check_delta(delta)
    check_number(precision, "precision", "(0, inf)", "Pass 0.05, say.")
    check_flag(two_sided, "two_sided")
    deviation = of_all if two_sided else one_sided
    if (size := deviation(1, delta) / precision) > _MOST_ROWS:
        raise InputError(
            f"precision must ask for fewer than 1e24 rows; got {precision!r}. Pass 0.05, say."
        )
    # The square may have been rounded past a whole number, up or down.
    rows = max(math.ceil(size**2), 1)
    if deviation(rows, delta) > precision:
        return rows + 1
    return rows - (rows > 1 and deviation(rows - 1, delta) <= precision)


def class_deviation(n: int, rademacher: float, delta: float = 0.1) -> Bound:
    """Bound ``|c - c_emp|`` of all classifiers of a class at once, also on their training rows.

    Theorem 2 of the paper.

    Parameters
    ----------
    n
        As for `bounds`.
    rademacher : float, at least 0
        Rademacher complexity of the indicators ``1{p1 < f(x) <= p2}``; see `rademacher_bound`.
    delta
        As for `bounds`.

    Returns
    -------
    Bound
        ``2 (2 R + sqrt(2 log(8 / delta) / n))``.

    Examples
    --------
    >>> import bayescal as bc
    >>> complexity = bc.agnostic.rademacher_bound(100_000, vc_dimension=3, n_values=10)
    >>> round(bc.agnostic.class_deviation(100_000, complexity, 0.05).value, 3)
    0.132
    """
    rows = check_whole(n, "n")
    check_delta(delta)
    check_number(rademacher, "rademacher", "[0, inf)")
    value = 2 * (2 * rademacher + math.sqrt(2 * math.log(8 / delta) / rows))
    return Bound(
        value,
        f"upper bound of |c - c_emp| of every classifier of the class with probability "
        f"{surely(delta)} or more",
        "rows are independent; the Rademacher complexity is at most the one given",
    )


def rademacher_bound(n: int, vc_dimension: int, n_values: int) -> float:
    """Bound the Rademacher complexity of classifiers that give finitely many scores.

    Claim 2 of the paper.

    Parameters
    ----------
    n : int
        Number of rows, above ``vc_dimension + 1``.
    vc_dimension : int
        Largest VC dimension d of ``{1{p1 < f(x) <= p2}}`` for fixed p1, p2.
    n_values : int
        Number of distinct scores ``|P*|``.

    Returns
    -------
    float
        ``sqrt((2 d (log(n / d) + 1) + 4 log(|P*| + 1)) / n)``.

    Examples
    --------
    >>> import bayescal as bc
    >>> round(bc.agnostic.rademacher_bound(1000, vc_dimension=2, n_values=10), 3)
    0.196
    """
    rows, d = check_whole(n, "n"), check_whole(vc_dimension, "vc_dimension")
    values = check_whole(n_values, "n_values")
    if rows <= d + 1:
        raise InputError(
            f"n must be above vc_dimension + 1 = {d + 1}; got {rows}. Below it nothing is bounded."
        )
    return math.sqrt((2 * d * (math.log(rows / d) + 1) + 4 * math.log(values + 1)) / rows)


def single_score_rademacher(n: int) -> float:
    """Bound the Rademacher complexity of the intervals of a single score; proof of Claim 4."""
    return math.sqrt(32 * math.pi / check_whole(n, "n"))


def isotonic_deviation(n: int, delta: float = 0.1, rademacher: float | None = None) -> Bound:
    """Bound the distance of an isotonic calibration from the convex hull it estimates, as printed.

    Claim 7 of the paper.

    Parameters
    ----------
    n : int
        Number of rows it is fitted to.
    delta : float, in (0, 0.2), default 0.1
        As in Claim 7; the bound fails with probability 5 delta at most.
    rademacher : float, optional
        Rademacher complexity of score intervals, by default `single_score_rademacher`.

    Returns
    -------
    Bound
        2 eps, with the least eps that the condition of Theorem 2 admits. Above 1 it says nothing.

    Notes
    -----
    It bounds ``sup |G_e(t) - cv(F(t))|``, where ``G_e(t) = E[g(f); f <= t]`` with g the isotonic
    fit, F is the distribution function of f, and cv the greatest convex minorant of the points
    ``(F(t), P(f <= t, Y = 1))``. `isotonic_uniform_deviation` bounds the same by a thirtieth.
    """
    check_number(
        delta, "delta", "(0, 0.2)", "Claim 7 may fail with probability 5 delta: allow less."
    )
    complexity = single_score_rademacher(n) if rademacher is None else rademacher
    return Bound(
        2 * class_deviation(n, complexity, delta).value,
        f"upper bound of {_TO_HULL} with probability {surely(5 * delta)} or more, as in Claim 7",
        _VALIDATION,
    )


def isotonic_uniform_deviation(n: int, delta: float = 0.1) -> Bound:
    """Bound the distance of an isotonic calibration from the convex hull it estimates, sharply.

    Parameters
    ----------
    n : int
        Number of rows it is fitted to.
    delta : float, in (0, 1), default 0.1
        How improbable it may be that the bound fails.

    Returns
    -------
    Bound
        ``sqrt(2 log(4 / delta) / n)``, of what `isotonic_deviation` bounds.

    Notes
    -----
    As g does not fall, what the sum of g - y up to any score is off by is bounded by the deviations
    of two distribution functions, that of all rows and that of the negative ones, each at most
    ``sqrt(log(4 / delta) / (2 n))`` with probability ``1 - delta / 2`` [1]_. The page of its theory
    has the proof. Between the scores that it was fitted to g may be any that does not fall.

    References
    ----------
    .. [1] P. Massart, Annals of Probability 18(3), 1990. https://doi.org/10.1214/aop/1176990746

    Examples
    --------
    >>> import bayescal as bc
    >>> round(bc.agnostic.isotonic_uniform_deviation(1_000, 0.05).value, 3)
    0.094
    """
    check_delta(delta)
    return Bound(
        math.sqrt(2 * math.log(4 / delta) / check_whole(n, "n")),
        f"upper bound of {_TO_HULL} with probability {surely(delta)} or more",
        _VALIDATION,
    )


def one_sided(n: int, delta: float) -> float:
    """What c exceeds c_emp by at most."""
    return math.sqrt(2 * math.log(1 / delta) / n)


def of_all(n: int, delta: float) -> float:
    """What all intervals deviate by at most, either way."""
    return 4 * math.sqrt(math.log(2 / delta) / (2 * n))


def check_delta(value: float) -> float:
    """Check a probability of failure."""
    return check_number(value, "delta", "[1e-300, 1)", "Pass 0.1, say.")


# Numbers held at once.
_MOST = 1 << 22
# Sums of the same numbers in another order differ by less.
_ROUNDING = 1e-12


class CalibrationTest(NamedTuple):
    """Result of `calibration_test`."""

    c: float  #: Estimate c_emp.
    p_value: float  #: Probability of one as large if the classifier is calibrated.
    simulated: Floats  #: Estimates of calibrated labels, (simulation,).


def calibration_test(
    score: ArrayLike, *, label: ArrayLike, draws: int = 999, seed: int | None = None
) -> CalibrationTest:
    """Test whether the calibration measure is 0.

    Parameters
    ----------
    score, label
        As for `isotonic_calibration`.
    draws : int, default 999
        Number of simulated sets of labels.
    seed : int, optional
        Source of randomness; the same seed gives the same result.

    Returns
    -------
    CalibrationTest
        With ``p_value = (1 + number of simulated measures >= c) / (1 + draws)``.

    Notes
    -----
    c = 0 means P(Y = 1 | f) = f for almost every score, so that labels can be drawn from the
    hypothesis: independent Bernoulli(f) given the scores. Each of the measures of data and draws is
    equally likely to be the largest, so ``P(p_value <= a) <= a`` for any n.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> score = np.linspace(0.05, 0.95, 200)
    >>> round(bc.agnostic.calibration_test(score, label=score > 0.5, seed=20).p_value, 3)
    0.001
    """
    check_whole(draws, "draws", most=MOST_DRAWN)
    scores, events = checked_rows(score, label)
    found = interval_measure(scores, label=events).c
    simulated = simulated_measures(scores, draws, generator(seed))
    beyond = int((simulated >= found - _ROUNDING).sum())
    return CalibrationTest(found, (1 + beyond) / (1 + draws), simulated)


def simulated_measures(score: NDArray[np.floating], draws: int, rng: np.random.Generator) -> Floats:
    """Measures of labels drawn from the scores, (draws,)."""
    ordered = np.sort(score).astype(np.float64)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    total = np.cumsum(ordered)[ends]
    found, most = [], max(1, _MOST // len(ordered))
    for first in range(0, draws, most):
        events = rng.random((min(most, draws - first), len(ordered))) < ordered
        sums = total - np.cumsum(events, axis=1, dtype=np.int64)[:, ends]
        found.append(sums.max(axis=1, initial=0) - sums.min(axis=1, initial=0))
    return np.concatenate(found) / len(ordered)
