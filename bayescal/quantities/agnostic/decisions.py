"""Rules that decide by the score: what they cost, how far that can be known, and the best ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bayescal.core.checks import (
    check_is,
    check_number,
    check_same_length,
    check_unique,
    check_whole,
    listing,
)
from bayescal.core.columns import Whole, to_numpy
from bayescal.core.errors import InputError
from bayescal.core.intake import check_same_order, round_scores, to_probabilities
from bayescal.core.quantity import Bound, Floats
from bayescal.core.text import surely
from bayescal.quantities.agnostic.bounds import check_delta, of_all, one_sided
from bayescal.quantities.agnostic.estimator import (
    checked_labels,
    checked_probabilities,
    checked_scores,
    checked_weights,
)


@dataclass(frozen=True, slots=True)
class Action:
    """What an action costs.

    Parameters
    ----------
    positive : float, in [0, 1e300]
        Cost of taking it for a row of the positive class, the paper's a.
    negative : float, in [0, 1e300]
        Cost of taking it for a row of the negative class, the paper's b.
    setup : float, in [0, 1e300], default 0
        Cost of having the action at all, once for all rows.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.agnostic.Action(positive=5, negative=0).expected(0.25)
    1.25
    """

    positive: float
    negative: float
    setup: float = 0.0

    def __post_init__(self) -> None:
        for name in ("positive", "negative", "setup"):
            remedy = "Add one amount to all costs of a class if some are gains; use larger units."
            cost = check_number(getattr(self, name), name, "[0, 1e300]", remedy)
            object.__setattr__(self, name, cost)

    def expected(self, probability: float) -> float:
        """Give the expected cost of a row.

        Parameters
        ----------
        probability : float, in [0, 1]
            Probability that the row is positive.

        Returns
        -------
        float
            ``a p + b (1 - p)``.
        """
        check_number(probability, "probability", "[0, 1]")
        return self.positive * probability + self.negative * (1 - probability)


@dataclass(frozen=True, slots=True, init=False)
class DecisionRule:
    """A rule that takes an action by the interval that the score lies in; section 2.4 of the paper.

    Parameters
    ----------
    actions : mapping of str to Action or pair of float
        Costs by name of the action; a pair is (positive, negative).
    intervals : mapping of str to pair of float
        The interval (low, high] of scores of each action. They must cover [0, 1] without overlap;
        the one that starts at 0 holds the score 0 too. Actions without an interval are not taken.

    Attributes
    ----------
    names : tuple of str
        Actions that are taken, by rising score.
    costs : tuple of Action
        Their costs.
    thresholds : tuple of float
        Ends of the intervals but for the last: one less than `names`.

    Raises
    ------
    InputError
        If a cost is negative, infinite or missing, or intervals are empty, overlap or leave a gap.

    Examples
    --------
    >>> import bayescal as bc
    >>> rule = bc.agnostic.DecisionRule(
    ...     {"keep": (5, 0), "remove": (0, 3)}, {"keep": (0, 0.375), "remove": (0.375, 1)}
    ... )
    >>> rule.names, rule.thresholds, rule.action_of([0.375, 0.5]).tolist()
    (('keep', 'remove'), (0.375,), [0, 1])
    """

    names: tuple[str, ...]
    costs: tuple[Action, ...]
    thresholds: tuple[float, ...]

    def __init__(
        self,
        actions: Mapping[str, Action | tuple[float, float]],
        intervals: Mapping[str, tuple[float, float]],
    ) -> None:
        known = checked_actions(actions)
        _, ends, names = zip(*_ordered(intervals, known), strict=True)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "costs", tuple(known[name] for name in names))
        object.__setattr__(self, "thresholds", ends[:-1])

    @property
    def cost_table(self) -> Floats:
        """Costs of the actions for a positive and a negative row, (action, 2)."""
        return np.array([(cost.positive, cost.negative) for cost in self.costs])

    @property
    def setup(self) -> float:
        """Set-up costs of all actions that are taken."""
        return sum(cost.setup for cost in self.costs)

    @property
    def weight(self) -> float:
        """The sum of ``|a - b|`` over the actions, by which bounds multiply the measure."""
        return sum(abs(cost.positive - cost.negative) for cost in self.costs)

    def action_of(self, score: ArrayLike) -> Whole:
        """Find the action that is taken for each score.

        Parameters
        ----------
        score : array-like of shape (...), in [0, 1]
            Scores.

        Returns
        -------
        ndarray of shape (...), int
            Places in `names`.
        """
        scores = to_probabilities(score, "score")
        given = to_numpy(score, "score") if scores.ndim else np.asarray(score)
        # As those of a fit are: a mean of scores may be off by its last digit.
        rounded = round_scores(np.atleast_1d(scores)).reshape(scores.shape)
        scores = at_ends(rounded, self.thresholds, given.dtype)
        return np.asarray(np.searchsorted(self.thresholds, scores, side="left"))

    def describe(self) -> str:
        """Put the rule into words.

        Returns
        -------
        str
            Each action with its interval and costs.
        """
        ends = (0.0, *self.thresholds, 1.0)
        return "; ".join(
            f"{name} for scores in {'[' if low == 0 else '('}{low:g}, {high:g}] "
            f"(costs {cost.positive:g} if positive, {cost.negative:g} if negative)"
            for name, cost, low, high in zip(
                self.names, self.costs, ends[:-1], ends[1:], strict=True
            )
        )


def at_ends[Score: np.floating](
    score: NDArray[Score], ends: Sequence[float], dtype: DTypeLike | None = None
) -> NDArray[Score] | Floats:
    """Scores of which those above an end by what it is rounded by, as scores are, are that end."""
    narrow = score.astype(dtype or score.dtype, copy=False)
    found: NDArray[Any] = score
    for end, most in zip(ends, round_scores(np.asarray(ends, np.float64)), strict=True):
        # NumPy rounds the end to the type of the scores.
        same = (narrow == end) & (narrow.dtype.kind == "f")
        if (above := (same | (score <= most)) & (score > np.float64(end))).any():
            found = found.astype(np.float64)
            found[above] = end
    return found


def check_rule(rule: object) -> None:
    """Check that a rule is one."""
    check_is(rule, DecisionRule, "rule", "Pass bayescal.DecisionRule(actions, intervals).")


def checked_actions(actions: Mapping[str, Action | tuple[float, float]]) -> dict[str, Action]:
    """Actions by name; pairs become actions."""
    if not isinstance(actions, Mapping) or not actions:
        raise InputError(
            f"actions must be costs by name; got {actions!r}. "
            "Pass {'keep': (5, 0), 'remove': (0, 3)}, say."
        )
    check_unique([str(name) for name in actions], "action")
    return {str(name): _action(str(name), cost) for name, cost in actions.items()}


def _action(name: str, cost: Action | Sequence[float]) -> Action:
    if isinstance(cost, Action):
        return cost
    try:
        positive, negative = cost
    except (TypeError, ValueError):
        raise InputError(
            f"the costs of action {name!r} must be (positive, negative); got {cost!r}. "
            "Pass Action(positive, negative, setup) for set-up costs."
        ) from None
    try:
        return Action(positive, negative)
    except InputError as error:
        raise InputError(f"action {name!r}: {error}") from None


def _ordered(
    intervals: Mapping[str, tuple[float, float]], known: Mapping[str, Action]
) -> list[tuple[float, float, str]]:
    """Intervals (low, high, action) by rising scores, after checking that they partition [0, 1]."""
    if not isinstance(intervals, Mapping) or not intervals:
        raise InputError(
            f"intervals must be (low, high) by name of the action; got {intervals!r}. "
            "Pass {'keep': (0, 0.4), 'remove': (0.4, 1)}, say."
        )
    check_unique([str(name) for name in intervals], "action")
    unknown = [name for name in intervals if str(name) not in known]
    if unknown:
        raise InputError(
            f"every interval must belong to an action; {listing(unknown)} has no costs. "
            f"Actions are {listing(known)}."
        )
    steps = sorted(_step(str(name), ends) for name, ends in intervals.items())
    end = 0.0
    for low, high, name in steps:
        if low != end:
            fault = "overlap" if low < end else "leave a gap"
            between = f"({min(low, end):g}, {max(low, end):g}]"
            raise InputError(
                f"intervals must cover [0, 1] once; they {fault} at {between}, where {name!r} "
                f"starts at {low:g}. Let each start where the one before ends."
            )
        end = high
    if end != 1:
        raise InputError(
            f"intervals must cover [0, 1] once; they leave a gap at ({end:g}, 1]. "
            "Let the last one end at 1."
        )
    return steps


def _step(name: str, ends: tuple[float, float]) -> tuple[float, float, str]:
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        low = high = math.nan
    if not 0 <= low < high <= 1:
        raise InputError(
            f"the interval of {name!r} must be (low, high) with 0 <= low < high <= 1; got {ends!r}."
        )
    return low, high, name


def estimated_cost(rule: DecisionRule, score: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Estimate the mean cost of a rule from scores without labels.

    Claim 1 and Eq. (2) of the paper.

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

    Notes
    -----
    The label is replaced by its probability under the scores. On the same rows it differs from the
    mean cost with labels by ``c_emp sum |a - b|`` at most, c_emp being the measure of these rows.

    Examples
    --------
    >>> import bayescal as bc
    >>> rule = bc.agnostic.bayes_rule({"keep": (5, 0), "drop": (0, 3)})
    >>> bc.agnostic.estimated_cost(rule, [0.25, 0.75])
    1.0
    """
    scores = checked_probabilities(score, "score")
    return _mean_cost(rule, score, scores, weight)


def expected_cost(
    rule: DecisionRule, score: ArrayLike, *, probability: ArrayLike, weight: ArrayLike | None = None
) -> float:
    """Compute the mean cost of a rule where the rows' probabilities are known.

    Parameters
    ----------
    rule, score
        As for `estimated_cost`.
    probability : array-like of shape (obs,), in [0, 1]
        P(Y = 1 | X) of the rows.
    weight
        As for `estimated_cost`.

    Returns
    -------
    float
        Mean of ``a p + b (1 - p)``, without set-up costs.
    """
    scores = checked_probabilities(score, "score")
    check_same_order(probability=probability, score=score)
    probabilities = checked_probabilities(probability, "probability")
    check_same_length(len(scores), "score", len(probabilities), "probability")
    return _mean_cost(rule, score, probabilities, weight)


def actual_cost(
    rule: DecisionRule, score: ArrayLike, *, label: ArrayLike, weight: ArrayLike | None = None
) -> float:
    """Compute the mean cost of a rule on labelled rows.

    Parameters
    ----------
    rule, score
        As for `estimated_cost`.
    label : array-like of shape (obs,)
        0 and 1, -1 and 1, or booleans.
    weight
        As for `estimated_cost`.

    Returns
    -------
    float
        Mean cost, without set-up costs.
    """
    scores = checked_probabilities(score, "score")
    check_same_order(label=label, score=score)
    events = checked_labels(label, len(scores)).astype(np.float64)
    return _mean_cost(rule, score, events, weight)


def cost_bound(
    rule: DecisionRule, c_emp: float, n_labeled: int, n_unlabeled: int, delta: float = 0.1
) -> Bound:
    """Bound the error of `estimated_cost` on unlabelled rows, from labelled ones.

    Eq. (2) of the paper.

    Parameters
    ----------
    rule : DecisionRule
        The rule. The bound holds for all rules at once.
    c_emp : float, in [0, 1]
        Empirical measure of the labelled rows.
    n_labeled, n_unlabeled : int
        Numbers of labelled and of unlabelled rows.
    delta : float, default 0.1
        How improbable it may be that the bound fails.

    Returns
    -------
    Bound
        Of ``|mean cost of the unlabelled rows - estimate|``.

    Notes
    -----
    Eq. (2) needs the measure of the unlabelled rows themselves, which cannot be seen. With
    probability ``1 - delta / 2`` each, c is at most ``c_emp + sqrt(2 log(2 / delta) / n_labeled)``,
    and that measure at most ``c + 4 sqrt(log(4 / delta) / (2 n_unlabeled))``; see `bounds`. Both
    multiply ``sum |a - b|``.

    Examples
    --------
    >>> import bayescal as bc
    >>> rule = bc.agnostic.bayes_rule({"keep": (1, 0), "drop": (0, 1)})
    >>> round(bc.agnostic.cost_bound(rule, 0.01, 10_000, 100_000, delta=0.05).value, 4)
    0.1118
    """
    check_rule(rule)
    check_number(c_emp, "c_emp", "[0, 1]", "Pass estimate(...).c.")
    half = check_delta(delta) / 2
    above = one_sided(check_whole(n_labeled, "n_labeled"), half)
    measure = c_emp + above + of_all(check_whole(n_unlabeled, "n_unlabeled"), half)
    return Bound(
        measure * rule.weight,
        f"upper bound of |mean cost - estimated cost| with probability {surely(delta)} or more",
        "labelled and unlabelled rows are independent, of one population, and the classifier was "
        "not trained on them",
    )


def _mean_cost(
    rule: DecisionRule, score: ArrayLike, probability: Floats, weight: ArrayLike | None
) -> float:
    check_rule(rule)
    check_same_order(weight=weight, score=score)
    positive, negative = rule.cost_table[rule.action_of(score)].T
    cost = positive * probability + negative * (1 - probability)
    return float(cost.mean() if weight is None else cost @ checked_weights(weight, len(cost)))


# All subsets are tried.
_MOST_ACTIONS = 15


def bayes_rule(actions: Mapping[str, Action | tuple[float, float]]) -> DecisionRule:
    """Give the rule that takes the action of least expected cost, the scores being probabilities.

    Section 2.4 of the paper.

    Parameters
    ----------
    actions : mapping of str to Action or pair of float
        Costs by name of the action; a pair is (positive, negative). Set-up costs are ignored.

    Returns
    -------
    DecisionRule
        Without the actions that are never the cheapest. Of equally cheap ones the first is taken.

    Notes
    -----
    Expected costs are straight lines in the score, and the least of them is concave: each action is
    taken on one interval, which ends where the next line crosses. By Claim 1 its expected cost
    exceeds that of any other rule of the score by ``c(f) (W + W')`` at most, W and W' being the
    sums of ``|a - b|`` over the actions of the two.

    Examples
    --------
    >>> import bayescal as bc
    >>> rule = bc.agnostic.bayes_rule({"keep": (5, 0), "review": (1, 1), "remove": (0, 3)})
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
        high, _, following = min(crossings, key=lambda one: one[:2], default=(1.0, 0.0, name))
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

    Section 3.3.4 of the paper.

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
    rule among them is best, row by row, so that the least is over all rules, of intervals or not.

    Examples
    --------
    >>> import bayescal as bc
    >>> review = bc.agnostic.Action(1, 1, setup=100)
    >>> actions = {"keep": (5, 0), "review": review, "remove": (0, 3)}
    >>> bc.agnostic.best_rule(actions, [0.1, 0.4, 0.9]).names
    ('keep', 'remove')
    """
    known = checked_actions(actions)
    if len(known) > _MOST_ACTIONS:
        raise InputError(
            f"there may be {_MOST_ACTIONS} actions at most, as all sets of them are tried; "
            f"got {len(known)}. Leave out those that others beat."
        )
    scores = np.sort(checked_scores(score, "score")).astype(np.float64)
    sums = np.append(0.0, np.cumsum(scores))

    def total(rule: DecisionRule) -> float:
        ends = [0, *np.searchsorted(scores, rule.thresholds, "right"), len(scores)]
        positive, rows = np.diff(sums[ends]), np.diff(ends)
        return float((rule.cost_table * np.stack([positive, rows - positive], axis=1)).sum())

    sets = (chosen for size in range(len(known)) for chosen in combinations(known, size + 1))
    rules = (bayes_rule({name: known[name] for name in chosen}) for chosen in sets)
    return min(rules, key=lambda rule: total(rule) + rule.setup)


def _slope(action: Action) -> float:
    return action.positive - action.negative


def _crossing(now: Action, other: Action) -> float:
    """Score from which the other action, whose cost rises less with the score, is cheaper."""
    ahead = other.negative - now.negative
    behind = now.positive - other.positive
    # Both differ by so little that the sum is rounded to 0: the lines are one.
    return ahead / (ahead + behind) if ahead + behind else 1.0
