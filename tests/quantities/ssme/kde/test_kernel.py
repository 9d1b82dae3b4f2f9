"""Kernel sums over all pairs against sums written out pair by pair."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from bayescal.quantities.ssme.kde import DenseKernel, squared_distances
from tests.quantities.ssme.kernels import by_hand, contrasts, made


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("widths", [[0.5, 0.5, 0.5], [0.3, 0.6, 1.2], [0.3, 0.6, 0.3]])
def test_sums_pair_by_pair(leave_one_out, widths):
    coords, weight = made()
    widths = np.array(widths)
    expected = np.log(by_hand(coords, widths, weight, leave_one_out))
    found = DenseKernel(coords, widths, leave_one_out).log_sums(weight)
    # Rounding in sums of 60 terms.
    np.testing.assert_allclose(contrasts(found), contrasts(expected), atol=1e-10)


def test_narrow_kernels_are_kept_sparse_without_loss():
    coords, weight = made(n=200, spread=50)
    widths = np.full(3, 0.4)
    found = DenseKernel(coords, widths).log_sums(weight)
    expected = np.log(by_hand(coords, widths, weight))
    np.testing.assert_allclose(contrasts(found), contrasts(expected), atol=1e-12)


def test_far_out_left_out_rows_still_see_their_nearest():
    """exp(-distance^2 / 2) is 0 in double precision from distance 39 on."""
    coords = np.array([[0.0, 0.0], [1e4, 0.0], [1e4, 50.0]])
    weight = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    found = contrasts(DenseKernel(coords, np.ones(2), leave_one_out=True).log_sums(weight))
    np.testing.assert_allclose(found[:, 1], np.log([0.4 / 0.6, 1.0, 0.4 / 0.6]), atol=1e-12)


def test_a_class_without_weight_is_nowhere():
    coords, weight = made()
    weight[:, 1] = 0
    assert np.isneginf(DenseKernel(coords, np.ones(3)).log_sums(weight)[:, 1]).all()


def test_distances_are_those_of_scipy():
    coords, _ = made(n=40, d=3)
    # Taken from products: rounding of about 1e-15 of the largest, 50.
    np.testing.assert_allclose(
        squared_distances(coords), cdist(coords, coords, "sqeuclidean"), rtol=0, atol=1e-13
    )
