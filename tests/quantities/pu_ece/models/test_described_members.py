"""The descriptions as PyMC has them: the class prior is their last coefficient."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, halfnorm, norm

import bayescal as bc
from bayescal.core.calibration_curve.curve_average import CurveAverage
from bayescal.inference.descriptions.member_model import member_model
from bayescal.quantities.pu_ece.models.average import Average
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


def log_likelihood(average, rate, normal) -> float:
    pi = average.prior(np.asarray(normal))[0]
    odds = MADE.n_positive / MADE.n_unlabeled * rate / pi
    return float(binom.logpmf(MADE.positive, MADE.total, odds / (1 + odds)).sum())


def test_the_smooth_density_is_that_of_binomial_cells(average) -> None:
    model = member_model(average.members, "smooth")
    density = model.compile_logp(jacobian=False, mode=INTERPRETED)
    for seed in (1, 2):
        point = point_of(model, seed)
        (coef,) = values_at(model, point, ["coef"])
        used = coef[: average.described.basis.size]
        rate = expit(average.described.regression.logit(used))
        expected = norm.logpdf(coef).sum() + log_likelihood(average, rate, coef[-1])
        assert float(density(point)) == pytest.approx(expected, rel=1e-8)


def test_the_rough_density_is_that_of_binomial_cells(average) -> None:
    model = member_model(average.members, "rough")
    point = point_of(model, 3)
    z, roughness = values_at(model, point, ["z", "roughness"])
    regression = average.described.rough.at(float(roughness))
    rate = expit(regression.logit(z[:3]))
    expected = norm.logpdf(z).sum() + halfnorm.logpdf(roughness, scale=1.5)
    density = model.compile_logp(jacobian=False, mode=INTERPRETED)(point)
    assert float(density) == pytest.approx(
        expected + log_likelihood(average, rate, z[-1]), rel=1e-8
    )
