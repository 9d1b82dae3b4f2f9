"""The binomial law, against SciPy's and against counting."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from bayescal.core.functionals import log_binomial, log_binomial_coefficient


@pytest.mark.parametrize(("count", "positives"), [(0, 0), (1, 0), (5, 2), (40, 40), (60, 31)])
def test_the_coefficient_counts_subsets(count: int, positives: int) -> None:
    found = log_binomial_coefficient(np.array([count]), np.array([positives]))
    # Three log-gammas of up to 200, each right to a few units of its last place.
    assert found == pytest.approx(math.log(math.comb(count, positives)), abs=1e-12)


def test_it_is_the_law_of_scipy_at_the_ends_too() -> None:
    count, positives = np.array([0, 3, 3, 10]), np.array([0, 0, 3, 4])
    rate = np.array([0.0, 1e-9, 0.3, 0.5, 1.0])[:, None] * np.ones(4)
    with np.errstate(divide="ignore"):
        wanted = binom.logpmf(positives, count, rate)
    # Sums of a few terms of order ten.
    np.testing.assert_allclose(log_binomial(positives, count, rate), wanted, atol=1e-12)
