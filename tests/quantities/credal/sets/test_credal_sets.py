import numpy as np
import pytest
from scipy.optimize import linprog

from bayescal.quantities.credal.sets.credal_sets import expectation, probability, reachable
from tests.quantities.credal.made import random_bounds


def extremes(weights, lower, upper):
    """Least and largest sum of weights times probabilities, by HiGHS."""
    k = len(lower)
    bounds = np.stack([lower, upper], axis=1)
    found = [
        linprog(sign * weights, A_eq=np.ones((1, k)), b_eq=[1], bounds=bounds) for sign in (1, -1)
    ]
    return found[0].fun, -found[1].fun


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_events_and_costs_are_bounded_as_a_linear_programme_bounds_them(n_classes):
    lower, upper = random_bounds(40, n_classes, n_classes)
    rng = np.random.default_rng(1)
    event = np.arange(n_classes) % 2 == 0
    cost = rng.normal(size=(3, n_classes))
    of_event, of_cost = probability(event, lower, upper), expectation(cost, lower, upper)
    assert of_cost.lower.shape == (40, 3)
    for row in range(40):
        expected = extremes(event.astype(float), lower[row], upper[row])
        # HiGHS keeps constraints to 1e-7; its vertices are exact to rounding.
        np.testing.assert_allclose([end[row] for end in of_event], expected, atol=1e-9)
        for action in range(3):
            expected = extremes(cost[action], lower[row], upper[row])
            found = [end[row, action] for end in of_cost]
            np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.slow
def test_reachable_bounds_are_the_extremes_of_each_class():
    lower, upper = random_bounds(40, 4, 2)
    low, high = reachable(lower, upper)
    for row in range(40):
        expected = [extremes(one, lower[row], upper[row]) for one in np.eye(4)]
        np.testing.assert_allclose(np.column_stack([low[row], high[row]]), expected, atol=1e-9)


def test_tightening_keeps_the_set_and_does_nothing_twice():
    lower, upper = random_bounds(500, 5, 3)
    once = reachable(lower, upper)
    assert (once.lower >= lower).all()
    assert (once.upper <= upper).all()
    np.testing.assert_allclose(reachable(*once), once, atol=1e-14)
    cost = np.random.default_rng(4).normal(size=5)
    np.testing.assert_allclose(
        expectation(cost, *once), expectation(cost, lower, upper), atol=1e-13
    )


def test_an_event_and_its_opposite_share_one():
    lower, upper = random_bounds(200, 6, 5)
    event = np.array([True, False, True, False, False, True])
    inside, outside = probability(event, lower, upper), probability(~event, lower, upper)
    np.testing.assert_allclose(inside.lower + outside.upper, 1, atol=1e-14)
    sure = probability(np.ones(6, bool), lower, upper)
    np.testing.assert_allclose(sure, 1, atol=1e-14)


def test_all_bounds_from_zero_to_one_say_nothing():
    low, high = np.zeros((2, 3)), np.ones((2, 3))
    assert np.array_equal(reachable(low, high), (low, high))
    least, largest = expectation([1.0, 5.0, 2.0], low, high)
    assert least.tolist() == [1, 1]
    assert largest.tolist() == [5, 5]


def test_a_set_with_one_member_gives_its_expectation():
    p = np.array([0.25, 0.25, 0.5])
    for bounds in ((p, np.ones(3)), (np.zeros(3), p), (p, p)):
        least, largest = expectation([1, 2, 3], *bounds)
        assert least == largest == 2.25
