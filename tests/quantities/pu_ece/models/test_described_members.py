"""The descriptions as PyMC has them: their densities, and the whitening that follows two things."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, halfnorm, norm

import bayescal as bc
from bayescal.core.calibration_curve.curve_average import CurveAverage
from bayescal.inference.descriptions.member_model import member_model
from bayescal.quantities.pu_ece.models.average import Average
from bayescal.quantities.pu_ece.models.described_members import BASIS
from tests.quantities.pu_ece.made import of_counts

MADE = of_counts([3, 9, 6], [30, 30, 12], [0.25, 0.5, 0.75])
INTERPRETED = "FAST_COMPILE"


@pytest.fixture(scope="module")
def average() -> Average:
    return Average.of(MADE, CurveAverage(), bc.Beta(8, 12), 0.5)


def point_of(model, seed):
    rng = np.random.default_rng(seed)
    return {k: 0.8 * rng.standard_normal(np.shape(v)) for k, v in model.initial_point().items()}


def values_at(model, point, names):
    found = model.replace_rvs_by_values([model[name] for name in names])
    return model.compile_fn(found, mode=INTERPRETED)(point)


def log_joint(average, rate, normal) -> float:
    pi = average.prior(np.asarray(normal))[0]
    odds = MADE.n_positive / MADE.n_unlabeled * rate / pi
    found = binom.logpmf(MADE.positive, MADE.total, odds / (1 + odds)).sum()
    return float(found + norm.logpdf(normal))


def test_the_smooth_density_is_that_of_binomial_cells(average) -> None:
    model = member_model(average.members, "smooth")
    density = model.compile_logp(jacobian=False, mode=INTERPRETED)
    for seed in (1, 2):
        point = point_of(model, seed)
        coef, normal = values_at(model, point, ["coef", "smooth_normal"])
        used = coef[: average.described.basis.size]
        rate = expit(average.described.regression.logit(used))
        expected = norm.logpdf(coef).sum() + log_joint(average, rate, normal)
        assert float(density(point)) == pytest.approx(expected, rel=1e-8)


def test_the_rough_density_is_that_of_binomial_cells(average) -> None:
    model = member_model(average.members, "rough")
    point = point_of(model, 3)
    z, roughness, normal = values_at(model, point, ["z", "roughness", "rough_normal"])
    regression = average.described.rough.at(float(roughness))
    rate = expit(regression.logit(z[:3]))
    expected = norm.logpdf(z).sum() + halfnorm.logpdf(roughness, scale=1.5)
    density = model.compile_logp(jacobian=False, mode=INTERPRETED)(point)
    assert float(density) == pytest.approx(expected + log_joint(average, rate, normal), rel=1e-8)


def test_values_are_placed_as_in_importance_sampling(average) -> None:
    model, smooth = member_model(average.members, "smooth"), replace(average.smooth, sizes=None)
    along = smooth.along(*smooth.place())
    size = along.mean.shape[-1]
    for last in (-3.4, 0.2, 9.0):
        point = point_of(model, 4)
        point["smooth_normal_stretched__"] = np.asarray(last)
        value = np.append(point["coef_whitened__"][:size], last)
        coef, normal = values_at(model, point, ["coef", "smooth_normal"])
        np.testing.assert_allclose(np.append(coef[:size], normal), along.placed(value[None])[0][0])
        np.testing.assert_allclose(coef[size:], point["coef_whitened__"][size:BASIS])
