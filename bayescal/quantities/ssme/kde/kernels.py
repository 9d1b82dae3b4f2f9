"""Which way of summing kernels suits the rows at hand."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.signal import oaconvolve
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

type Floats = NDArray[np.float64]

# exp(-40) = 4e-18 of the nearest row's kernel is lost in a sum of double precision.
_NEGLIGIBLE = 40.0
_SPARSE_BELOW = 0.1


class Kernel(Protocol):
    """What EM asks of a kernel matrix, however it is stored."""

    leave_one_out: bool

    def log_sums(self, weight: Floats) -> Floats:
        """Log of the weighted sum of kernels at each row, (obs, class)."""


class DenseKernel:
    """Every pair of rows, computed once.

    Parameters
    ----------
    coords : ndarray of shape (obs, coordinate)
        Points.
    widths : ndarray of shape (class,)
        Bandwidth of each class.
    leave_one_out : bool, default False
        Whether a row is left out at its own place.
    """

    def __init__(self, coords: Floats, widths: Floats, leave_one_out: bool = False) -> None:
        self.leave_one_out = leave_one_out
        self._n_coords = coords.shape[1]
        squared = squared_distances(coords)
        if leave_one_out:
            np.fill_diagonal(squared, np.inf)
        self._nearest = squared.min(axis=1)
        # A row alone in the world has no neighbour at all, at a distance of no matter.
        self._nearest[np.isinf(self._nearest)] = 0.0
        squared -= self._nearest[:, np.newaxis]
        self._groups = [
            (width, np.flatnonzero(widths == width), _matrix(squared, width))
            for width in np.unique(widths)
        ]

    def log_sums(self, weight: Floats) -> Floats:
        """Log of the weighted sum of kernels at each row; see `Kernel`, (obs, class)."""
        found = np.empty(weight.shape)
        for width, classes, matrix in self._groups:
            sums = matrix @ weight[:, classes]
            found[:, classes] = log_density_of(sums, self._nearest, width, self._n_coords)
        return found


def _matrix(squared: Floats, width: float) -> Floats | csr_array:
    """Kernels of all pairs; as a sparse matrix where most are 0 in double precision."""
    near = squared < 2 * _NEGLIGIBLE * width**2
    if np.count_nonzero(near) < _SPARSE_BELOW * near.size:
        row, column = np.nonzero(near)
        kernel = np.exp(squared[row, column] * (-0.5 / width**2))
        return csr_array((kernel, (row, column)), shape=squared.shape)
    return np.exp(squared * (-0.5 / width**2), where=near, out=np.zeros(squared.shape))


def log_density_of(sums: Floats, nearest: Floats, width: float, n_coords: int) -> Floats:
    """Put the factors back that a row's sum of kernels is short of, (obs, class)."""
    with np.errstate(divide="ignore"):
        logs = np.log(sums)
    return np.asarray(logs - (nearest / (2 * width**2))[:, np.newaxis] - n_coords * np.log(width))


def squared_distances(coords: Floats) -> Floats:
    """Squared distance between every two rows, (obs, obs)."""
    centred = coords - coords.mean(axis=0)
    norm = np.einsum("ij,ij->i", centred, centred)
    squared = centred @ centred.T
    squared *= -2
    squared += norm
    squared += norm[:, np.newaxis]
    np.maximum(squared, 0, out=squared)
    np.fill_diagonal(squared, 0)
    return squared


# A kernel is cut off where it has fallen to exp(-9^2 / 2) = 3e-18 of its height.
_GRID_REACH = 9
# Splitting a row between two nodes adds at most (1 / 20)^2 / 4 to the squared bandwidth.
_NODES_PER_WIDTH = 20
_MOST_NODES = 1 << 20
# Sums below this share of the whole weight are rounding errors of the Fourier transform.
_NOISE = 1e-13


class GridKernel:
    """Rows split between the two grid nodes beside them.

    Parameters
    ----------
    coords : ndarray of shape (obs, 1)
        Points.
    widths : ndarray of shape (class,)
        Bandwidth of each class.
    leave_one_out : bool, default False
        Whether a row is left out at its own place. A row without any other within nine bandwidths
        then sees nothing.

    Attributes
    ----------
    leave_one_out : bool
        As given.
    """

    def __init__(self, coords: Floats, widths: Floats, leave_one_out: bool = False) -> None:
        self.leave_one_out = leave_one_out
        values = coords[:, 0]
        span = float(np.ptp(values))
        step = max(float(widths.min()) / _NODES_PER_WIDTH, span / _MOST_NODES)
        at = (values - values.min()) / step
        self._left = np.floor(at).astype(np.int64)
        self._share = at - self._left
        self._n_nodes = int(self._left.max()) + 2
        self._groups = [
            (width, np.flatnonzero(widths == width), _taps(width, step))
            for width in np.unique(widths)
        ]

    def log_sums(self, weight: Floats) -> Floats:
        """Log of the weighted sum of kernels at each row; see `Kernel`, (obs, class)."""
        found = np.empty(weight.shape)
        near = np.zeros(len(weight))
        for width, classes, taps in self._groups:
            for k in classes:
                sums = self._sums(weight[:, k], taps)
                found[:, [k]] = log_density_of(sums[:, np.newaxis], near, width, 1)
        return found

    def _sums(self, weight: Floats, taps: Floats) -> Floats:
        share, left, n = self._share, self._left, self._n_nodes
        nodes = np.bincount(left, weight * (1 - share), n)
        nodes += np.bincount(left + 1, weight * share, n)
        smooth = oaconvolve(nodes, taps, mode="same") if n > len(taps) else np.convolve(nodes, taps)
        if n <= len(taps):
            smooth = smooth[len(taps) // 2 : len(taps) // 2 + n]
        sums = smooth[left] * (1 - share) + smooth[left + 1] * share
        if self.leave_one_out:
            beside = taps[len(taps) // 2 + 1]
            sums -= weight * (share**2 + (1 - share) ** 2 + 2 * share * (1 - share) * beside)
        return np.where(sums > _NOISE * weight.sum(), sums, 0.0)


def _taps(width: float, step: float) -> Floats:
    """A kernel on grid nodes, with its middle in the middle."""
    n = int(np.ceil(_GRID_REACH * width / step))
    offset: NDArray[np.int64] = np.arange(-n, n + 1)
    return np.exp(-0.5 * (offset * step / width) ** 2)


# A kernel is cut off where it has fallen to exp(-5.5^2 / 2) = 3e-7 of its height.
_NEIGHBOR_REACH = 5.5
_MOST, _MOST_UNBOUNDED = 400, 50
_QUERIES = 1 << 13


class NeighborKernel:
    """Each point with those near it.

    Parameters
    ----------
    coords : ndarray of shape (obs, coordinate)
        Points. Rows at the same point are taken together, so that ties cost no neighbours.
    widths : ndarray of shape (class,)
        Bandwidth of each class.
    leave_one_out : bool, default False
        Whether a row is left out at its own place. Then no reach is set, as the rows that count
        may be far.
    n_neighbors : int, optional
        Most points that a kernel reaches, the own one among them; by default 400, and 50 if rows
        are left out.

    Notes
    -----
    In more than a few coordinates a bandwidth holds few points, so that the reach decides and the
    sums are exact to 1e-6. In two or three, `n_neighbors` may cut off wide kernels early; label
    probabilities are then means over the nearest points.
    """

    def __init__(
        self,
        coords: Floats,
        widths: Floats,
        leave_one_out: bool = False,
        n_neighbors: int | None = None,
    ) -> None:
        self.leave_one_out = leave_one_out
        self._n_coords = coords.shape[1]
        points, self._point = np.unique(coords, axis=0, return_inverse=True)
        reach = np.inf if leave_one_out else _NEIGHBOR_REACH * float(widths.max())
        most = n_neighbors or (_MOST_UNBOUNDED if leave_one_out else _MOST)
        squared, column, ends = near_pairs(points, reach, most)
        # Only where rows leave themselves out may the nearest that is left be far away.
        self._nearest = np.zeros(len(points))
        if leave_one_out:
            self._own = np.bincount(self._point) > 1
            self._nearest = _nearest_other(squared, ends, self._own)
        squared -= np.repeat(self._nearest, np.diff(ends))
        squared[ends[:-1]] = 0.0
        self._groups = [
            (width, np.flatnonzero(widths == width), self._matrix(squared, column, ends, width))
            for width in np.unique(widths)
        ]

    def _matrix(
        self, squared: Floats, column: NDArray[np.int32], ends: NDArray[np.int64], width: float
    ) -> csr_array:
        kernel = np.exp(squared * (-0.5 / width**2))
        if self.leave_one_out:
            # What the own point holds beside the row itself is added row by row.
            kernel[ends[:-1]] = 0.0
        n = len(ends) - 1
        return csr_array((kernel, column, ends), shape=(n, n))

    def log_sums(self, weight: Floats) -> Floats:
        """Log of the weighted sum of kernels at each row; see `Kernel`, (obs, class)."""
        n_points = len(self._nearest)
        at_point = np.stack(
            [np.bincount(self._point, column, n_points) for column in weight.T], axis=1
        )
        nearest = self._nearest[self._point]
        found = np.empty(weight.shape)
        for width, classes, matrix in self._groups:
            sums = (matrix @ at_point[:, classes])[self._point]
            if self.leave_one_out:
                others = np.maximum(at_point[self._point][:, classes] - weight[:, classes], 0)
                sums += others * self._own[self._point, np.newaxis]
            found[:, classes] = log_density_of(sums, nearest, width, self._n_coords)
        return found


def near_pairs(
    points: Floats, reach: float, n_neighbors: int
) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
    """Find the points near each point."""
    tree = cKDTree(points)
    k = np.arange(1, min(n_neighbors, len(points)) + 1)
    squared, column, counts = [], [], []
    for start in range(0, len(points), _QUERIES):
        found = tree.query(
            points[start : start + _QUERIES], k=k, distance_upper_bound=reach, workers=-1
        )
        near = np.isfinite(found[0])
        squared.append(found[0][near] ** 2)
        column.append(found[1][near].astype(np.int32))
        counts.append(near.sum(axis=1))
    ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return np.concatenate(squared), np.concatenate(column), ends


def _nearest_other(squared: Floats, ends: NDArray[np.int64], shared: NDArray[np.bool_]) -> Floats:
    """Squared distance to the nearest other row: 0 at a point that holds several rows."""
    second = np.minimum(ends[:-1] + 1, len(squared) - 1)
    return np.where(shared | (np.diff(ends) < 2), 0.0, squared[second])


# Kernels of all pairs are kept up to this many numbers (.4 GB), two bandwidths at 5,000 rows.
MOST_PAIRS = 50_000_000


def kernel_of(coords: Floats, widths: Floats, leave_one_out: bool) -> Kernel:
    """Take all pairs of rows while they fit, then a grid or near rows only."""
    pairs = len(coords) ** 2 * (1 + len(np.unique(widths)))
    if pairs <= MOST_PAIRS:
        return DenseKernel(coords, widths, leave_one_out)
    if coords.shape[1] == 1:
        return GridKernel(coords, widths, leave_one_out)
    return NeighborKernel(coords, widths, leave_one_out)
