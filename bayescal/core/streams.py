"""Random numbers by name: those of one classifier do not depend on which others there are."""

from __future__ import annotations

import json
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


def stream(seed: int, *names: str, number: int = 0) -> np.random.Generator:
    """The generator of a seed, names in order, and a number; the same in every process."""
    # As JSON, ("a", "b") and ("a, b",) differ, and text that is no UTF-8 has bytes too.
    digest = blake2b(json.dumps(names).encode(), digest_size=16).digest()
    words = np.frombuffer(digest, "<u4").tolist()
    return np.random.default_rng([seed, *words, number])


def count_not_above(
    table: NDArray[np.float64], column: NDArray[np.int64], value: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Count entries of rising columns not above a value, as ``np.searchsorted(..., "right")``."""
    size, found = len(table), np.zeros(value.shape, np.int64)
    for step in 2 ** np.arange(size.bit_length())[::-1]:
        further = found + step
        last = table.take((np.minimum(further, size) - 1) * table.shape[1] + column)
        found = np.where((further <= size) & (last <= value), further, found)
    return found
