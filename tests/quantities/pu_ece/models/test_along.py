"""Values placed along the class prior: where the knots put them, and their volume."""

import numpy as np
import pytest

from bayescal.inference.direct import Gaussian
from bayescal.quantities.pu_ece.models.along import KNOTS, Along, stretched

SIZE = 3


@pytest.fixture(scope="module")
def along() -> Along:
    rng = np.random.default_rng(1)
    bend = np.outer(KNOTS**2 / 20, [1.0, -0.5, 0.2]) + np.outer(KNOTS, [0.1, 0.3, -0.2])
    roots = [np.triu(rng.normal(size=(SIZE, SIZE)), 1) + np.diag([1, -0.5, 2]) for _ in KNOTS]
    return Along(0.4, 0.2, [Gaussian(*pair) for pair in zip(bend, roots, strict=True)])


def test_at_a_knot_its_gaussian_places_them(along) -> None:
    value = np.random.default_rng(2).normal(size=(len(KNOTS), SIZE + 1))
    value[:, -1] = KNOTS
    coef, _ = along.placed(value)
    np.testing.assert_allclose(coef[:, -1], 0.4 + 0.2 * stretched(KNOTS))
    for knot, own in enumerate(along.gaussians):
        np.testing.assert_allclose(coef[knot, :-1], own.mean + own.root @ value[knot, :-1])


def test_the_volume_is_that_of_finite_differences(along) -> None:
    for value in ([0.3, -1, 0.5, 0.3], [1, 0, -2, -2.6], [0.1, 0.2, 0.3, 4.4], [0, 1, 0, 7.0]):
        step = 1e-5 * np.eye(SIZE + 1)
        moved = [along.placed(np.array(value) + sign * step)[0] for sign in (1, -1)]
        _, expected = np.linalg.slogdet((moved[0] - moved[1]) / 2e-5)
        assert along.placed(np.array([value]))[1][0] == pytest.approx(expected, abs=1e-7)


def test_between_knots_a_bent_mean_is_followed(along) -> None:
    last = np.linspace(KNOTS[1], KNOTS[-2], 41)
    value = np.zeros((41, SIZE + 1))
    value[:, -1] = last
    # A parabola is a cubic, and central differences have its slope.
    np.testing.assert_allclose(along.placed(value)[0][:, 0], last**2 / 20 + 0.1 * last)


def test_the_middle_stays_and_tails_are_long() -> None:
    at = np.linspace(-8, 8, 33)
    np.testing.assert_allclose(stretched(at / 100), at / 100, rtol=3e-4)
    assert (np.diff(stretched(at)) > 0).all()
    assert stretched(np.asarray(6.0)) > 20
