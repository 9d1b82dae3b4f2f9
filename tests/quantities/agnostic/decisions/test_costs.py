"""Costs row by row, Claim 1, Eq. (2), and the bound from labelled to unlabelled rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.decisions import (
    DecisionRule,
    actual_cost,
    cost_bound,
    estimated_cost,
    expected_cost,
)
from bayescal.quantities.agnostic.intervals import interval_measure

RULE = DecisionRule(
    {"keep": (5, 0), "review": (1, 1.5), "remove": (0, 3)},
    {"keep": (0, 0.2), "review": (0.2, 0.6), "remove": (0.6, 1)},
)


def row_by_row(score, chance):
    total = 0.0
    for f, p in zip(score, chance, strict=True):
        a, b = (5, 0) if f <= 0.2 else (1, 1.5) if f <= 0.6 else (0, 3)
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


@pytest.mark.slow
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
        (lambda: estimated_cost(RULE, [1.2]), "lie in"),
        (lambda: expected_cost(RULE, [0.2], probability=[0.2, 0.3]), "same length"),
        (lambda: actual_cost(RULE, [0.2], label=[2]), "label must be"),
        (lambda: cost_bound(RULE, 1.2, 10, 10), "c_emp must be a number in"),
        (lambda: cost_bound(RULE, 0.1, 10, 0), "n must be a whole number"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
