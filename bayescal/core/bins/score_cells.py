"""Rows that need not fit in memory, summed up by narrow cells of the score.

Two passes over the rows give any statistic of their order exactly: the first sums the rows up by
cells, which says which cells the answer can lie in; the second gathers the rows of those alone.
Sums of parts add up, so that parts may be read anywhere and in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts

type Rows = tuple[NDArray[np.floating], NDArray[np.uint8]]
"""Scores in [0, 1], and whether the event happened, (obs,)."""

type Bits = NDArray[np.int64]

# A cell is one of 2^16 parts of [1/2, 1/4), [1/4, 1/8), [1/8, 1/16), and one of 2^13 parts of each
# such interval below, on either side of 1/2: narrow near 0 and 1 too, where scores gather. Nearer
# to them than 2^-30 there is one cell.
_FINE: Final = 52 - 16
_COARSE: Final = 52 - 13
_CHANGE: Final = int(np.float64(2.0**-4).view(np.int64))
_NEAREST: Final = (int(np.float64(2.0**-30).view(np.int64)) - _CHANGE) >> _COARSE
_HALF: Final = ((int(np.float64(0.5).view(np.int64)) - _CHANGE) >> _FINE) - _NEAREST + 2
N_CELLS: Final = 2 * _HALF
# Rows gone through at a time, of which a core's cache holds all copies.
_BLOCK: Final = 1 << 14
# So many rows are gathered before equal ones are joined.
_GATHERED: Final = 1 << 22


def cell_of(score: NDArray[np.floating]) -> Bits:
    """The cell of each score; cells rise with the score."""
    value = np.asarray(score, dtype=np.float64)
    # Read as integers, floats keep their order. 1 - score is exact above 1/2.
    nearest = 1 - value
    place: Bits = np.minimum(nearest, value, out=nearest).view(np.int64)
    place -= _CHANGE
    fine = place >> _FINE
    place >>= _COARSE
    # Below the change both are negative, above it neither is.
    np.maximum(place, fine, out=place)
    np.maximum(place, _NEAREST - 1, out=place)
    place -= _NEAREST - 1
    # The sign of a difference is its first bit: -1 above 1/2, where cells are counted from the end.
    upper = (0.5 - value).view(np.int64)
    upper >>= 63
    place ^= upper
    upper &= N_CELLS
    place += upper
    return place


@dataclass(frozen=True, slots=True, eq=False)
class CellSums:
    """Rows by cell and event; those of two parts add up."""

    # A row of score s is 1 + i s, so that one access to a cell counts it and adds its score.
    rows: NDArray[np.complex128]  # (cell, event)

    @classmethod
    def none(cls) -> CellSums:
        """Sums of no rows."""
        return cls(np.zeros((N_CELLS, 2), np.complex128))

    @classmethod
    def of(cls, parts: Iterable[Rows]) -> CellSums:
        """Sum up rows that come in parts."""
        found = cls.none()
        for score, event in parts:
            found.add(score, event)
        return found

    @property
    def count(self) -> NDArray[np.int64]:
        """Number of rows, (cell, event)."""
        return self.rows.real.astype(np.int64)

    @property
    def score(self) -> NDArray[np.float64]:
        """Sums of scores, (cell, event)."""
        return self.rows.imag

    def add(self, score: NDArray[np.floating], event: NDArray[np.uint8]) -> None:
        """Take in more rows, in place."""
        cells = self.rows.reshape(-1)
        row = np.ones(_BLOCK, np.complex128)
        for start in range(0, len(score), _BLOCK):
            value = score[start : start + _BLOCK].astype(np.float64, copy=False)
            place = 2 * cell_of(value) + event[start : start + _BLOCK]
            row.imag[: len(value)] = value
            np.add.at(cells, place, row[: len(value)])

    def swapped(self) -> CellSums:
        """Take the other rows as the positive ones."""
        return CellSums(np.ascontiguousarray(self.rows[:, ::-1]))

    def plus(self, other: CellSums) -> CellSums:
        """Add the sums of other rows."""
        return CellSums(self.rows + other.rows)

    def of_ranks(self, ranks: NDArray[np.int64]) -> Bits:
        """Cells that hold the scores of ranks from 1 on."""
        return np.searchsorted(np.cumsum(self.count.sum(axis=1)), ranks)


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """All rows of some cells, equal ones together, by rising score and event."""

    score: NDArray[np.float64]  # (row,)
    event: NDArray[np.int64]  # (row,)
    count: NDArray[np.int64]  # (row,)

    @classmethod
    def of(cls, parts: Iterable[Rows], wanted: NDArray[np.bool_]) -> Gathered:
        """Gather the rows of the cells that are wanted, (cell,)."""
        kept = _Distinct()
        for score, event in parts:
            for start in range(0, len(score), _BLOCK):
                # Adding 0 turns -0.0, whose bits are those of a negative number, into 0.0.
                value = np.add(score[start : start + _BLOCK], 0.0, dtype=np.float64)
                held = wanted[cell_of(value)]
                if held.any():
                    kept.add(
                        (value[held].view(np.int64) << 1) | event[start : start + _BLOCK][held]
                    )
        key, count = kept.joined()
        return cls((key >> 1).view(np.float64), key & 1, count)

    def plus(self, other: Gathered) -> Gathered:
        """Join with the same cells' rows of another part."""
        kept = _Distinct()
        for part in (self, other):
            kept.add((part.score.view(np.int64) << 1) | part.event, part.count)
        key, count = kept.joined()
        return Gathered((key >> 1).view(np.float64), key & 1, count)


class _Distinct:
    """Integers with how often they were seen."""

    def __init__(self) -> None:
        self._keys: list[Bits] = []
        self._counts: list[Bits] = []
        self._size = 0

    def add(self, key: Bits, count: Bits | None = None) -> None:
        self._keys.append(key)
        self._counts.append(np.ones(len(key), np.int64) if count is None else count)
        self._size += len(key)
        # Only what is new since the last time counts, or each part would be joined with all.
        if self._size > max(_GATHERED, 2 * len(self._keys[0])):
            self.joined()

    def joined(self) -> tuple[Bits, Bits]:
        """Different integers by rising order, and how often each was seen."""
        if not self._keys:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        keys, counts = np.concatenate(self._keys), np.concatenate(self._counts)
        # Stable, as that joins what is in order already without sorting it anew.
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        self._keys, self._counts = [keys[first]], [np.add.reduceat(counts, first)]
        self._size = len(first)
        return self._keys[0], self._counts[0]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Sums by cell where cells are whole, and rows where they are not."""

    sums: CellSums
    wanted: NDArray[np.bool_]  # (cell,)
    rows: Gathered

    def scores_of(self, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of ranks from 1 on, whose cells must be gathered."""
        cells = self.sums.of_ranks(ranks)
        per_cell = self.sums.count.sum(axis=1)
        below = np.cumsum(per_cell) - per_cell
        held = np.where(self.wanted, per_cell, 0)
        # Gathered cells follow each other without those between.
        offset = np.cumsum(held) - held
        place = offset[cells] + ranks - below[cells]
        return self.rows.score[np.searchsorted(np.cumsum(self.rows.count), place)]

    def count(self, edges: NDArray[np.float64], closed: str, strategy: str) -> BinCounts:
        """Count into bins whose inner edges' cells are gathered."""
        n_bins = len(edges) - 1
        whole = ~self.wanted & (self.sums.count.sum(axis=1) > 0)
        # No edge lies in a whole cell.
        of_cell = np.searchsorted(cell_of(edges[1:-1]), np.flatnonzero(whole))
        side: Literal["left", "right"] = "left" if closed == "right" else "right"
        of_row = np.searchsorted(edges[1:-1], self.rows.score, side=side)
        count = np.zeros((n_bins, 2), np.int64)
        np.add.at(count, of_cell, self.sums.count[whole])
        np.add.at(count, (of_row, self.rows.event), self.rows.count)
        total = np.zeros(n_bins)
        np.add.at(total, of_cell, self.sums.score[whole].sum(axis=1))
        np.add.at(total, of_row, self.rows.score * self.rows.count)
        rows = count.sum(axis=1)
        # Rounding must not move a mean out of the scores that it is of, such as one score alone.
        least, most = edges[:-1].copy(), edges[1:].copy()
        gathered = np.setdiff1d(of_row, of_cell)
        least[gathered], most[gathered] = np.inf, -np.inf
        np.minimum.at(least, of_row, self.rows.score)
        np.maximum.at(most, of_row, self.rows.score)
        mean = np.clip(total / np.where(rows > 0, rows, np.nan), least, most)
        return BinCounts(edges, rows, count[:, 1], mean, closed, strategy)
