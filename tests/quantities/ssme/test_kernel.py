"""Kernel sums against sums written out pair by pair, and the fast ways against all pairs."""

import numpy as np
import pytest
from scipy.stats import norm

from bayescal.quantities.ssme.grid_kernel import GridKernel
from bayescal.quantities.ssme.kernel import DenseKernel
from bayescal.quantities.ssme.kernel_choice import kernel_of
from bayescal.quantities.ssme.neighbor_kernel import NeighborKernel, near_pairs


def by_hand(coords, widths, weight, leave_one_out=False):
    """Sums of products of normal densities."""
    n, n_classes = weight.shape
    found = np.zeros((n, n_classes))
    for i in range(n):
        for k in range(n_classes):
            density = norm.pdf(coords, coords[i], widths[k]).prod(axis=1)
            if leave_one_out:
                density[i] = 0
            found[i, k] = density @ weight[:, k]
    return found


def contrasts(log_sums):
    """What is meant: classes of a row against each other."""
    return log_sums - log_sums[:, :1]


def made(n=60, d=2, k=3, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    return spread * rng.normal(size=(n, d)), rng.dirichlet(np.ones(k), n)


@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("widths", [[0.5, 0.5, 0.5], [0.3, 0.6, 1.2], [0.3, 0.6, 0.3]])
@pytest.mark.parametrize("kind", [DenseKernel, NeighborKernel])
def test_sums_pair_by_pair(leave_one_out, widths, kind):
    coords, weight = made()
    widths = np.array(widths)
    expected = np.log(by_hand(coords, widths, weight, leave_one_out))
    # The neighbours reach 5.5 widths, which loses 3e-7 of a kernel's height for each of 60 rows.
    atol = 1e-10 if kind is DenseKernel or leave_one_out else 1e-4
    n_neighbors = {} if kind is DenseKernel else {"n_neighbors": 60}
    kernel = kind(coords, widths, leave_one_out, **n_neighbors)
    np.testing.assert_allclose(contrasts(kernel.log_sums(weight)), contrasts(expected), atol=atol)


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
    for kernel in (
        DenseKernel(coords, np.ones(2), leave_one_out=True),
        NeighborKernel(coords, np.ones(2), leave_one_out=True),
    ):
        found = contrasts(kernel.log_sums(weight))[:, 1]
        np.testing.assert_allclose(found, np.log([0.4 / 0.6, 1.0, 0.4 / 0.6]), atol=1e-12)


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
    for kernel in (DenseKernel(coords, np.ones(3)), NeighborKernel(coords, np.ones(3))):
        assert np.isneginf(kernel.log_sums(weight)[:, 1]).all()


def test_near_pairs_are_those_within_reach():
    coords, _ = made(n=100)
    squared, column, ends = near_pairs(coords, 0.7, 100)
    distance = np.sqrt(((coords[:, None] - coords) ** 2).sum(axis=2))
    for i in range(100):
        mine = column[ends[i] : ends[i + 1]]
        np.testing.assert_array_equal(np.sort(mine), np.flatnonzero(distance[i] <= 0.7))
        assert mine[0] == i
        np.testing.assert_allclose(squared[ends[i] : ends[i + 1]], distance[i, mine] ** 2)


@pytest.mark.parametrize(("n", "d", "kind"), [(5000, 7, DenseKernel), (8000, 1, GridKernel)])
def test_choice(n, d, kind):
    coords = np.random.default_rng(1).normal(size=(n, d))
    assert isinstance(kernel_of(coords, np.full(2, 0.01), leave_one_out=False), kind)


def test_choice_of_neighbours():
    coords = np.random.default_rng(1).normal(size=(8000, 3))
    assert isinstance(kernel_of(coords, np.full(2, 0.01), leave_one_out=False), NeighborKernel)
