"""Pooling of classifiers without labels, against loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.quantities.ssme.opinion_pool import (
    LEAST,
    agreement_weights,
    lifted,
    pooled,
    rates_of_agreement,
)


def panel(seed, m=4, n=7, k=3):
    return np.random.default_rng(seed).dirichlet(np.ones(k), (m, n))


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 4))
def test_agreement_weights_by_loops(seed, m, k):
    probs = panel(seed, m=m, k=k)
    raw = []
    for j in range(m):
        divergence = 0.0
        for i in range(probs.shape[1]):
            others = [np.mean([probs[o, i, c] for o in range(m) if o != j]) for c in range(k)]
            divergence += sum(q * np.log(q / p) for q, p in zip(others, probs[j, i], strict=True))
        raw.append(np.exp(-divergence / probs.shape[1]))
    np.testing.assert_allclose(agreement_weights(probs), np.array(raw) / sum(raw), rtol=1e-10)


def test_one_classifier_weighs_all():
    assert agreement_weights(panel(1, m=1)).tolist() == [1.0]


def test_identical_classifiers_weigh_alike():
    weights = agreement_weights(np.repeat(panel(1, m=1), 50, axis=0))
    np.testing.assert_allclose(weights, 1 / 50, rtol=1e-12)


def test_the_order_of_classifiers_is_theirs():
    probs = panel(2)
    np.testing.assert_allclose(agreement_weights(probs[::-1]), agreement_weights(probs)[::-1])


def test_one_that_contradicts_the_others_weighs_least():
    good = np.array([[0.95, 0.05], [0.1, 0.9], [0.8, 0.2]])
    weights = agreement_weights(lifted(np.stack([good, good, good[:, ::-1]])))
    assert weights.argmin() == 2


def test_the_floor_keeps_rows_whole_and_others_nearly_as_they_are():
    found = lifted(np.array([[0.0, 1.0], [1e-9, 1 - 1e-9], [0.3, 0.7]]))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert found.min() == pytest.approx(LEAST / (1 + LEAST))
    np.testing.assert_array_equal(found[2], [0.3, 0.7])


def test_the_pool_is_the_weighted_mean():
    probs, weights = panel(3), np.array([0.1, 0.2, 0.3, 0.4])
    expected = sum(w * p for w, p in zip(weights, probs, strict=True))
    np.testing.assert_allclose(pooled(probs, weights), expected)


def test_rates_of_agreement_by_loops():
    probs, weights = panel(5), np.array([0.1, 0.2, 0.3, 0.4])
    agree = 0.0
    for j, own in enumerate(probs):
        others = sum(weights[o] * probs[o] for o in range(4) if o != j)
        agree += weights[j] * np.mean(own.argmax(axis=1) == others.argmax(axis=1))
    sure = np.mean([row.max() for row in pooled(probs, weights)])
    found = rates_of_agreement(probs, weights)
    assert (found.agree, found.sure) == pytest.approx((agree, sure))
    expected = np.log(agree / (1 - agree)) - np.log(sure / (1 - sure))
    assert found.gap == pytest.approx(np.clip(expected, -1, 2.5))


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
