"""Exact order statistics of more scores than memory holds, in a few passes over them.

Read as integers, the bits of non-negative floats have the order of the floats. So the value of a
rank is searched for as an integer: each pass counts the scores in many small intervals of it, and
keeps the interval that holds the rank, drawn tight around the scores that were seen inside. Once
few enough scores are left they are collected and sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

type Chunks = Callable[[], Iterable[NDArray[np.floating]]]
type Bits = NDArray[np.int64]

# So many scores may be held at once (16 MB of them), ...
_COLLECT = 1 << 21
# ... and so many intervals be counted in one pass.
_INTERVALS = 1 << 16
_ONE = int(np.float64(1.0).view(np.int64))


def order_statistics(chunks: Chunks, ranks: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Find the scores of given ranks, (rank,).

    Notes
    -----
    Besides a sorted copy of one chunk it holds less than 40 MB. Up to two million scores take one
    pass, a hundred million three; more only where millions of different scores agree in their
    leading digits.
    """
    distinct, inverse = np.unique(ranks, return_inverse=True)
    size = len(distinct)
    low, high = np.zeros(size, np.int64), np.full(size, _ONE)
    below, held = np.zeros(size, np.int64), np.full(size, n)
    while (open_ := low < high).any():
        starts, first = np.unique(low[open_], return_index=True)
        ends = high[open_][first]
        if held[open_][first].sum() <= _COLLECT:
            low[open_] = _collect(
                chunks, starts, ends, low[open_], distinct[open_] - below[open_] - 1
            )
            break
        cells = _Cells(starts, ends)
        for block in _sorted_blocks(chunks):
            cells.count(block)
        low[open_], high[open_], below[open_], held[open_] = cells.find(
            low[open_], below[open_], distinct[open_]
        )
    return low.view(np.float64)[inverse]


def _sorted_blocks(chunks: Chunks) -> Iterator[Bits]:
    """Each chunk as ascending integers."""
    for chunk in chunks():
        # Adding 0 turns -0.0, whose bits are those of a negative number, into 0.0.
        block = np.add(chunk, 0.0, dtype=np.float64).view(np.int64)
        block.sort()
        yield block


def _collect(chunks: Chunks, starts: Bits, ends: Bits, low: Bits, place: Bits) -> Bits:
    """Gather all scores of some intervals, and look the places up: one a rank, in its interval."""
    kept = []
    size = np.zeros(len(starts), np.int64)
    for block in _sorted_blocks(chunks):
        left = np.searchsorted(block, starts, side="left")
        right = np.searchsorted(block, ends, side="right")
        size += right - left
        kept += [block[i:j].copy() for i, j in zip(left, right, strict=True) if j > i]
    values = np.concatenate(kept)
    values.sort()
    # The intervals do not overlap, so that each has a stretch of the sorted scores to itself.
    offset = np.cumsum(size) - size
    found: Bits = values[offset[np.searchsorted(starts, low)] + place]
    return found


class _Cells:
    """Disjoint intervals of integers, cut into cells of which each knows what fell into it."""

    def __init__(self, starts: Bits, ends: Bits) -> None:
        parts = max(2, _INTERVALS // len(starts))
        # Ceiling division, so that no interval needs more than `parts` steps.
        steps = (ends - starts) // parts + 1
        cuts = [
            np.arange(start, end + 1, step, dtype=np.int64)
            for start, end, step in zip(starts, ends, steps, strict=True)
        ]
        self._low = np.concatenate(cuts)
        # Past the end of a cell; searching it finds the scores below the next cell.
        self._stop = np.concatenate(
            [np.append(cut[1:], end + 1) for cut, end in zip(cuts, ends, strict=True)]
        )
        self._first = np.cumsum([0] + [len(cut) for cut in cuts])
        self._starts = starts
        self._size = np.zeros(len(self._low), np.int64)
        self._min = self._stop.copy()
        self._max = self._low.copy()

    def count(self, block: Bits) -> None:
        """Take in the scores of a sorted block."""
        left = np.searchsorted(block, self._low)
        right = np.searchsorted(block, self._stop)
        seen = np.flatnonzero(right > left)
        left, right = left[seen], right[seen]
        self._size[seen] += right - left
        self._min[seen] = np.minimum(self._min[seen], block[left])
        self._max[seen] = np.maximum(self._max[seen], block[right - 1])

    def find(self, low: Bits, below: Bits, ranks: Bits) -> tuple[Bits, Bits, Bits, Bits]:
        """For each rank, the tight interval that holds it, the scores below it and those in it.

        `low` says which interval the rank was in, `below` how many scores were below that.
        """
        total = np.concatenate(([0], np.cumsum(self._size)))
        before = total[self._first[np.searchsorted(self._starts, low)]]
        target = ranks - below + before
        cell = np.searchsorted(total, target, side="left") - 1
        inside = below + total[cell] - before
        return self._min[cell], self._max[cell], inside, self._size[cell]
