"""Rates of bins against grids, conjugate posteriors and Clopper and Pearson."""

import numpy as np
import pytest
from scipy.stats import beta, dirichlet

from bayescal.quantities.credal.models.bins import Imprecise, Isotonic, draw_steps
from bayescal.quantities.credal.priors import ImpreciseDirichlet, IncrementIsotonic
from tests.interpreted import PLAIN
from tests.quantities.credal.made import binary, multiclass, problem


@pytest.mark.parametrize("concentration", [0.3, 1.0, 2.0])
@pytest.mark.parametrize(
    ("count", "positives"),
    [([5, 5, 5], [0, 2, 5]), ([4, 0, 6, 3], [3, 0, 1, 2]), ([0, 0, 0], [0, 0, 0])],
)
def test_moments_agree_with_brute_force(concentration, count, positives):
    count, positives = np.array(count), np.array(positives)
    rng = np.random.default_rng(1)
    steps = draw_steps(count, positives, concentration, 40_000, rng)
    rates = steps.cumsum(axis=1)[:, :-1]
    every = rng.dirichlet(np.full(len(count) + 1, concentration), 400_000)
    prior = np.clip(every.cumsum(axis=1)[:, :-1], 1e-300, 1 - 1e-16)
    weight = np.exp(
        (positives * np.log(prior) + (count - positives) * np.log1p(-prior)).sum(axis=1)
    )
    weight /= weight.sum()
    mean = weight @ prior
    # Standard errors are below .003 on either side; cells of the grid are finer.
    np.testing.assert_allclose(rates.mean(axis=0), mean, atol=0.01)
    spread = np.sqrt(weight @ (prior - mean) ** 2)
    np.testing.assert_allclose(rates.std(axis=0), spread, atol=0.01)
    np.testing.assert_allclose(
        np.cov(rates.T)[0, 1], weight @ np.prod((prior - mean)[:, :2], 1), atol=0.004
    )
    # The prior's density is of the logarithms, whose spread is up to 1 / concentration; cells move
    # them by a hundredth.
    log_steps = np.log(every)
    np.testing.assert_allclose(
        np.log(steps).mean(axis=0), weight @ log_steps, atol=0.02 + 0.02 / concentration
    )


def test_one_bin_is_conjugate():
    rates = draw_steps(np.array([30]), np.array([12]), 2.0, 50_000, np.random.default_rng(1))[:, 0]
    level = np.array([0.05, 0.5, 0.95])
    np.testing.assert_allclose(
        np.quantile(rates, level),
        beta.ppf(level, 14, 20),
        atol=0.005,  # four standard errors
    )


@pytest.mark.parametrize("size", [1, 1000, 10**6])
@pytest.mark.parametrize("turned", [False, True])
def test_rates_rise_at_any_size_even_against_the_labels(size, turned):
    rate = np.linspace(0.05, 0.95, 20)
    count = np.full(20, size)
    positives = np.round(size * (rate[::-1] if turned else rate)).astype(int)
    steps = draw_steps(count, positives, 0.3, 300, np.random.default_rng(1))
    rates = steps.cumsum(axis=1)[:, :-1]
    assert np.isfinite(rates).all()
    assert (np.diff(rates, axis=1) >= 0).all()
    assert ((rates > 0) & (rates < 1)).all()
    if size == 10**6 and not turned:
        # Rates within four standard errors, that are at most .0005.
        np.testing.assert_allclose(rates.mean(axis=0), rate, atol=0.002)
    if size == 10**6 and turned:
        np.testing.assert_allclose(rates.mean(axis=0), 0.5, atol=0.002)


PRIOR = IncrementIsotonic(bins=4, concentration=0.7)


def rates_of(n=60):
    return Isotonic(problem(binary(n), PRIOR), PRIOR)


def test_prior_density_is_dirichlet():
    rates = rates_of()
    draws = rates.prior_draws(6, np.random.default_rng(1))
    expected = [dirichlet.logpdf(one, np.full(5, 0.7)) for one in draws["increment"][:, 0]]
    np.testing.assert_allclose(rates.log_prior(draws)["increment"], expected)


def test_bounds_are_of_the_ranks_bin():
    rates = Isotonic(problem(multiclass(), PRIOR), PRIOR)
    draws = rates.direct_draws(500, np.random.default_rng(1)).draws
    rank, cell = np.array([0.0, 0.24, 0.26, 1.0]), np.array([0, 0, 1, 3])
    at = np.stack([rank, rank[::-1], rank[[2, 3, 0, 1]]], axis=1)
    found, rate = rates.with_pseudo_observations(draws, at), rates.cell_prob(draws)
    for curve, own in enumerate((cell, cell[::-1], cell[[2, 3, 0, 1]])):
        np.testing.assert_array_equal(found.prob[..., curve], rate[:, curve, own])
    assert (found.prob_lower <= found.prob).all()
    assert (found.prob <= found.prob_upper).all()


def test_the_model_counts_the_labels_given_the_steps():
    import pymc as pm
    from scipy.stats import binom

    rates = rates_of()
    with pm.Model(coords={"curve": ["1"]}) as model:
        rates.add_to_model()
    mass = np.array([[0.4, 1.1, 0.3, 2.0, 0.7]])
    density = model.compile_logp(vars=model.observed_RVs, mode=PLAIN)
    at = density({"mass_log__": np.log(mass)})
    rate = (mass / mass.sum()).cumsum(axis=1)[:, :-1]
    expected = binom.logpmf(rates.problem.positives, rates.problem.count, rate).sum()
    np.testing.assert_allclose(at, expected, rtol=1e-10)


def ends(n, prior, draws=20_000):
    """Problem and quantiles of the bounds of its target rows."""
    rates = Imprecise(problem(binary(n), prior), prior)
    direct = rates.direct_draws(draws, np.random.default_rng(1))
    found = rates.with_pseudo_observations(direct.draws, rates.problem.target_rank)
    lower = np.quantile(found.prob_lower[..., 0], 0.05, axis=0)
    return rates, found, lower, np.quantile(found.prob_upper[..., 0], 0.95, axis=0)


@pytest.mark.parametrize("s", [0.5, 1.0, 2.0])
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
