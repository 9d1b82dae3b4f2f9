"""The opinion pool, and the prior of the slope by agreement."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, norm, t

import bayescal as bc
from bayescal.quantities.ssme.data import score_matrix
from bayescal.quantities.ssme.opinion_pool import (
    DEGREES,
    LEAST,
    LogSlope,
    agreement_weights,
    lifted,
    log_slope_at,
    pool_warnings,
    pooled,
    rates_of_agreement,
)
from bayescal.quantities.ssme.priors import Tilt


def matrix(seed, m=4, n=7, k=3):
    return np.random.default_rng(seed).dirichlet(np.ones(k), (m, n))


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 4))
def test_agreement_weights_by_loops(seed, m, k):
    probs = matrix(seed, m=m, k=k)
    raw = []
    for j in range(m):
        divergence = 0.0
        for i in range(probs.shape[1]):
            others = [np.mean([probs[o, i, c] for o in range(m) if o != j]) for c in range(k)]
            divergence += sum(q * np.log(q / p) for q, p in zip(others, probs[j, i], strict=True))
        raw.append(np.exp(-divergence / probs.shape[1]))
    np.testing.assert_allclose(agreement_weights(probs), np.array(raw) / sum(raw), rtol=1e-10)


def test_one_classifier_weighs_all():
    assert agreement_weights(matrix(1, m=1)).tolist() == [1.0]


def test_the_floor_keeps_rows_whole_and_others_nearly_as_they_are():
    found = lifted(np.array([[0.0, 1.0], [1e-9, 1 - 1e-9], [0.3, 0.7]]))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found.min() == pytest.approx(LEAST / (1 + LEAST))
    np.testing.assert_array_equal(found[2], [0.3, 0.7])


def test_the_pool_is_the_weighted_mean():
    probs, weights = matrix(3), np.array([0.1, 0.2, 0.3, 0.4])
    expected = sum(w * p for w, p in zip(weights, probs, strict=True))
    np.testing.assert_allclose(pooled(probs, weights), expected)


def test_rates_of_agreement_by_loops():
    probs, weights = matrix(5), np.array([0.1, 0.2, 0.3, 0.4])
    agree = 0.0
    for j, own in enumerate(probs):
        others = sum(weights[o] * probs[o] for o in range(4) if o != j)
        agree += weights[j] * np.mean(own.argmax(axis=1) == others.argmax(axis=1))
    sure = np.mean([row.max() for row in pooled(probs, weights)])
    found = rates_of_agreement(probs, weights)
    assert (found.agree, found.sure) == pytest.approx((agree, sure))
    expected = np.log(agree / (1 - agree)) - np.log(sure / (1 - sure))
    assert found.gap == pytest.approx(np.clip(expected, -1, 2.5))


@pytest.mark.parametrize("classes", [[0.7, 0.3], [0.5, 0.3, 0.2]])
def test_classifiers_that_always_predict_one_class_agree_for_no_reason(classes):
    """Calibrated ones that are constant were called underconfident, with a log slope of 2.5."""
    probs = np.tile(classes, (2, 50, 1))
    assert rates_of_agreement(probs, np.full(2, 0.5)) == pytest.approx((1, classes[0], 0))
    matrix = score_matrix(bc.Scores.stack({"a": probs[0], "b": probs[1]}, y_true=[0] + [None] * 49))
    assert pool_warnings(matrix) == []


def test_stretched_probabilities_move_the_gap_and_not_the_agreement():
    """Powers of the probabilities of two classes keep who agrees with whom where two pool alike."""
    score = np.random.default_rng(6).uniform(0.05, 0.95, (1, 200))
    probs = np.stack([1 - score, score], axis=-1).repeat(2, axis=0)
    gaps = []
    for stretch in (0.3, 1.0, 3.0):
        moved = probs**stretch
        found = rates_of_agreement(moved / moved.sum(axis=-1, keepdims=True), np.full(2, 0.5))
        assert found.agree == 1
        gaps.append(found.sure)
    assert gaps == sorted(gaps)


PARTS = [
    LogSlope(0.1, (0.0, 0.2), (0.1, 0.4)),
    LogSlope(0.7, (0.0, 2.5), (0.1, 0.4)),
    LogSlope(0.3, (0.0, 0.0), (0.1, 0.8)),
    LogSlope(0.0, (-0.06, 1.0), (0.1, 0.4)),
    LogSlope(0.0, (0.0, 1.0), (1e-9, 0.4)),
]


def below(slope, values):
    """Distribution function of the mixture."""
    weights = (1 - slope.weight, slope.weight)
    parts = zip(weights, DEGREES, slope.centre, slope.scale, strict=True)
    return sum(w * t.cdf(values, nu, at, scale) for w, nu, at, scale in parts)


@pytest.mark.parametrize("slope", PARTS)
def test_the_table_inverts_the_distribution_function(slope):
    units = np.linspace(-3.9, 3.9, 2001)
    found = below(slope, log_slope_at(units, slope.table()))
    # Cubic interpolation between 257 quantiles, worst where hardly anything lies between the parts.
    np.testing.assert_allclose(found, norm.cdf(units), atol=1e-3)


@pytest.mark.parametrize("slope", PARTS)
def test_the_slope_rises_with_its_unit_everywhere(slope):
    assert (np.diff(log_slope_at(np.linspace(-8, 8, 20_001), slope.table())) > 0).all()


def test_draws_are_those_of_the_mixture():
    slope = PARTS[1]
    units = np.random.default_rng(1).standard_normal(20_000)
    found = log_slope_at(units, slope.table())
    assert kstest(found, lambda values: below(slope, values)).pvalue > 1e-3
    parts = np.exp(slope.log_parts(found))
    # The posterior probability of a part is its weight, on average over the prior.
    assert (parts[1] / parts.sum(axis=0)).mean() == pytest.approx(slope.weight, abs=0.015)


def random_matrix(stretch, m=3):
    score = 1 / (1 + np.exp(-stretch * np.random.default_rng(2).normal(size=400)))
    noise = 1 / (1 + np.exp(-stretch * np.random.default_rng(3).normal(size=(m, 400)) / 3))
    probs = (score + noise) / 2
    return lifted(np.stack([1 - probs, probs], axis=-1))


def made(probs):
    return LogSlope.of(Tilt(), probs, agreement_weights(probs))


def test_cautious_classifiers_get_a_wide_part_above_0():
    found = made(random_matrix(0.3))
    assert found.centre[1] > 1
    assert found.weight == pytest.approx(0.7)


def test_one_classifier_has_a_wide_part_around_the_pool():
    found = made(random_matrix(1.0, m=1))
    assert found.centre == (0.0, 0.0)
    assert (found.weight, found.scale[1]) == pytest.approx((0.3, 0.8))


def test_classifiers_that_contradict_each_other_are_overconfident():
    probs = lifted(np.random.default_rng(4).dirichlet([0.1, 0.1], (3, 400)))
    found = made(probs)
    assert found.centre[1] < -0.5
    assert found.weight == pytest.approx(0.7)
