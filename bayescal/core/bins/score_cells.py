"""Rows that need not fit in memory, summed up by narrow cells of the score.

Two passes over the rows give any statistic of their order exactly: the first sums the rows up by
cells, which says which cells the answer can lie in; the second gathers the rows of those alone.
Sums of parts add up, so that parts may be read anywhere and in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts, effective_counts
from bayescal.core.bins.weights import RowWeights

type Rows = (
    tuple[NDArray[np.floating], NDArray[np.uint8]]
    | tuple[NDArray[np.floating], NDArray[np.uint8], RowWeights]
)
"""Scores in [0, 1], whether the event happened, and perhaps weights, (obs,)."""

type Bits = NDArray[np.int64]

# A cell is one of 2^16 parts of [1/2, 1/4) or [1/4, 1/8), and one of 2^13 parts of each such
# interval below, on either side of 1/2: narrow near 0 and 1 too, where scores gather. Nearer to
# them than 2^-30 there is one cell.
_FINE: Final = 52 - 16
_COARSE: Final = 52 - 13
_CHANGE: Final = int(np.float64(2.0**-3).view(np.int64))
# Just below 2^-30, in the cell of all that is nearer.
_NEAREST: Final = int(np.float64(2.0**-30).view(np.int64)) - (1 << _COARSE)
_LOWEST: Final = (_NEAREST - _CHANGE) >> _COARSE
_HALF: Final = ((int(np.float64(0.5).view(np.int64)) - _CHANGE) >> _FINE) - _LOWEST + 1
# The score 1/2 is a cell of its own, the one in the middle.
N_CELLS: Final = 2 * _HALF - 1
WIDEST: Final = 2.0**-17
# Rows gone through at a time: few enough for a core's cache, and so many that threads seldom wait
# for each other, as only one of them can add to places at a time.
_BLOCK: Final = 1 << 16
# So many rows are gathered before equal ones are joined.
_GATHERED: Final = 1 << 22


def cell_of(score: NDArray[np.floating]) -> Bits:
    """The cell of each score; cells rise with the score.

    Scores that rounding has put outside of [0, 1] are in the first or the last cell.
    """
    value = np.asarray(score, dtype=np.float64)
    # Read as integers, floats keep their order. 1 - score is exact above 1/2.
    nearest = 1 - value
    place: Bits = np.minimum(nearest, value, out=nearest).view(np.int64)
    np.maximum(place, _NEAREST, out=place)
    place -= _CHANGE
    fine = place >> _FINE
    place >>= _COARSE
    # Below the change both are negative, above it neither is.
    np.maximum(place, fine, out=place)
    place -= _LOWEST
    # The sign of a difference is its first bit: -1 above 1/2, where cells are counted from the end.
    upper = (0.5 - value).view(np.int64)
    upper >>= 63
    place ^= upper
    upper &= N_CELLS
    place += upper
    return place


def rows_in(cells: NDArray[np.bool_], score: NDArray[np.floating]) -> Bits:
    """Which rows have scores in some cells, (cell,)."""
    found = [
        start + np.flatnonzero(cells[cell_of(score[start : start + _BLOCK])])
        for start in range(0, len(score), _BLOCK)
    ]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def before_rounding(cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The cells that scores may lie in before they are rounded, where they then lie in `cells`."""
    found = cells.copy()
    found[1:] |= cells[:-1]
    found[:-1] |= cells[1:]
    # Near 1 cells are narrower than what rounding to twelve decimals can move a score by.
    end = int(cell_of(np.array([1 - 2.0**-26]))[0])
    found[end:] |= cells[end - 1 :].any()
    return found


@dataclass(frozen=True, slots=True, eq=False)
class CellSums:
    """Rows by cell; those of two parts add up."""

    # Rows without the event, with it, and the sum of their scores. Of weighted rows these are sums
    # of weights, and rows, units and squares of weights follow. What a row changes lies together.
    fields: NDArray[np.float64]  # (cell, field)

    @classmethod
    def none(cls, weighted: bool = False) -> CellSums:
        """Sums of no rows."""
        return cls(np.zeros((N_CELLS, 6 if weighted else 3)))

    @classmethod
    def of(cls, parts: Iterable[Rows], weighted: bool = False) -> CellSums:
        """Sum up rows that come in parts."""
        found = cls.none(weighted)
        for rows in parts:
            found.add(*rows)
        return found

    @property
    def count(self) -> NDArray[np.int64]:
        """Number of rows without weights, (cell, event)."""
        return self.fields[:, :2].astype(np.int64)

    @property
    def score(self) -> NDArray[np.float64]:
        """Sums of scores, times weights, (cell,)."""
        return self.fields[:, 2]

    @property
    def rows(self) -> NDArray[np.int64]:
        """Number of rows, (cell,)."""
        rows = self.fields[:, 3] if self._weighted else self.fields[:, :2].sum(axis=1)
        return rows.astype(np.int64)

    @property
    def size(self) -> NDArray[np.int64]:
        """What ranks count: rows, or units of weight, (cell,)."""
        return self.fields[:, 4].astype(np.int64) if self._weighted else self.rows

    @property
    def _weighted(self) -> bool:
        return bool(self.fields.shape[1] > 3)

    def add(
        self,
        score: NDArray[np.floating],
        event: NDArray[np.uint8],
        weights: RowWeights | None = None,
    ) -> None:
        """Take in more rows, in place."""
        fields = self.fields.reshape(-1)
        for start in range(0, len(score), _BLOCK):
            block = slice(start, start + _BLOCK)
            value = score[block].astype(np.float64, copy=False)
            place = cell_of(value)
            place *= self.fields.shape[1]
            if weights is None:
                np.add.at(fields, place + 2, value)
                place += event[block]
                np.add.at(fields, place, 1.0)
            else:
                weight, units = weights.weight[block], weights.units[block].astype(np.float64)
                np.add.at(fields, place + event[block], weight)
                more = (weight * value, np.ones(1), units, weight**2)
                for field, added in enumerate(more, start=2):
                    np.add.at(fields, place + field, added)

    def swapped(self) -> CellSums:
        """Take the other rows as the positive ones."""
        return CellSums(self.fields[:, [1, 0, *range(2, self.fields.shape[1])]])

    def plus(self, other: CellSums) -> CellSums:
        """Add the sums of other rows."""
        return CellSums(self.fields + other.fields)

    def of_ranks(self, ranks: NDArray[np.int64]) -> Bits:
        """Cells that hold the scores of ranks from 1 on."""
        return np.searchsorted(np.cumsum(self.size), ranks)


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """All rows of some cells, equal ones together, by rising score and event."""

    score: NDArray[np.float64]  # (row,)
    event: NDArray[np.int64]  # (row,)
    # How often; of weighted rows units, weights and their squares follow.
    fields: tuple[NDArray[Any], ...]  # (field,), (row,)

    @classmethod
    def of(
        cls, parts: Iterable[Rows], wanted: NDArray[np.bool_], weighted: bool = False
    ) -> Gathered:
        """Gather the rows of the cells that are wanted, (cell,)."""
        kept = _Distinct(4 if weighted else 1)
        for score, event, *weights in parts:
            held = rows_in(wanted, score)
            # Adding 0 turns -0.0, whose bits are those of a negative number, into 0.0.
            value = np.add(score[held], 0.0, dtype=np.float64)
            added: list[NDArray[Any]] = [np.ones(len(held), np.int64)]
            for given in weights:
                weight = given.weight[held]
                added += [given.units[held], weight, weight**2]
            kept.add((value.view(np.int64) << 1) | event[held], added)
        return cls._of(kept)

    @classmethod
    def _of(cls, kept: _Distinct) -> Gathered:
        key, fields = kept.joined()
        return cls((key >> 1).view(np.float64), key & 1, fields)

    @property
    def count(self) -> NDArray[np.int64]:
        """How often each occurs, (row,)."""
        return self.fields[0]

    @property
    def size(self) -> NDArray[np.int64]:
        """What ranks count: how often each occurs, or units of weight, (row,)."""
        return self.fields[0] if len(self.fields) == 1 else self.fields[1]

    @property
    def mass(self) -> NDArray[Any]:
        """How often each occurs, or its weight, (row,)."""
        return self.fields[0] if len(self.fields) == 1 else self.fields[2]

    def in_fields(self) -> NDArray[np.float64]:
        """The fields of the sums by cell, (row, field)."""
        (number, *weights), mass = self.fields, self.mass
        more = [number, weights[0], weights[2]] if weights else []
        event = self.event == 1
        columns = [np.where(event, 0, mass), np.where(event, mass, 0), mass * self.score, *more]
        return np.stack(columns, axis=-1).astype(np.float64)

    def plus(self, other: Gathered) -> Gathered:
        """Join with the same cells' rows of another part."""
        kept = _Distinct(len(self.fields))
        for part in (self, other):
            kept.add((part.score.view(np.int64) << 1) | part.event, part.fields)
        return self._of(kept)


class _Distinct:
    """Integers, and what rows that share one add up to."""

    def __init__(self, n_fields: int) -> None:
        self._keys: list[Bits] = [np.empty(0, np.int64)]
        self._fields: list[list[NDArray[Any]]] = [[np.empty(0, np.int64)] for _ in range(n_fields)]
        self._size = 0

    def add(self, key: Bits, fields: Sequence[NDArray[Any]]) -> None:
        self._keys.append(key)
        for kept, added in zip(self._fields, fields, strict=True):
            kept.append(added)
        self._size += len(key)
        # Only what is new since the last time counts, or each part would be joined with all.
        if self._size > max(_GATHERED, 2 * len(self._keys[0])):
            self.joined()

    def joined(self) -> tuple[Bits, tuple[NDArray[Any], ...]]:
        """Different integers by rising order, and the sums of each."""
        keys = np.concatenate(self._keys)
        # Stable, as that joins what is in order already without sorting it anew.
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        self._keys = [keys[first]]
        self._fields = [
            [np.add.reduceat(np.concatenate(kept)[order], first)] if len(first) else kept[:1]
            for kept in self._fields
        ]
        self._size = len(first)
        return self._keys[0], tuple(kept[0] for kept in self._fields)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Sums by cell where cells are whole, and rows where they are not."""

    sums: CellSums
    wanted: NDArray[np.bool_]  # (cell,)
    rows: Gathered

    def scores_of(self, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of ranks from 1 on, whose cells must be gathered."""
        cells = self.sums.of_ranks(ranks)
        per_cell = self.sums.size
        below = np.cumsum(per_cell) - per_cell
        held = np.where(self.wanted, per_cell, 0)
        # Gathered cells follow each other without those between.
        offset = np.cumsum(held) - held
        place = offset[cells] + ranks - below[cells]
        return self.rows.score[np.searchsorted(np.cumsum(self.rows.size), place)]

    def count(self, edges: NDArray[np.float64], closed: str, strategy: str) -> BinCounts:
        """Count into bins whose inner edges' cells are gathered."""
        whole = np.flatnonzero(~self.wanted & self.sums.fields[:, :2].any(axis=1))
        # No edge lies in a whole cell.
        of_cell = np.searchsorted(cell_of(edges[1:-1]), whole)
        side: Literal["left", "right"] = "left" if closed == "right" else "right"
        of_row = np.searchsorted(edges[1:-1], self.rows.score, side=side)
        total = np.zeros((len(edges) - 1, self.sums.fields.shape[1]))
        np.add.at(total, of_cell, self.sums.fields[whole])
        np.add.at(total, of_row, self.rows.in_fields())
        # Rounding must not move a mean out of the scores that it is of, such as one score alone.
        least, most = edges[:-1].copy(), edges[1:].copy()
        gathered = np.setdiff1d(of_row, of_cell)
        least[gathered], most[gathered] = np.inf, -np.inf
        np.minimum.at(least, of_row, self.rows.score)
        np.maximum.at(most, of_row, self.rows.score)
        negative, positive, score, *weighed = total.T
        mass = negative + positive
        mean = np.clip(score / np.where(mass > 0, mass, np.nan), least, most)
        if not weighed:
            rows, positives = mass.astype(np.int64), positive.astype(np.int64)
            return BinCounts(edges, rows, positives, mean, closed, strategy)
        return effective_counts(
            edges,
            rows=weighed[0].astype(np.int64),
            weight=mass,
            squares=weighed[2],
            positive_weight=positive,
            mean_score=mean,
            closed=closed,
            strategy=strategy,
        )
