"""The best rule against every rule there is."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.decisions import Action, bayes_rule, best_rule, estimated_cost

costs = st.tuples(st.integers(0, 6), st.integers(0, 6))


@pytest.mark.slow
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


@pytest.mark.slow
def test_set_up_costs_against_every_assignment():
    rng = np.random.default_rng(20)
    for _ in range(60):
        # Costs with fractions, so that no two actions are equal.
        actions = {str(k): Action(*rng.uniform(0, 4, 2), setup=rng.uniform(0, 2)) for k in range(3)}
        score = rng.random(5)
        rule = best_rule(actions, score)
        total = 5 * estimated_cost(rule, score) + rule.setup
        assert total == pytest.approx(every_assignment(actions, score))


def test_without_set_up_it_is_the_bayes_rule():
    actions = {"keep": (5, 0), "review": (1, 1), "remove": (0, 3)}
    score = np.linspace(0, 1, 50)
    assert best_rule(actions, score).thresholds == bayes_rule(actions).thresholds


def test_too_many_actions():
    with pytest.raises(InputError, match="15 actions at most"):
        best_rule({str(k): (k, 20 - k) for k in range(16)}, [0.5])


def test_scores_are_a_column():
    with pytest.raises(InputError, match="score must be a column of values, or rows of one length"):
        best_rule({"keep": (5, 0)}, [[0.5], [0.1, 0.2]])
