"""The smooth calibration error: the integral on a fine grid, and the bandwidth by bisection."""

import numpy as np
import pytest

from tests.measures.curves import SEEDS, curve, value

# Of the grid of the score, and of the straight line between two bandwidths.
OFF = 0.001


def smoothed(rate, score, mass, width):
    """Integral of the absolute gap under a Gaussian kernel reflected at 0 and 1."""
    at = (np.arange(int(20 / width) + 500) + 0.5) / (int(20 / width) + 500)
    images = [2 * turn + sign * score for turn in range(-3, 4) for sign in (1, -1)]
    kernel = sum(np.exp(-0.5 * ((at[:, None] - image) / width) ** 2) for image in images)
    return np.abs(kernel @ (mass * (rate - score))).mean() / (width * np.sqrt(2 * np.pi))


def by_bisection(*cells):
    low, high = 1e-3, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if smoothed(*cells, middle) >= middle else (low, middle)
    return low


@pytest.mark.parametrize("seed", SEEDS)
def test_the_error_equals_its_bandwidth(seed):
    rate, score, mass = curve(seed, 2)
    found = value("smece", rate, score, mass)
    expected = [by_bisection(r, score, m) for r, m in zip(rate, mass, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=OFF, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_lies_between_the_mean_gap_and_the_calibration_error(seed):
    cells = curve(seed, 5)
    found = value("smece", *cells)
    assert (found <= value("tce", *cells) + 1e-9).all()
    assert (found >= (1 - OFF) * abs(value("mean_gap", *cells)) - 1e-3).all()


@pytest.mark.parametrize("gap", [0.0015, 0.004, 0.02])
def test_gaps_far_apart_do_not_cancel_at_any_bandwidth(gap):
    """Kernels that do not meet integrate to 1 each, at the ends of [0, 1] by reflection too."""
    score = np.array([0.0, 1e-3, 0.3, 0.6, 0.999])
    rate = score + gap * np.array([1, 1, -1, 1, -1])
    mass = np.array([0.1, 0.2, 0.3, 0.3, 0.1])
    assert value("smece", rate, score, mass) == pytest.approx(gap, rel=1e-9)


def test_gaps_that_alternate_within_the_smallest_bandwidth_are_no_error():
    score = np.array([0.5, 0.5 + 1e-6])
    rate = score + np.array([0.2, -0.2])
    assert value("tce", rate, score, np.array([0.5, 0.5])) == pytest.approx(0.2, abs=1e-6)
    assert value("smece", rate, score, np.array([0.5, 0.5])) < 1e-3


def test_of_a_calibrated_curve_it_is_0():
    _, score, mass = curve(2)
    assert value("smece", score, score, mass) == 0
