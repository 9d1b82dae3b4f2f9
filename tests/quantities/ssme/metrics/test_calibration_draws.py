"""Calibration errors alone are those of all metrics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.quantities.ssme.metrics.binned_error import CONVENTIONS, calibration_errors
from bayescal.quantities.ssme.metrics.metrics import metrics


@given(
    st.integers(0, 100_000),
    st.sampled_from([*CONVENTIONS, None]),
    st.integers(2, 4),
    st.integers(1, 40),
    st.booleans(),
)
def test_they_are_those_of_metrics(seed, convention, k, n, tied):
    if k > 2 and convention in ("equal-mass", "equal-width"):
        convention = "top-label"
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.ones(k), (2, n))
    if tied:
        probs = np.eye(k)[probs.argmax(axis=2)] * 0.5 + 0.5 / k
    q, weights = rng.dirichlet(np.ones(k), (3, n)), rng.exponential(size=(3, n))
    ece, mce = calibration_errors(probs, q, weights, convention)
    expected = metrics(probs, q, weights, ece=convention)
    # Rounding of sums in another order.
    np.testing.assert_allclose(ece, expected.ece, atol=1e-12)
    np.testing.assert_allclose(mce, expected.mce, atol=1e-12)


def test_positive_score_conventions_need_two_classes():
    probs = np.full((1, 4, 3), 1 / 3)
    with pytest.raises(bc.InputError, match="needs 2 classes; got 3"):
        calibration_errors(probs, probs, np.ones((1, 4)), "equal-mass")
