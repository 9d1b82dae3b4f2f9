"""What the paper proves: deviations of the loss, and two constructions that miscalibrate."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import minimize

from bayescal.core.checks import check_is, check_number, check_whole
from bayescal.core.quantity import Bound, Floats
from bayescal.core.text import surely
from bayescal.quantities.temperature.logits import ALPHA_MAX, ALPHA_MIN, check_alpha_bounds

HALF_BRIER_LIPSCHITZ: Final = float(np.sqrt(2))
"""Lipschitz constant of half the Brier score in the probabilities, in the Euclidean norm."""
_LOSS = (
    "rows are independent, logits are bounded in norm, and the loss of a row lies in [0, 1] and is "
    "Lipschitz in its probabilities, as half the Brier score is; log loss is not bounded, and a "
    "calibration error is no loss of single rows"
)


class Bounds(NamedTuple):
    """Bounds of the population loss of class-wise temperature scaling."""

    excess: Bound  #: Loss above that of the best numbers.
    class_excess: Bound  #: The same in each predicted class calibrated apart.
    deviation: Bound  #: Difference of mean loss between rows and population, for any numbers.
    class_deviation: Bound  #: The same in each predicted class.


def bounds(
    n: int,
    n_classes: int,
    *,
    logit_norm: float,
    gamma: float = np.inf,
    p_min: float | None = None,
    lipschitz: float = HALF_BRIER_LIPSCHITZ,
    alpha_min: float = ALPHA_MIN,
    alpha_max: float = ALPHA_MAX,
    delta: float = 0.1,
) -> Bounds:
    """Bound what class-wise temperature scaling loses to having `n` rows.

    Theorem 4.1, Corollary 4.2, appendices B.3 and B.4 of the paper.

    Parameters
    ----------
    n : int, at least 1
        Labelled rows.
    n_classes : int, at least 2
        Classes.
    logit_norm : float, above 0
        Largest Euclidean norm of a row's logits, L_f.
    gamma : float, at least 0, default infinity
        Largest difference of a class's number from the shared one. More than half the range of the
        numbers is no constraint, and counts as half of it, the most that the theorem allows.
    p_min : float, in (0, 1], optional
        Least probability of a predicted class.
    lipschitz : float, above 0, default sqrt(2)
        Lipschitz constant of the loss, L_c; by default that of half the Brier score.
    alpha_min, alpha_max : float, above 0, default 0.01 and 100
        Range of the shared number.
    delta : float, in (0, 1), default 0.1
        Probability that a bound fails.

    Returns
    -------
    Bounds
        Those of a class are infinite without `p_min`, and where the corollary gives no probability.

    Notes
    -----
    Theorem 4.1, with ``w = sqrt(n) L_f L_c`` and ``r = alpha_max - alpha_min``: the bound is
    ``8 sqrt(log(2 / delta) / n) + 4 sqrt(s / n)`` with ``s = log(1 + 4 r w)`` if ``8 gamma w <= 1``
    and ``s = log(r / (2 gamma)) + (K + 1) log(8 gamma w)`` otherwise.

    It holds for every n, though the proof takes more. Equations (B.10) and (B.11) bound the
    difference between rows and population for all numbers at once, by half of it: `deviation`,
    which numbers fitted by log loss have too. No calibrator here minimises half the Brier score, so
    that `excess` is for custom ones.

    Corollary 4.2 bounds each predicted class by ``6 sqrt(log(1 + 4 r w) / (p_min n)) + 12
    sqrt(log(2 / delta) / (p_min n))`` with probability ``1 - K (delta + exp(-p_min n / 8))``; here
    delta is divided so that this is 1 - delta.

    Examples
    --------
    >>> import bayescal as bc
    >>> limits = {"gamma": 0.5, "alpha_min": 0.1, "alpha_max": 10}
    >>> found = bc.temperature.bounds(100_000, 10, logit_norm=5, **limits)
    >>> round(found.excess.value, 3), round(found.deviation.value, 3)
    (0.172, 0.086)
    """
    for name, value in (("logit_norm", logit_norm), ("lipschitz", lipschitz)):
        check_number(value, name, "(0, inf)")
    check_number(delta, "delta", "(0, 1)")
    check_whole(n, "n")
    check_whole(n_classes, "n_classes", 2)
    check_number(gamma, "gamma", "[0, inf]", "Pass math.inf for no limit.")
    check_alpha_bounds(alpha_min, alpha_max)
    if p_min is not None:
        check_number(p_min, "p_min", "(0, 1]", "Pass the rarest class's share.")
    width = alpha_max - alpha_min
    unit = float(np.sqrt(n)) * logit_norm * lipschitz
    gamma = min(gamma, width / 2)
    if 8 * gamma * unit <= 1:
        size = np.log1p(4 * width * unit)
    else:
        size = np.log(width / (2 * gamma)) + (n_classes + 1) * np.log(8 * gamma * unit)
    excess = float(8 * np.sqrt(np.log(2 / delta) / n) + 4 * np.sqrt(size / n))
    of_class = _class_excess(n, n_classes, width, unit, p_min, delta)
    sure = f"with probability {surely(delta)}"
    each = "in each predicted class calibrated apart"
    shares = f"{_LOSS}; every class is predicted with at least the least observed share"
    apart = (
        "difference between the mean loss of the rows and that of the population, of any numbers"
    )
    return Bounds(
        Bound(excess, f"loss above that of the best numbers, {sure}", _LOSS),
        Bound(of_class, f"loss above that of the best number {each}, {sure}", shares),
        Bound(excess / 2, f"{apart}, {sure}", _LOSS),
        Bound(of_class / 2, f"{apart}, in each predicted class, {sure}", shares),
    )


def _class_excess(
    n: int, n_classes: int, width: float, unit: float, p_min: float | None, delta: float
) -> float:
    """Corollary 4.2, with the failure probability divided among the classes."""
    if p_min is None:
        return np.inf
    each = delta / n_classes - np.exp(-p_min * n / 8)
    if each <= 0:
        return np.inf
    size = np.log1p(4 * width * unit) / (p_min * n)
    return float(6 * np.sqrt(size) + 12 * np.sqrt(np.log(2 / each) / (p_min * n)))


class Confidence(NamedTuple):
    """Confidence and accuracy of a linear classifier on two kinds of rows, (side,)."""

    confidence: Floats  #: In [0.5, 1].
    accuracy: Floats  #: In [0, 1].


def label_noise_confidence(p_plus: float, p_minus: float, p_test: float) -> Confidence:
    """Confidence of the linear classifier of least log loss under label noise in training.

    Definition 3.2 and Lemma 3.3 of the paper.

    Parameters
    ----------
    p_plus, p_minus : float, in [0, 0.5)
        Share of wrong labels at +v and -v in training.
    p_test : float, in [0, 0.5)
        Share of wrong labels at either in the test.

    Returns
    -------
    Confidence
        ``1 - p_plus`` and ``1 - p_minus`` against an accuracy of ``1 - p_test``: more noise in
        training than in the test makes it under-confident.

    Examples
    --------
    >>> import bayescal as bc
    >>> found = bc.temperature.label_noise_confidence(0.3, 0.1, 0.05)
    >>> found.confidence.tolist(), found.accuracy.tolist()
    ([0.7, 0.9], [0.95, 0.95])
    """
    shares = {"p_plus": p_plus, "p_minus": p_minus, "p_test": p_test}
    for name, value in shares.items():
        check_number(value, name, "[0, 0.5)")
    return Confidence(np.array([1 - p_plus, 1 - p_minus]), np.full(2, 1 - p_test))


def rare_feature_probability(n: int, factor: float, rarity: float = 20) -> float:
    """Probability that ``factor * n`` rows hold the rare feature of Theorem 3.1.

    Theorem 3.1 and appendix B.1 of the paper.

    Parameters
    ----------
    n : int, at least 1
        Rows of the small data set.
    factor : float, above 0
        Rows of the large data set, as a multiple.
    rarity : float, above 2, default 20
        The feature has probability ``1 / (rarity n)``; 20 in the paper's proof.

    Returns
    -------
    float, in [0, 1]
        ``1 - (1 - 1 / (rarity n)) ** (factor n)``.

    Notes
    -----
    The theorem claims that there is a distribution on which n rows miss the feature and 30 n hold
    it, each with probability 9/10. That of its proof, of rarity 20, is none; one of rarity 12 is,
    also together with the proof's event B from n = 50 on. The page of the quantity has the numbers.

    Examples
    --------
    >>> import bayescal as bc
    >>> [round(bc.temperature.rare_feature_probability(1000, factor), 3) for factor in (1, 30, 50)]
    [0.049, 0.777, 0.918]
    >>> [round(bc.temperature.rare_feature_probability(1000, x, rarity=12), 3) for x in (1, 30)]
    [0.08, 0.918]
    """
    check_number(factor, "factor", "(0, inf)", "Pass 30 for the paper's 30 n rows.")
    share = _share(n, rarity)
    return float(-np.expm1(factor * n * np.log1p(-share)))


def _share(n: int, rarity: float) -> float:
    """Probability of the rare feature."""
    check_whole(n, "n")
    check_number(rarity, "rarity", "(2, inf)", "Pass 20 for the feature of the paper's proof.")
    return 1 / (rarity * n)


def rare_feature_factor(n: int, prob: float = 0.9, rarity: float = 20) -> float:
    """How many times `n` rows hold the rare feature of Theorem 3.1 with a probability.

    Parameters
    ----------
    n
        As for `rare_feature_probability`.
    prob : float, in (0, 1), default 0.9
        The probability.
    rarity
        As for `rare_feature_probability`.

    Returns
    -------
    float
        For 9/10 and many rows ``rarity log 10``: 46.1 for the paper's proof, 27.6 for rarity 12.
    """
    check_number(prob, "prob", "(0, 1)")
    return float(np.log1p(-prob) / np.log1p(-_share(n, rarity)) / n)


class RareFeature(NamedTuple):
    """A linear classifier trained on rows of Theorem 3.1's distribution."""

    confidence: float  #: The least of the three inputs.
    accuracy: float  #: On the population.
    seen: bool  #: Whether a row of the rare feature was drawn.


def train_on_rare_feature(
    n: int, rows: int, norm: float, rng: np.random.Generator, rarity: float = 20
) -> RareFeature:
    """Train the classifier of the paper's Theorem 3.1 and appendix B.1 on drawn rows.

    Parameters
    ----------
    n : int, at least 1
        Rows of the small data set; the rare feature has probability ``1 / (rarity n)``.
    rows : int, at least 1
        Rows to train on.
    norm : float, above 0
        Largest norm of the coefficients, R.
    rng : Generator
        Source of the rows.
    rarity : float, above 2, default 20
        That of the paper's proof is 20; with 12 the theorem holds at its 30 n rows.

    Returns
    -------
    RareFeature
        Confidence and accuracy of the fitted classifier.

    Notes
    -----
    Inputs are v (label 1, probability 1/2), ``v' = (u + v) / sqrt(2)`` (label 0, probability
    ``1 / (rarity n)``) and -v (label 0), with u and v orthogonal and of norm 1. Without a row at v'
    the classifier calls it 1, as sure as of everything else.
    """
    share = _share(n, rarity)
    check_whole(rows, "rows")
    check_number(norm, "norm", "(0, 1e6]", "Pass 10, say.")
    check_is(rng, np.random.Generator, "rng", "Pass numpy.random.default_rng(1), say.")
    inputs = np.array([[0.0, 1.0], [np.sqrt(0.5), np.sqrt(0.5)], [0.0, -1.0]])
    sign = np.array([1.0, -1.0, -1.0])
    mass = np.array([0.5, share, 0.5 - share])
    count = rng.multinomial(rows, mass)

    def loss(point: Floats) -> tuple[float, Floats]:
        margin = sign * (inputs @ point[:2] + point[2])
        weight = -sign * count / rows * np.exp(-np.logaddexp(0, margin))
        gradient = np.append(weight @ inputs, weight.sum())
        return float(count / rows @ np.logaddexp(0, -margin)), gradient

    inside = {
        "type": "ineq",
        "fun": lambda point: norm**2 - point[:2] @ point[:2],
        "jac": lambda point: np.array([-2 * point[0], -2 * point[1], 0.0]),
    }
    # Starts near a point that puts all rows on their sides: the loss is flat far from it.
    start = np.array([-2 * norm / 3, norm / 3, 0.0]) if count[1] else np.array([0.0, norm / 2, 0.0])
    found = minimize(loss, start, jac=True, method="SLSQP", constraints=[inside]).x
    logit = inputs @ found[:2] + found[2]
    confidence = float((1 / (1 + np.exp(-np.abs(logit)))).min())
    return RareFeature(confidence, float(mass @ (sign * logit > 0)), bool(count[1]))
