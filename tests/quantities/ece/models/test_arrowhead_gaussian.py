"""The arrow Gaussian against the dense one on the same regression, written out in full."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.inference.direct import variational_gaussian
from bayescal.quantities.ece.models.arrowhead_gaussian import GroupedRegression, arrow_gaussian
from tests.regressions import binomial_regression


def regression(groups=3, cells=8, basis=4, rows=15, seed=0):
    rng = np.random.default_rng(seed)
    offset = rng.normal(size=(groups, cells))
    design = rng.normal(size=(groups, cells, basis))
    count = rng.poisson(rows, (groups, cells))
    coef = rng.normal(size=basis) + 0.5 * rng.normal(size=(groups, basis))
    p = expit(offset + np.einsum("gcb,gb->gc", design, coef))
    return GroupedRegression(offset, design, count, rng.binomial(count, p))


def dense(problem, scale):
    """Common coefficients first, then each group's deviations in units of their scale."""
    groups, cells, basis = problem.design.shape
    columns = np.zeros((groups, cells, (groups + 1) * basis))
    columns[..., :basis] = problem.design
    for group in range(groups):
        own = slice((group + 1) * basis, (group + 2) * basis)
        columns[group, :, own] = problem.design[group] * scale
    flat = columns.reshape(groups * cells, -1)
    found = variational_gaussian(
        binomial_regression(
            problem.offset.ravel(), flat, problem.count.ravel(), problem.positives.ravel()
        )
    )
    unit = np.concatenate([np.ones(basis), np.tile(scale, groups)])
    covariance = found.root @ found.root.T * np.outer(unit, unit)
    spread = np.sqrt(((flat @ found.root) ** 2).sum(axis=1)).reshape(groups, cells)
    return found.mean * unit, covariance, spread


def moments(found):
    """Mean and covariance of common coefficients and deviations, from how they are drawn."""
    groups, basis = found.group_centre.shape
    size = (groups + 1) * basis
    root = np.zeros((size, size))
    root[:basis, :basis] = found.root
    for group in range(groups):
        own = slice((group + 1) * basis, (group + 2) * basis)
        root[own, :basis] = -found.link[group] @ found.root
        root[own, own] = found.group_root[group]
    return np.concatenate([found.centre, found.group_centre.ravel()]), root @ root.T


SCALE = np.array([0.4, 0.4, 0.5, 0.1])
PROBLEMS = {
    "some rows": (regression(), SCALE),
    "few rows": (regression(rows=1, seed=1), SCALE),
    "many rows": (regression(rows=100_000, seed=2), SCALE),
    "one group": (regression(groups=1, seed=3), SCALE),
    "loose": (regression(groups=5, basis=2, seed=4), np.array([3.0, 5.0])),
    "tight": (regression(groups=5, basis=2, seed=5), np.array([0.01, 0.02])),
}


@pytest.mark.parametrize(("problem", "scale"), PROBLEMS.values(), ids=PROBLEMS)
def test_mean_covariance_and_spread_are_the_dense_ones(problem, scale):
    mean, covariance, spread = dense(problem, scale)
    found = arrow_gaussian(problem, scale)
    ours, our_covariance = moments(found)
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose((ours - mean) / sd, 0, atol=1e-3)
    np.testing.assert_allclose((our_covariance - covariance) / np.outer(sd, sd), 0, atol=1e-3)
    np.testing.assert_allclose(found.spread(problem.design), spread, rtol=1e-3)


def test_roots_are_upper_triangular():
    found = arrow_gaussian(regression(), SCALE)
    np.testing.assert_array_equal(found.root, np.triu(found.root))
    np.testing.assert_array_equal(found.group_root, np.triu(found.group_root))
    assert (np.diagonal(found.group_root, axis1=1, axis2=2) > 0).all()


def test_a_group_without_rows_keeps_its_prior():
    problem = regression(seed=6)
    count, positives = problem.count.copy(), problem.positives.copy()
    count[1] = positives[1] = 0
    found = arrow_gaussian(
        GroupedRegression(problem.offset, problem.design, count, positives), SCALE
    )
    np.testing.assert_allclose(found.group_centre[1], 0, atol=1e-12)
    np.testing.assert_allclose(found.group_root[1], np.diag(SCALE), atol=1e-12)
    np.testing.assert_allclose(found.link[1], 0, atol=1e-12)


def test_a_group_of_a_million_rows_a_cell_and_small_ones():
    problem = regression(groups=3, cells=10, basis=3, seed=7)
    count = problem.count.copy()
    count[0] = 10**6
    p = expit(problem.logit(np.array([1.0, -2.0, 0.5]), np.zeros((3, 3))))
    positives = np.where(np.arange(3)[:, None] == 0, np.round(count * p), problem.positives)
    wide = GroupedRegression(problem.offset, problem.design, count, positives.astype(int))
    mean, covariance, _ = dense(wide, SCALE[:3])
    ours, our_covariance = moments(arrow_gaussian(wide, SCALE[:3]))
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose((ours - mean) / sd, 0, atol=1e-3)
    np.testing.assert_allclose((our_covariance - covariance) / np.outer(sd, sd), 0, atol=1e-3)


def test_labels_against_the_strongest_scores_are_no_obstacle():
    offset = np.array([[-20.7, 20.7], [-3.0, 3.0]])
    design = 0.7 * np.stack([np.ones((2, 2)), offset], axis=-1)
    count = np.array([[10**6, 10**6], [5, 5]])
    positives = np.array([[10**6, 0], [1, 4]])
    found = arrow_gaussian(
        GroupedRegression(offset, design, count, positives), np.array([0.4, 0.4])
    )
    assert all(np.isfinite(part).all() for part in (found.centre, found.root, found.group_root))
    assert 1 + 0.7 * (found.centre + found.group_centre[0])[1] < 0


def test_the_likelihood_is_binomial():
    problem = regression(seed=8)
    rng = np.random.default_rng(1)
    common, own = rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 5, 3, 4))
    eta = problem.offset + np.einsum("gcb,...gb->...gc", problem.design, common[..., None, :] + own)
    np.testing.assert_allclose(problem.logit(common, own), eta, rtol=1e-12)
    expected = binom.logpmf(problem.positives, problem.count, expit(eta)).sum(axis=(-2, -1))
    constant = log_binomial_coefficient(problem.count, problem.positives).sum()
    np.testing.assert_allclose(problem.log_likelihood(common, own) + constant, expected, rtol=1e-10)
