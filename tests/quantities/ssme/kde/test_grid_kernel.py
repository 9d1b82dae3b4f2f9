"""Kernel sums on a grid against sums written out pair by pair."""

import numpy as np
import pytest

from bayescal.quantities.ssme.kde import GridKernel
from tests.quantities.ssme.kernels import by_hand, contrasts, made


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_sums_on_a_grid(leave_one_out):
    coords, weight = made(n=300, d=1)
    widths = np.array([0.1, 0.2, 0.1])
    kernel = GridKernel(coords, widths, leave_one_out)
    found = kernel.log_sums(weight)
    expected = by_hand(coords, widths, weight, leave_one_out)
    # Rows whose neighbours weigh next to nothing are left out: there the grid's rounding shows.
    rows = (expected * np.sqrt(2 * np.pi) * widths).min(axis=1) > 1e-4
    assert rows.sum() > 280
    # Linear binning widens a kernel by a part in a thousand, which shows most far from other rows.
    difference = contrasts(found)[rows] - contrasts(np.log(expected))[rows]
    np.testing.assert_allclose(difference, 0, atol=1e-2)


def test_a_score_that_does_not_vary_gives_shares_of_weight():
    _, weight = made(n=40)
    found = np.exp(GridKernel(np.full((40, 1), 0.7), np.full(3, 0.2)).log_sums(weight))
    expected = weight.sum(axis=0) / weight.sum()
    shares = found / found.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, np.tile(expected, (40, 1)), atol=1e-12)


def test_a_class_without_weight_is_nowhere():
    coords, weight = made(d=1)
    weight[:, 1] = 0
    assert np.isneginf(GridKernel(coords, np.ones(3)).log_sums(weight)[:, 1]).all()


def test_nothing_within_nine_widths_is_seen_by_a_row_left_out():
    coords = np.array([[0.0], [1.0], [1000.0]])
    weight = np.full((3, 2), 0.5)
    found = GridKernel(coords, np.ones(2), leave_one_out=True).log_sums(weight)
    assert np.isfinite(found[:2]).all()
    assert np.isneginf(found[2]).all()
