import numpy as np
import pytest
from scipy.optimize import linprog

import bayescal as bc
from bayescal.quantities.credal.sets.credal_sets import reachable
from bayescal.quantities.credal.sets.discounting import discount
from bayescal.quantities.credal.sets.intervals import is_proper
from tests.quantities.credal.made import random_bounds


def programme_of_lower_bounds(lower, upper):
    """Least sum of discounts by HiGHS, as (8) is written."""
    k = len(lower)
    others = np.ones((k, k)) - np.eye(k)
    # upper_k + sum_{j != k} (lower_j - delta_j) <= 1
    found = linprog(
        np.ones(k),
        A_ub=-others,
        b_ub=1 - upper - others @ lower,
        bounds=np.stack([np.zeros(k), lower], axis=1),
    )
    assert found.success
    return found.fun


def programme_of_upper_bounds(lower, upper):
    """Least sum of discounts by HiGHS, as (9) is written."""
    k = len(lower)
    others = np.ones((k, k)) - np.eye(k)
    # lower_k + sum_{j != k} (upper_j + epsilon_j) >= 1
    found = linprog(
        np.ones(k),
        A_ub=-others,
        b_ub=lower + others @ upper - 1,
        bounds=np.stack([np.zeros(k), 1 - upper], axis=1),
    )
    assert found.success
    return found.fun


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 4, 10, 50])
def test_lower_bounds_are_discounted_as_little_as_the_solver_finds(n_classes):
    lower, upper = random_bounds(60, n_classes, n_classes, "above")
    new, same = discount(lower, upper)
    assert np.array_equal(same, upper)
    expected = [programme_of_lower_bounds(*row) for row in zip(lower, upper, strict=True)]
    np.testing.assert_allclose((lower - new).sum(axis=1), expected, atol=1e-12, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3, 4, 10, 50])
def test_upper_bounds_are_raised_as_little_as_the_solver_finds(n_classes):
    lower, upper = random_bounds(60, n_classes, n_classes, "below")
    same, new = discount(lower, upper)
    assert np.array_equal(same, lower)
    expected = [programme_of_upper_bounds(*row) for row in zip(lower, upper, strict=True)]
    np.testing.assert_allclose((new - upper).sum(axis=1), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("kind", ["above", "below"])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_discounted_bounds_are_proper_and_reachable(kind, n_classes):
    lower, upper = random_bounds(500, n_classes, 5, kind)
    assert not is_proper(lower, upper).any()
    low, high = discount(lower, upper)
    assert (low >= 0).all()
    assert (low <= lower).all()
    assert (high >= upper).all()
    assert (high <= 1).all()
    assert is_proper(low, high).all()
    # Sums of K numbers round by some units in the last place.
    np.testing.assert_allclose(reachable(low, high), (low, high), atol=1e-14)


def test_example_1():
    # Equation (10). The paper then prints .4 for .5 - .2.
    lower, upper = np.array([0, 0.6, 0.5]), np.array([0.2, 0.7, 0.55])
    new, _ = discount(lower, upper)
    np.testing.assert_allclose(lower - new, [0, 0.15, 0.2], atol=1e-15)
    np.testing.assert_allclose(new, [0, 0.45, 0.3], atol=1e-15)


AT_ONE = [
    ([0.0, 0.0, 1.0], [0.2, 0.3, 1.0]),
    ([0.5, 0.5, 0.0], [0.5, 0.5, 0.3]),
    ([0.25, 0.25, 0.5], [0.5, 0.25, 0.75]),
]


@pytest.mark.parametrize(("lower", "upper"), AT_ONE)
def test_sets_whose_lower_bounds_sum_to_one_are_widened_by_the_printed_relation_only(lower, upper):
    lower, upper = np.array(lower), np.array(upper)
    np.testing.assert_array_equal(discount(lower, upper), (lower, upper))
    new, same = discount(lower, upper, relation=">=")
    np.testing.assert_array_equal(same, upper)
    expected = programme_of_lower_bounds(lower, upper)
    assert expected > 0.2
    np.testing.assert_allclose((lower - new).sum(), expected, atol=1e-12, rtol=0)
    np.testing.assert_allclose(reachable(new, same), (new, same), atol=1e-14)


@pytest.mark.parametrize(("lower", "upper"), AT_ONE)
def test_sets_whose_upper_bounds_sum_to_one_are_widened_by_the_printed_relation_only(lower, upper):
    # Of the other two classes together, halved: upper bounds sum to 1 where lower ones did.
    lower, upper = (1 - np.array(bound)[::-1] for bound in (upper, lower))
    lower, upper = lower / 2, upper / 2
    np.testing.assert_array_equal(discount(lower, upper), (lower, upper))
    same, new = discount(lower, upper, relation=">=")
    np.testing.assert_array_equal(same, lower)
    expected = programme_of_upper_bounds(lower, upper)
    assert expected > 0.1
    np.testing.assert_allclose((new - upper).sum(), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("relation", [">", ">="])
def test_equal_bounds_that_sum_to_one_and_sets_with_room_stay(relation):
    lower = np.array([[0.25, 0.25, 0.5], [0.1, 0.2, 0.3]])
    upper = np.array([[0.25, 0.25, 0.5], [0.4, 0.5, 0.6]])
    np.testing.assert_array_equal(discount(lower, upper, relation=relation), (lower, upper))


def test_relations_are_checked():
    with pytest.raises(bc.InputError, match="relation must be one of"):
        discount([0.0, 0.5], [0.5, 1.0], relation="<")


def test_where_the_optimum_is_not_unique_each_takes_the_same_fraction_of_its_cap():
    # The widest interval decides: t = .8, sum delta = .1 + .8, caps (0, .6, .3) sum to .9.
    lower, upper = np.array([0.2, 0.6, 0.3]), np.array([1.0, 0.7, 0.5])
    new, _ = discount(lower, upper)
    np.testing.assert_allclose(lower - new, [0, 0.6, 0.3], atol=1e-15)
    # t = .5, sum delta = .2 + .5, caps (0, .5, .4): .7 of .9 of each.
    lower, upper = np.array([0.3, 0.5, 0.4]), np.array([0.8, 0.5, 0.4])
    new, _ = discount(lower, upper)
    np.testing.assert_allclose(lower - new, np.array([0, 0.5, 0.4]) * 7 / 9, atol=1e-15)


def test_proper_sets_are_left_alone_one_by_one():
    lower = np.array([[0.1, 0.2, 0.3], [0.5, 0.6, 0.1], [0.0, 0.1, 0.1], [0.0, 0.0, 1.0]])
    upper = np.array([[0.4, 0.5, 0.6], [0.6, 0.7, 0.2], [0.2, 0.3, 0.2], [0.2, 0.3, 1.0]])
    low, high = discount(lower, upper)
    for row in (0, 3):
        assert np.array_equal(low[row], lower[row])
        assert np.array_equal(high[row], upper[row])
    assert np.array_equal(high[1], upper[1])
    assert np.array_equal(low[2], lower[2])
    assert is_proper(low, high).all()


def test_any_shape_and_discounting_twice_is_discounting_once():
    lower, upper = random_bounds(24, 4, 6, "below")
    once = discount(lower.reshape(2, 12, 4), upper.reshape(2, 12, 4))
    assert once.lower.shape == (2, 12, 4)
    np.testing.assert_array_equal(once.upper.reshape(-1, 4), discount(lower, upper).upper)
    assert np.array_equal(discount(*once), once)
