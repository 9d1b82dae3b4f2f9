"""Deviations of the loss, and the paper's two constructions."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from bayescal.quantities.temperature.bounds import (
    HALF_BRIER_LIPSCHITZ,
    bounds,
    label_noise_confidence,
    rare_feature_factor,
    rare_feature_probability,
    train_on_rare_feature,
)
from bayescal.quantities.temperature.calibrators import ClassWiseTemperatureScaling
from tests.quantities.temperature.made import labels

SETTING = {"logit_norm": 2.0, "lipschitz": 1.5, "alpha_min": 0.5, "alpha_max": 2.5, "delta": 0.05}


def test_both_regimes_are_those_of_theorem_4_1():
    n, classes, delta = 10_000, 5, 0.05
    unit = np.sqrt(n) * 2.0 * 1.5
    head = 8 * np.sqrt(np.log(2 / delta) / n)
    small = bounds(n, classes, gamma=1 / (8 * unit), **SETTING).excess.value
    assert small == pytest.approx(head + 4 / np.sqrt(n) * np.sqrt(np.log(1 + 4 * 2.0 * unit)))
    large = bounds(n, classes, gamma=0.25, **SETTING).excess.value
    inner = np.log(2.0 / 0.5) + (classes + 1) * np.log(8 * 0.25 * unit)
    assert large == pytest.approx(head + 4 / np.sqrt(n) * np.sqrt(inner))


def test_no_constraint_counts_as_half_the_range():
    given = {name: bounds(5000, 3, gamma=name, **SETTING).excess.value for name in (1.0, np.inf)}
    assert given[1.0] == given[np.inf]


@pytest.mark.parametrize("gamma", [1e-6, 0.05, np.inf])
def test_below_the_rows_that_the_proof_takes_the_bound_is_trivial(gamma):
    # The proof takes n >= 3 log |A'| + 3 log(2 / delta) for a cover A'; a loss in [0, 1] differs by
    # at most 1, so that the bound of the theorem and half of it, of the proof, need no condition.
    for n in range(1, 400):
        found = bounds(n, 5, gamma=gamma, **SETTING)
        unit = np.sqrt(n) * 3
        cover = 5 * np.log(max(1, 8 * min(gamma, 1) * unit)) + np.log(max(1, 4 * 2.0 * unit))
        if n < 3 * cover + 3 * np.log(2 / 0.05):
            assert 2 < found.excess.value < np.inf
            assert found.deviation.value == found.excess.value / 2


def test_the_corollary_divides_the_failure_among_classes():
    n, classes, p_min = 1_000_000, 4, 0.1
    each = 0.05 / classes - np.exp(-p_min * n / 8)
    size = np.log(1 + 4 * 2.0 * np.sqrt(n) * 3.0)
    value = 6 * np.sqrt(size / (p_min * n)) + 12 * np.sqrt(np.log(2 / each) / (p_min * n))
    assert bounds(n, classes, p_min=p_min, **SETTING).class_excess.value == pytest.approx(value)
    assert bounds(n, classes, **SETTING).class_excess.value == np.inf
    assert bounds(10, classes, p_min=p_min, **SETTING).class_excess.value == np.inf


def test_half_the_brier_score_has_its_lipschitz_constant():
    rng = np.random.default_rng(0)
    prob, other = rng.dirichlet(np.ones(4), (2, 2000))
    true = np.eye(4)[rng.integers(0, 4, 2000)]

    def loss(p):
        return ((p - true) ** 2).sum(axis=1) / 2

    apart = np.linalg.norm(prob - other, axis=1)
    assert (np.abs(loss(prob) - loss(other)) <= HALF_BRIER_LIPSCHITZ * apart + 1e-12).all()
    assert loss(prob).max() <= 1


def test_the_bounds_hold_for_the_half_brier_score_on_simulated_rows():
    # The population is 200,000 rows; numbers are those of log loss, for which `deviation` is.
    rng = np.random.default_rng(1)
    logits = rng.uniform(-1, 1, (200_000, 3))
    label = labels(1.5 * logits, rng)

    def loss(alpha, at):
        moved = np.exp(alpha[logits[at].argmax(axis=1)][:, None] * logits[at])
        prob = moved / moved.sum(axis=1, keepdims=True)
        return ((prob - np.eye(3)[label[at]]) ** 2).sum(axis=1).mean() / 2

    norm = np.linalg.norm(logits, axis=1).max()
    fitted = ClassWiseTemperatureScaling(alpha_min=0.5, alpha_max=3)
    fitted.fit(logits[:2000], label[:2000])
    excess = loss(fitted.alpha_, slice(2000, None)) - loss(np.full(3, 1.5), slice(2000, None))
    found = bounds(2000, 3, logit_norm=norm, alpha_min=0.5, alpha_max=3)
    assert excess < found.excess.value < 1
    apart = loss(fitted.alpha_, slice(2000)) - loss(fitted.alpha_, slice(2000, None))
    assert abs(apart) < found.deviation.value


def test_lemma_3_3_is_what_logistic_regression_finds():
    # The population of training: two inputs, each with both labels in their shares.
    noise = (0.3, 0.12)
    x, y = np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([1, 0, 0, 1])
    weight = [1 - noise[0], noise[0], 1 - noise[1], noise[1]]
    fitted = LogisticRegression(C=1e12, tol=1e-12, max_iter=1000).fit(x, y, weight)
    prob = fitted.predict_proba([[1.0], [-1.0]])
    found = label_noise_confidence(*noise, 0.05)
    np.testing.assert_allclose(found.confidence, [prob[0, 1], prob[1, 0]], atol=1e-4)
    assert (found.confidence < found.accuracy).all()


def test_30_n_rows_are_too_few_for_the_construction_of_the_proof():
    assert rare_feature_probability(100_000, 30) == pytest.approx(1 - np.exp(-1.5), abs=1e-5)
    assert rare_feature_probability(1000, rare_feature_factor(1000)) == pytest.approx(0.9)
    assert rare_feature_factor(100_000) == pytest.approx(20 * np.log(10), rel=1e-5)


def test_theorem_3_1_stands_with_a_feature_of_probability_1_over_12_n():
    assert 1 - rare_feature_probability(1000, 1, rarity=12) == pytest.approx(0.920, abs=5e-4)
    assert rare_feature_probability(1000, 30, rarity=12) == pytest.approx(0.918, abs=5e-4)
    assert rare_feature_factor(100_000, rarity=12) == pytest.approx(12 * np.log(10), rel=1e-5)
    for n in range(50, 400):
        missed = 1 - rare_feature_probability(n, 1, rarity=12)
        # Event B: at least a third of the rows at v, and at least a third at -v.
        third, share = -(-n // 3), 0.5 / (1 - 1 / (12 * n))
        inside = binom.cdf(n - third, n, share) - binom.cdf(third - 1, n, share)
        assert missed * inside > 0.9
        assert rare_feature_probability(n, 30, rarity=12) > 0.9
        if n == 50:
            assert missed * inside == pytest.approx(0.906, abs=5e-4)


@pytest.mark.parametrize(("rarity", "factor"), [(20, 50), (12, 30)])
def test_theorem_3_1_a_classifier_is_sure_and_right_only_about_what_it_has_seen(rarity, factor):
    n, eps = 400, 0.01
    norm = 6 * np.log(50 * n + 1 / eps)
    rng = np.random.default_rng(0)
    sizes = [n] * 10 + [factor * n] * 10
    found = [train_on_rare_feature(n, rows, norm, rng, rarity) for rows in sizes]
    assert {one.seen for one in found} == {True, False}
    for one in found:
        assert one.confidence >= 1 - eps
        if one.seen:
            assert one.accuracy == pytest.approx(1)
        else:
            assert one.accuracy <= 1 - 1 / (20 * n) + 1e-12
