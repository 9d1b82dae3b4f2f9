"""The variational Gaussian against a minimiser of the Kullback-Leibler divergence itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import binom, norm

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.inference.direct import laplace_evidence, laplace_gaussian, variational_gaussian
from tests.regressions import binomial_regression


def regression(cells, basis, rows, seed=0):
    """Random problem with about `rows` rows a cell."""
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(cells, basis))
    offset = rng.normal(size=cells)
    count = rng.poisson(rows, cells)
    positives = rng.binomial(count, expit(offset + design @ rng.normal(size=basis)))
    return binomial_regression(offset, design, count, positives)


def log_posterior(problem, coef):
    return problem.log_likelihood(coef) - (coef**2).sum(axis=-1) / 2


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)


def divergence_1d(problem, mean, sd):
    """KL from Normal(mean, sd) to the posterior, but for a constant, by fine quadrature."""
    inner = log_posterior(problem, mean + sd * NODES[:, None])
    return -np.log(sd) - WEIGHTS @ inner / WEIGHTS.sum()


@pytest.mark.parametrize(
    ("count", "positives"),
    [([7], [7]), ([1], [0]), ([3, 40, 2], [3, 11, 0]), ([400, 900, 50], [10, 200, 45]), ([0], [0])],
)
def test_one_dimension(count, positives):
    cells = len(count)
    problem = binomial_regression(
        np.linspace(-1, 2, cells),
        np.linspace(0.7, 1.8, cells)[:, None],
        np.array(count),
        np.array(positives),
    )
    best = minimize(
        lambda at: divergence_1d(problem, at[0], np.exp(at[1])),
        [0.0, -0.5],
        method="Nelder-Mead",
        options={"xatol": 1e-6, "fatol": 1e-12},
    )
    found = variational_gaussian(problem)
    sd = np.exp(best.x[1])
    # Newton's method stops when a step is below a thousandth of a standard deviation.
    assert found.mean[0] == pytest.approx(best.x[0], abs=2e-3 * sd)
    assert found.root[0, 0] == pytest.approx(sd, rel=2e-3)


def test_thirty_dimensions_solve_the_equations_of_the_minimum():
    problem = regression(cells=100, basis=30, rows=20, seed=4)
    found = variational_gaussian(problem)
    covariance = found.root @ found.root.T
    spread = np.sqrt(np.einsum("ij,jk,ik->i", problem.design, covariance, problem.design))
    draws = problem.logit(found.mean) + spread * norm.ppf((np.arange(4000)[:, None] + 0.5) / 4000)
    p = expit(draws)
    gradient = (
        problem.design.T @ (problem.cells.positives - problem.cells.count * p.mean(0)) - found.mean
    )
    weight = problem.cells.count * (p * (1 - p)).mean(0)
    precision = np.eye(30) + (problem.design.T * weight) @ problem.design
    # In units of the posterior's standard deviation.
    assert np.linalg.norm(found.root.T @ gradient) < 5e-3
    np.testing.assert_allclose(found.root.T @ precision @ found.root, np.eye(30), atol=5e-3)


def test_the_root_is_upper_triangular():
    root = variational_gaussian(regression(20, 6, 10)).root
    np.testing.assert_array_equal(root, np.triu(root))
    assert (np.diag(root) > 0).all()


def test_without_rows_the_posterior_is_the_prior():
    problem = regression(cells=8, basis=3, rows=0)
    found = variational_gaussian(problem)
    np.testing.assert_allclose(found.mean, 0, atol=1e-12)
    np.testing.assert_allclose(found.root, np.eye(3), atol=1e-12)


def test_with_many_rows_it_is_the_law_of_large_numbers():
    problem = binomial_regression(
        np.array([0.4]), np.array([[1.0]]), np.array([10**8]), np.array([3 * 10**7])
    )
    found = variational_gaussian(problem)
    sd = 1 / np.sqrt(10**8 * 0.3 * 0.7)
    assert found.mean[0] == pytest.approx(logit(0.3) - 0.4, abs=0.01 * sd)
    assert found.root[0, 0] == pytest.approx(sd, rel=1e-3)


@pytest.mark.slow
@given(st.integers(1, 6), st.integers(1, 4), st.sampled_from([0.5, 5, 500]), st.integers(0, 10**6))
def test_naming_the_other_label_mirrors_the_answer(cells, basis, rows, seed):
    problem = regression(cells, basis, rows, seed)
    mirrored = binomial_regression(
        -problem.offset,
        problem.design,
        problem.cells.count,
        problem.cells.count - problem.cells.positives,
    )
    found, other = variational_gaussian(problem), variational_gaussian(mirrored)
    np.testing.assert_allclose(other.mean, -found.mean, atol=1e-6)
    np.testing.assert_allclose(other.root, found.root, atol=1e-6)


def test_labels_against_the_strongest_scores_are_no_obstacle():
    problem = binomial_regression(
        np.array([-20.7, 20.7]),
        np.array([[1.0, -20.7], [1.0, 20.7]]) * 0.7,
        np.array([10**6, 10**6]),
        np.array([10**6, 0]),
    )
    found = variational_gaussian(problem)
    # The prior pulls the slope, 1 + 0.7 coef, up from where every label is right.
    assert 1 + 0.7 * found.mean[1] < -0.3
    assert np.isfinite(found.root).all()


def test_the_likelihood_is_binomial():
    problem = regression(cells=9, basis=2, rows=12, seed=7)
    coef = np.random.default_rng(1).normal(size=(4, 3, 2))
    expected = binom.logpmf(
        problem.cells.positives,
        problem.cells.count,
        expit(problem.offset + coef @ problem.design.T),
    ).sum(axis=-1)
    constant = log_binomial_coefficient(problem.cells.count, problem.cells.positives).sum()
    np.testing.assert_allclose(problem.log_likelihood(coef) + constant, expected, rtol=1e-10)


def test_the_likelihood_stays_finite_far_out():
    problem = binomial_regression(np.array([0.0]), np.array([[1.0]]), np.array([5]), np.array([2]))
    np.testing.assert_allclose(
        problem.log_likelihood(np.array([[800.0], [-800.0]])), [-2400, -1600]
    )


HARD = {
    "random": [(40, 20), (8, 5), (300, 20)],
    "separable": [(10**4, 10**4), (10**4, 0), (3, 3)],
    "very many rows": [(10**8, 3 * 10**7), (10**8, 10**8 - 3), (10**8, 2)],
    "rare": [(10**6, 1), (2, 0), (1, 1)],
}


def stack(name):
    """Regressions that share their offsets, and those one by one."""
    rng = np.random.default_rng(9)
    design = rng.normal(size=(4, 3, 5)) * np.array([0.01, 0.3, 1.0, 8.0])[:, None, None]
    offset = np.array([-2.0, 0.5, 7.0])
    count, positives = np.array(HARD[name]).T * np.array([1, 1, 1])
    shares = np.array([1.0, 0.5, 0.3, 0.1])[:, None, None]
    rows, events = np.ceil(shares * count), np.ceil(shares * positives)
    one_by_one = [
        binomial_regression(offset, *each)
        for each in zip(design, rows[:, 0], events[:, 0], strict=True)
    ]
    return binomial_regression(offset, design, rows, events), one_by_one


@pytest.mark.parametrize("approximate", [laplace_gaussian, variational_gaussian])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("name", HARD)
def test_each_of_a_stack_is_as_it_is_alone(name, started, approximate):
    together, one_by_one = stack(name)
    start = np.random.default_rng(3).normal(size=(4, 5)) if started else None
    found = approximate(together, start=start)
    for place, problem in enumerate(one_by_one):
        alone = approximate(problem, start=None if start is None else start[place])
        spread = np.abs(alone.root).max()
        np.testing.assert_allclose(found.mean[place], alone.mean, atol=1e-7 * spread)
        np.testing.assert_allclose(found[place].root, alone.root, atol=1e-7 * spread)
        evidence = laplace_evidence(problem, alone)
        np.testing.assert_allclose(laplace_evidence(together, found)[place], evidence, rtol=1e-12)


def test_a_stack_may_share_its_design_and_have_axes_of_its_own():
    problem = regression(cells=7, basis=3, rows=30)
    shares = np.linspace(0.1, 1, 6).reshape(2, 3, 1, 1)
    together = binomial_regression(
        problem.offset,
        problem.design,
        problem.cells.count * shares,
        problem.cells.positives * shares,
    )
    found = variational_gaussian(together, start=np.zeros((2, 3, 3)))
    alone = variational_gaussian(
        binomial_regression(
            problem.offset,
            problem.design,
            problem.cells.count * shares[1, 0, 0, 0],
            problem.cells.positives * shares[1, 0, 0, 0],
        )
    )
    np.testing.assert_allclose(found[1, 0].mean, alone.mean, atol=1e-9)
    np.testing.assert_allclose(found[1, 0].root, alone.root, atol=1e-9)
    assert found.log_volume[1, 0] == pytest.approx(np.linalg.slogdet(alone.root)[1])


def test_a_step_that_overshoots_is_halved():
    # From far out, where the expected information is next to nothing, a full step goes too far.
    problem = binomial_regression(
        np.zeros(1), 30 * np.ones((1, 1)), np.array([1000]), np.array([500])
    )
    mode = laplace_gaussian(problem, start=np.array([1.0])).mean[0]
    assert mode == pytest.approx(0, abs=0.1 * (1 + 30**2 * 250) ** -0.5)
