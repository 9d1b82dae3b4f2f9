"""Pseudo-observations: Clopper and Pearson, conjugacy, brute force, and what must not happen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from bayescal.quantities.credal.models.pseudo_observations import add_pseudo_observations


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(1, 10), (3, 10), (5, 10), (30, 40), (99, 100)])
def test_one_bin_and_s_1_is_clopper_pearson(k, n):
    # Under the improper prior 1 / (g (1 - g)) the posterior is Beta(k, n - k).
    level = (np.arange(200_000) + 0.5) / 200_000
    _, lower, upper = add_pseudo_observations(beta.ppf(level, k, n - k)[:, None], s=1)
    exact = binomtest(k, n).proportion_ci(0.9, method="exact")
    # Quantiles of evenly spaced levels: the grid's step over the density.
    np.testing.assert_allclose(np.quantile(lower, 0.05), exact.low, atol=2e-4)
    np.testing.assert_allclose(np.quantile(upper, 0.95), exact.high, atol=2e-4)


@pytest.mark.parametrize("s", [0.5, 1.0, 3.0])
def test_a_beta_posterior_moves_to_its_conjugate(s):
    draws = np.random.default_rng(1).beta(4, 9, size=(100_000, 1))
    _, lower, upper = add_pseudo_observations(draws, s)
    level = np.array([0.05, 0.3, 0.5, 0.95])
    # Standard errors of quantiles of 1e5 draws are at most .0008 here.
    np.testing.assert_allclose(np.quantile(lower, level), beta.ppf(level, 4, 9 + s), atol=0.004)
    np.testing.assert_allclose(np.quantile(upper, level), beta.ppf(level, 4 + s, 9), atol=0.004)


def test_quantiles_agree_with_resampled_draws():
    rng = np.random.default_rng(2)
    draws = np.concatenate([rng.beta(2, 8, 30_000), rng.beta(20, 5, 20_000)])[:, None]
    _, lower, upper = add_pseudo_observations(draws, 2)
    for found, weight in ((lower, (1 - draws) ** 2), (upper, draws**2)):
        again = rng.choice(draws[:, 0], 400_000, p=(weight / weight.sum())[:, 0])
        level = [0.05, 0.25, 0.9]
        np.testing.assert_allclose(np.quantile(found, level), np.quantile(again, level), atol=0.005)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.1, 5))
def test_bounds_enclose_each_draw_and_stay_inside(values, s):
    draws = np.array(values)[:, None]
    prob, lower, upper = add_pseudo_observations(draws, s)
    np.testing.assert_array_equal(prob, draws)
    assert (lower >= 0).all()
    assert (lower <= prob).all()
    assert (prob <= upper).all()
    assert (upper <= 1).all()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_draws_all_at_an_end_stay_there(value):
    for part in add_pseudo_observations(np.full((50, 2), value), 1):
        np.testing.assert_array_equal(part, value)
