"""Steps drawn by sums over a grid, against the prior's own draws weighted by the likelihood."""

import numpy as np
import pytest
from scipy.stats import beta

from bayescal.quantities.credal.models.step_posterior import draw_rates


@pytest.mark.slow
@pytest.mark.parametrize("concentration", [0.3, 1.0, 2.0])
@pytest.mark.parametrize(
    ("count", "positives"),
    [([5, 5, 5], [0, 2, 5]), ([4, 0, 6, 3], [3, 0, 1, 2]), ([0, 0, 0], [0, 0, 0])],
)
def test_moments_agree_with_brute_force(concentration, count, positives):
    count, positives = np.array(count), np.array(positives)
    rng = np.random.default_rng(1)
    rates = draw_rates(count, positives, concentration, 40_000, rng)
    prior = rng.dirichlet(np.full(len(count) + 1, concentration), 400_000).cumsum(axis=1)[:, :-1]
    prior = np.clip(prior, 1e-300, 1 - 1e-16)
    weight = np.exp(
        (positives * np.log(prior) + (count - positives) * np.log1p(-prior)).sum(axis=1)
    )
    weight /= weight.sum()
    mean = weight @ prior
    # Standard errors are below .003 on either side; cells of the grid are finer.
    np.testing.assert_allclose(rates.mean(axis=0), mean, atol=0.01)
    spread = np.sqrt(weight @ (prior - mean) ** 2)
    np.testing.assert_allclose(rates.std(axis=0), spread, atol=0.01)
    np.testing.assert_allclose(
        np.cov(rates.T)[0, 1], weight @ np.prod((prior - mean)[:, :2], 1), atol=0.004
    )


def test_one_bin_is_conjugate():
    rates = draw_rates(np.array([30]), np.array([12]), 2.0, 50_000, np.random.default_rng(1))
    level = np.array([0.05, 0.5, 0.95])
    np.testing.assert_allclose(
        np.quantile(rates, level),
        beta.ppf(level, 14, 20),
        atol=0.005,  # four standard errors
    )


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 1000, 10**6])
@pytest.mark.parametrize("turned", [False, True])
def test_rates_rise_at_any_size_even_against_the_labels(size, turned):
    rate = np.linspace(0.05, 0.95, 20)
    count = np.full(20, size)
    positives = np.round(size * (rate[::-1] if turned else rate)).astype(int)
    rates = draw_rates(count, positives, 0.3, 300, np.random.default_rng(1))
    assert np.isfinite(rates).all()
    assert (np.diff(rates, axis=1) >= 0).all()
    assert ((rates > 0) & (rates < 1)).all()
    if size == 10**6 and not turned:
        # Rates within four standard errors, that are at most .0005.
        np.testing.assert_allclose(rates.mean(axis=0), rate, atol=0.002)
    if size == 10**6 and turned:
        np.testing.assert_allclose(rates.mean(axis=0), 0.5, atol=0.002)


def test_same_seed_same_draws():
    args = (np.array([9, 9]), np.array([2, 7]), 0.3, 100)
    first, second = (draw_rates(*args, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
