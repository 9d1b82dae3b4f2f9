"""Functionals against their formulas; the binomial law against SciPy's and against counting."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binom

from bayescal.core import functionals as f
from bayescal.core.errors import InputError
from bayescal.core.functionals import finite_logits, log_binomial, log_binomial_coefficient, sigmoid
from tests.interpreted import PLAIN

MASS = np.array([[0.5, 0.3, 0.2, 0.0], [0.1, 0.2, 0.3, 0.4]])
RATE = np.array([[0.2, 0.5, 1.0, 0.0], [0.0, 0.4, 0.5, 0.9]])
CONFIDENCE = np.array([[0.1, 0.6, 0.7, 0.9], [0.1, 0.3, 0.7, 0.8]])
COUNT = np.array([[5, 3, 2, 0], [1, 2, 3, 4]])

FORMULAS = {
    "expected": (f.expected_calibration_error, 3),
    "maximum": (f.maximum_calibration_error, 3),
    "squared": (f.squared_calibration_error, 3),
    "debiased": (f.debiased_squared_calibration_error, 4),
}


def by_hand(name, mass, rate, confidence, count):
    gaps = [abs(r - c) for r, c in zip(rate, confidence, strict=True)]
    if name == "maximum":
        return max(g for g, m in zip(gaps, mass, strict=True) if m > 0)
    total = 0.0
    for m, r, g, k in zip(mass, rate, gaps, count, strict=True):
        if name == "expected":
            total += m * g
        elif name == "squared":
            total += m * g**2
        elif k > 1:
            total += m * (g**2 - r * (1 - r) / (k - 1))
    return total


@pytest.mark.parametrize("name", FORMULAS)
def test_equals_a_loop_over_bins(name):
    formula, n_args = FORMULAS[name]
    args = (MASS, RATE, CONFIDENCE, COUNT)
    expected = [by_hand(name, *(a[i] for a in args)) for i in range(2)]
    np.testing.assert_allclose(formula(*args[:n_args]), expected, rtol=1e-14)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_same_line_serves_pytensor(name):
    pt = pytest.importorskip("pytensor.tensor")
    import pytensor

    formula, n_args = FORMULAS[name]
    args = (MASS, RATE, CONFIDENCE, COUNT)[:n_args]
    symbols = [pt.as_tensor(a).type() for a in args]
    graph = pytensor.function(symbols, formula(*symbols), mode=PLAIN)
    np.testing.assert_allclose(graph(*args), formula(*args), rtol=1e-14)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_errors_are_ordered_as_norms_are(bins):
    count, rate, confidence = (np.array(column) for column in zip(*bins, strict=True))
    mass = count / count.sum()
    expected = f.expected_calibration_error(mass, rate, confidence)
    root = f.squared_calibration_error(mass, rate, confidence) ** 0.5
    largest = f.maximum_calibration_error(mass, rate, confidence)
    slack = 1e-12
    assert 0 <= expected <= root + slack
    assert root <= largest + slack
    assert largest <= 1


def test_debiased_square_is_unbiased():
    # Exactly, by summing over all outcomes of one bin: gap 0.1 at a true rate of 0.3.
    n, truth, confidence = 7, 0.3, 0.4
    k = np.arange(n + 1)
    from scipy.stats import binom

    value = f.debiased_squared_calibration_error(
        np.ones((n + 1, 1)),
        (k / n)[:, None],
        np.full((n + 1, 1), confidence),
        np.full((n + 1, 1), n),
    )
    assert binom.pmf(k, n, truth) @ value == pytest.approx((truth - confidence) ** 2, abs=1e-15)


@pytest.mark.parametrize("light", [1e-12, 2.0**-53, 1.2e-16, 1e-14])
def test_a_bin_of_one_row_but_for_rounding_counts_as_one_row(light):
    weight = np.array([1, light])
    count = weight.sum() ** 2 / (weight**2).sum()
    bin_ = [np.array([one]) for one in (1.0, weight[0] / weight.sum(), 0.2, count)]
    assert f.debiased_squared_calibration_error(*bin_) == 0


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
