import numpy as np
import pytest
from scipy.special import expit, logit

from bayescal.core.errors import InputError
from bayescal.core.functionals import finite_logits, sigmoid


def test_both_are_scipys():
    x = np.array([-1000.0, -40.0, -1.5, 0.0, 2.0, 30.0, 1000.0])
    # Each takes two roundings.
    np.testing.assert_allclose(sigmoid(x), expit(x), rtol=1e-15)
    score = np.array([1e-300, 0.1, 0.5, 0.999])
    np.testing.assert_allclose(finite_logits(score), logit(score), rtol=1e-14, atol=1e-15)


def test_the_ends_have_logits():
    low, high = finite_logits([0.0, 1.0])
    assert low == pytest.approx(np.log(np.finfo(float).tiny))
    assert high == pytest.approx(53 * np.log(2))


def test_logits_are_of_probabilities():
    with pytest.raises(InputError, match=r"p must lie in \[0, 1\]; got 2"):
        finite_logits([2.0], "p")
