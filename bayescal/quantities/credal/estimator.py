"""The paper's numbers: Venn-Abers probabilities, their credal sets, theory, and decisions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_data, check_whole
from bayescal.core.columns import Whole
from bayescal.core.errors import InputError
from bayescal.core.probability_intervals import ROUNDING, Booleans, largest_somewhere
from bayescal.core.quantity import Bound, Floats
from bayescal.core.scores import Scores
from bayescal.quantities.credal.credal_sets import (
    costs,
    discount,
    expectation,
    is_proper,
    proper,
    reachable,
)
from bayescal.quantities.credal.data import CalibrationSplit, curve_rows
from bayescal.quantities.credal.venn_abers import (
    InductiveVennAbers,
    OneVsRest,
    Pair,
    check_pair,
    fit_ivap,
    merged,
)

_EXCHANGEABLE = "calibration rows and the target row are exchangeable, e.g. drawn independently"


class Bounds(NamedTuple):
    """Bounds of one Venn-Abers predictor."""

    selected_gap: Bound  #: 0: `p0` or `p1`, chosen by the label, is calibrated.
    prevalence_lower: Bound  #: Estimate of a lower bound of P(Y = 1).
    prevalence_upper: Bound  #: Estimate of an upper bound of P(Y = 1).
    merged_regret: Bound  #: Mean log loss of merging, in nats.
    least_width: Bound  #: Lower bound of p1 - p0.


def bounds(p0: ArrayLike, p1: ArrayLike, n_calibration: int) -> Bounds:
    """Bound what a Venn-Abers predictor's probabilities are off by.

    Parameters
    ----------
    p0, p1 : array-like of shape (obs,), in [0, 1]
        Both probabilities of label 1 of each target row: of one classifier, and of one class.
    n_calibration : int, at least 1
        Number of calibration rows.

    Returns
    -------
    Bounds
        Each with its kind and its assumption in words.

    Raises
    ------
    InputError
        If p0 exceeds p1, one of them is no probability, or there is no row.

    Notes
    -----
    *Validity* (Theorem 1 of [1]_): with P the p0 of a row of label 0 and the p1 of a row of label
    1, ``E[Y | P] = P``, for any number of rows and any distribution. But P is not known before the
    label is, and the average runs over calibration sets and rows: it does **not** say that
    P(Y = 1 | score) lies between p0 and p1 with some probability, and for many rows it mostly does
    not. Intervals for that are the credible bounds of the posterior.

    *Prevalence*: from ``p0 <= P <= p1`` follows ``E p0 <= P(Y = 1) <= E p1``, estimated by the
    means of the target rows. *Merging*: ``p = p1 / (1 - p0 + p1)`` has for either label a log loss
    of ``log(1 - p0 + p1)`` above that of the valid P. *Width*: p1 and p0 are maxima of minima of
    ``(S + 1) / (N + 1)`` and of ``S / (N + 1)`` over the same stretches of N <= n rows, so that
    ``p1 - p0 >= 1 / (n + 1)``.

    References
    ----------
    .. [1] V. Vovk and I. Petej, UAI 2014, Theorem 1. https://arxiv.org/abs/1211.0025
    .. [2] V. Vovk et al., NeurIPS 2015, section 4. https://arxiv.org/abs/1511.00213

    Examples
    --------
    >>> from bayescal.quantities.credal.estimator import bounds
    >>> found = bounds([0.2, 0.6], [0.3, 0.7], n_calibration=99)
    >>> round(found.merged_regret.value, 4), found.least_width.value
    (0.0953, 0.01)
    """
    low, high = check_pair(p0, p1)
    if low.ndim != 1 or not low.size:
        raise InputError(
            "p0 and p1 must hold one value for each row, at least one; got shapes "
            f"{low.shape} and {high.shape}. Pass those of one class."
        )
    remedy = "Pass the number of labelled calibration rows."
    check_whole(n_calibration, "n_calibration", remedy=remedy)
    return Bounds(
        Bound(
            0.0,
            "largest |E[Y | P] - P|, where P is p0 if the row's label is 0 and p1 if it is 1, "
            "over calibration sets and rows; no statement on P(Y = 1 | score) of a single row",
            _EXCHANGEABLE,
        ),
        Bound(
            float(low.mean()),
            "estimated lower bound of P(Y = 1), valid in expectation",
            _EXCHANGEABLE,
        ),
        Bound(
            float(high.mean()),
            "estimated upper bound of P(Y = 1), valid in expectation",
            _EXCHANGEABLE,
        ),
        Bound(
            float(np.log1p(high - low).mean()),
            "mean log loss of the merged probability above that of the valid one of p0 and p1, "
            "in nats; the same for either label",
            "none",
        ),
        Bound(1 / (int(n_calibration) + 1), "lower bound of p1 - p0 in every row", "none"),
    )


class Estimate(NamedTuple):
    """Point estimates, each with a leading dim ``classifier`` where there is more than one.

    Parameters
    ----------
    p0, p1 : ndarray of shape (..., obs) or (..., obs, class), in [0, 1]
        Probability of the positive class, or of each class against the rest, by a fit in which the
        row is not of it, and by one in which it is. Not a coverage interval (see `bounds`).
    prob : ndarray of shape (..., obs) or (..., obs, class), in [0, 1]
        Both merged, ``p1 / (1 - p0 + p1)``; of several classes divided by their sum.
    prob_lower, prob_upper : ndarray of shape (..., obs) or (..., obs, class), in [0, 1]
        Least and largest probability in the credal set of p0 and p1, discounted where it was
        improper. For binary scores p0 and p1 themselves.
    improper : ndarray of shape (..., obs), bool
        Where no class probabilities lie between p0 and p1; never for binary scores.
    """

    p0: Floats
    p1: Floats
    prob: Floats
    prob_lower: Floats
    prob_upper: Floats
    improper: NDArray[np.bool_]


def estimate(data: CalibrationSplit) -> Estimate:
    """Calibrate target scores by inductive Venn-Abers predictors.

    Parameters
    ----------
    data : CalibrationSplit
        Labelled calibration rows, and target rows.

    Returns
    -------
    Estimate
        A named tuple. The cost is that of sorting the calibration scores and looking up the others.

    Notes
    -----
    Several classes are calibrated one against the rest, which need not fit together: `improper`
    rows are those whose lower bounds sum to more than 1 or upper ones to less. Sections 2.4 and 2.5
    and Algorithm 1 of the paper; the predictors are those of Vovk et al. (2015), section 2.

    Examples
    --------
    >>> import bayescal as bc
    >>> calibration = bc.Scores(y_true=[0, 1, 0, 1], y_prob=[0.1, 0.4, 0.6, 0.9])
    >>> found = bc.credal.estimate(bc.CalibrationSplit(calibration=calibration, target=[0.5]))
    >>> found.p0.round(3).tolist(), found.p1.round(3).tolist(), found.prob.round(3).tolist()
    ([0.333], [0.667], [0.5])
    """
    remedy = "CalibrationSplit(calibration=..., target=...)"
    check_data(data, (CalibrationSplit,), "estimate", remedy)
    found = [_of_one(data.select(name)) for name in data.calibration.classifiers]
    if len(found) == 1:
        return found[0]
    return Estimate._make(np.stack(values) for values in zip(*found, strict=True))


def predictors(calibration: Scores, number: Whole | None = None) -> tuple[InductiveVennAbers, ...]:
    """Fit a Venn-Abers predictor to each curve of one classifier."""
    curves = curve_rows(calibration, number)
    return tuple(fit_ivap(rows.score, label=rows.happened, rows=rows.number) for rows in curves)


def predictor(split: CalibrationSplit) -> InductiveVennAbers | OneVsRest:
    """Fit the Venn-Abers predictor of one classifier: of several classes one against the rest."""
    fits = predictors(split.calibration, split.rows)
    return fits[0] if split.calibration.is_binary else OneVsRest(fits)


def _of_one(split: CalibrationSplit) -> Estimate:
    pair = predictor(split).predict(split.target.y_prob[0])
    if split.calibration.is_binary:
        return Estimate(*pair, merged(*pair), *pair, np.zeros(split.n_target, bool))
    ends = reachable(*discount(*pair))
    return Estimate(*pair, merged_classes(pair), *ends, ~is_proper(*pair))


def merged_classes(pair: Pair) -> Floats:
    """Merge both probabilities of each class, and make the classes sum to 1, (obs, class)."""
    each = merged(*pair)
    return np.asarray(each / each.sum(axis=1, keepdims=True))


_MOST_CLASSES = 10_000


def zero_one(n_classes: int) -> Floats:
    """Give the costs of naming a class: 0 if it is the true one, else 1.

    Parameters
    ----------
    n_classes : int
        Number of classes, at least 2.

    Returns
    -------
    ndarray of shape (action, class)
        Action k is to name class k.
    """
    check_whole(n_classes, "n_classes", 2, "Pass the number of classes.", _MOST_CLASSES)
    return 1 - np.eye(n_classes)


def maximin(cost: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Whole:
    """Choose the action whose worst expected cost is least.

    Parameters
    ----------
    cost : array-like of shape (action, class), finite
        Cost of each action if a class is the true one.
    lower, upper : array-like of shape (..., class), in [0, 1]
        Bounds of proper sets.

    Returns
    -------
    ndarray of shape (...), int
        The action, of equals the first: in terms of gains, of the largest lower expectation.

    Raises
    ------
    InputError
        If a set is empty, or `cost` is not finite or does not fit the classes.

    References
    ----------
    .. [1] M. C. M. Troffaes, 2007, section 3.2. https://doi.org/10.1016/j.ijar.2006.06.001

    Examples
    --------
    >>> from bayescal.quantities.credal.estimator import maximin, zero_one
    >>> int(maximin(zero_one(3), [0.3, 0.4, 0.0], [0.6, 0.5, 0.3]))
    1
    """
    table, low, high, slack = _problem(cost, lower, upper)
    worst = expectation(table, low, high).upper
    return np.asarray((worst <= worst.min(axis=-1, keepdims=True) + slack).argmax(axis=-1))


def interval_dominance(cost: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Booleans:
    """Keep the actions whose best expected cost is no worse than the worst one of any other.

    Parameters
    ----------
    cost, lower, upper
        As for `maximin`.

    Returns
    -------
    ndarray of shape (..., action), bool
        Which actions are kept: at least the `maximin` one, and all that are E-admissible.

    Raises
    ------
    InputError
        As for `maximin`.
    """
    table, low, high, slack = _problem(cost, lower, upper)
    best, worst = expectation(table, low, high)
    return np.asarray(best <= worst.min(axis=-1, keepdims=True) + slack)


def e_admissible(cost: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Booleans:
    """Keep the actions that are the best ones for some member of the set.

    Parameters
    ----------
    cost, lower, upper
        As for `maximin`.

    Returns
    -------
    ndarray of shape (..., action), bool
        Which actions are kept; at least one.

    Raises
    ------
    InputError
        As for `maximin`.

    Notes
    -----
    With `zero_one` costs, the most that a member can give class a is
    ``v = min(upper_a, 1 - sum_{k != a} lower_k)``: it is kept if no other lower bound exceeds v and
    ``v + sum_{k != a} min(upper_k, v) >= 1``. For two actions, the least expectation of the
    difference of costs decides. Other cases take a linear programme for each row and action that
    no other action beats on all of the set.

    Examples
    --------
    >>> from bayescal.quantities.credal.estimator import e_admissible, zero_one
    >>> e_admissible(zero_one(3), [0.3, 0.4, 0.0], [0.6, 0.5, 0.3]).tolist()
    [True, True, False]
    """
    table, low, high, slack = _problem(cost, lower, upper)
    n_classes = low.shape[-1]
    if table.shape == (n_classes, n_classes) and (table == zero_one(n_classes)).all():
        return largest_somewhere(low, high)
    kept = np.empty((*low.shape[:-1], len(table)), bool)
    for place, row in enumerate(table):
        # That no other one beats for every member of the set.
        kept[..., place] = (expectation(row - table, low, high).lower <= slack).all(axis=-1)
    if len(table) > 2:
        flat = kept.reshape(-1, len(table))
        sets = (low.reshape(-1, n_classes), high.reshape(-1, n_classes))
        for row in np.flatnonzero(flat.sum(axis=1) > 1):
            for action in np.flatnonzero(flat[row]):
                flat[row, action] = _best_somewhere(action, table, *(b[row] for b in sets))
        kept = flat.reshape(kept.shape)
    return kept


def _problem(
    cost: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> tuple[Floats, Floats, Floats, float]:
    """Check costs of several actions and bounds; by how much equal costs differ, too."""
    low, high = proper(lower, upper)
    table = costs(cost, low.shape[-1], least_dims=2)
    return table, low, high, float(ROUNDING * np.abs(table).max())


def _best_somewhere(action: np.intp, table: Floats, low: Floats, high: Floats) -> bool:
    """Look for a member of one set for which an action costs no more than any other."""
    from scipy.optimize import linprog

    ahead = table[action] - np.delete(table, action, axis=0)
    # The solver's tolerance is absolute, whatever unit costs are in.
    ahead /= np.maximum(np.abs(ahead).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    found = linprog(
        np.zeros(len(low)),
        A_ub=ahead,
        b_ub=np.zeros(len(ahead)),
        A_eq=np.ones((1, len(low))),
        b_eq=[1.0],
        bounds=np.stack([low, high], axis=1),
        method="highs",
    )
    return bool(found.success)
