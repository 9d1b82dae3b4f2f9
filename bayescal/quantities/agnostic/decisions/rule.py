"""Actions with their costs, and rules that take an action by the interval of the score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_is, check_number, check_unique, listing
from bayescal.core.errors import InputError
from bayescal.core.intake import to_probabilities

type Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Action:
    """What an action costs.

    Parameters
    ----------
    positive : float, at least 0
        Cost of taking it for a row of the positive class, the paper's a.
    negative : float, at least 0
        Cost of taking it for a row of the negative class, the paper's b.
    setup : float, at least 0, default 0
        Cost of having the action at all, once for all rows.

    Raises
    ------
    InputError
        If a cost is negative or not finite.

    Examples
    --------
    >>> from bayescal.quantities.agnostic.decisions.rule import Action
    >>> Action(positive=5, negative=0).expected(0.25)
    1.25
    """

    positive: float
    negative: float
    setup: float = 0.0

    def __post_init__(self) -> None:
        for name in ("positive", "negative", "setup"):
            gains = "Add the same amount to all costs of a class where some are gains."
            cost = check_number(getattr(self, name), name, "[0, inf)", gains)
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

        Raises
        ------
        InputError
            If it is no probability.
        """
        check_number(probability, "probability", "[0, 1]")
        return self.positive * probability + self.negative * (1 - probability)


class _Step(NamedTuple):
    low: float
    high: float
    name: str


@dataclass(frozen=True, slots=True, init=False)
class DecisionRule:
    """A rule that takes an action by the interval that the score lies in.

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
        If a cost is negative or not finite, an action has no costs, an interval is empty, or
        intervals overlap or leave a gap.

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, "On the interpretability of conditional probability
       estimates in the agnostic setting", Electronic Journal of Statistics 11(2), 2017,
       section 2.4. https://doi.org/10.1214/17-EJS1376SI

    Examples
    --------
    >>> from bayescal.quantities.agnostic.decisions.rule import DecisionRule
    >>> rule = DecisionRule(
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
        steps = _ordered(intervals, known)
        object.__setattr__(self, "names", tuple(step.name for step in steps))
        object.__setattr__(self, "costs", tuple(known[step.name] for step in steps))
        object.__setattr__(self, "thresholds", tuple(step.high for step in steps[:-1]))

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

    def action_of(self, score: ArrayLike) -> NDArray[np.int64]:
        """Find the action that is taken for each score.

        Parameters
        ----------
        score : array-like of shape (...), in [0, 1]
            Scores.

        Returns
        -------
        ndarray of shape (...), int
            Places in `names`.

        Raises
        ------
        InputError
            If scores are not probabilities.
        """
        scores = to_probabilities(score, "score")
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
) -> list[_Step]:
    """Intervals by rising scores, after checking that they partition [0, 1]."""
    if not isinstance(intervals, Mapping) or not intervals:
        raise InputError(
            f"intervals must be (low, high) by name of the action; got {intervals!r}. "
            "Pass {'keep': (0, 0.4), 'remove': (0.4, 1)}, say."
        )
    check_unique([str(name) for name in intervals], "action")
    unknown = [name for name in intervals if name not in known]
    if unknown:
        raise InputError(
            f"every interval must belong to an action; {listing(unknown)} has no costs. "
            f"Actions are {listing(known)}."
        )
    steps = sorted(_step(str(name), ends) for name, ends in intervals.items())
    end = 0.0
    for step in steps:
        if step.low != end:
            fault = "overlap" if step.low < end else "leave a gap"
            between = f"({min(step.low, end):g}, {max(step.low, end):g}]"
            raise InputError(
                f"intervals must cover [0, 1] once; they {fault} at {between}, where {step.name!r} "
                f"starts at {step.low:g}. Let each start where the one before ends."
            )
        end = step.high
    if end != 1:
        raise InputError(
            f"intervals must cover [0, 1] once; they leave a gap at ({end:g}, 1]. "
            "Let the last one end at 1."
        )
    return steps


def _step(name: str, ends: tuple[float, float]) -> _Step:
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        low = high = math.nan
    if not 0 <= low < high <= 1:
        raise InputError(
            f"the interval of {name!r} must be (low, high) with 0 <= low < high <= 1; got {ends!r}."
        )
    return _Step(low, high, name)
