"""Rules, costs and the best rules."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.quantities import agnostic
from bayescal.quantities.agnostic.decisions import (
    Action,
    DecisionRule,
    actual_cost,
    bayes_rule,
    best_rule,
    cost_bound,
    estimated_cost,
    expected_cost,
)
from bayescal.quantities.agnostic.estimator import interval_measure
from bayescal.workflow.fit import fit
from tests.quantities.agnostic.made import RULE

COSTS = {"keep": (5, 0), "review": (1, 1), "remove": (0, 3)}


@pytest.mark.parametrize("second", ["b", "z"])
def test_of_actions_of_the_same_costs_the_first_is_taken_whatever_they_are_called(second):
    rule = bayes_rule({"keep": (5, 0), "c": (0, 3), second: (0, 3)})
    assert rule.names == ("keep", "c")


@pytest.mark.parametrize("unit", [1e-300, 1e-5, 1e299])
def test_the_unit_of_the_costs_changes_no_rule(unit):
    found = bayes_rule({name: (unit * a, unit * b) for name, (a, b) in COSTS.items()})
    assert found.names == bayes_rule(COSTS).names
    # A subtraction, a sum and a division of products.
    assert found.thresholds == pytest.approx(bayes_rule(COSTS).thresholds, rel=1e-15)


def test_costs_whose_sums_overflow_are_refused():
    with pytest.raises(InputError, match=r"\[0, 1e300\]; got 1e\+308\. .* larger units"):
        bayes_rule({"keep": (1e308, 0), "remove": (0, 1e308)})


def test_intervals_may_come_in_any_order():
    rule = DecisionRule(COSTS, {"remove": (0.6, 1), "keep": (0, 0.2), "review": (0.2, 0.6)})
    assert rule.names == ("keep", "review", "remove")
    assert rule.thresholds == (0.2, 0.6)
    assert rule.cost_table.tolist() == [[5, 0], [1, 1], [0, 3]]
    assert rule.weight == 5 + 0 + 3


def test_names_need_not_be_words():
    assert DecisionRule({0: (5, 0), 1: (0, 3)}, {0: (0, 0.4), 1: (0.4, 1)}).names == ("0", "1")


def test_intervals_hold_their_upper_end_and_the_first_holds_0():
    rule = DecisionRule(COSTS, {"keep": (0, 0.25), "remove": (0.25, 1)})
    assert rule.action_of([0, 0.25, 0.25 + 1e-11, 1]).tolist() == [0, 0, 1, 1]
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
    with pytest.raises(InputError, match=r"positive must be a number in \[0, 1e300\]"):
        Action(cost, 0)
    with pytest.raises(InputError, match="'keep'"):
        DecisionRule({"keep": (0, cost)}, {"keep": (0, 1)})


@pytest.mark.parametrize("actions", [{}, {"keep": 1}, {"keep": (1, 2, 3)}, [(1, 2)]])
def test_bad_actions(actions):
    with pytest.raises(InputError, match="costs"):
        DecisionRule(actions, {"keep": (0, 1)})


def row_by_row(score, chance):
    total = 0.0
    for f, p in zip(score, chance, strict=True):
        a, b = (5, 0) if f <= 0.25 else (1, 1.5) if f <= 0.6 else (0, 3)
        total += a * p + b * (1 - p)
    return total / len(score)


def test_costs_row_by_row():
    rng = np.random.default_rng(20)
    score, chance = rng.random(200).round(1), rng.random(200)
    label = rng.random(200) < chance
    assert estimated_cost(RULE, score) == pytest.approx(row_by_row(score, score))
    assert expected_cost(RULE, score, probability=chance) == pytest.approx(
        row_by_row(score, chance)
    )
    assert actual_cost(RULE, score, label=label) == pytest.approx(row_by_row(score, label))


def test_whole_weights_repeat_rows():
    score, label, times = np.array([0.1, 0.5, 0.9]), np.array([1, 0, 1]), np.array([3, 1, 2])
    repeated = np.repeat(score, times)
    expected = actual_cost(RULE, repeated, label=np.repeat(label, times))
    assert actual_cost(RULE, score, label=label, weight=times) == pytest.approx(expected)
    assert estimated_cost(RULE, score, times) == pytest.approx(estimated_cost(RULE, repeated))


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_equation_2(rows):
    score, label = (np.array(column) for column in zip(*rows, strict=True))
    away = abs(actual_cost(RULE, score, label=label) - estimated_cost(RULE, score))
    assert away <= interval_measure(score, label=label).c * RULE.weight + 1e-12


def test_claim_1_on_a_population():
    # Equally probable rows are a population whose c(f) is that of the weighted rows.
    rng = np.random.default_rng(21)
    for _ in range(200):
        score, chance = rng.random(30).round(2), rng.random(30)
        twice, both = np.concatenate([score, score]), np.repeat([0, 1], 30)
        c = interval_measure(twice, label=both, weight=np.concatenate([1 - chance, chance])).c
        away = abs(expected_cost(RULE, score, probability=chance) - estimated_cost(RULE, score))
        assert away <= c * RULE.weight + 1e-12


def test_the_bound_holds_from_labelled_to_unlabelled_rows():
    rng = np.random.default_rng(22)
    for _ in range(200):
        score = rng.random(300)
        label = rng.random(300) < score**2
        c_emp = interval_measure(score[:100], label=label[:100]).c
        limit = cost_bound(RULE, c_emp, 100, 200, delta=0.1).value
        away = actual_cost(RULE, score[100:], label=label[100:]) - estimated_cost(RULE, score[100:])
        # Far on the safe side: 200 of 200 where 180 are promised.
        assert abs(away) <= limit


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: estimated_cost(RULE, []), "at least one row"),
        (lambda: expected_cost(RULE, [0.2], probability=[0.2, 0.3]), "same length"),
        (lambda: expected_cost(RULE, [0.2], probability=[2]), r"probability must lie in \[0, 1\]"),
        (lambda: actual_cost(RULE, [0.2], label=[2]), "label must be"),
        (lambda: cost_bound(RULE, 0.1, 0, 9), "n_labeled must"),
        (lambda: cost_bound(RULE, 0.1, 9, 0), "n_unlabeled must"),
        # Half of it is 0.
        (lambda: cost_bound(RULE, 0.1, 9, 9, 5e-324), r"delta must be a number in \[1e-300, 1\)"),
        (lambda: bayes_rule({1: (5, 0), "1": (0, 3)}), "action names must differ; got '1' twice"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


costs = st.tuples(st.integers(0, 6), st.integers(0, 6))


@given(st.lists(costs, min_size=1, max_size=6), st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_no_action_is_cheaper_in_any_row(pairs, score):
    actions = {f"a{place}": pair for place, pair in enumerate(pairs)}
    rule = bayes_rule(actions)
    for value, taken in zip(score, rule.action_of(score), strict=True):
        least = min(a * value + b * (1 - value) for a, b in pairs)
        assert rule.costs[taken].expected(value) == pytest.approx(least, abs=1e-9)


def test_dominated_actions_are_never_taken():
    rule = bayes_rule({"a": (4, 0), "b": (3, 3), "c": (0, 4), "d": (4, 4)})
    assert rule.names == ("a", "c")
    assert rule.thresholds == (0.5,)


def test_lines_that_meet_in_one_point():
    assert bayes_rule({"a": (3, 0), "b": (2, 1), "c": (1, 2), "d": (0, 3)}).names == ("a", "d")


def every_assignment(actions, score):
    """Least total over all ways to give each row an action."""
    totals = []
    for chosen in product(actions.values(), repeat=len(score)):
        rows = sum(action.expected(f) for action, f in zip(chosen, score, strict=True))
        totals.append(rows + sum(action.setup for action in set(chosen)))
    return min(totals)


def test_set_up_costs_against_every_assignment():
    rng = np.random.default_rng(20)
    for turn in range(60):
        # Costs with fractions, so that no two actions are equal.
        actions = {str(k): Action(*rng.uniform(0, 4, 2), setup=rng.uniform(0, 2)) for k in range(3)}
        score = rng.random(5) if turn % 2 else rng.integers(0, 3, 5) / 2
        rule = best_rule(actions, score)
        total = 5 * estimated_cost(rule, score) + rule.setup
        assert total == pytest.approx(every_assignment(actions, score))


def test_without_set_up_it_is_the_bayes_rule():
    score = np.linspace(0, 1, 50)
    assert best_rule(COSTS, score).thresholds == bayes_rule(COSTS).thresholds


def test_too_many_actions():
    with pytest.raises(InputError, match="15 actions at most"):
        best_rule({str(k): (k, 20 - k) for k in range(16)}, [0.5])


def test_a_score_at_a_threshold_of_two_thirds_costs_the_same_in_rows_and_in_a_fit():
    rule = DecisionRule(COSTS, {"review": (0, 2 / 3), "remove": (2 / 3, 1)})
    score, label = [0, 1 / 3, 2 / 3, 1], [0, 0, 0, 1]
    # Scores are rounded to 12 decimals, .666666666667 is the threshold; the cost is by hand.
    rows = Scores(y_true=label * 5, y_prob=score * 5)
    assert rule.action_of(rows.y_prob[0][:4]).tolist() == [0, 0, 0, 1]
    found = fit(agnostic, rows, decision=rule, method="direct", seed=20)
    assert float(found["point_estimate"]["cost"]) == 0.75
    assert actual_cost(rule, score, label=label) == 0.75


def test_a_sum_of_scores_is_at_the_threshold_as_in_a_fit():
    rule = DecisionRule(COSTS, {"review": (0, 0.3), "remove": (0.3, 1)})
    score, label = np.array([0.1 + 0.2, 0.3, 0.4, 0.5]), [0, 1, 0, 1]  # the first is above .3
    assert rule.action_of(score).tolist() == [0, 0, 1, 1]
    assert rule.action_of(score[0]) == rule.action_of(score[:1, None])[0, 0] == 0
    found = fit(agnostic, Scores(y_true=label, y_prob=score), decision=rule, method="direct")
    assert float(found["point_estimate"]["cost"]) == actual_cost(rule, score, label=label)
