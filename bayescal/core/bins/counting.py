"""Counting rows by bins of their score, exactly and fast: the one place that walks over rows.

Rows are taken in blocks that fit a core's cache. Each block is sorted, with the label riding in
the sign bit of the score; then a bin is a stretch of the block, whose ends a binary search finds.
No bin index is ever computed, so none can be wrong: ties, 0, 1 and edges that no binary fraction
meets fall where the comparison with the edge itself says. NumPy sorts a block with vector
instructions, so that all three sums of a bin take a fraction of the time of three np.histogram
calls, whatever the edges (benchmarks/binning.py).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

_BLOCK_BYTES = 1 << 18


class Tally(NamedTuple):
    """Sums by bin."""

    rows: NDArray[np.int64]  # (bin,)
    positives: NDArray[np.int64]  # (bin,)
    score_sum: NDArray[np.float64]  # (bin,)


def tally(
    score: NDArray[np.floating], event: NDArray[np.generic], edges: NDArray[np.float64], closed: str
) -> Tally:
    """Count rows, events and scores by bins."""
    dtype: np.dtype[np.floating] = np.dtype("f4" if score.dtype == np.float32 else "f8")
    keys = _edge_keys(_representable(edges[1:-1], dtype, closed), closed)
    side: Literal["left", "right"] = "right" if closed == "right" else "left"
    n_bins = len(edges) - 1
    size = np.zeros(2 * n_bins, np.int64)
    score_sum = np.zeros(2 * n_bins, np.float64)
    rows = _BLOCK_BYTES // dtype.itemsize
    buffer, sign = np.empty(rows, dtype), np.empty(rows, keys.dtype)
    for start in range(0, len(score), rows):
        stop = min(start + rows, len(score))
        block = buffer[: stop - start]
        key = _sort_block(score[start:stop], event[start:stop], block, sign[: stop - start])
        ends = np.concatenate(([0], np.searchsorted(key, keys, side=side), [stop - start]))
        here = np.diff(ends)
        held = here > 0
        size += here
        # reduceat sums from each start to the next one, which is right once empty bins are out.
        score_sum[held] += np.add.reduceat(block, ends[:-1][held], dtype=np.float64)
    positives, negatives = size.reshape(2, n_bins)
    # With the event, a score stands in its block with a minus sign.
    return Tally(positives + negatives, positives, np.abs(score_sum).reshape(2, n_bins).sum(axis=0))


def _sort_block(
    score: NDArray[np.floating],
    event: NDArray[np.generic],
    block: NDArray[np.floating],
    sign: NDArray[np.signedinteger],
) -> NDArray[np.signedinteger]:
    """Write the scores into `block`, those with the event negative, and sort them as integers.

    Read as integers, floats >= 0 keep their order, with or without the sign bit; with it they come
    first. Returns the integers, which share the memory of `block`.
    """
    np.add(score, 0, out=block, casting="same_kind")  # and -0.0, whose sign bit is set, becomes 0
    key = block.view(sign.dtype)
    np.left_shift(event, 8 * sign.itemsize - 1, out=sign, dtype=sign.dtype, casting="unsafe")
    np.bitwise_or(key, sign, out=key)
    key.sort()
    return key


def _edge_keys(inner: NDArray[np.floating], closed: str) -> NDArray[np.signedinteger]:
    """Integers that part a sorted block: into the bins of the events, then into those of the rest.

    Between the two stands what parts negative integers from others, wherever equality goes.
    """
    key = inner.view(f"i{inner.itemsize}")
    lowest = np.iinfo(key.dtype).min
    between = np.array([-1 if closed == "right" else 0], key.dtype)
    return np.concatenate((key | lowest, between, key))


def _representable(
    edges: NDArray[np.float64], dtype: np.dtype[np.floating], closed: str
) -> NDArray[np.floating]:
    """Edges in the type of the scores, rounded so that no comparison changes.

    A float32 score is <= an edge exactly when it is <= the largest float32 below or at the edge,
    and < an edge exactly when it is < the smallest float32 above or at it.
    """
    near: NDArray[np.floating] = edges.astype(dtype)
    if closed == "right":
        return np.where(near > edges, np.nextafter(near, dtype.type(0)), near)
    return np.where(near < edges, np.nextafter(near, dtype.type(1)), near)
