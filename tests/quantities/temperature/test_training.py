import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from bayescal.core.errors import InputError
from bayescal.quantities.temperature.bounds import (
    label_noise_confidence,
    rare_feature_factor,
    rare_feature_probability,
    train_on_rare_feature,
)


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


@pytest.mark.parametrize("factor", [1, 30, 50])
def test_the_rare_feature_is_drawn_as_often_as_computed(factor):
    n, runs = 20, 2000
    rng = np.random.default_rng(factor)
    drawn = rng.binomial(round(factor * n), 1 / (20 * n), runs) > 0
    expected = rare_feature_probability(n, factor)
    # Four standard errors of a share of 2000.
    assert abs(drawn.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / runs)


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: label_noise_confidence(0.5, 0.1, 0.1), r"p_plus must be a number in \[0, 0\.5\)"),
        (lambda: rare_feature_probability(0, 30), "n must be a whole number >= 1"),
        (lambda: rare_feature_probability(10, 30, rarity=np.nan), "rarity must be a number"),
        (lambda: rare_feature_factor(np.nan), "n must be a whole number"),
        (lambda: train_on_rare_feature(0, 10, 1.0, None), "n must be a whole number"),
        (lambda: rare_feature_factor(10, 1.0), r"prob must be a number in \(0, 1\)"),
    ],
)
def test_numbers_outside_their_range_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
