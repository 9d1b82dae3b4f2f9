"""The curve's posterior against the density of its definition."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, norm

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.calibration_curve.problem import Problem
from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
from bayescal.quantities.agnostic.models.smooth_curve import Curve


@pytest.fixture
def cells():
    return BinCounts([0, 0.3, 0.6, 1], [20, 30, 10], [5, 12, 8], [0.15, 0.5, 0.8])


def test_direct_draws_have_the_moments_of_the_density(cells):
    curve = Curve.of(cells, SmoothCurve())
    rng = np.random.default_rng(1)
    prior = curve.prior_draws(200_000, rng)
    rate = curve.cell_rates(prior)
    weight = binom.pmf(cells.positives, cells.count, rate).prod(axis=1)
    expected = (weight[:, None] * rate).sum(axis=0) / weight.sum()
    found = curve.cell_rates(curve.direct_draws(20_000, rng).draws)
    assert found.mean(axis=0) == pytest.approx(expected, abs=0.01)


def test_coefficients_of_0_are_the_score_itself(cells):
    curve = Curve.of(cells, SmoothCurve())
    none = {"coef": np.zeros((1, 32))}
    assert curve.curve(none, np.array([0.2, 0.9]))[0] == pytest.approx([0.2, 0.9])
    assert curve.cell_rates(none)[0] == pytest.approx(cells.mean_score)


@pytest.mark.mcmc
def test_the_models_density_is_binomial_times_normal(cells):
    from bayescal.quantities.agnostic.model import model_of

    curve = Curve.of(cells, SmoothCurve())
    model = model_of(Problem({"classifier": "made"}, cells, cells), curve)
    whitened = next(rv for rv in model.free_RVs if rv.name != "gamma")
    logp = model.compile_logp(vars=[*model.observed_RVs])
    point = model.initial_point()
    rng = np.random.default_rng(2)
    inputs, name = curve.inputs(), model.rvs_to_values[whitened].name
    values = []
    for _ in range(2):
        z = rng.standard_normal(32)
        coef = inputs["centre"] + inputs["root"] @ z
        rate = expit(curve.regression.logit(coef[: curve.basis.size]))
        values.append(
            (
                float(logp(point | {name: z})),
                binom.logpmf(cells.positives, cells.count, rate).sum(),
                norm.logpdf(coef).sum(),
            )
        )
    (first, one, _), (second, two, _) = values
    assert first - second == pytest.approx(one - two)
