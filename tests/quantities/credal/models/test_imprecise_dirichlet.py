"""Walley's model: Beta bounds in closed form, and Clopper and Pearson's."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from bayescal.quantities.credal.models.imprecise_dirichlet import Imprecise
from bayescal.quantities.credal.priors import ImpreciseDirichlet
from tests.quantities.credal.made import binary, problem


def ends(n, prior, draws=20_000):
    """Problem and quantiles of the bounds of its target rows."""
    rates = Imprecise(problem(binary(n), prior), prior)
    direct = rates.direct_draws(draws, np.random.default_rng(1))
    found = rates.with_pseudo_observations(direct.draws, rates.problem.target_rank)
    lower = np.quantile(found.prob_lower[..., 0], 0.05, axis=0)
    return rates, found, lower, np.quantile(found.prob_upper[..., 0], 0.95, axis=0)


def test_one_bin_with_s_1_is_clopper_pearson():
    rates, _, lower, upper = ends(20, ImpreciseDirichlet(s=1, bins=1))
    k, n = int(rates.problem.positives[0, 0]), 20
    direct = binomtest(k, n).proportion_ci(0.9, method="exact")
    # Three standard errors of a quantile of 2e4 draws.
    np.testing.assert_allclose(lower, direct.low, atol=0.01)
    np.testing.assert_allclose(upper, direct.high, atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("s", [0.5, 2.0])
def test_bounds_are_the_ends_of_all_beta_priors(s):
    prior = ImpreciseDirichlet(s=s, bins=4)
    rates, found, lower, upper = ends(60, prior)
    cell = np.minimum((rates.problem.target_rank[:, 0] * 4).astype(int), 3)
    k = rates.problem.positives[0, cell]
    misses = rates.problem.count[0, cell] - k
    for t in (1e-9, 0.3, 1 - 1e-9):
        assert (lower <= beta.ppf(0.05, s * t + k, s * (1 - t) + misses) + 0.01).all()
        assert (upper >= beta.ppf(0.95, s * t + k, s * (1 - t) + misses) - 0.01).all()
    # Without labels the lower bound is 0, without others the upper one is 1.
    least = np.where(k > 0, beta.ppf(0.05, np.maximum(k, 1), misses + s), 0)
    most = np.where(misses > 0, beta.ppf(0.95, k + s, np.maximum(misses, 1)), 1)
    np.testing.assert_allclose(lower, least, atol=0.01)
    np.testing.assert_allclose(upper, most, atol=0.01)
    mean = (k + s / 2) / (k + misses + s)
    np.testing.assert_allclose(found.prob[..., 0].mean(axis=0), mean, atol=0.005)


def test_a_bin_without_rows_has_vacuous_bounds():
    prior = ImpreciseDirichlet(bins=10)
    rates, _, lower, upper = ends(2, prior, 1000)
    cell = np.minimum((rates.problem.target_rank[:, 0] * 10).astype(int), 9)
    empty = rates.problem.count[0, cell] == 0
    assert empty.any()
    assert (lower[empty] == 0).all()
    assert (upper[empty] == 1).all()


def test_prior_density_is_that_of_its_betas():
    prior = ImpreciseDirichlet(s=3, bins=5)
    rates = Imprecise(problem(binary(), prior), prior)
    draws = rates.prior_draws(7, np.random.default_rng(1))
    expected = beta.logpdf(draws["rate"], 1.5, 1.5).sum(axis=(1, 2))
    np.testing.assert_allclose(rates.log_prior(draws)["rate"], expected)
