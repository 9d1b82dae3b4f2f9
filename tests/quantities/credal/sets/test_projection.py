import numpy as np
import pytest
from scipy.optimize import minimize

from bayescal.quantities.credal.sets.projection import FLOOR, divergence, project
from tests.quantities.credal.made import random_bounds


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


def test_no_member_found_by_a_solver_is_nearer():
    lower, upper = random_bounds(60, 4, 0)
    prob = np.random.default_rng(2).dirichlet(np.ones(4), 60)
    found = divergence(project(prob, lower, upper), prob)
    for row in range(60):
        near, bounds = prob[row], np.stack([lower[row], upper[row]], axis=1)

        def objective(p, near=near):
            inside = np.maximum(p, 1e-300)
            return (p * np.log(inside / near)).sum(), np.log(inside / near) + 1

        solved = minimize(
            objective,
            project(np.full(4, 0.25), *bounds.T),
            jac=True,
            bounds=bounds,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 300},
        )
        # SLSQP's own accuracy, and that of its constraint.
        assert solved.fun == pytest.approx(found[row], abs=1e-7)
        assert found[row] <= solved.fun + 1e-9


def test_members_stay_where_they_are_and_empty_room_leaves_one_answer():
    lower, upper = random_bounds(300, 5, 3)
    member = project(np.full((300, 5), 0.2), lower, upper)
    np.testing.assert_allclose(project(member, lower, upper), member, atol=1e-11)
    exact = np.array([0.25, 0.5, 0.25])
    prob = np.array([0.1, 0.1, 0.8])
    assert np.array_equal(project(prob, exact, np.ones(3)), exact)
    assert np.array_equal(project(prob, np.zeros(3), exact), exact)


def test_all_bounds_from_zero_to_one_return_the_probabilities():
    prob = np.random.default_rng(4).dirichlet(np.ones(6), 50)
    np.testing.assert_allclose(project(prob, np.zeros((50, 6)), np.ones((50, 6))), prob, rtol=1e-14)


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
