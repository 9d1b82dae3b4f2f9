"""Weighted Gaussian kernel densities of every class at every row."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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
