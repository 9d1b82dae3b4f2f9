"""Sample weights as whole numbers, whose sums are exact and so do not depend on the rows' order."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# The sum of all weights has at most so many bits.
_TOTAL_BITS = 50


class RowWeights(NamedTuple):
    """Weights, and as how many units each ranks."""

    weight: NDArray[np.float64]  # (obs,)
    units: NDArray[np.int64]  # (obs,)


class WeightUnits:
    """A unit for the weights of rows that come in parts.

    The unit is 1 where all weights are whole numbers, so that a row of weight 3 ranks as three rows
    do, and else so small that rounding to it does not matter: about 1e-15 of the sum of all.
    """

    def __init__(self) -> None:
        self.n, self._largest, self._whole = 0, 0.0, True
        self._sum = self._squares = 0.0

    def add(self, weight: NDArray[np.float64]) -> None:
        """Take in the weights of more rows."""
        self.n += len(weight)
        self._sum += float(weight.sum())
        self._squares += float((weight**2).sum())
        self._largest = max(self._largest, float(weight.max(initial=0.0)))
        self._whole = self._whole and bool((np.floor(weight) == weight).all())

    def plus(self, other: WeightUnits) -> WeightUnits:
        """Join with the weights of other rows."""
        found = WeightUnits()
        found.n = self.n + other.n
        found._sum, found._squares = self._sum + other._sum, self._squares + other._squares
        found._largest = max(self._largest, other._largest)
        found._whole = self._whole and other._whole
        return found

    @property
    def effective_n(self) -> float:
        """Effective number of the rows taken in."""
        return self._sum**2 / self._squares

    def of(self, weight: NDArray[np.float64]) -> NDArray[np.int64]:
        """Weights in units."""
        bits = math.frexp(self._largest)[1] + self.n.bit_length()
        exponent = 0 if self._whole and bits <= _TOTAL_BITS else bits - _TOTAL_BITS
        return np.rint(np.ldexp(weight, -exponent)).astype(np.int64)


def weight_units(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights of all rows in units."""
    found = WeightUnits()
    found.add(weight)
    return found.of(weight)
