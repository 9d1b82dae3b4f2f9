"""Counts, positives and sums of scores of each bin, a block of rows at a time."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts, effective_counts

_BLOCK_BYTES = 1 << 18


class Tally(NamedTuple):
    """Sums by bin."""

    rows: NDArray[np.int64]  # (bin,)
    positives: NDArray[np.int64]  # (bin,)
    score_sum: NDArray[np.float64]  # (bin,)
    lowest: NDArray[np.float64]  # (bin,); infinite in an empty bin
    highest: NDArray[np.float64]  # (bin,); -1 in an empty bin

    def mean_score(self) -> NDArray[np.float64]:
        """Mean scores, (bin,), NaN in an empty bin; where all scores are equal, that score."""
        mean = self.score_sum / np.maximum(self.rows, 1)
        # The quotient of sums may leave the range of the scores by its rounding.
        inside = np.minimum(np.maximum(mean, self.lowest), self.highest)
        return np.where(self.rows > 0, inside, np.nan)


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
    lowest, highest = np.full(2 * n_bins, np.inf), np.full(2 * n_bins, -1.0)
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
        # With the event, a score stands in its block with a minus sign.
        lowest[held] = np.minimum(lowest[held], np.abs(block[ends[:-1][held]]))
        highest[held] = np.maximum(highest[held], np.abs(block[ends[1:][held] - 1]))
    positives, negatives = size.reshape(2, n_bins)
    return Tally(
        positives + negatives,
        positives,
        np.abs(score_sum).reshape(2, n_bins).sum(axis=0),
        lowest.reshape(2, n_bins).min(axis=0),
        highest.reshape(2, n_bins).max(axis=0),
    )


def _weighted_counts(
    score: NDArray[np.floating],
    event: NDArray[np.generic],
    edges: NDArray[np.float64],
    closed: str,
    strategy: str,
    weight: NDArray[np.float64],
) -> BinCounts:
    """Count weighted rows into bins."""
    side: Literal["left", "right"] = "left" if closed == "right" else "right"
    n_bins = len(edges) - 1
    place = np.searchsorted(edges[1:-1], score, side=side)
    lowest, highest = np.full(n_bins, np.inf), np.full(n_bins, -1.0)
    np.minimum.at(lowest, place, score)
    np.maximum.at(highest, place, score)

    def total(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(place, values, n_bins)

    rows, mass = np.bincount(place, minlength=n_bins), total(weight)
    mean = total(weight * score) / np.where(rows > 0, mass, np.nan)
    return effective_counts(
        edges,
        rows=rows,
        weight=mass,
        squares=total(weight**2),
        positive_weight=total(weight * (event != 0)),
        # The quotient of sums may leave the range of the scores by its rounding.
        mean_score=np.minimum(np.maximum(mean, lowest), highest),
        closed=closed,
        strategy=strategy,
    )


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
