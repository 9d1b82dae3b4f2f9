"""Exact order statistics of more scores than memory holds, in a few passes over them.

Read as integers, the bits of non-negative floats have the order of the floats. So the value of a
rank is searched for as an integer: each pass counts the scores in many small intervals of it, and
keeps the interval that holds the rank, drawn tight around the scores that were seen inside. Once
few enough scores are left they are collected and sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.weights import WeightedScores

type Chunks = Callable[[], Iterable[NDArray[np.floating] | WeightedScores]]
type Bits = NDArray[np.int64]

# So many scores may be held at once (16 MB of them), ...
_COLLECT = 1 << 21
# ... and so many intervals be counted in one pass.
_INTERVALS = 1 << 16
_ONE = int(np.float64(1.0).view(np.int64))


def order_statistics(chunks: Chunks, ranks: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Find the scores of given ranks, (rank,), among `n` scores.

    Notes
    -----
    Ranks of weighted scores count units of weight: the score of rank r is the smallest one such
    that it and those below it weigh r units or more.

    Besides a sorted copy of one chunk it holds less than 40 MB, or 60 MB with weights. Up to two
    million scores take one pass, a hundred million three; more only where millions of different
    scores agree in their leading digits.
    """
    distinct, inverse = np.unique(ranks, return_inverse=True)
    size = len(distinct)
    low, high = np.zeros(size, np.int64), np.full(size, _ONE)
    below, held = np.zeros(size, np.int64), np.full(size, n)
    while (open_ := low < high).any():
        starts, first = np.unique(low[open_], return_index=True)
        ends = high[open_][first]
        if held[open_][first].sum() <= _COLLECT:
            low[open_] = _collect(chunks, starts, ends, low[open_], distinct[open_] - below[open_])
            break
        cells = _Cells(starts, ends)
        for block in _sorted_blocks(chunks):
            cells.count(block)
        low[open_], high[open_], below[open_], held[open_] = cells.find(
            low[open_], below[open_], distinct[open_]
        )
    return low.view(np.float64)[inverse]


class _Block(NamedTuple):
    """Scores as ascending integers, and what they weigh."""

    bits: Bits
    before: Bits | None  # (score + 1,), units below each; None where each score counts once

    @classmethod
    def of(cls, bits: Bits, units: Bits | None) -> _Block:
        """Sort scores, in place where they have no weights."""
        if units is None:
            bits.sort()
            return cls(bits, None)
        order = np.argsort(bits)
        return cls(bits[order], np.concatenate(([0], np.cumsum(units[order]))))

    def weight(self, left: Bits, right: Bits) -> Bits:
        """Units from some places up to others."""
        return right - left if self.before is None else self.before[right] - self.before[left]

    def units(self, left: int, right: int) -> Bits | None:
        """Units of each score between two places."""
        return None if self.before is None else np.diff(self.before[left : right + 1])

    def ranked(self, rank: Bits) -> Bits:
        """Scores of ranks."""
        if self.before is None:
            return self.bits[rank - 1]
        return self.bits[np.searchsorted(self.before[1:], rank)]


def _sorted_blocks(chunks: Chunks) -> Iterator[_Block]:
    """Each chunk as ascending integers."""
    for chunk in chunks():
        score, units = chunk if isinstance(chunk, WeightedScores) else (chunk, None)
        # Adding 0 turns -0.0, whose bits are those of a negative number, into 0.0.
        yield _Block.of(np.add(score, 0.0, dtype=np.float64).view(np.int64), units)


def _collect(chunks: Chunks, starts: Bits, ends: Bits, low: Bits, rank: Bits) -> Bits:
    """Gather all scores of some intervals, and look the ranks up: one each, in its interval."""
    kept, units = [], []
    size = np.zeros(len(starts), np.int64)
    for block in _sorted_blocks(chunks):
        left = np.searchsorted(block.bits, starts, side="left")
        right = np.searchsorted(block.bits, ends, side="right")
        size += block.weight(left, right)
        for i, j in zip(left, right, strict=True):
            kept.append(block.bits[i:j].copy())
            units.append(block.units(i, j))
    weights = [part for part in units if part is not None]
    values = _Block.of(np.concatenate(kept), np.concatenate(weights) if weights else None)
    # The intervals do not overlap, so that each has a stretch of the sorted scores to itself.
    offset = np.cumsum(size) - size
    return values.ranked(offset[np.searchsorted(starts, low)] + rank)


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
        self._weight = np.zeros(len(self._low), np.int64)
        self._min = self._stop.copy()
        self._max = self._low.copy()

    def count(self, block: _Block) -> None:
        """Take in the scores of a sorted block."""
        left = np.searchsorted(block.bits, self._low)
        right = np.searchsorted(block.bits, self._stop)
        seen = np.flatnonzero(right > left)
        left, right = left[seen], right[seen]
        self._size[seen] += right - left
        self._weight[seen] += block.weight(left, right)
        self._min[seen] = np.minimum(self._min[seen], block.bits[left])
        self._max[seen] = np.maximum(self._max[seen], block.bits[right - 1])

    def find(self, low: Bits, below: Bits, ranks: Bits) -> tuple[Bits, Bits, Bits, Bits]:
        """For each rank, the tight interval that holds it, what weighs less, and its scores.

        `low` says which interval the rank was in, `below` how many units were below that.
        """
        total = np.concatenate(([0], np.cumsum(self._weight)))
        before = total[self._first[np.searchsorted(self._starts, low)]]
        target = ranks - below + before
        cell = np.searchsorted(total, target, side="left") - 1
        inside = below + total[cell] - before
        return self._min[cell], self._max[cell], inside, self._size[cell]
