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
        """Log of the weighted sum of kernels at each row.

        Parameters
        ----------
        weight : ndarray of shape (obs, class), >= 0
            Weight of each row in the density of each class.

        Returns
        -------
        ndarray of shape (obs, class)
            Up to a number that all classes of a row share; -inf where nothing has weight.
        """


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
        """Log of the weighted sum of kernels at each row; see `Kernel`.

        Parameters
        ----------
        weight : ndarray of shape (obs, class), >= 0
            Weight of each row in the density of each class.

        Returns
        -------
        ndarray of shape (obs, class)
            Up to a number that all classes of a row share.
        """
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
    """Put the factors back that a row's sum of kernels is short of.

    Parameters
    ----------
    sums : ndarray of shape (obs, class)
        Sums of weight times exp(-(squared distance - `nearest`) / (2 width^2)).
    nearest : ndarray of shape (obs,)
        Squared distance that was taken off, so that the nearest row's kernel is 1: far out, all
        kernels would be 0 in double precision.
    width : float
        Bandwidth.
    n_coords : int
        Number of coordinates.

    Returns
    -------
    ndarray of shape (obs, class)
        Log of the sum of normal densities, less a constant.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(sums)
    return np.asarray(logs - (nearest / (2 * width**2))[:, np.newaxis] - n_coords * np.log(width))


def squared_distances(coords: Floats) -> Floats:
    """Squared distance between every two rows.

    Parameters
    ----------
    coords : ndarray of shape (obs, coordinate)
        Points.

    Returns
    -------
    ndarray of shape (obs, obs)
        At least 0, and 0 on the diagonal. A distance is off by about 1e-15 of the largest.
    """
    centred = coords - coords.mean(axis=0)
    norm = np.einsum("ij,ij->i", centred, centred)
    squared = centred @ centred.T
    squared *= -2
    squared += norm
    squared += norm[:, np.newaxis]
    np.maximum(squared, 0, out=squared)
    np.fill_diagonal(squared, 0)
    return squared
