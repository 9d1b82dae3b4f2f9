"""Kernel densities of class scores: coordinates, bandwidths, and sums of kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from math import pi, sqrt
from operator import matmul
from typing import Final, override

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.optimize import brentq
from scipy.signal import oaconvolve
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from bayescal.core.quantity import Floats

# A probability of 0 has no logarithm. The paper names no bound.
EPSILON = 1e-6
# The class that the others are compared with, by name.
REFERENCES: Final = {"first": 0, "last": -1}


def alr(probs: Floats, reference: str = "first") -> Floats:
    """Log ratio of every class to a reference class, of clipped probabilities, by classifier."""
    logs = np.log(np.clip(probs, EPSILON, 1 - EPSILON))
    place = REFERENCES[reference] % probs.shape[2]
    ratios = np.delete(logs, place, axis=2) - logs[:, :, [place]]
    return ratios.transpose(1, 0, 2).reshape(probs.shape[1], -1)


_NODES = 1 << 14
_STEPS = 5
# Squared bandwidths on [0, 1] between which the solution is looked for, and the first one tried.
_LEAST, _START, _LARGEST = 1e-12, 0.01, 0.1
# The quartiles of a standard normal are this far apart.
_NORMAL_IQR = 1.3489795003921634


def bandwidth(coords: Floats, rule: str, scale: float = 1.0) -> float:
    """One bandwidth for all coordinates: the least of their own."""
    widths = [RULES[rule](column) for column in coords.T if np.ptp(column) > 0]
    return scale * min(widths, default=1.0)


def normal_reference(values: Floats) -> float:
    """Bandwidth of least asymptotic error if the density were normal (Silverman 1986, Eq. 3.28)."""
    spread = float(np.std(values, ddof=1))
    low, high = np.percentile(values, [25, 75])
    if high > low:
        spread = min(spread, float(high - low) / _NORMAL_IQR)
    return float((4 / 3) ** 0.2 * spread * len(values) ** -0.2)


def improved_sheather_jones(values: Floats) -> float:
    """Bandwidth by the plug-in rule of Botev et al. (2010), algorithm 1.

    t is in units of the squared *grid*, of 2^14 nodes, half the range beyond the data on both
    sides. Software that multiplies by the data's range (KDEpy 1.1) returns half of it or less.
    """
    span = float(np.ptp(values))
    length = 2 * span
    mass = _linear_binning((values - values.min() + 0.5 * span) / length)
    # Squared cosine coefficients of the density on [0, 1].
    power = dct(mass, type=2)[1:] ** 2
    n = len(np.unique(values))

    def gap(t: float) -> float:
        return t - fixed_point(t, n, power)

    upper = _START
    while gap(upper) < 0:
        upper *= 2
        if upper > _LARGEST:
            return normal_reference(values)
    lower = upper / 2
    while gap(lower) >= 0:
        upper, lower = lower, lower / 2
        if lower < _LEAST:
            return normal_reference(values)
    return length * sqrt(brentq(gap, lower, upper, xtol=_LEAST, rtol=1e-10))


def fixed_point(t: float, n: int, power: Floats) -> float:
    """The function whose fixed point is the squared bandwidth on [0, 1]."""
    frequency = pi**2 * np.arange(1, len(power) + 1, dtype=np.float64) ** 2

    def roughness(order: int, time: float) -> float:
        """Squared norm of a derivative of the density, smoothed for some time."""
        # Beyond this many frequencies the factor exp(-frequency time) is 0 in double precision.
        m = int(np.searchsorted(frequency, 800 / time))
        damped = frequency[:m] ** order * np.exp(-frequency[:m] * time)
        return float(0.5 * np.sum(power[:m] * damped))

    norm = roughness(_STEPS + 2, t)
    for order in range(_STEPS + 1, 1, -1):
        if norm <= 0:
            return np.inf
        odd = float(np.prod(np.arange(1, 2 * order, 2, dtype=np.float64)))
        constant = (1 + 0.5 ** (order + 0.5)) / 3
        time = (2 * constant * odd / (n * sqrt(2 * pi) * norm)) ** (2 / (3 + 2 * order))
        norm = roughness(order, time)
    return float((2 * n * sqrt(pi) * norm) ** -0.4) if norm > 0 else np.inf


def _linear_binning(place: Floats) -> Floats:
    """Shares of points at grid nodes (cell middles), each split between the two beside it."""
    at = place * _NODES - 0.5
    left = np.floor(at).astype(np.int64)
    right_share = at - left
    mass = np.bincount(left, 1 - right_share, _NODES) + np.bincount(left + 1, right_share, _NODES)
    return mass / len(place)


RULES: Final[dict[str, Callable[[Floats], float]]] = {
    "isj": improved_sheather_jones,
    "normal-reference": normal_reference,
}


# Distances and kernels of all pairs are kept up to this (.4 GB): one bandwidth at 5,000 rows.
MOST_PAIRS = 50_000_000


type WeightedSums = Callable[[Floats], Floats]
"""From weights to weighted sums of the kernels of one bandwidth, both (obs, class)."""


class Kernel(ABC):
    """Kernels with a bandwidth for each class, between rows at given coordinates."""

    def __init__(self, coords: Floats, widths: Floats, leave_one_out: bool = False) -> None:
        # Whether a row is left out of the sum at its own place.
        self.leave_one_out = leave_one_out
        self._n_coords = coords.shape[1]
        # Squared distance of each row to the nearest that counts, which kernels are relative to.
        self._nearest: Floats = np.zeros(1)
        sums_of = self._prepared(coords, widths)
        self._sums = [
            (width, np.flatnonzero(widths == width), sums_of(width)) for width in np.unique(widths)
        ]

    @abstractmethod
    def _prepared(self, coords: Floats, widths: Floats) -> Callable[[float], WeightedSums]:
        """Compute what all bandwidths share; give the sums of the kernels of each."""

    def log_sums(self, weight: Floats) -> Floats:
        """Log of the weighted sum of kernels at each row, up to a constant a row, (obs, class)."""
        found = np.empty(weight.shape)
        for width, classes, sums in self._sums:
            with np.errstate(divide="ignore"):
                logs = np.log(sums(weight[:, classes]))
            away = np.reshape(self._nearest / (2 * width**2), (-1, 1))
            found[:, classes] = logs - away - self._n_coords * np.log(width)
        return found


def kernel_of(coords: Floats, widths: Floats, leave_one_out: bool) -> Kernel:
    """Take all pairs of rows while they fit, then a grid or near rows only."""
    pairs = len(coords) ** 2 * (1 + len(np.unique(widths)))
    if pairs <= MOST_PAIRS:
        return DenseKernel(coords, widths, leave_one_out)
    if coords.shape[1] == 1:
        return GridKernel(coords, widths, leave_one_out)
    return NeighborKernel(coords, widths, leave_one_out)


# exp(-40) = 4e-18 of the nearest row's kernel is lost in a sum of double precision.
_NEGLIGIBLE = 40.0
_SPARSE_BELOW = 0.1


class DenseKernel(Kernel):
    """Every pair of rows, computed once."""

    @override
    def _prepared(self, coords: Floats, widths: Floats) -> Callable[[float], WeightedSums]:
        squared = squared_distances(coords)
        if self.leave_one_out:
            np.fill_diagonal(squared, np.inf)
        self._nearest = squared.min(axis=1)
        # The only row there is has no neighbour at all, at a distance that does not matter.
        self._nearest[np.isinf(self._nearest)] = 0.0
        squared -= self._nearest[:, np.newaxis]
        return lambda width: partial(matmul, _matrix(squared, width))


def _matrix(squared: Floats, width: float) -> Floats | csr_array:
    """Kernels of all pairs; as a sparse matrix where most are 0 in double precision."""
    near = squared < 2 * _NEGLIGIBLE * width**2
    if np.count_nonzero(near) < _SPARSE_BELOW * near.size:
        row, column = np.nonzero(near)
        kernel = np.exp(squared[row, column] * (-0.5 / width**2))
        return csr_array((kernel, (row, column)), shape=squared.shape)
    return np.exp(squared * (-0.5 / width**2), where=near, out=np.zeros(squared.shape))


def squared_distances(coords: Floats) -> Floats:
    """Squared distance between every two rows, (obs, obs)."""
    centred = coords - coords.mean(axis=0)
    norm = np.einsum("ij,ij->i", centred, centred)
    squared = centred @ centred.T
    # In place: there are as many numbers as pairs of rows.
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


class GridKernel(Kernel):
    """Rows of one coordinate, split between two grid nodes; one left out and far away has 0."""

    @override
    def _prepared(self, coords: Floats, widths: Floats) -> Callable[[float], WeightedSums]:
        values = coords[:, 0]
        step = max(float(widths.min()) / _NODES_PER_WIDTH, float(np.ptp(values)) / _MOST_NODES)
        at = (values - values.min()) / step
        self._left = np.floor(at).astype(np.int64)
        self._share = at - self._left
        self._n_nodes = int(self._left.max()) + 2
        return lambda width: partial(self._smoothed, _taps(width, step))

    def _smoothed(self, taps: Floats, weight: Floats) -> Floats:
        return np.stack([self._of_class(taps, column) for column in weight.T], axis=1)

    def _of_class(self, taps: Floats, weight: Floats) -> Floats:
        share, left, n, middle = self._share, self._left, self._n_nodes, len(taps) // 2
        nodes = np.bincount(left, weight * (1 - share), n)
        nodes += np.bincount(left + 1, weight * share, n)
        if n > len(taps):
            smooth = oaconvolve(nodes, taps, mode="same")
        else:
            smooth = np.convolve(nodes, taps)[middle : middle + n]
        sums = smooth[left] * (1 - share) + smooth[left + 1] * share
        if self.leave_one_out:
            beside = taps[middle + 1]
            sums -= weight * (share**2 + (1 - share) ** 2 + 2 * share * (1 - share) * beside)
        return np.where(sums > _NOISE * weight.sum(), sums, 0.0)


def _taps(width: float, step: float) -> Floats:
    """A kernel on grid nodes, symmetric around the one in the middle."""
    n = int(np.ceil(_GRID_REACH * width / step))
    offset: NDArray[np.int64] = np.arange(-n, n + 1)
    return np.exp(-0.5 * (offset * step / width) ** 2)


# A kernel is cut off where it has fallen to exp(-5.5^2 / 2) = 3e-7 of its height.
_NEIGHBOR_REACH = 5.5
# Neighbours of a point, the point itself among them; fewer where no reach bounds the search.
_MOST, _MOST_UNBOUNDED = 400, 50
_QUERIES = 1 << 13


class NeighborKernel(Kernel):
    """Each point with those near it; rows at the same point are taken together.

    In more than a few coordinates a bandwidth holds few points: sums are right to 1e-6. In two or
    three, the most neighbours may cut off wide kernels early; label probabilities are then means
    over the nearest points. Where rows are left out there is no reach: those that count may be far.
    """

    @override
    def _prepared(self, coords: Floats, widths: Floats) -> Callable[[float], WeightedSums]:
        leave_one_out = self.leave_one_out
        points, self._point = np.unique(coords, axis=0, return_inverse=True)
        reach = np.inf if leave_one_out else _NEIGHBOR_REACH * float(widths.max())
        most = _MOST_UNBOUNDED if leave_one_out else _MOST
        squared, column, ends = near_pairs(points, reach, most)
        nearest = np.zeros(len(points))
        if leave_one_out:
            # The nearest that is left may be far away, unless a point holds several rows.
            self._shared = np.bincount(self._point) > 1
            second = np.minimum(ends[:-1] + 1, len(squared) - 1)
            nearest = np.where(self._shared | (np.diff(ends) < 2), 0.0, squared[second])
        squared -= np.repeat(nearest, np.diff(ends))
        squared[ends[:-1]] = 0.0
        self._nearest = nearest[self._point]

        def sums_of(width: float) -> WeightedSums:
            kernel = np.exp(squared * (-0.5 / width**2))
            if leave_one_out:
                # What the own point holds beside the row itself is added row by row.
                kernel[ends[:-1]] = 0.0
            matrix = csr_array((kernel, column, ends), shape=(len(points), len(points)))
            return partial(self._of_matrix, matrix)

        return sums_of

    def _of_matrix(self, matrix: csr_array, weight: Floats) -> Floats:
        place, n_points = self._point, matrix.shape[0]
        at_point = np.stack([np.bincount(place, own, n_points) for own in weight.T], axis=1)
        sums = np.asarray((matrix @ at_point)[place])
        if self.leave_one_out:
            others = np.maximum(at_point[place] - weight, 0)
            sums += others * self._shared[place, np.newaxis]
        return sums


def near_pairs(
    points: Floats, reach: float, n_neighbors: int
) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
    """Squared distances and places of the points near each, and where those of each end."""
    tree = cKDTree(points)
    k = np.arange(1, min(n_neighbors, len(points)) + 1)
    squared, column, counts = [], [], []
    for start in range(0, len(points), _QUERIES):
        some = points[start : start + _QUERIES]
        distance, place = tree.query(some, k=k, distance_upper_bound=reach, workers=-1)
        near = np.isfinite(distance)
        squared.append(distance[near] ** 2)
        column.append(place[near].astype(np.int32))
        counts.append(near.sum(axis=1))
    ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return np.concatenate(squared), np.concatenate(column), ends
