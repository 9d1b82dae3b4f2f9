"""Kernel sums in one coordinate on a fine grid, for any number of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.signal import oaconvolve

from bayescal.quantities.ssme.kernel import Floats, log_density_of

# A kernel is cut off where it has fallen to exp(-9^2 / 2) = 3e-18 of its height.
_REACH = 9
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
    n = int(np.ceil(_REACH * width / step))
    offset: NDArray[np.int64] = np.arange(-n, n + 1)
    return np.exp(-0.5 * (offset * step / width) ** 2)
