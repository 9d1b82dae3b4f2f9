"""The rising curve: densities against quadrature, splines, and draws against their oracle."""

import numpy as np
import pytensor.tensor as pt
import pytest
from scipy.integrate import cumulative_trapezoid, quad
from scipy.interpolate import BSpline
from scipy.optimize import approx_fprime
from scipy.special import logsumexp
from scipy.stats import binom, halfnorm, norm

import bayescal as bc
from bayescal.quantities.credal.models import rising
from bayescal.quantities.credal.posterior import CredalCase
from bayescal.quantities.credal.priors import MonotoneCurve, Priors
from tests.interpreted import PLAIN
from tests.quantities.credal.made import binary, problem

UNIT = np.linspace(-6, 6, 61)


def test_quantiles_are_kept():
    # SciPy's way through survival functions keeps its digits where these are small.
    np.testing.assert_allclose(rising.half_normal(UNIT), halfnorm.isf(norm.sf(UNIT)), rtol=1e-9)


def test_tensors_agree():
    np.testing.assert_allclose(
        rising.half_normal_tensor(pt.constant(UNIT)).eval(mode=PLAIN),
        rising.half_normal(UNIT),
        rtol=1e-8,
    )


def test_slope_is_the_derivative():
    step = 1e-3
    slope = (rising.half_normal(UNIT + step) - rising.half_normal(UNIT - step)) / (2 * step)
    np.testing.assert_allclose(
        rising.half_normal_slope(UNIT), slope, rtol=1e-4
    )  # of the step's square


SQUARES = np.array([0.05, 0.5, 4.0, 30.0, 400.0])


@pytest.mark.parametrize("square", SQUARES)
def test_density_is_the_integral_over_the_scale(square):
    weight = np.full(8, np.sqrt(square / 8))

    def joint(log_tau):
        tau = np.exp(log_tau)
        return halfnorm.pdf(tau) * halfnorm.pdf(weight, scale=tau).prod() * tau

    expected = quad(joint, -12, 4, limit=400, epsabs=0, epsrel=1e-10)[0]
    np.testing.assert_allclose(np.exp(rising.log_mixture(square)), expected, rtol=1e-7)


def test_tensors_agree_up_to_a_constant():
    gap = rising.log_mixture_tensor(pt.constant(SQUARES)).eval(mode=PLAIN) - rising.log_mixture(
        SQUARES
    )
    np.testing.assert_allclose(gap, gap[0], rtol=1e-12)


def test_slope_of_the_mixture_is_the_derivative():
    step = 1e-6 * SQUARES
    slope = (rising.log_mixture(SQUARES + step) - rising.log_mixture(SQUARES - step)) / (2 * step)
    np.testing.assert_allclose(rising.mixture_slope(SQUARES), slope, rtol=1e-5)


GRID = np.linspace(0, 1, 20_001)


def test_they_are_integrals_of_m_splines():
    # Ramsay's Eq. (5): an I-spline of degree 2 integrates the M-spline of degree 1, a linear
    # B-spline scaled to mass 1.
    knots = np.concatenate([[0.0], np.sin(np.linspace(0, np.pi / 2, rising.SPLINES)) ** 2, [1.0]])
    linear = BSpline.design_matrix(GRID, knots, 1).toarray()
    area = cumulative_trapezoid(linear, GRID, axis=0, initial=0)
    # The trapezoid rule is exact but for the cells that a knot cuts: 1e-4 of the rise.
    np.testing.assert_allclose(rising.i_splines(GRID), area / area[-1], atol=1e-4)


def test_they_rise_from_0_to_1():
    found = rising.i_splines(GRID)
    assert found[0].tolist() == [0.0] * rising.SPLINES
    np.testing.assert_allclose(found[-1], 1, rtol=1e-15)
    assert (np.diff(found, axis=0) >= -1e-15).all()
    assert (np.diff(found, axis=1) <= 1e-15).all()


PRIOR = MonotoneCurve(intercept=1.5, spread=3.0)


def rates_of(n=60, truth="logistic"):
    return rising.Monotone.of(problem(binary(n, truth=truth), PRIOR), PRIOR)


@pytest.mark.parametrize("truth", ["logistic", "wave"])
def test_evidence_and_means_are_those_of_the_weighted_prior(truth):
    rates = rates_of(12, truth)
    count, positives = rates.problem.count[0], rates.problem.positives[0]
    prior = rates.prior_draws(100_000, np.random.default_rng(1))
    rate = rates.cell_prob(prior)[:, 0]
    held = count > 0
    one_row = binom.logpmf(positives[held], count[held], rate[:, held])
    logs = one_row.sum(axis=1)
    found = rates.direct_draws(4000, np.random.default_rng(2))
    # Without binomial coefficients, which are those of cells with several rows.
    coefficient = binom.logpmf(positives, count, 0.5).sum() + count.sum() * np.log(2)
    expected = logsumexp(logs) - np.log(len(logs)) - coefficient
    # Some 1,000 effective draws of the prior: two standard errors of the evidence are .06.
    assert found.log_evidence == pytest.approx(expected, abs=0.1)
    assert found.ess > 1000
    weight = np.exp(logs - logsumexp(logs))
    mean = weight @ rate[:, held]
    spread = np.sqrt(weight @ (rate[:, held] - mean) ** 2)
    gap = rates.cell_prob(found.draws)[:, 0, held].mean(axis=0) - mean
    assert (np.abs(gap) < 0.2 * spread).all()


def test_proposals_adapt_where_the_first_do_not_serve():
    assert rising.sample_rising(rates_of(20, "wave"), 0, 1000, np.random.default_rng(1)).ess > 400


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
    rates, unit = rates_of(), np.random.default_rng(1).normal(size=(5, rising.N_FREE))
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
    rates, unit = rates_of(), np.random.default_rng(1).normal(size=(4, rising.N_FREE))
    case_model = bc.credal.build_model(binary(60), Priors(PRIOR))
    density = case_model.compile_logp(mode=PLAIN)
    root, centre = rates.inputs()["root"][0], rates.inputs()["centre"][0]
    name = next(iter(case_model.initial_point()))
    found = [float(density({name: np.linalg.solve(root, one - centre)[None]})) for one in unit]
    gap = np.array(found) - rates.log_density(unit, 0)
    np.testing.assert_allclose(gap, gap[0], atol=1e-8)


@pytest.mark.parametrize("n", [2, 60, 1000])
def test_the_mode_is_one_and_the_gradient_a_derivative(n):
    rates = rates_of(n)
    unit = np.random.default_rng(1).normal(size=rising.N_FREE)
    slope = approx_fprime(unit, lambda at: rates.log_density(at[None], 0)[0], 1e-6)
    np.testing.assert_allclose(rates._expansion(unit, 0)[1], slope, atol=1e-3)
    mode, root = rates.gaussian(0)
    best = rates.log_density(mode[None], 0)[0]
    around = mode + 0.3 * np.random.default_rng(2).normal(size=(200, rising.N_FREE)) @ root.T
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
    at = rising.Monotone.with_pseudo_observations(rates, prior, case.problem.target_rank).prob[
        ..., 0
    ]
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
