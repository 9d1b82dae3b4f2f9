"""The rising curve: its model's density, whitening, and posterior against brute force."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import binom, halfnorm, norm

import bayescal as bc
from bayescal.quantities.credal.models.monotone import N_FREE, Monotone
from bayescal.quantities.credal.posterior import CredalCase
from bayescal.quantities.credal.priors import MonotoneCurve, Priors
from tests.quantities.credal.made import binary, multiclass, problem

PRIOR = MonotoneCurve(intercept=1.5, spread=3.0)


def rates_of(n=60, truth="logistic"):
    return Monotone.of(problem(binary(n, truth=truth), PRIOR), PRIOR)


def test_prior_density_integrates_the_scale_out():
    rates, rng = rates_of(), np.random.default_rng(1)
    draws = rates.prior_draws(3, rng)
    found = rates.log_prior(draws)
    np.testing.assert_allclose(found["intercept"], norm.logpdf(draws["intercept"][:, 0], scale=1.5))
    tau = 3 * np.exp(np.linspace(-12, 3, 20_001))
    for weight, density in zip(draws["weight"][:, 0], found["weight"], strict=True):
        joint = halfnorm.logpdf(tau, scale=3) + halfnorm.logpdf(weight[:, None], scale=tau).sum(0)
        expected = np.trapezoid(np.exp(joint) * tau, np.log(tau))
        np.testing.assert_allclose(np.exp(density), expected, rtol=1e-6)


def test_density_is_that_of_prior_and_labels():
    rates, unit = rates_of(), np.random.default_rng(1).normal(size=(5, N_FREE))
    intercept, weight = rates.variables_at(unit, 0)
    draws = {"intercept": intercept[:, None], "weight": weight[:, None]}
    rate = rates.cell_prob(draws)[:, 0]
    labels = binom.logpmf(rates.problem.positives[0], rates.problem.count[0], rate).sum(axis=1)
    # Densities of the free variables have the slope of the weights by them.
    slope = norm.logpdf(unit[:, 1:]) - halfnorm.logpdf(weight / 3)
    expected = labels + sum(rates.log_prior(draws).values()) + slope.sum(axis=1)
    gap = rates.log_density(unit, 0) - expected
    np.testing.assert_allclose(gap, gap[0], atol=1e-9)


def test_the_models_density_is_the_same():
    rates, unit = rates_of(), np.random.default_rng(1).normal(size=(4, N_FREE))
    case_model = bc.credal.build_model(binary(60), Priors(PRIOR))
    density = case_model.compile_logp(mode="FAST_COMPILE")
    root, centre = rates.inputs()["root"][0], rates.inputs()["centre"][0]
    name = next(iter(case_model.initial_point()))
    found = [float(density({name: np.linalg.solve(root, one - centre)[None]})) for one in unit]
    gap = np.array(found) - rates.log_density(unit, 0)
    np.testing.assert_allclose(gap, gap[0], atol=1e-8)


@pytest.mark.parametrize("n", [2, 60, 1000])
def test_the_mode_is_one_and_the_gradient_a_derivative(n):
    rates = rates_of(n)
    unit = np.random.default_rng(1).normal(size=N_FREE)
    slope = approx_fprime(unit, lambda at: rates.log_density(at[None], 0)[0], 1e-6)
    np.testing.assert_allclose(rates._expansion(unit, 0)[1], slope, atol=1e-3)
    mode, root = rates.gaussian(0)
    best = rates.log_density(mode[None], 0)[0]
    around = mode + 0.3 * np.random.default_rng(2).normal(size=(200, N_FREE)) @ root.T
    assert (rates.log_density(around, 0) <= best + 1e-4).all()
    np.testing.assert_allclose(root, np.triu(root), atol=1e-12)


@pytest.mark.parametrize("n", [2, 100, 10**5])
def test_whitening_is_finite_for_any_number_of_rows_and_for_falling_labels(n):
    for truth in ("power", "falling"):
        for value in rates_of(n, truth).inputs().values():
            assert np.isfinite(value).all()


def test_curves_rise_between_and_at_the_cells():
    rates = rates_of()
    draws = rates.prior_draws(50, np.random.default_rng(1))
    found = rates.with_pseudo_observations(draws, np.linspace(0, 1, 30)[:, None])
    assert (np.diff(found.prob, axis=1) >= 0).all()
    at = rates.with_pseudo_observations(draws, rates.problem.place.T)
    np.testing.assert_allclose(at.prob[..., 0], rates.cell_prob(draws)[:, 0], rtol=1e-9)


def test_the_compile_key_does_not_depend_on_the_rows():
    shapes = [
        {name: value.shape for name, value in rates_of(n).inputs().items()} for n in (2, 10_000)
    ]
    assert shapes[0] == shapes[1]
    assert rates_of(2).compile_key == rates_of(10_000).compile_key
    several = Monotone.of(problem(multiclass(), PRIOR), PRIOR)
    assert several.compile_key == ("monotone", 3)


@pytest.mark.mcmc
def test_nuts_agrees_with_weighted_draws_of_the_prior():
    data = binary(12, np.array([0.1, 0.5, 0.9]))
    fit = bc.fit(bc.credal, data, priors=Priors(PRIOR), seed=20)
    case = bc.credal.plan(data, Priors(PRIOR)).cases[0]
    assert isinstance(case, CredalCase)
    rates = case.model
    prior = rates.prior_draws(200_000, np.random.default_rng(1))
    rate = rates.cell_prob(prior)[:, 0]
    held = rates.problem.count[0] > 0
    k, n = rates.problem.positives[0, held], rates.problem.count[0, held]
    weight = np.exp(binom.logpmf(k, n, rate[:, held]).sum(axis=1))
    weight /= weight.sum()
    assert 1 / (weight**2).sum() > 2000
    at = Monotone.with_pseudo_observations(rates, prior, case.problem.target_rank).prob[..., 0]
    posterior = fit["posterior"]["prob"]
    # Four standard errors with some 1000 effective draws on one side, 2000 on the other.
    mean = weight @ at
    sd = np.sqrt(weight @ (at - mean) ** 2)
    gap = (posterior.mean(("chain", "draw")).to_numpy().squeeze() - mean) / sd
    assert np.abs(gap).max() < 0.16
    np.testing.assert_allclose(posterior.std(("chain", "draw")).to_numpy().squeeze(), sd, rtol=0.15)
    lower = weight * (1 - at[:, 1])
    order = np.argsort(at[:, 1])
    level = np.cumsum(lower[order]) / lower.sum()
    expected = at[order, 1][np.searchsorted(level, 0.05)]
    found = fit["posterior"]["prob_lower"].quantile(0.05, ("chain", "draw")).to_numpy().squeeze()[1]
    np.testing.assert_allclose(found, expected, atol=0.35 * sd[1])
