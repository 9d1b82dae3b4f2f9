"""The smooth curve's posterior against quadrature where its prior is one-dimensional."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom, norm

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.curves.priors import SmoothCurve
from bayescal.curves.smooth import BASIS, CELLS, Smooth
from tests.quantities.ece.made import of_counts, on_grid, one_cell, problem, quantiles_on

PRIOR = SmoothCurve()


@pytest.fixture(scope="module")
def made():
    return problem(n=400)


@pytest.fixture(scope="module")
def curve(made):
    return Smooth.of(made, PRIOR)


@pytest.mark.parametrize(
    ("count", "positives", "score"), [(20, 9, 0.3), (5, 5, 0.9), (3000, 2000, 0.7), (1, 0, 0.5)]
)
def test_one_cell_against_quadrature(count, positives, score):
    """With all scores equal the logit is Normal(l, scale^2 (2 + l^2)) before the data."""
    made = one_cell(count, positives, score)
    law = norm(logit(score), PRIOR.scale * np.sqrt(2 + logit(score) ** 2))
    draws = 4000
    direct = Smooth.of(made, PRIOR).direct_draws(draws, np.random.default_rng(3))
    best = logit((positives + 0.5) / (count + 1))
    grid = np.linspace(best - 12, best + 12, 48_001)
    log_density = binom.logpmf(positives, count, expit(grid)) + law.logpdf(grid)
    weights, evidence = on_grid(log_density, grid)

    choose = log_binomial_coefficient(np.array([count]), np.array([positives])).sum()
    assert direct.ess > 0.9 * 2 * draws
    error = np.sqrt(1 / direct.ess - 1 / (2 * draws))
    assert direct.log_evidence + choose == pytest.approx(evidence, abs=4 * error + 1e-6)

    rate = Smooth.of(made, PRIOR).cell_rates(direct.draws, None)[:, 0]
    for level in (0.05, 0.5, 0.95):
        quantile = expit(quantiles_on(grid, weights, [level])[0])
        spread = np.sqrt(level * (1 - level) / draws)
        assert (rate <= quantile).mean() == pytest.approx(level, abs=4 * spread)


def test_rates_are_the_logistic_of_offset_and_design(curve):
    coef = np.random.default_rng(0).normal(size=(2, 3, BASIS))
    used = coef[..., : curve.basis.size]
    expected = expit(curve.regression.offset + used @ curve.regression.design.T)
    np.testing.assert_allclose(curve.cell_rates({"coef": coef}, None), expected)


def test_the_curve_passes_through_the_cells(made, curve):
    draws = {"coef": np.random.default_rng(0).normal(size=(2, 3, BASIS))}
    rates = curve.cell_rates(draws, None)
    score = made.cells.mean_score
    np.testing.assert_allclose(curve.curve(draws, rates, score), rates, rtol=1e-9)


def test_coefficients_of_zero_are_calibration(curve):
    draws = {"coef": np.zeros((1, BASIS))}
    score = np.linspace(0.05, 0.95, 7)
    np.testing.assert_allclose(curve.curve(draws, None, score)[0], score, rtol=1e-12)


def test_prior_rates_have_the_prior_covariance():
    # Scores not too far out, where a rate of 1 would have no logit.
    cells = problem("less", n=60)
    made, score = Smooth.of(cells, PRIOR), cells.cells.mean_score
    sample = logit(made.prior_rates(20_000, np.random.default_rng(2))) - logit(score)
    places = logit(score) / made.basis.spread
    process = made.basis.curve.kernel(places, places)
    expected = PRIOR.scale**2 * (1 + np.outer(logit(score), logit(score)) + process)
    error = np.sqrt(np.diag(expected) / 20_000)
    assert (np.abs(sample.mean(axis=0)) < 4.5 * error).all()
    # Of 20,000 squares the mean has a standard error of a hundredth.
    np.testing.assert_allclose(np.diag(np.cov(sample.T)), np.diag(expected), rtol=0.045)
    np.testing.assert_allclose(
        np.corrcoef(sample.T)[0, -1],
        expected[0, -1] / np.sqrt(expected[0, 0] * expected[-1, -1]),
        atol=0.03,
    )


def test_directions_that_the_basis_does_not_use_keep_their_prior(curve):
    assert curve.basis.size < BASIS
    direct = curve.direct_draws(4000, np.random.default_rng(5))
    spare = direct.draws["coef"][:, curve.basis.size :]
    assert direct.draws["coef"].shape == (4000, BASIS)
    assert abs(spare.mean()) < 4 / np.sqrt(spare.size)
    assert spare.var() == pytest.approx(1, abs=6 / np.sqrt(spare.size))


def test_the_model_is_whitened_by_the_variational_gaussian(made, curve):
    values = curve.inputs()
    size = curve.basis.size
    assert values["design"].shape == (CELLS, BASIS)
    np.testing.assert_array_equal(values["root"][size:, size:], np.eye(BASIS - size))
    np.testing.assert_array_equal(values["root"][:size, size:], 0)
    np.testing.assert_array_equal(values["centre"][size:], 0)
    np.testing.assert_array_equal(values["count"][made.cells.n_bins :], 0)
    assert values["count"].sum() == 400


def test_many_cells_double_the_structure():
    count, cells = np.full(150, 3), np.arange(150)
    made = of_counts(count, count // 2, (cells + 0.5) / 150)
    assert Smooth.of(made, PRIOR).compile_key == ("curve", "i", 2 * CELLS)
    assert Smooth.of(problem(n=50), PRIOR).compile_key == ("curve", "i", CELLS)


def test_log_prior_is_standard_normal(curve):
    coef = np.random.default_rng(0).normal(size=(2, 3, BASIS))
    np.testing.assert_allclose(curve.log_prior({"coef": coef})["coef"], norm.logpdf(coef))


def test_more_rows_do_not_cost_effective_draws():
    for n in (12, 10**3, 10**6):
        direct = Smooth.of(problem(n=n), PRIOR).direct_draws(2000, np.random.default_rng(1))
        assert direct.ess > 0.75 * 4000
