"""The smooth curve's posterior against quadrature where its prior is one-dimensional."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.linalg import solve_triangular
from scipy.special import expit, logit, xlog1py, xlogy
from scipy.stats import binom, norm

import bayescal as bc
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.curves.average import member_model
from bayescal.curves.priors import SmoothCurve
from bayescal.curves.smooth import BASIS, CELLS, Line, Smooth, curve_basis
from bayescal.inference.direct import BinomialCells
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


STEEP = Line(0.2, 3.0)


def with_line(made, line):
    """The smooth component of an average, over all cells of a problem."""
    cells = made.cells
    basis = curve_basis(cells.mean_score, cells.count, PRIOR, BASIS)
    return Smooth.over(basis, cells.mean_score, BinomialCells(cells.count, cells.positives), line)


def test_intercept_and_slope_have_a_mixture_of_two_normals():
    coef = np.random.default_rng(1).normal(0, 3, (50, 2))
    narrow, wide = (norm(0, scale).logpdf(coef).sum(axis=1) for scale in (1, 3))
    expected = np.logaddexp(np.log(0.8) + narrow, np.log(0.2) + wide)
    found = norm.logpdf(coef).sum(axis=1) + STEEP.log_ratio(np.square(coef).sum(axis=1) / 2)
    np.testing.assert_allclose(found, expected)


def test_the_mean_log_density_is_that_of_the_mixture():
    """By quadrature over the radius r, whose density is r times that of the mixture."""
    r = np.linspace(0, 40, 40_001)
    log_density = STEEP.log_ratio(r**2 / 2) - r**2 / 2
    assert trapezoid(r * np.exp(log_density), r) == pytest.approx(1, abs=1e-6)
    expected = trapezoid(r * np.exp(log_density) * log_density, r)
    # The logarithm of a sum is no polynomial, so that Gauss and Laguerre's rule is not exact.
    assert STEEP.mean_log_density == pytest.approx(expected, abs=1e-4)


def test_one_cell_of_a_steep_line_against_quadrature():
    """With all scores equal the logit is a mixture of normals before the data."""
    made, score, draws = one_cell(40, 39, 0.3), 0.3, 4000
    process, line = PRIOR.scale**2, PRIOR.scale**2 * (1 + logit(score) ** 2)
    laws = [norm(logit(score), np.sqrt(process + scale**2 * line)) for scale in (1, 3)]
    grid = np.linspace(-8, 16, 48_001)
    prior = np.log(0.8 * laws[0].pdf(grid) + 0.2 * laws[1].pdf(grid))
    weights, evidence = on_grid(binom.logpmf(39, 40, expit(grid)) + prior, grid)

    steep = with_line(made, STEEP)
    direct = steep.direct_draws(draws, np.random.default_rng(3))
    choose = log_binomial_coefficient(np.array([40]), np.array([39])).sum()
    error = np.sqrt(1 / direct.ess)
    assert direct.log_evidence + choose == pytest.approx(evidence, abs=4 * error)
    rate = steep.cell_rates(direct.draws, None)[:, 0]
    for level in (0.05, 0.5, 0.95):
        quantile = expit(quantiles_on(grid, weights, [level])[0])
        spread = np.sqrt(level * (1 - level) / draws)
        assert (rate <= quantile).mean() == pytest.approx(level, abs=4 * spread)


@pytest.mark.parametrize("no_event", [False, True])
def test_evidence_of_a_steep_line_is_the_mean_likelihood_before_the_data(no_event):
    """Of few rows, so that the mean over draws of the prior is exact enough.

    Of no event among low scores steps to the Gaussian at the wide scale grew without end.
    """
    grid = np.linspace(0, 1, 41) ** 6
    rare = of_counts(np.ones(20, int), np.zeros(20, int), grid[1::2], grid[::2])
    few, rng = rare if no_event else problem(n=25), np.random.default_rng(5)
    steep, draws = with_line(few, STEEP), 200_000
    rate = steep.prior_rates(draws, rng)
    count, positives = few.cells.count, few.cells.positives
    each = xlogy(positives, rate) + xlog1py(count - positives, -rate)
    likelihood = np.exp(each.sum(axis=1))
    spread = likelihood.std() / likelihood.mean() / np.sqrt(draws)
    direct = steep.sample(4000, rng)
    error = np.hypot(spread, np.sqrt(1 / direct.ess))
    assert direct.log_evidence == pytest.approx(np.log(likelihood.mean()), abs=4 * error)


def test_skew_posteriors_of_steep_lines_take_more_proposals():
    """No row has the event: only the prior holds the line, where two a draw leave .75 effective."""
    scores = bc.Scores(y_true=np.zeros(300, int), y_prob=np.linspace(0.01, 0.99, 300))
    (case,) = bc.ece.plan(scores, bc.ece.Priors()).cases
    assert case.model.smooth.sample(1000, np.random.default_rng(0)).ess > 1000


def test_the_model_of_a_steep_line_has_the_mixture(made):
    steep = with_line(made, STEEP)
    model = member_model({"smooth": steep})
    coef = np.random.default_rng(6).normal(size=BASIS)
    coef[:2] = 2.5, -3.0
    found = model.compile_logp(vars=[model["coef"]], jacobian=False, sum=True)(
        {
            "coef_whitened__": solve_triangular(
                steep.inputs()["root"], coef - steep.inputs()["centre"], lower=False
            )
        }
    )
    line = np.logaddexp(
        np.log(0.8) + norm.logpdf(coef[:2]).sum(), np.log(0.2) + norm(0, 3).logpdf(coef[:2]).sum()
    )
    assert found == pytest.approx(norm.logpdf(coef[2:]).sum() + line)


def test_draws_of_nuts_of_a_steep_line_are_the_direct_ones():
    """The line is steep: an intercept of 2 and a slope of 4 in logits."""
    rng = np.random.default_rng(8)
    score = expit(rng.normal(size=300)).round(2)
    scores = bc.Scores(y_true=rng.random(300) < expit(2 + 4 * logit(score)), y_prob=score)
    priors = bc.ece.Priors(bc.ece.CurveAverage(rough=0, segments=0, linear=0), calibrated=0)
    errors = [
        bc.fit(bc.ece, scores, priors=priors, method=method, draws=1000, chains=4, seed=1)
        for method in ("nuts", "direct")
    ]
    nuts, direct = (one.posterior["tce"].values.ravel() for one in errors)
    # Four standard errors of 1,500 effective draws, in standard deviations.
    assert nuts.mean() == pytest.approx(direct.mean(), abs=4 * direct.std() * np.sqrt(2 / 1500))
    assert nuts.std() == pytest.approx(direct.std(), rel=4 * np.sqrt(1 / 1500))


def test_prior_draws_of_a_steep_line_have_its_variance(made):
    coef = with_line(made, STEEP).prior_draws(20_000, np.random.default_rng(9))["coef"]
    variance = coef.var(axis=0)
    # The variance is .8 + .2 * 9; its standard error is .04 of it, and .01 of the others.
    assert variance[:2] == pytest.approx([2.6, 2.6], rel=0.12)
    assert variance[2:] == pytest.approx(np.ones(len(variance) - 2), rel=0.05)
