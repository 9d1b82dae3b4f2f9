"""Features of the tilt: centred, and in units of their own."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayescal.quantities.ssme import tilt
from bayescal.quantities.ssme.opinion_pool import agreement_weights, lifted
from bayescal.quantities.ssme.priors import Tilt


def panel(seed, m=3, n=30, k=3):
    return np.random.default_rng(seed).dirichlet(np.ones(k), (m, n))


def features_of(probs, prior):
    """Features, without the prior of the log slope."""
    return tilt.features_of(probs, prior)[0]


def centred(values, axis):
    return values - values.mean(axis=axis, keepdims=True)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 4))
def test_the_bend_is_orthogonal_to_the_pool(seed, m, k):
    found = features_of(panel(seed, m=m, k=k), Tilt())
    base = found.log_pool
    norm = np.sqrt((base**2).sum())
    # In units of both lengths: rounding of a sum of 120 products.
    assert abs((found.bend * base).sum()) < 1e-10 * norm * max(np.sqrt((found.bend**2).sum()), 1)
    np.testing.assert_allclose(found.bend.sum(axis=1), 0, atol=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 4))
def test_own_logs_sum_to_nothing_over_classes_and_over_rows(seed, m, k):
    own = features_of(panel(seed, m=m, k=k), Tilt()).own
    np.testing.assert_allclose(own.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(own.sum(axis=1), 0, atol=1e-9)


def test_features_by_hand():
    probs = panel(1)
    found = features_of(probs, Tilt(opinion_pool="mean"))
    base = found.log_pool.ravel()
    mean = lifted(probs).mean(axis=0)
    np.testing.assert_allclose(found.log_pool, centred(np.log(mean), 1))
    for j, given_probs in enumerate(lifted(probs)):
        logs = np.log(given_probs)
        # Two-way centring in one step: less the means of row and class, plus the mean of all.
        target = logs - logs.mean(axis=1)[:, None] - logs.mean(axis=0)[None, :] + logs.mean()
        np.testing.assert_allclose(found.own[..., j], target / target.std(), atol=1e-12)
    slope = np.linalg.lstsq(base[:, None], (mean - 1 / 3).ravel(), rcond=None)[0][0]
    left = (mean - 1 / 3).ravel() - slope * base
    np.testing.assert_allclose(found.bend.ravel(), left / left.std(), atol=1e-12)
    for j, own in enumerate(lifted(probs)):
        both = np.stack([base, centred(np.log(own), 1).ravel()], axis=1)
        values = (own - 1 / 3).ravel()
        left = values - both @ np.linalg.lstsq(both, values, rcond=None)[0]
        np.testing.assert_allclose(found.own_bend[..., j].ravel(), left / left.std(), atol=1e-10)


def test_two_classes_with_probabilities_near_even_have_no_bend_of_their_own():
    """Near 1/2 a probability is linear in its logarithm."""
    score = 0.5 + 1e-3 * np.random.default_rng(1).uniform(-1, 1, (2, 40))
    found = features_of(np.stack([1 - score, score], axis=-1), Tilt())
    assert (found.own_bend == 0).all()


def test_the_pool_is_the_one_asked_for():
    probs = panel(2)
    weights = agreement_weights(lifted(probs))
    expected = centred(np.log(np.tensordot(weights, lifted(probs), 1)), 1)
    np.testing.assert_allclose(features_of(probs, Tilt()).log_pool, expected)


def test_identical_classifiers_have_the_same_own_logs():
    own = features_of(np.repeat(panel(3, m=1), 4, axis=0), Tilt()).own
    np.testing.assert_allclose(own, np.repeat(own[..., :1], 4, axis=-1), atol=1e-12)


def test_constant_and_extreme_scores_leave_finite_features():
    for probs in (np.full((2, 5, 2), 0.5), np.repeat(np.eye(2)[None, [0, 1, 1, 0]], 2, axis=0)):
        assert all(np.isfinite(part).all() for part in features_of(probs, Tilt()))


def test_features_do_not_hang_on_the_order_of_rows():
    probs, order = panel(4), np.random.default_rng(0).permutation(30)
    one, other = features_of(probs, Tilt()), features_of(probs[:, order], Tilt())
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a[order], b, atol=1e-10)
