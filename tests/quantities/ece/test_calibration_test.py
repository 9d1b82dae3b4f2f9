"""The probability of calibration against Bayes's formula, worked out by quadrature."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import beta, betabinom, binom, lognorm, norm

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.quantities.ece.model import label_model
from bayescal.quantities.ece.posterior import log_calibrated, probability_calibrated
from bayescal.quantities.ece.priors import HierarchicalBins, IndependentBins, Priors, SmoothCurve
from tests.quantities.ece.made import of_counts, one_cell


def smooth(count, positives, score):
    spread = 0.7 * math.sqrt(2 + logit(score) ** 2)
    best = logit((positives + 0.5) / (count + 1))
    return quad(
        lambda eta: binom.pmf(positives, count, expit(eta)) * norm.pdf(eta, logit(score), spread),
        best - 10,
        best + 10,
        points=[best],
    )[0]


def flat(count, positives, score):
    return quad(lambda p: binom.pmf(positives, count, p) * beta.pdf(p, 1, 1), 0, 1)[0]


def hierarchical(count, positives, score):
    law = lognorm(1.5, scale=math.exp(3.4))
    return quad(
        lambda t: (
            betabinom.pmf(positives, count, math.exp(t) * score, math.exp(t) * (1 - score))
            * law.pdf(math.exp(t))
            * math.exp(t)
        ),
        -4,
        11,
    )[0]


FAMILIES = {
    "smooth": (SmoothCurve(), smooth),
    "flat": (IndependentBins(), flat),
    "hierarchical": (HierarchicalBins(), hierarchical),
}


@pytest.mark.parametrize("prior", [0.5, 0.1])
@pytest.mark.parametrize(
    ("count", "positives", "score"), [(20, 9, 0.3), (6, 1, 0.2), (50, 33, 0.7)]
)
@pytest.mark.parametrize("name", FAMILIES)
def test_one_bin_is_bayes_formula(name, count, positives, score, prior):
    label_rate, marginal = FAMILIES[name]
    made = one_cell(count, positives, score)
    direct = label_model(made, Priors(label_rate)).direct_draws(20_000, np.random.default_rng(1))
    calibrated = prior * binom.pmf(positives, count, score)
    other = (1 - prior) * marginal(count, positives, score)
    expected = calibrated / (calibrated + other)
    found = probability_calibrated(made.cells, direct.log_evidence, prior)
    assert found == pytest.approx(expected, abs=0.002)


def test_calibration_is_the_product_of_binomials():
    count, positives, score = np.array([3, 40, 0]), np.array([0, 22, 0]), np.array([0.1, 0.5, 0.8])
    made = of_counts(count, positives, score)
    choose = log_binomial_coefficient(count, positives).sum()
    expected = binom.logpmf(positives, count, score).sum()
    assert log_calibrated(made.cells) + choose == pytest.approx(expected, rel=1e-12)


def test_a_wrong_label_at_a_score_of_1_is_not_the_end_of_it():
    cells = of_counts([5, 5], [0, 4], [0.0, 1.0]).cells
    assert log_calibrated(cells) == pytest.approx(math.log(1e-9), rel=1e-6)
    assert log_calibrated(of_counts([5, 5], [0, 5], [0.0, 1.0]).cells) == pytest.approx(0, abs=1e-7)


def test_a_prior_that_leaves_it_out_has_no_answer():
    cells = one_cell(5, 2, 0.4).cells
    assert math.isnan(probability_calibrated(cells, -3.0, 0))


@given(st.floats(-1e6, 1e6), st.floats(0.001, 0.999))
def test_odds_multiply(log_evidence, prior):
    cells = one_cell(10, 4, 0.4).cells
    found = probability_calibrated(cells, log_evidence, prior)
    assert 0 <= found <= 1
    factor = log_calibrated(cells) - log_evidence
    if abs(factor) < 20:
        odds = found / (1 - found)
        assert math.log(odds) == pytest.approx(factor + logit(prior), abs=1e-4)
