from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import expon, norm

from bayescal.plots.posterior import density

X = np.linspace(0, 12, 2401)


def test_far_from_0_it_is_the_density_of_the_draws() -> None:
    draws = norm.ppf((np.arange(3000) + 0.5) / 3000, 6, 1)
    np.testing.assert_allclose(density(draws, X), norm.pdf(X, 6, 1), atol=0.03)


def test_nothing_leaks_below_0() -> None:
    draws = expon.ppf((np.arange(3000) + 0.5) / 3000)
    found = density(draws, X)
    assert trapezoid(found, X) == pytest.approx(1, abs=0.005)
    assert found[0] > 0.75  # without folding it would be near 0.5


@pytest.mark.parametrize("draws", [np.full(100, 0.3), np.zeros(100), np.array([0.3])])
def test_a_point_has_no_density(draws: np.ndarray) -> None:
    assert not density(draws, X).any()


def test_missing_draws_are_left_out() -> None:
    draws = np.random.default_rng(1).exponential(size=500)
    with_holes = np.concatenate([draws, np.full(20, np.nan)])
    np.testing.assert_array_equal(density(with_holes, X), density(draws, X))
