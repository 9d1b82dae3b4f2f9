"""Bounds and probabilities of a result of this quantity, beyond means and intervals."""

from __future__ import annotations

import xarray as xr

from bayescal.core.checks import check_flag, check_number
from bayescal.results import access, intervals
from bayescal.results.bands import roc_band as roc_band
from bayescal.results.bands import roc_boxes as roc_boxes
from bayescal.results.compare import Difference, Pair, draw_by_draw
from bayescal.results.intervals import interval, tail


def upper_bound(
    result: xr.DataTree,
    prob: float = 0.95,
    *,
    classifier: str | None = None,
    class_: str | None = None,
) -> float:
    """Give the number that the calibration measure is below, with a posterior probability.

    Parameters
    ----------
    result : xarray.DataTree
        A result of this quantity.
    prob : float, in (0.5, 1), default 0.95
        Posterior probability.
    classifier, class_ : str, optional
        Needed where the result has several.

    Returns
    -------
    float
        The upper end of ``bc.interval(result, "c", 2 * prob - 1)``.

    Raises
    ------
    InputError
        If there is no such classifier or class, or `prob` lies outside (0.5, 1).

    Notes
    -----
    c is 0 with the posterior probability that the classifier is calibrated. The bound is that of
    the other case, with the descriptions of the curve weighted as `bayescal.interval` says: it does
    not collapse to 0 near calibration. See `prob_above` too.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.agnostic.truth("over").scores(500, seed=1)
    >>> result = bc.fit(bc.agnostic, scores, method="direct", seed=20)
    >>> bc.agnostic.upper_bound(result) > bc.datasets.agnostic.truth("over").c
    True
    """
    check_number(prob, "prob", "(0.5, 1)", "Pass 0.95.")
    ends = interval(result, "c", 2 * prob - 1)
    return float(access.at(ends, access.named_case(result, classifier, class_)).values[1])


def prob_above(
    result: xr.DataTree, value: float, *, classifier: str | None = None, class_: str | None = None
) -> float:
    """Give the posterior probability that the calibration measure exceeds a value.

    Parameters
    ----------
    result : xarray.DataTree
        A result of this quantity.
    value : float
        The measure that would matter.
    classifier, class_ : str, optional
        Needed where the result has several.

    Returns
    -------
    float
        P(c > value), averaged over all descriptions of the curve, calibrated among them.

    Raises
    ------
    InputError
        If there is no such classifier or class.
    """
    check_number(value, "value", "(-inf, inf)")
    case = access.named_case(result, classifier, class_)
    return float(access.at(intervals.prob_above(result, "c", value), case))


def rule_difference(
    result: xr.DataTree,
    first: str,
    second: str,
    prob: float = 0.9,
    *,
    unlabeled: bool = False,
    classifier: str | None = None,
) -> Difference:
    """Give the posterior of the difference of two rules' costs, first minus second.

    Parameters
    ----------
    result : xarray.DataTree
        A result of several rules.
    first, second : str
        Names of two of them.
    prob : float, in (0, 1), default 0.9
        Probability of the interval.
    unlabeled : bool, default False
        Whether the costs are those of the unlabelled rows, or expected in the population.
    classifier : str, optional
        Needed where the result has several.

    Returns
    -------
    Difference
        Mean, interval, probabilities and draws; both costs come from the same draws.

    Raises
    ------
    InputError
        If there is no such rule or classifier, or `prob` is no probability.

    Examples
    --------
    >>> import bayescal as bc
    >>> costs = {"keep": (5, 0), "remove": (0, 3)}
    >>> rules = {
    ...     "bayes": bc.agnostic.bayes_rule(costs),
    ...     "half": bc.DecisionRule(costs, {"keep": (0, 0.5), "remove": (0.5, 1)}),
    ... }
    >>> scores = bc.datasets.agnostic.truth("calibrated").scores(500, seed=1)
    >>> result = bc.fit(bc.agnostic, scores, decision=rules, method="direct", seed=20)
    >>> bc.agnostic.rule_difference(result, "bayes", "half").mean < 0
    True
    """
    tail(prob)
    check_flag(unlabeled, "unlabeled")
    names = [f"{'unlabeled_' if unlabeled else ''}cost_{rule}" for rule in (first, second)]
    case = access.named_case(result, classifier)
    draws = [access.flat_draws(result, access.check_variable(result, one), case) for one in names]
    pair = Pair(first, second, "unlabeled_cost" if unlabeled else "cost", prob, None, None)
    return draw_by_draw(pair, draws, "a cost is")
