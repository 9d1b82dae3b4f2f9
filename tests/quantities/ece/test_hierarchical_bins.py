"""Hierarchical bins against quadrature over kappa, and over kappa and a rate together."""

import arviz as az
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta, betabinom, binom, kstest, lognorm, norm

import bayescal as bc
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.inference.sampler import compile_model
from bayescal.quantities.ece.model import CELLS, EDGE, Hierarchical, model_of
from bayescal.quantities.ece.priors import HierarchicalBins
from tests.quantities.ece.made import of_counts, on_grid, one_cell, problem, quantiles_on

COUNT, POSITIVES = np.array([12, 0, 40, 7]), np.array([1, 0, 22, 7])
# The second bin is empty; its score is its midpoint.
SCORE = np.array([0.1, 0.375, 0.6, 0.9])
MADE = of_counts(COUNT, POSITIVES, SCORE)
PRIOR = bc.LogNormal(3.4, 1.5)


def rates_of(made=MADE, prior=PRIOR):
    return Hierarchical(made, HierarchicalBins(prior))


def log_likelihood(made, kappa):
    """Log probability of the counts given each kappa, coefficients included."""
    cells, kappa = made.cells, kappa[:, None]
    score = np.clip(cells.mean_score, EDGE, 1 - EDGE)
    law = betabinom(cells.count, kappa * score, kappa * (1 - score))
    return law.logpmf(cells.positives).sum(axis=1)


def log_prior(grid, prior=PRIOR):
    """Log density of log kappa."""
    return norm(prior.mu, prior.sigma).logpdf(grid)


def posterior_of_log_kappa(made, prior=PRIOR, low=-8.0, high=20.0):
    """Grid of log kappa, weights on it, and the log evidence."""
    grid = np.linspace(low, high, 8001)
    return grid, *on_grid(log_likelihood(made, np.exp(grid)) + log_prior(grid, prior), grid)


def test_evidence_is_the_integral_over_kappa_and_every_rate():
    """One bin, so that the integral over kappa and the rate can be done as it stands."""
    made = one_cell(9, 7, 0.4)
    log_kappa, logit_rate = np.linspace(-4, 11, 601)[:, None], np.linspace(-14, 14, 2801)
    kappa, rate = np.exp(log_kappa), expit(logit_rate)
    log_density = (
        log_prior(log_kappa)
        + beta.logpdf(rate, 0.4 * kappa, 0.6 * kappa)
        + np.log(rate * (1 - rate))
        + binom.logpmf(7, 9, rate)
    )
    area = (15 / 600) * (28 / 2800)
    choose = log_binomial_coefficient(np.array([9]), np.array([7])).sum()
    found = rates_of(made).direct_draws(10, np.random.default_rng(0)).log_evidence
    assert found + choose == pytest.approx(np.log(np.exp(log_density).sum() * area), abs=1e-5)


@pytest.mark.parametrize("sigma", [1e-9, 1e-6, 1e-3])
def test_a_kappa_that_is_all_but_known_has_the_evidence_of_that_kappa(sigma):
    prior = bc.LogNormal(3.4, sigma)
    choose = log_binomial_coefficient(COUNT, POSITIVES).sum()
    found = rates_of(prior=prior).direct_draws(1000, np.random.default_rng(0))
    expected = log_likelihood(MADE, np.exp([3.4]))[0] - choose
    # A standard deviation of sigma moves it by some sigma squared.
    assert found.log_evidence == pytest.approx(expected, abs=1e-5)
    standard = (np.log(found.draws["concentration"]) - 3.4) / sigma
    assert np.std(standard) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("sigma", [30, 300, 3000])
def test_a_kappa_of_which_nothing_is_known_has_its_evidence_and_rates(sigma):
    prior = bc.LogNormal(3.4, sigma)
    _, _, evidence = posterior_of_log_kappa(MADE, prior, -30.0, 20.0)
    # Above the grid rates are the scores.
    above = binom.logpmf(POSITIVES, COUNT, SCORE).sum() + norm.logsf((20 - 3.4) / sigma)
    choose = log_binomial_coefficient(COUNT, POSITIVES).sum()
    rates = rates_of(prior=prior)
    found = rates.direct_draws(100, np.random.default_rng(0))
    assert found.log_evidence + choose == pytest.approx(np.logaddexp(evidence, above), abs=1e-3)
    drawn = rates.cell_rates(found.draws, np.random.default_rng(0))
    before = rates.prior_rates(1000, np.random.default_rng(0))
    assert all(((each >= 0) & (each <= 1)).all() for each in (drawn, before))


@pytest.mark.parametrize(
    "made",
    [
        MADE,
        problem(n=300, n_bins=10, fine=False),
        problem("calibrated", n=1_000_000, n_bins=15, fine=False),
        problem("far_over", n=100_000, n_bins=15, fine=False),
        of_counts([50, 50], [50, 0], [0.0, 1.0]),
        of_counts([50, 50], [0, 50], [0.0, 1.0]),
    ],
    ids=["small", "moderate", "calibrated million", "miscalibrated", "all wrong", "all right"],
)
def test_kappa_and_evidence_against_quadrature(made):
    grid, weights, evidence = posterior_of_log_kappa(made)
    direct = rates_of(made).direct_draws(4000, np.random.default_rng(2))
    choose = log_binomial_coefficient(made.cells.count, made.cells.positives).sum()
    assert direct.log_evidence + choose == pytest.approx(evidence, abs=1e-4)
    log_kappa = np.log(direct.draws["concentration"])
    for level in (0.05, 0.5, 0.95):
        # Systematic draws have next to no error of their own; a step of the grid has.
        share = (log_kappa <= quantiles_on(grid, weights, [level])[0]).mean()
        assert share == pytest.approx(level, abs=0.006)
    assert direct.ess == 4000


@pytest.mark.parametrize(
    "prior", [bc.LogNormal(3, 0.01), bc.LogNormal(10, 0.1), bc.LogNormal(0, 5)]
)
def test_priors_far_from_the_data_and_very_wide_ones(prior):
    made = problem("far_over", n=10_000, n_bins=10, fine=False)
    grid, weights, evidence = posterior_of_log_kappa(made, prior)
    direct = rates_of(made, prior).direct_draws(4000, np.random.default_rng(2))
    choose = log_binomial_coefficient(made.cells.count, made.cells.positives).sum()
    found = np.quantile(np.log(direct.draws["concentration"]), [0.05, 0.5, 0.95])
    step = grid[1] - grid[0]
    np.testing.assert_allclose(found, quantiles_on(grid, weights, [0.05, 0.5, 0.95]), atol=2 * step)
    assert direct.log_evidence + choose == pytest.approx(evidence, abs=0.05)


def test_rates_are_conjugate_given_kappa():
    kappa = np.full((1, 20_000), 8.0)
    rates = rates_of().cell_rates({"concentration": kappa}, np.random.default_rng(6))
    assert rates.shape == (1, 20_000, 4)
    for place in range(4):
        law = beta(
            8 * SCORE[place] + POSITIVES[place],
            8 * (1 - SCORE[place]) + COUNT[place] - POSITIVES[place],
        )
        assert kstest(rates[0, :, place], law.cdf).pvalue > 1e-4


def test_a_small_beta_survives_beside_large_counts():
    """All of 1e8 rows are events at a score of 1: beta is 2e-6, of which rounding leaves little."""
    made = one_cell(10**8, 10**8, 1.0)
    rates = rates_of(made).cell_rates(
        {"concentration": np.full((1, 200_000), 2.0)}, np.random.default_rng(1)
    )
    # Beta(1e8 + 2, 2e-6) is 1 but for a probability of some 4e-5.
    assert (rates < 1).mean() == pytest.approx(4e-5, abs=6e-5)


def test_with_no_imagined_rows_at_all_a_bin_is_all_or_nothing():
    """As kappa goes to 0 a bin of events has the probability f, and one without has 1 - f."""
    made = of_counts([5, 5], [5, 0], [0.3, 0.6])
    direct = rates_of(made, bc.LogNormal(-60, 0.1)).direct_draws(10, np.random.default_rng(0))
    assert direct.log_evidence == pytest.approx(np.log(0.3 * 0.4), abs=1e-9)


@pytest.mark.mcmc
def test_nuts_agrees_with_quadrature():
    """Mean, 5% and 95% of log kappa and of a rate within 3.5 Monte Carlo errors."""
    made = problem(n=300, n_bins=10, fine=False)
    family = rates_of(made)
    sampled = compile_model(model_of(made, family)).sample(family.inputs(), seed=3)
    assert set(sampled.posterior) == {"concentration"}
    assert sampled.sample_stats["diverging"].sum() == 0
    grid, weights, _ = posterior_of_log_kappa(made)
    draws = np.log(sampled.posterior["concentration"])
    assert abs(draws.mean() - grid @ weights) < 3.5 * az.mcse(draws, method="mean")
    for level in (0.05, 0.95):
        error = az.mcse(draws, method="quantile", prob=level)
        expected = quantiles_on(grid, weights, [level])[0]
        assert abs(np.quantile(draws, level) - expected) < 3.5 * error

    rates = family.cell_rates(sampled.posterior, np.random.default_rng(0))[..., 2]
    kappa, score = np.exp(grid), made.cells.mean_score[2]
    k, n = made.cells.positives[2], made.cells.count[2]
    means = (kappa * score + k) / (kappa + n)
    assert abs(rates.mean() - means @ weights) < 3.5 * az.mcse(rates, method="mean")


def test_prior_rates_scatter_about_the_scores():
    rates = rates_of().prior_rates(20_000, np.random.default_rng(1))
    np.testing.assert_allclose(rates.mean(axis=0), SCORE, atol=4 * 0.3 / 141)
    kappa = np.exp(PRIOR.mu + PRIOR.sigma * np.random.default_rng(2).standard_normal(200_000))
    expected = SCORE * (1 - SCORE) * (1 / (1 + kappa)).mean()
    np.testing.assert_allclose(rates.var(axis=0), expected, rtol=0.1)


def test_log_prior_is_log_normal():
    kappa = np.array([[0.3, 2.0, 5000.0]])
    expected = lognorm(PRIOR.sigma, scale=np.exp(PRIOR.mu)).logpdf(kappa)
    found = rates_of().log_prior({"concentration": kappa})["concentration"]
    np.testing.assert_allclose(found, expected)


def test_padding_and_the_ends_have_scores_with_a_density():
    family = rates_of(of_counts([5, 5], [0, 5], [0.0, 1.0]))
    score = family.inputs()["score"]
    assert score.shape == (CELLS,)
    assert score.min() >= EDGE
    assert score.max() <= 1 - EDGE
