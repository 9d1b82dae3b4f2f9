"""What a result holds of a fit, each array against its definition."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom

import bayescal as bc
from bayescal.core.quantity import dims_of
from bayescal.curves.priors import SmoothCurve
from bayescal.quantities.ece import VARIABLES
from bayescal.quantities.ece.bounds import bounds
from bayescal.quantities.ece.estimator import estimate
from bayescal.quantities.ece.posterior import case_of
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors
from tests.quantities.ece.made import of_counts, one_cell, problem

FAMILIES = {
    "curve": SmoothCurve(),
    "independent": IndependentBins(),
    "hierarchical": HierarchicalBins(),
}


def fitted(made, prior, calibrated=0.5, seed=1, shape=(2, 200)):
    """Case, draws and arrays, without NUTS."""
    case = case_of(made, Priors(prior, calibrated))
    direct = case.model.direct_draws(shape[0] * shape[1], np.random.default_rng(seed))
    draws = {name: value.reshape(*shape, *value.shape[1:]) for name, value in direct.draws.items()}
    return case, draws, case.arrays(draws, direct, np.random.default_rng(seed + 1))


@pytest.fixture(scope="module", params=FAMILIES)
def one(request):
    made = problem(n=300, n_bins=6, fine=request.param == "curve")
    return made, *fitted(made, FAMILIES[request.param])


def test_every_array_has_the_dims_of_the_case(one):
    *_, arrays = one
    for group in ("posterior", "prior", "posterior_predictive", "log_likelihood", "log_prior"):
        for name, values in getattr(arrays, group).items():
            assert np.ndim(values) == 2 + len(dims_of(VARIABLES).get(name, ())), name
    for group in ("observed_data", "constant_data", "point_estimate", "bounds", "diagnostics"):
        for name, values in getattr(arrays, group).items():
            assert np.ndim(values) == len(dims_of(VARIABLES).get(name, ())), name


def test_the_models_own_draws_are_kept(one):
    _, case, draws, arrays = one
    assert set(draws) == set(case.model.variables) == set(arrays.log_prior)
    for name, values in draws.items():
        np.testing.assert_array_equal(arrays.posterior[name], values)


# Rates of hierarchical bins are drawn anew given kappa: their law is tested with the family.
@pytest.mark.parametrize("name", ["curve", "independent"])
def test_log_likelihood_is_binomial(name):
    made = problem(n=300, n_bins=6, fine=name == "curve")
    case, draws, arrays = fitted(made, FAMILIES[name])
    held = made.cells.count > 0
    rates = case.model.cell_rates(draws, None)[..., held]
    calibrated = arrays.posterior["tce"] == 0
    rates[calibrated] = made.cells.mean_score[held]
    found = arrays.log_likelihood["events"]
    expected = binom.logpmf(made.cells.positives[held], made.cells.count[held], rates)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_observed_and_constant_data_are_the_counts(one):
    made, _, _, arrays = one
    held = made.cells.count > 0
    for found, expected in (
        (arrays.observed_data["events"], made.cells.positives),
        (arrays.constant_data["cell_count"], made.cells.count),
        (arrays.constant_data["cell_score"], made.cells.mean_score),
    ):
        np.testing.assert_array_equal(found, expected[held])


def test_the_estimate_and_the_bounds_are_the_papers(one):
    made, _, _, arrays = one
    for name, value in estimate(made.bins)._asdict().items():
        np.testing.assert_array_equal(arrays.point_estimate[name], value)
    assert arrays.point_estimate["n"] == 300
    assert arrays.point_estimate["prevalence"] == made.bins.positives.sum() / 300
    for name, bound in bounds(300, 6, "quantile")._asdict().items():
        assert arrays.bounds[name] == bound.value
        assert arrays.bounds_attrs[name] == {"kind": bound.kind, "assumption": bound.assumption}


def test_a_share_of_the_draws_is_calibrated(one):
    _, _, _, arrays = one
    p_calibrated = arrays.model_average["p_calibrated"]
    assert 0 <= p_calibrated <= 1
    right = arrays.posterior["tce"] == 0
    assert right.mean() == pytest.approx(p_calibrated, abs=1 / right.size)
    for name in ("ece", "tce", "mce"):
        np.testing.assert_array_equal(arrays.posterior[name] == 0, right)
        given = arrays.given_miscalibration[name]
        assert (given > 0).all()
        np.testing.assert_array_equal(arrays.posterior[name], np.where(right, 0, given))
    np.testing.assert_array_equal(arrays.posterior["gap"][right], 0)
    score = arrays.constant_data["curve_score"]
    curve, given = (
        group["calibration_curve"] for group in (arrays.posterior, arrays.given_miscalibration)
    )
    np.testing.assert_array_equal(curve, np.where(right[..., None], score, given))
    assert (given != score).any(axis=-1).all()


def test_the_curve_by_cell_has_the_errors(one):
    """The true calibration error is the mean over cells, by the masses that are kept."""
    made, _, _, arrays = one
    rate, mass, component = (arrays.curve[name] for name in ("rate", "mass", "component"))
    assert (rate.dtype, mass.dtype, component.dtype) == (np.float32, np.float32, np.int8)
    assert rate.shape == mass.shape == (2, 200, np.count_nonzero(made.cells.count))
    np.testing.assert_allclose(mass.sum(axis=-1), 1, rtol=1e-5)
    gap = np.abs(rate - arrays.constant_data["cell_score"])
    np.testing.assert_allclose((mass * gap).sum(axis=-1), arrays.posterior["tce"], atol=1e-5)
    np.testing.assert_array_equal(component == 0, arrays.posterior["tce"] == 0)


def test_the_curve_is_given_at_its_scores(one):
    _, case, draws, arrays = one
    score = arrays.constant_data["curve_score"]
    curve = arrays.given_miscalibration["calibration_curve"]
    assert curve.shape == (2, 200, len(score))
    if "coef" in draws:
        np.testing.assert_allclose(curve, case.model.curve(draws, None, score))
    # At the mean score of its bin each step is the rate.
    assert ((curve >= 0) & (curve <= 1)).all()


def test_without_a_calibrated_alternative_no_draw_is_calibrated():
    _, _, arrays = fitted(problem(n=300, n_bins=6), SmoothCurve(), calibrated=0.0)
    assert np.isnan(arrays.model_average["p_calibrated"])
    assert (arrays.posterior["tce"] > 0).all()
    for name, values in arrays.given_miscalibration.items():
        np.testing.assert_array_equal(values, arrays.posterior[name])
    np.testing.assert_array_equal(arrays.curve["given_rate"], arrays.curve["rate"])


@pytest.mark.parametrize(("calibrated", "warnings"), [(0.5, 1), (0.0, 0)])
def test_few_effective_draws_are_said_of_a_probability_of_calibration_alone(calibrated, warnings):
    case = case_of(problem(n=300, n_bins=6), Priors(IndependentBins(), calibrated))
    direct, rng = case.model.direct_draws(500, np.random.default_rng(1)), np.random.default_rng(2)
    drawn = {name: value[None] for name, value in direct.draws.items()}
    said = case.arrays(drawn, replace(direct, ess=99.0), rng).warnings
    assert sum("99 effective draws" in sentence for sentence in said) == warnings


def test_prior_errors_of_one_flat_bin():
    """E |U - s| of a uniform U is (s^2 + (1 - s)^2) / 2."""
    _, _, arrays = fitted(one_cell(30, 10, 0.3), IndependentBins())
    draws = arrays.prior["tce"]
    assert draws.shape == (1, 1000)
    assert draws.mean() == pytest.approx((0.09 + 0.49) / 2, abs=4 * draws.std() / 1000**0.5)
    np.testing.assert_array_equal(draws, arrays.prior["ece"])


def test_posterior_error_of_one_flat_bin():
    """|rate - s| with a Beta posterior of the rate; 0 where it is calibrated."""
    made = one_cell(30, 16, 0.3)
    _, _, arrays = fitted(made, IndependentBins(), shape=(4, 5000))
    law = beta(17, 15)
    expected = quad(lambda t: abs(t - 0.3) * law.pdf(t), 0, 1, points=[0.3])[0]
    draws = arrays.given_miscalibration["tce"]
    assert draws.mean() == pytest.approx(expected, abs=4 * draws.std() / 20_000**0.5)
    # A flat prior has the evidence 1 / 31.
    odds = 31 * binom.pmf(16, 30, 0.3)
    right = odds / (1 + odds)
    assert arrays.model_average["p_calibrated"] == pytest.approx(right)
    draws = arrays.posterior["tce"]
    error = 4 * draws.std() / 20_000**0.5
    assert draws.mean() == pytest.approx((1 - right) * expected, abs=error)


def test_direct_draws_are_effective():
    for prior in FAMILIES.values():
        made = problem(n=300, n_bins=6, fine=isinstance(prior, SmoothCurve))
        _, _, arrays = fitted(made, prior)
        assert arrays.diagnostics["importance_ess"] > 300


def test_bounds_of_given_edges_go_by_their_widest_bin():
    edges = np.array([0, 0.1, 0.6, 1])
    made = of_counts([30, 40, 50], [2, 20, 40], [0.05, 0.4, 0.8], edges)
    _, _, arrays = fitted(made, SmoothCurve())
    expected = bounds(120, 3, edges)
    assert arrays.bounds["total_bias"] == expected.total_bias.value


def test_scores_of_0_and_1_that_are_wrong_stay_numbers():
    made = of_counts([50, 50], [50, 0], [0.0, 1.0])
    for prior in FAMILIES.values():
        _, _, arrays = fitted(made, prior)
        for group in ("posterior", "log_likelihood", "log_prior", "model_average", "prior"):
            for name, values in getattr(arrays, group).items():
                assert np.isfinite(values).all(), (type(prior).__name__, group, name)
        assert arrays.posterior["tce"].mean() > 0.9
    assert bc.ece.estimate(made.bins).ece == 1
