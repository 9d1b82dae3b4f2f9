"""The case-control likelihood: its slopes, and the class prior as one more coefficient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binom

import bayescal as bc
from bayescal.core.calibration_curve.curve_average import CurveAverage
from bayescal.quantities.pu_ece.models.average import Average
from bayescal.quantities.pu_ece.models.case_control import CaseControlCells
from bayescal.quantities.pu_ece.models.sample_sizes import log_sizes_density
from tests.quantities.pu_ece.made import of_counts

CELLS = CaseControlCells(np.array([40, 60, 9]), np.array([3, 30, 0]), np.log(0.4))


def test_the_likelihood_is_binomial() -> None:
    at = np.array([-2.0, 0.5, 1.0])
    odds = 0.4 * expit(at)
    law = binom.logpmf(CELLS.positive, CELLS.total, odds / (1 + odds))
    ways = binom.logpmf(CELLS.positive, CELLS.total, 0.5) + CELLS.total * np.log(2)
    np.testing.assert_allclose(CELLS.log_likelihood(at), law - ways)


@given(st.lists(st.floats(-6, 6), min_size=3, max_size=3))
def test_the_slope_is_that_of_finite_differences(at) -> None:
    at, step = np.array(at), 1e-5
    numeric = CELLS.log_likelihood(at + step) - CELLS.log_likelihood(at - step)
    np.testing.assert_allclose(CELLS.slopes(at)[0], numeric / (2 * step), atol=1e-5)


def test_the_information_is_the_variance_of_the_slope() -> None:
    at = np.array([-2.0, 0.5, 1.0])
    counts = np.arange(CELLS.total.max() + 1)[:, None]
    law = binom.pmf(counts, CELLS.total, expit(CELLS.positive_logit(at)))
    slope = CaseControlCells(CELLS.total, counts, CELLS.log_odds).slopes(at)[0]
    np.testing.assert_allclose(CELLS.slopes(at)[1], (law * slope**2).sum(axis=0))


@pytest.mark.parametrize("class_prior", [0.5, bc.Beta(20, 20)])
def test_the_evidence_and_the_posterior_are_those_of_brute_force(class_prior) -> None:
    made = of_counts([3, 9], [30, 30], [0.25, 0.75])
    model = Average.of(made, CurveAverage(), class_prior, 0.5)
    rng = np.random.default_rng(4)
    weighted = model.smooth.sample(model.smooth_along, 100_000, rng)
    number = 1_000_000
    design = model.described.regression.design
    coef = rng.standard_normal((number, design.shape[1]))
    rate = expit(logit(made.cells.mean_score) + coef @ design.T)
    pi = np.full(number, 0.5) if class_prior == 0.5 else rng.beta(20, 20, number)
    odds = 12 / 60 * rate / pi[:, None]
    law = binom.pmf(made.positive, made.total, odds / (1 + odds)).prod(axis=1)
    law *= np.exp(log_sizes_density(rate, pi, made.total, 12))
    ways = np.log(binom.pmf(made.positive, made.total, 0.5)) + made.total * np.log(2)
    evidence = np.log(law.mean()) - ways.sum()
    error = law.std() / law.mean() / np.sqrt(number)
    assert weighted.log_evidence == pytest.approx(evidence, abs=4 * error + 0.02)
    draws = weighted.resample(100_000, rng)
    mine = expit(model.smooth.regression.logit(draws[:, :-1]))
    size = law.sum() ** 2 / (law**2).sum()
    for ours, theirs in (
        (mine[:, 0], rate[:, 0]),
        (mine[:, 1], rate[:, 1]),
        (model.prior(draws[:, -1])[0], pi),
    ):
        expected = np.average(theirs, weights=law)
        spread = np.sqrt(np.average((theirs - expected) ** 2, weights=law))
        assert ours.mean() == pytest.approx(expected, abs=4 * spread / np.sqrt(size) + 2e-3)
        assert ours.std() == pytest.approx(spread, rel=0.05)
