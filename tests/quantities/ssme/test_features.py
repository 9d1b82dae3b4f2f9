"""Features of the tilt: orthogonal to the pool, in units of their own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.quantities.ssme.features import features_of
from bayescal.quantities.ssme.pool import agreement_weights, floored
from bayescal.quantities.ssme.priors import Tilt


def panel(seed, m=3, n=30, k=3):
    return np.random.default_rng(seed).dirichlet(np.ones(k), (m, n))


def centred(values, axis):
    return values - values.mean(axis=axis, keepdims=True)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 4))
def test_departures_and_bend_are_orthogonal_to_the_pool(seed, m, k):
    found = features_of(panel(seed, m=m, k=k), Tilt())
    base = centred(found.log_pool, 1)
    norm = np.sqrt((base**2).sum())
    for part in (*np.moveaxis(found.departure, -1, 0), found.bend):
        # In units of both lengths: rounding of a sum of 120 products.
        assert abs((part * base).sum()) < 1e-10 * norm * max(np.sqrt((part**2).sum()), 1)
        np.testing.assert_allclose(part.sum(axis=1), 0, atol=1e-9)


def test_departures_are_residuals_of_least_squares():
    probs = panel(1)
    found = features_of(probs, Tilt(pool="mean"))
    base = centred(found.log_pool, 1).ravel()
    np.testing.assert_allclose(found.log_pool, np.log(floored(probs).mean(axis=0)))
    for j, own in enumerate(floored(probs)):
        logs = centred(np.log(own), 1).ravel()
        target = logs / logs.std()
        slope = np.linalg.lstsq(base[:, None], target, rcond=None)[0][0]
        np.testing.assert_allclose(
            found.departure[..., j].ravel(), target - slope * base, atol=1e-12
        )
    assert found.bend.std() == pytest.approx(1)


def test_the_pool_is_the_one_asked_for():
    probs = panel(2)
    weights = agreement_weights(floored(probs))
    expected = np.log(np.tensordot(weights, floored(probs), 1))
    np.testing.assert_allclose(features_of(probs, Tilt()).log_pool, expected)


def test_nothing_is_left_of_identical_classifiers():
    found = features_of(np.repeat(panel(3, m=1), 4, axis=0), Tilt())
    np.testing.assert_allclose(found.departure, 0, atol=1e-9)


def test_constant_and_extreme_scores_leave_finite_features():
    for probs in (np.full((2, 5, 2), 0.5), np.repeat(np.eye(2)[None, [0, 1, 1, 0]], 2, axis=0)):
        assert all(np.isfinite(part).all() for part in features_of(probs, Tilt()))


def test_features_do_not_hang_on_the_order_of_rows():
    probs, order = panel(4), np.random.default_rng(0).permutation(30)
    one, other = features_of(probs, Tilt()), features_of(probs[:, order], Tilt())
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a[order], b, atol=1e-10)
