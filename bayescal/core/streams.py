"""Random numbers by name, and where in an average draws of its members stand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

MOST_REPEATED = 4
"""Consecutive draws of an average that may share one draw of a member: a power of two."""


def stream(seed: int, *names: str, number: int = 0) -> np.random.Generator:
    """Make the generator that belongs to a seed, names in order, and a number such as a repetition.

    The classifier's numbers do not depend on which others there are. Unlike Python's `hash`, the
    digest is the same in every process.
    """
    return np.random.default_rng([seed, *_words(names), number])


def _words(names: Sequence[str]) -> list[int]:
    # As JSON, ("a", "b") and ("a, b",) differ, and text that is no UTF-8 has bytes too.
    digest = blake2b(json.dumps(names).encode(), digest_size=16).digest()
    return [int(word) for word in np.frombuffer(digest, "<u4")]


def places(chains: int, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw places in (0, 1) at which an average decides on the member of each draw.

    Every chain has as many in each member as its weight gives. Where r consecutive draws share one
    of a member, for r up to `MOST_REPEATED` that divides `draws`, their places are 1/r apart: one
    at most is in a member of weight 1/r, and no draw of it is used twice.
    """
    block = np.gcd(MOST_REPEATED, draws)
    order = np.array([0, 2, 1, 3] if block == MOST_REPEATED else range(block))
    blocks = (chains, draws // block)
    start = rng.permuted(np.tile(np.arange(blocks[1]), (chains, 1)), axis=1)
    start = (start + rng.random((chains, 1))) / draws
    turned = order[np.arange(block) ^ rng.integers(block, size=(*blocks, 1))]
    return np.asarray((start[..., None] + turned / block).reshape(chains, draws))


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
