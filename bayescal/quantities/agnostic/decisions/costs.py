"""What a decision rule costs: with labels, with probabilities, and with scores alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.checks import check_number, check_same_length
from bayescal.core.columns import to_numpy
from bayescal.core.quantity import Bound
from bayescal.quantities.agnostic.bounds import (
    bounds,
    check_delta,
    uniform_deviation,
)
from bayescal.quantities.agnostic.decisions.rule import DecisionRule, Floats, check_rule
from bayescal.quantities.agnostic.intervals import checked_labels, checked_rows, checked_weights


def estimated_cost(rule: DecisionRule, score: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Estimate the mean cost of a rule from scores without labels.

    Parameters
    ----------
    rule : DecisionRule
        The rule.
    score : array-like of shape (obs,), in [0, 1]
        Scores.
    weight : array-like of shape (obs,), at least 0, optional
        Weights of the rows.

    Returns
    -------
    float
        Mean of ``a f + b (1 - f)`` with the costs of the action taken, without set-up costs.

    Raises
    ------
    InputError
        If scores are not probabilities, or weights do not fit.

    Notes
    -----
    The label is replaced by its probability under the scores. On the same rows it differs from the
    mean cost with labels by ``c_emp sum |a - b|`` at most, c_emp being the measure of these rows.

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, "On the interpretability of conditional probability
       estimates in the agnostic setting", Electronic Journal of Statistics 11(2), 2017, Claim 1
       and Eq. (2). https://doi.org/10.1214/17-EJS1376SI

    Examples
    --------
    >>> from bayescal.quantities.agnostic.decisions.costs import estimated_cost
    >>> from bayescal.quantities.agnostic.decisions.rule import DecisionRule
    >>> rule = DecisionRule({"keep": (5, 0), "drop": (0, 3)}, {"keep": (0, 0.5), "drop": (0.5, 1)})
    >>> estimated_cost(rule, [0.25, 0.75])
    1.0
    """
    scores = _scores(score)
    return _mean_cost(rule, scores, scores, weight)


def expected_cost(
    rule: DecisionRule,
    score: ArrayLike,
    *,
    probability: ArrayLike,
    weight: ArrayLike | None = None,
) -> float:
    """Compute the mean cost of a rule where the rows' probabilities are known.

    Parameters
    ----------
    rule : DecisionRule
        The rule.
    score : array-like of shape (obs,), in [0, 1]
        Scores that the rule goes by.
    probability : array-like of shape (obs,), in [0, 1]
        P(Y = 1 | X) of the rows.
    weight : array-like of shape (obs,), at least 0, optional
        Weights of the rows.

    Returns
    -------
    float
        Mean of ``a p + b (1 - p)``, without set-up costs.

    Raises
    ------
    InputError
        If scores or probabilities are not such, or lengths differ.

    Examples
    --------
    >>> from bayescal.quantities.agnostic.decisions.costs import expected_cost
    >>> from bayescal.quantities.agnostic.decisions.rule import DecisionRule
    >>> rule = DecisionRule({"keep": (5, 0), "drop": (0, 3)}, {"keep": (0, 0.5), "drop": (0.5, 1)})
    >>> expected_cost(rule, [0.25, 0.75], probability=[0.5, 1.0])
    1.25
    """
    scores, probabilities = _scores(score), _scores(probability)
    check_same_length(len(scores), "score", len(probabilities), "probability")
    return _mean_cost(rule, scores, probabilities, weight)


def actual_cost(
    rule: DecisionRule, score: ArrayLike, *, label: ArrayLike, weight: ArrayLike | None = None
) -> float:
    """Compute the mean cost of a rule on labelled rows.

    Parameters
    ----------
    rule : DecisionRule
        The rule.
    score : array-like of shape (obs,), in [0, 1]
        Scores.
    label : array-like of shape (obs,)
        0 and 1, -1 and 1, or booleans.
    weight : array-like of shape (obs,), at least 0, optional
        Weights of the rows.

    Returns
    -------
    float
        Mean cost, without set-up costs.

    Raises
    ------
    InputError
        If scores or labels are not such, or lengths differ.

    Examples
    --------
    >>> from bayescal.quantities.agnostic.decisions.costs import actual_cost
    >>> from bayescal.quantities.agnostic.decisions.rule import DecisionRule
    >>> rule = DecisionRule({"keep": (5, 0), "drop": (0, 3)}, {"keep": (0, 0.5), "drop": (0.5, 1)})
    >>> actual_cost(rule, [0.25, 0.75], label=[1, 1])
    2.5
    """
    scores = _scores(score)
    events = checked_labels(label, len(scores)).astype(np.float64)
    return _mean_cost(rule, scores, events, weight)


def cost_bound(
    rule: DecisionRule, c_emp: float, n_labeled: int, n_unlabeled: int, delta: float = 0.1
) -> Bound:
    """Bound the error of `estimated_cost` on unlabelled rows, from labelled ones.

    Parameters
    ----------
    rule : DecisionRule
        The rule. The bound holds for all rules at once.
    c_emp : float, in [0, 1]
        Empirical measure of the labelled rows.
    n_labeled : int
        Number of labelled rows.
    n_unlabeled : int
        Number of unlabelled rows.
    delta : float, default 0.1
        How improbable it may be that the bound fails.

    Returns
    -------
    Bound
        Of ``|mean cost of the unlabelled rows - estimate|``.

    Raises
    ------
    InputError
        If a number of rows is not above 0, or `c_emp` or `delta` is no probability.

    Notes
    -----
    Eq. (2) needs the measure of the unlabelled rows themselves, which cannot be seen. With
    probability ``1 - delta / 2`` each, the measure c is at most ``c_emp + sqrt(2 log(2 / delta) /
    n_labeled)``, and the measure of the unlabelled rows at most ``c + 4 sqrt(log(4 / delta) / (2
    n_unlabeled))``; see `bounds`. Both multiply ``sum |a - b|``.

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, 2017, Eq. (2).
       https://doi.org/10.1214/17-EJS1376SI

    Examples
    --------
    >>> from bayescal.quantities.agnostic.decisions.costs import cost_bound
    >>> from bayescal.quantities.agnostic.decisions.rule import DecisionRule
    >>> rule = DecisionRule({"keep": (1, 0), "drop": (0, 1)}, {"keep": (0, 0.5), "drop": (0.5, 1)})
    >>> round(cost_bound(rule, 0.01, 10_000, 100_000, delta=0.05).value, 4)
    0.1118
    """
    check_rule(rule)
    check_number(c_emp, "c_emp", "[0, 1]", "Pass estimate(...).c.")
    half = check_delta(delta) / 2
    measure = c_emp + bounds(n_labeled, half).upper.value + uniform_deviation(n_unlabeled, half)
    return Bound(
        measure * rule.weight,
        f"upper bound of |mean cost - estimated cost| with probability {1 - delta:g} or more",
        "labelled and unlabelled rows are independent, of one population, and the classifier was "
        "not trained on them",
    )


def _scores(values: ArrayLike) -> Floats:
    found = to_numpy(values, "score")
    scores, _ = checked_rows(found, np.zeros(found.shape, dtype=np.uint8))
    return scores.astype(np.float64)


def _mean_cost(
    rule: DecisionRule, score: Floats, probability: Floats, weight: ArrayLike | None
) -> float:
    check_rule(rule)
    positive, negative = rule.cost_table[rule.action_of(score)].T
    cost = positive * probability + negative * (1 - probability)
    return float(cost.mean() if weight is None else cost @ checked_weights(weight, len(score)))
