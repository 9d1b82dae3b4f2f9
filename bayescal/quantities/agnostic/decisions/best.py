"""The cheapest rule under the scores: the Bayes rule, and the search where actions need set-up."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from numpy.typing import ArrayLike

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.decisions.costs import estimated_cost
from bayescal.quantities.agnostic.decisions.rule import Action, DecisionRule, checked_actions
from bayescal.quantities.agnostic.intervals import checked_scores

# All subsets are tried.
_MOST_ACTIONS = 15


def bayes_rule(actions: Mapping[str, Action | tuple[float, float]]) -> DecisionRule:
    """Give the rule that takes the action of least expected cost, the scores being probabilities.

    Parameters
    ----------
    actions : mapping of str to Action or pair of float
        Costs by name of the action; a pair is (positive, negative). Set-up costs are ignored.

    Returns
    -------
    DecisionRule
        Without the actions that are never the cheapest. Of equally cheap ones the first is taken.

    Raises
    ------
    InputError
        If a cost is negative or not finite.

    Notes
    -----
    Expected costs are straight lines in the score, and the least of them is concave: each action is
    taken on one interval, which ends where the next line crosses. By Claim 1 its expected cost
    exceeds that of any other rule that goes by the score by ``c(f) (W + W')`` at most, W and W'
    being the sums of ``|a - b|`` over the actions of the two.

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, "On the interpretability of conditional probability
       estimates in the agnostic setting", Electronic Journal of Statistics 11(2), 2017,
       section 2.4. https://doi.org/10.1214/17-EJS1376SI

    Examples
    --------
    >>> from bayescal.quantities.agnostic.decisions.best import bayes_rule
    >>> rule = bayes_rule({"keep": (5, 0), "review": (1, 1), "remove": (0, 3)})
    >>> rule.names, [round(value, 3) for value in rule.thresholds]
    (('keep', 'review', 'remove'), [0.2, 0.667])
    """
    known = checked_actions(actions)
    name = min(known, key=lambda key: (known[key].negative, known[key].positive))
    low, intervals = 0.0, {}
    while True:
        crossings = (
            (_crossing(known[name], other), other.positive, following)
            for following, other in known.items()
            if _slope(other) < _slope(known[name])
        )
        high, _, following = min(crossings, default=(1.0, 0.0, name))
        # Lines that meet in one point may seem to cross before it, by rounding.
        if high > low:
            intervals[name] = (low, min(high, 1.0))
        if high >= 1:
            return DecisionRule(known, intervals)
        low, name = max(low, high), following


def best_rule(
    actions: Mapping[str, Action | tuple[float, float]], score: ArrayLike
) -> DecisionRule:
    """Search the rule with the least estimated total cost on given rows, set-up costs included.

    Parameters
    ----------
    actions : mapping of str to Action or pair of float
        Costs by name of the action; set-up costs are those of `Action`.
    score : array-like of shape (obs,), in [0, 1]
        Scores of the rows to be decided on.

    Returns
    -------
    DecisionRule
        The best one, by trying every set of actions.

    Raises
    ------
    InputError
        If there are more than 15 actions, or costs or scores are not such.

    Notes
    -----
    The total is ``n estimated_cost + rule.setup``. Given the actions that are set up, the Bayes
    rule among them is best, row by row. So the least over all sets of actions is the least over all
    rules, not only those of intervals.

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, 2017, section 3.3.4.
       https://doi.org/10.1214/17-EJS1376SI

    Examples
    --------
    >>> from bayescal.quantities.agnostic.decisions.best import best_rule
    >>> from bayescal.quantities.agnostic.decisions.rule import Action
    >>> actions = {"keep": (5, 0), "review": Action(1, 1, setup=100), "remove": (0, 3)}
    >>> best_rule(actions, [0.1, 0.4, 0.9]).names
    ('keep', 'remove')
    """
    known = checked_actions(actions)
    if len(known) > _MOST_ACTIONS:
        raise InputError(
            f"there may be {_MOST_ACTIONS} actions at most, as all sets of them are tried; "
            f"got {len(known)}. Leave out those that others beat."
        )
    scores = checked_scores(score, "score")
    sets = (chosen for size in range(len(known)) for chosen in combinations(known, size + 1))
    rules = (bayes_rule({name: known[name] for name in chosen}) for chosen in sets)
    return min(rules, key=lambda rule: len(scores) * estimated_cost(rule, scores) + rule.setup)


def _slope(action: Action) -> float:
    return action.positive - action.negative


def _crossing(now: Action, other: Action) -> float:
    """Score from which the other action, whose cost rises less with the score, is cheaper."""
    ahead = other.negative - now.negative
    behind = now.positive - other.positive
    # Both differ by so little that the sum is rounded to 0: the lines are one.
    return ahead / (ahead + behind) if ahead + behind else 1.0
