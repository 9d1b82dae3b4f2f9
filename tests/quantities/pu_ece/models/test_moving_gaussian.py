"""The map from standard normal values to the class prior and the curve."""

import numpy as np
import pytest
from scipy.stats import norm

from bayescal.inference.direct import Gaussian
from bayescal.quantities.pu_ece.models.moving_gaussian import MovingGaussian, Quantiles

SIZE = 3
KNOTS = np.array([-3, -1.5, -1, 0, 0.2, 1, 2.5])
PLATEAU = np.array([-9, -6, -5, -4.8, -4, 0, -9.0])


@pytest.fixture(scope="module")
def moving() -> MovingGaussian:
    rng = np.random.default_rng(1)
    bend = np.outer(KNOTS**2 / 20, [1.0, -0.5, 0.2]) + np.outer(KNOTS, [0.1, 0.3, -0.2])
    roots = [np.triu(rng.normal(size=(SIZE, SIZE)), 1) + np.diag([1, -0.5, 2]) for _ in KNOTS]
    return MovingGaussian(Quantiles.of(KNOTS, PLATEAU), Gaussian(bend, np.stack(roots)))


def test_quantiles_rise_by_their_slope() -> None:
    quantiles, value = Quantiles.of(KNOTS, PLATEAU), np.linspace(-8, 8, 801)
    normal, slope = quantiles(value)
    assert (slope > 0).all()
    assert (np.diff(normal) > 0).all()
    np.testing.assert_allclose(quantiles(quantiles.standard)[0], KNOTS, atol=1e-12)
    apart = (quantiles(value + 1e-6)[0] - quantiles(value - 1e-6)[0]) / 2e-6
    # But where a knot lies between the two.
    assert np.median(np.abs(apart / slope - 1)) < 1e-8
    assert np.quantile(np.abs(apart / slope - 1), 0.95) < 1e-4


def test_quantiles_of_a_normal_density_are_a_line() -> None:
    at = np.linspace(-6, 6, 25)
    found = Quantiles.of(1 + 0.3 * at, norm.logpdf(at))
    value = np.linspace(-3, 3, 13)
    # The density to the power .7 is that of a normal one so much wider.
    np.testing.assert_allclose(found(value)[0], 1 + 0.3 * value / np.sqrt(0.7), atol=0.01)


def test_at_a_knot_its_gaussian_places_them(moving) -> None:
    value = np.random.default_rng(2).normal(size=(len(KNOTS), SIZE + 1))
    value[:, -1] = moving.quantiles.standard
    coef, _ = moving.placed(value)
    np.testing.assert_allclose(coef[:, -1], KNOTS, atol=1e-12)
    for knot in range(len(KNOTS)):
        own = moving.gaussians[knot]
        np.testing.assert_allclose(coef[knot, :-1], own.mean + own.root @ value[knot, :-1])


def test_the_volume_is_that_of_finite_differences(moving) -> None:
    for value in ([0.3, -1, 0.5, 0.3], [1, 0, -2, -1.1], [0.1, 0.2, 0.3, 2.4], [0, 1, 0, 7.0]):
        step = 1e-6 * np.eye(SIZE + 1)
        moved = [moving.placed(np.array(value) + sign * step)[0] for sign in (1, -1)]
        _, expected = np.linalg.slogdet((moved[0] - moved[1]) / 2e-6)
        assert moving.placed(np.array([value]))[1][0] == pytest.approx(expected, abs=1e-6)


def test_between_knots_a_bent_mean_is_followed(moving) -> None:
    value = np.zeros((41, SIZE + 1))
    value[:, -1] = np.linspace(*moving.quantiles.standard[[1, -2]], 41)
    coef, _ = moving.placed(value)
    # Differences of second order have the slope of a parabola, which is a cubic.
    np.testing.assert_allclose(coef[:, 0], coef[:, -1] ** 2 / 20 + 0.1 * coef[:, -1])


def test_a_density_that_jumps_ends_the_search():
    """One knot that is far likelier than all others, however near, is no gap to halve for ever."""

    def solve(normal, mean):
        return (
            normal,
            np.where(normal == 0, 0.0, -50.0),
            mean,
            np.tile(np.eye(1), (len(mean), 1, 1)),
        )

    found = MovingGaussian.sought(solve, np.zeros(1))
    assert (np.diff(found.quantiles.normal) > 0).all()
