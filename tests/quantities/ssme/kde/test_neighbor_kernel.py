"""Kernel sums over near rows against sums written out pair by pair, and against all pairs."""

import numpy as np
import pytest

from bayescal.quantities.ssme.kde import DenseKernel, NeighborKernel, near_pairs
from tests.quantities.ssme.kernels import by_hand, contrasts, made


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("widths", [[0.5, 0.5, 0.5], [0.3, 0.6, 1.2], [0.3, 0.6, 0.3]])
def test_sums_pair_by_pair(leave_one_out, widths):
    coords, weight = made()
    widths = np.array(widths)
    expected = np.log(by_hand(coords, widths, weight, leave_one_out))
    found = NeighborKernel(coords, widths, leave_one_out, n_neighbors=60).log_sums(weight)
    # A reach of 5.5 widths loses 3e-7 of a kernel's height for each of 60 rows.
    atol = 1e-10 if leave_one_out else 1e-4
    np.testing.assert_allclose(contrasts(found), contrasts(expected), atol=atol)


def test_far_out_left_out_rows_still_see_their_nearest():
    """exp(-distance^2 / 2) is 0 in double precision from distance 39 on."""
    coords = np.array([[0.0, 0.0], [1e4, 0.0], [1e4, 50.0]])
    weight = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    found = contrasts(NeighborKernel(coords, np.ones(2), leave_one_out=True).log_sums(weight))
    np.testing.assert_allclose(found[:, 1], np.log([0.4 / 0.6, 1.0, 0.4 / 0.6]), atol=1e-12)


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_tied_rows_cost_no_neighbours(leave_one_out):
    rng = np.random.default_rng(3)
    coords = rng.integers(0, 4, (300, 2)).astype(float)
    weight = rng.dirichlet(np.ones(2), 300)
    dense = DenseKernel(coords, np.ones(2), leave_one_out)
    near = NeighborKernel(coords, np.ones(2), leave_one_out, n_neighbors=16)
    np.testing.assert_allclose(
        contrasts(near.log_sums(weight)), contrasts(dense.log_sums(weight)), atol=1e-10
    )


def test_a_class_without_weight_is_nowhere():
    coords, weight = made()
    weight[:, 1] = 0
    assert np.isneginf(NeighborKernel(coords, np.ones(3)).log_sums(weight)[:, 1]).all()


def test_near_pairs_are_those_within_reach():
    coords, _ = made(n=100)
    squared, column, ends = near_pairs(coords, 0.7, 100)
    distance = np.sqrt(((coords[:, None] - coords) ** 2).sum(axis=2))
    for i in range(100):
        mine = column[ends[i] : ends[i + 1]]
        np.testing.assert_array_equal(np.sort(mine), np.flatnonzero(distance[i] <= 0.7))
        assert mine[0] == i
        np.testing.assert_allclose(squared[ends[i] : ends[i + 1]], distance[i, mine] ** 2)


def test_near_pairs_are_no_more_than_asked_for():
    coords, _ = made(n=100)
    squared, column, ends = near_pairs(coords, np.inf, 7)
    distance = ((coords[:, None] - coords) ** 2).sum(axis=2)
    np.testing.assert_array_equal(np.diff(ends), 7)
    np.testing.assert_array_equal(column.reshape(100, 7), distance.argsort(axis=1)[:, :7])
    np.testing.assert_allclose(squared.reshape(100, 7), np.sort(distance, axis=1)[:, :7])
