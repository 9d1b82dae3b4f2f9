"""What a rule is, and what is none."""

import math

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.decisions import Action, DecisionRule

COSTS = {"keep": (5, 0), "review": (1, 1), "remove": (0, 3)}


def test_intervals_may_come_in_any_order():
    rule = DecisionRule(COSTS, {"remove": (0.6, 1), "keep": (0, 0.2), "review": (0.2, 0.6)})
    assert rule.names == ("keep", "review", "remove")
    assert rule.thresholds == (0.2, 0.6)
    assert rule.cost_table.tolist() == [[5, 0], [1, 1], [0, 3]]
    assert rule.weight == 5 + 0 + 3


def test_intervals_hold_their_upper_end_and_the_first_holds_0():
    rule = DecisionRule(COSTS, {"keep": (0, 0.25), "remove": (0.25, 1)})
    assert rule.action_of([0, 0.25, np.nextafter(0.25, 1), 1]).tolist() == [0, 0, 1, 1]
    assert rule.describe().startswith("keep for scores in [0, 0.25] (costs 5 if positive")


def test_setup_costs_are_those_of_actions_taken():
    actions = {"keep": Action(5, 0, setup=2), "remove": Action(0, 3, setup=7)}
    assert DecisionRule(actions, {"keep": (0, 1)}).setup == 2


@pytest.mark.parametrize(
    ("intervals", "message"),
    [
        ({"keep": (0, 0.5), "remove": (0.4, 1)}, r"overlap at \(0.4, 0.5\], where 'remove'"),
        ({"keep": (0, 0.5), "remove": (0.6, 1)}, r"leave a gap at \(0.5, 0.6\]"),
        ({"keep": (0.1, 0.5), "remove": (0.5, 1)}, r"leave a gap at \(0, 0.1\]"),
        ({"keep": (0, 0.5), "remove": (0.5, 0.9)}, r"leave a gap at \(0.9, 1\]"),
        ({"keep": (0, 0), "remove": (0, 1)}, "interval of 'keep' must be"),
        ({"keep": (0, math.nan)}, "interval of 'keep' must be"),
        ({"keep": (0, 0.5), "ignore": (0.5, 1)}, "'ignore' has no costs"),
        ({"keep": 0.5}, "interval of 'keep' must be"),
        ({}, "intervals must be"),
    ],
)
def test_bad_intervals(intervals, message):
    with pytest.raises(InputError, match=message):
        DecisionRule(COSTS, intervals)


@pytest.mark.parametrize("score", [["a"], [1.5], [math.nan], None])
def test_actions_are_of_probabilities(score):
    with pytest.raises(InputError, match="score must"):
        DecisionRule(COSTS, {"keep": (0, 1)}).action_of(score)


@pytest.mark.parametrize("cost", [-1, math.nan, math.inf, "5", None])
def test_bad_costs(cost):
    with pytest.raises(InputError, match=r"positive must be a number in \[0, inf\)"):
        Action(cost, 0)
    with pytest.raises(InputError, match="'keep'"):
        DecisionRule({"keep": (0, cost)}, {"keep": (0, 1)})


@pytest.mark.parametrize("actions", [{}, {"keep": 1}, {"keep": (1, 2, 3)}, [(1, 2)]])
def test_bad_actions(actions):
    with pytest.raises(InputError, match="costs"):
        DecisionRule(actions, {"keep": (0, 1)})
