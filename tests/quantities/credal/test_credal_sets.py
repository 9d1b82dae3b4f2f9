"""Credal sets against linear programmes, closed forms and the paper's examples."""

import numpy as np
import pytest
from scipy.optimize import linprog

from bayescal.core.errors import InputError
from bayescal.quantities.credal.credal_sets import (
    FLOOR,
    discount,
    divergence,
    expectation,
    imprecision,
    is_proper,
    probability,
    project,
    reachable,
)
from tests.quantities.credal.made import random_bounds


@pytest.mark.parametrize("kind", ["proper", "above", "below"])
def test_a_set_is_proper_where_a_linear_programme_finds_a_member(kind):
    lower, upper = random_bounds(60, 4, 0, kind)
    found = is_proper(lower, upper)
    for row in range(len(lower)):
        bounds = np.stack([lower[row], upper[row]], axis=1)
        member = linprog(np.zeros(4), A_eq=np.ones((1, 4)), b_eq=[1], bounds=bounds)
        assert found[row] == member.success


def test_a_sum_of_exactly_one_leaves_one_member():
    assert is_proper([0, 0, 1], [0.2, 0.3, 1])
    assert is_proper([0.1, 0.2, 0.3], [0.25, 0.25, 0.5])
    assert is_proper([0.25, 0.75], [0.25, 0.75])


def test_rounding_of_a_sum_is_no_impropriety():
    # 0.1 seven times, 0.15 twice: sums to 1 but for the last place.
    lower = np.array([0.1] * 7 + [0.15] * 2)
    assert is_proper(np.nextafter(lower, 1), np.ones(9))
    assert not is_proper(lower + 1e-11, np.ones(9))


def extremes(weights, lower, upper):
    """Least and largest sum of weights times probabilities, by HiGHS."""
    k = len(lower)
    bounds = np.stack([lower, upper], axis=1)
    found = [
        linprog(sign * weights, A_eq=np.ones((1, k)), b_eq=[1], bounds=bounds) for sign in (1, -1)
    ]
    return found[0].fun, -found[1].fun


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_events_and_costs_are_bounded_as_a_linear_programme_bounds_them(n_classes):
    lower, upper = random_bounds(40, n_classes, n_classes)
    rng = np.random.default_rng(1)
    event = np.arange(n_classes) % 2 == 0
    cost = rng.normal(size=(3, n_classes))
    cost[0] = np.sign(cost[0])
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


def test_reachable_bounds_are_the_extremes_of_each_class():
    lower, upper = random_bounds(40, 4, 2)
    low, high = reachable(lower, upper)
    for row in range(40):
        expected = [extremes(one, lower[row], upper[row]) for one in np.eye(4)]
        np.testing.assert_allclose(np.column_stack([low[row], high[row]]), expected, atol=1e-9)


def test_a_set_with_one_member_gives_its_expectation():
    p = np.array([0.25, 0.25, 0.5])
    for bounds in ((p, np.ones(3)), (np.zeros(3), p), (p, p)):
        least, largest = expectation([1, 2, 3], *bounds)
        assert least == largest == 2.25


def programme(lower, upper, kind):
    """Least sum of discounts by HiGHS, as (8) is written, and (9) of bounds below."""
    k, sign = len(lower), 1 if kind == "above" else -1
    kept, moved = (upper, lower)[::sign]
    others = np.ones((k, k)) - np.eye(k)
    # upper_k + sum_{j != k} (lower_j - delta_j) <= 1, lower_k + sum (upper_j + epsilon_j) >= 1
    found = linprog(
        np.ones(k),
        A_ub=-others,
        b_ub=sign * (1 - kept - others @ moved),
        bounds=np.stack([np.zeros(k), lower if kind == "above" else 1 - upper], axis=1),
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize("kind", ["above", "below"])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 10, 50])
def test_bounds_are_discounted_as_little_as_the_solver_finds(n_classes, kind):
    bounds = random_bounds(60, n_classes, n_classes, kind)
    moved, kept = (0, 1) if kind == "above" else (1, 0)
    found = discount(*bounds)
    assert np.array_equal(found[kept], bounds[kept])
    expected = [programme(*row, kind) for row in zip(*bounds, strict=True)]
    by = np.abs(found[moved] - bounds[moved]).sum(axis=1)
    np.testing.assert_allclose(by, expected, atol=1e-12, rtol=0)


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
    expected = programme(lower, upper, "above")
    assert expected > 0.2
    np.testing.assert_allclose((lower - new).sum(), expected, atol=1e-12, rtol=0)
    np.testing.assert_allclose(reachable(new, same), (new, same), atol=1e-14)


@pytest.mark.parametrize(("lower", "upper"), AT_ONE)
def test_sets_whose_upper_bounds_sum_to_one_are_too(lower, upper):
    # Of the other two classes together, halved: upper bounds sum to 1 where lower ones did.
    lower, upper = ((1 - np.array(bound)[::-1]) / 2 for bound in (upper, lower))
    np.testing.assert_array_equal(discount(lower, upper), (lower, upper))
    same, new = discount(lower, upper, relation=">=")
    np.testing.assert_array_equal(same, lower)
    expected = programme(lower, upper, "below")
    assert expected > 0.1
    np.testing.assert_allclose((new - upper).sum(), expected, atol=1e-12, rtol=0)


def test_where_the_optimum_is_not_unique_each_takes_the_same_fraction_of_its_cap():
    # The widest interval decides: t = .8, sum delta = .1 + .8, caps (0, .6, .3) sum to .9.
    lower, upper = np.array([0.2, 0.6, 0.3]), np.array([1.0, 0.7, 0.5])
    new, _ = discount(lower, upper)
    np.testing.assert_allclose(lower - new, [0, 0.6, 0.3], atol=1e-15)
    # t = .5, sum delta = .2 + .5, caps (0, .5, .4): .7 of .9 of each.
    lower, upper = np.array([0.3, 0.5, 0.4]), np.array([0.8, 0.5, 0.4])
    new, _ = discount(lower, upper)
    np.testing.assert_allclose(lower - new, np.array([0, 0.5, 0.4]) * 7 / 9, atol=1e-15)


def test_any_shape_and_discounting_twice_is_discounting_once():
    lower, upper = random_bounds(24, 4, 6, "below")
    once = discount(lower.reshape(2, 12, 4), upper.reshape(2, 12, 4))
    assert once.lower.shape == (2, 12, 4)
    np.testing.assert_array_equal(once.upper.reshape(-1, 4), discount(lower, upper).upper)
    assert np.array_equal(discount(*once), once)


def kkt_residual(p, prob, lower, upper):
    """Largest violation of: p = clip(c prob, lower, upper) for one c, and sum 1."""
    near = np.maximum(prob, FLOOR)
    with np.errstate(invalid="ignore"):
        least, most = (p / near).copy(), (p / near).copy()
    # At its lower bound a class allows any c below p / prob, at its upper one any above.
    least[p <= lower] = 0
    most[p >= upper] = np.inf
    c = least.max(axis=1, keepdims=True)
    c = np.where(c > 0, c, np.minimum(most.min(axis=1, keepdims=True), 1e300))
    stationary = np.abs(p - np.clip(c * near, lower, upper)).max()
    return max(stationary, np.abs(p.sum(axis=1) - 1).max(), (lower - p).max(), (p - upper).max())


@pytest.mark.parametrize("n_classes", [2, 3, 10, 50])
def test_the_conditions_of_the_optimum_hold_to_rounding(n_classes):
    lower, upper = random_bounds(2000, n_classes, n_classes)
    prob = np.random.default_rng(1).dirichlet(np.full(n_classes, 0.3), 2000)
    p = project(prob, lower, upper)
    assert kkt_residual(p, prob, lower, upper) <= 1e-12


def test_members_stay_where_they_are_and_empty_room_leaves_one_answer():
    lower, upper = random_bounds(300, 5, 3)
    member = project(np.full((300, 5), 0.2), lower, upper)
    np.testing.assert_allclose(project(member, lower, upper), member, atol=1e-11)
    exact = np.array([0.25, 0.5, 0.25])
    prob = np.array([0.1, 0.1, 0.8])
    assert np.array_equal(project(prob, exact, np.ones(3)), exact)
    assert np.array_equal(project(prob, np.zeros(3), exact), exact)


def test_zeros_of_the_classifier_are_floored():
    # The first class may have .6; the rest falls on classes of probability 0, in equal parts.
    p = project([1, 0, 0], [0, 0, 0], [0.6, 1, 1])
    np.testing.assert_allclose(p, [0.6, 0.2, 0.2], atol=1e-15)
    assert np.isfinite(divergence(p, [1, 0, 0]))
    np.testing.assert_allclose(project([0, 0], [0, 0.7], [1, 1]), [0.3, 0.7], atol=1e-15)


def test_a_factor_changes_nothing_and_blocks_do_not_show():
    lower, upper = random_bounds(10_000, 3, 5)
    prob = np.random.default_rng(6).dirichlet(np.ones(3), 10_000)
    found = project(prob, lower, upper)
    np.testing.assert_allclose(project(prob / 2, lower, upper), found, atol=1e-15)
    alone = np.concatenate(
        [project(*(a[i : i + 1] for a in (prob, lower, upper))) for i in range(0, 10_000, 500)]
    )
    assert np.array_equal(alone, found[::500])


def test_the_divergence_is_that_of_its_definition():
    rng = np.random.default_rng(7)
    p, q = rng.dirichlet(np.ones(4), (2, 10))
    np.testing.assert_allclose(divergence(p, q), (p * np.log(p / q)).sum(axis=1), rtol=1e-13)
    assert divergence([1, 0], [0.25, 0.75]) == pytest.approx(np.log(4), rel=1e-15)
    with pytest.raises(InputError, match="prob must be of the same rows and classes as p; got"):
        divergence([1, 0], [0.2, 0.3, 0.5])


def test_nothing_known_and_everything_known():
    vacuous = imprecision(np.zeros(4), np.ones(4))
    assert vacuous.mean_width == vacuous.max_width == 1
    assert vacuous.upper_entropy == pytest.approx(np.log(4), rel=1e-14)
    single = imprecision([0.5, 0.25, 0.25], [0.5, 0.25, 0.25])
    assert single.mean_width == single.max_width == 0
    assert single.upper_entropy == pytest.approx(1.5 * np.log(2), rel=1e-14)


def test_no_member_has_a_larger_entropy():
    rng = np.random.default_rng(0)
    lower, upper = random_bounds(20, 3, 1)
    found = imprecision(lower, upper)
    members = rng.dirichlet(np.ones(3), 20_000)
    entropy = -(members * np.log(members)).sum(axis=1)
    for row in range(20):
        inside = ((members >= lower[row]) & (members <= upper[row])).all(axis=1)
        if inside.any():
            assert entropy[inside].max() <= found.upper_entropy[row] + 1e-12
