"""Search in the columns of a table, each of them rising, all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def count_not_above(
    table: NDArray[Any], column: NDArray[np.int64], value: NDArray[Any]
) -> NDArray[np.int64]:
    """Number of entries of a column that are not above a value, (...).

    That of ``np.searchsorted(table[:, column], value, side="right")`` for each of them.
    """
    size, columns = table.shape
    found = np.zeros(np.broadcast_shapes(column.shape, value.shape), np.int64)
    for step in 2 ** np.arange(size.bit_length())[::-1]:
        further = found + step
        last = table.take((np.minimum(further, size) - 1) * columns + column)
        found = np.where((further <= size) & (last <= value), further, found)
    return found
