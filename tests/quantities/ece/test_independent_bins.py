"""Independent bins: conjugate, so that every number is known."""

import arviz as az
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, betabinom, binom

import bayescal as bc
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.inference.sampler import compile_model
from bayescal.quantities.ece.model import CELLS, Independent, model_of
from bayescal.quantities.ece.priors import IndependentBins
from tests.quantities.ece.made import of_counts, problem

COUNT, POSITIVES = np.array([12, 0, 40, 7]), np.array([1, 0, 22, 7])
MADE = of_counts(COUNT, POSITIVES, [0.1, 0.4, 0.6, 0.9])
PRIORS = {"flat": bc.Beta(1, 1), "jeffreys": bc.Beta(0.5, 0.5), "informative": bc.Beta(4, 16)}


def rates_of(name, made=MADE):
    return Independent(made, IndependentBins(PRIORS[name]))


def law(name, place):
    prior = PRIORS[name]
    k, n = POSITIVES[place], COUNT[place]
    return beta(prior.alpha + k, prior.beta + n - k)


@pytest.mark.parametrize("name", PRIORS)
def test_evidence_is_the_product_of_integrals(name):
    prior = PRIORS[name]
    pieces = [
        quad(lambda t, n=n, k=k: binom.pmf(k, n, t) * beta.pdf(t, prior.alpha, prior.beta), 0, 1)[0]
        for n, k in zip(COUNT, POSITIVES, strict=True)
    ]
    choose = log_binomial_coefficient(COUNT, POSITIVES).sum()
    found = rates_of(name).direct_draws(10, np.random.default_rng(0)).log_evidence
    assert found + choose == pytest.approx(np.log(pieces).sum(), rel=1e-6)
    expected = betabinom.logpmf(POSITIVES, COUNT, prior.alpha, prior.beta).sum()
    assert found + choose == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", PRIORS)
def test_draws_are_the_conjugate_posterior(name):
    draws = rates_of(name).direct_draws(20_000, np.random.default_rng(4)).draws["rate"]
    assert draws.shape == (20_000, CELLS)
    for place in range(4):
        for level in (0.05, 0.5, 0.95):
            share = (draws[:, place] <= law(name, place).ppf(level)).mean()
            assert share == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 20_000))


@pytest.mark.mcmc
def test_nuts_finds_the_conjugate_posterior():
    """One compiled model for all priors; mean, 5% and 95% within 3.5 Monte Carlo errors."""
    first = rates_of("flat")
    compiled = compile_model(model_of(MADE, first))
    for name in PRIORS:
        made = rates_of(name)
        assert made.compile_key == first.compile_key
        draws = compiled.sample(made.inputs(), seed=20, draws=1000, target_accept=0.9)
        for place in range(4):
            found, expected = draws.posterior["rate"][..., place], law(name, place)
            error = az.mcse(found, method="mean")
            assert abs(found.mean() - expected.mean()) < 3.5 * error
            for level in (0.05, 0.95):
                error = az.mcse(found, method="quantile", prob=level)
                assert abs(np.quantile(found, level) - expected.ppf(level)) < 3.5 * error


def test_prior_rates_are_beta():
    rates = rates_of("informative").prior_rates(20_000, np.random.default_rng(4))
    assert rates.shape == (20_000, 4)
    np.testing.assert_allclose(rates.mean(axis=0), 0.2, atol=4 * rates.std() / 141)
    np.testing.assert_allclose(rates.var(axis=0), beta(4, 16).var(), rtol=0.06)


@pytest.mark.parametrize("name", PRIORS)
def test_log_prior_is_beta(name):
    rate = np.random.default_rng(0).random((2, 3, CELLS))
    prior = PRIORS[name]
    expected = beta.logpdf(rate, prior.alpha, prior.beta)
    np.testing.assert_allclose(rates_of(name).log_prior({"rate": rate})["rate"], expected)


def test_log_prior_is_finite_at_the_ends():
    rate = np.array([[[0.0, 1.0, 5e-324, 1 - 1e-17]]])
    assert np.isfinite(rates_of("jeffreys").log_prior({"rate": rate})["rate"]).all()


def test_cells_of_the_padding_are_dropped():
    rate = np.random.default_rng(0).random((2, 3, CELLS))
    found = rates_of("flat").cell_rates({"rate": rate}, None)
    np.testing.assert_array_equal(found, rate[..., :4])


def test_more_bins_than_padding_double_it():
    made = problem(n=100, n_bins=17, fine=False)
    assert Independent(made, IndependentBins()).compile_key == ("independent", 32)


@pytest.mark.parametrize("closed", ["right", "left"])
def test_the_curve_is_a_step_at_each_edge(closed):
    edges = np.array([0, 0.2, 0.5, 0.5, 1])
    bins = bc.BinCounts(edges, [3, 4, 0, 5], [1, 2, 0, 3], [0.1, 0.3, 0.5, 0.8], closed)
    made = type(MADE)({}, bins, bins)
    rates = np.array([[0.1, 0.2, 0.3, 0.4]])
    score = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 0.51, 1.0])
    right = [0.1, 0.1, 0.1, 0.2, 0.2, 0.4, 0.4]
    left = [0.1, 0.1, 0.2, 0.2, 0.4, 0.4, 0.4]
    expected = right if closed == "right" else left
    found = Independent(made, IndependentBins()).curve({}, rates, score)
    np.testing.assert_array_equal(found, [expected])
