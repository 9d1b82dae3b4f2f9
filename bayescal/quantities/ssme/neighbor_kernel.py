"""Kernel sums over near rows only, for rows too many to take in pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from bayescal.quantities.ssme.kernel import Floats, log_density_of

# A kernel is cut off where it has fallen to exp(-5.5^2 / 2) = 3e-7 of its height.
_REACH = 5.5
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
        reach = np.inf if leave_one_out else _REACH * float(widths.max())
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
