"""Samples of rows by the score, such as labelled and unlabelled ones, that are read together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.edges import quantile_ranks
from bayescal.core.bins.score_cells import N_CELLS, CellSums, Gathered, Rows, Split, cell_of
from bayescal.core.checks import listing
from bayescal.core.errors import InputError

# Rows compared at a time, as there may be millions, and their cells take several copies.
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class ScoreSums:
    """Rows by narrow cells, and their distinct scores; those of two parts add up."""

    sums: CellSums
    distinct: DistinctScores

    @classmethod
    def of(cls, parts: Iterable[Rows], most_distinct: int) -> ScoreSums:
        """Sum up rows that come in parts; of distinct scores no more are kept than asked for."""
        found = cls(CellSums.none(), DistinctScores(most_distinct))
        for rows in parts:
            found.add(rows)
        return found

    def add(self, rows: Rows) -> None:
        """Take in more rows, in place."""
        self.sums.add(*rows)
        self.distinct.add(rows[0])

    def plus(self, other: ScoreSums) -> ScoreSums:
        """Join with other rows."""
        return ScoreSums(self.sums.plus(other.sums), self.distinct.plus(other.distinct))


def joint(one: Split, two: Split) -> Split:
    """Take two samples, of which the same cells are gathered, as one."""
    return Split(one.sums.plus(two.sums), one.wanted, one.rows.plus(two.rows))


def of_event(rows: Gathered, event: int) -> Gathered:
    """Take the rows with an event, or those without."""
    held = rows.event == event
    fields = tuple(field[held] for field in rows.fields)
    return Gathered(rows.score[held], rows.event[held], fields)


def check_unchanged(
    sums: CellSums, rows: Gathered, wanted: NDArray[np.bool_], columns: Sequence[str]
) -> None:
    """Check that the rows that were gathered of some cells are those that were summed up."""
    count, mass = np.zeros(N_CELLS, np.int64), np.zeros(2 * N_CELLS)
    for start in range(0, len(rows.score), _BLOCK):
        part = slice(start, start + _BLOCK)
        cells = cell_of(rows.score[part])
        np.add.at(count, cells, rows.count[part])
        np.add.at(mass, 2 * cells + rows.event[part], rows.mass[part])
    same = np.array_equal(count[wanted], sums.rows[wanted])
    # Sums of whole numbers are exact, those of weights were made in another order.
    rounding = 0.0 if rows.mass is rows.count else 1e-6
    if not same or not np.allclose(
        mass.reshape(-1, 2)[wanted], sums.fields[wanted, :2], rounding, 0.0
    ):
        raise changed(columns)


def changed(columns: Sequence[str]) -> InputError:
    """Say that two readings did not see the same rows."""
    return InputError(
        f"the columns {listing(columns)} must not change while they are read twice; the second "
        "time some scores or labels were others. Count the rows when none is written."
    )


def cells_of_quantiles(sums: CellSums, numbers: Sequence[int]) -> NDArray[np.bool_]:
    """Cells that hold the inner edges of so many bins of equal mass, (cell,)."""
    wanted = np.zeros(N_CELLS, dtype=bool)
    for number in numbers:
        ranks = quantile_ranks(int(sums.size.sum()), number)
        wanted[sums.of_ranks(ranks[ranks > 0])] = True
    return wanted


def cells_of_scores(sums: CellSums, scores: ArrayLike) -> NDArray[np.bool_]:
    """Cells that some scores lie in, and the last cell with rows below each of these, (cell,)."""
    cells = cell_of(np.asarray(scores, dtype=np.float64))
    held = np.flatnonzero(sums.size)
    wanted = np.zeros(N_CELLS, dtype=bool)
    wanted[cells] = True
    below = np.searchsorted(held, cells) - 1
    wanted[held[below[below >= 0]]] = True
    return wanted


def by_score(sample: Split) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Counts by event, (group, 2), and sums of scores, (group,), by rising score.

    A group is the rows of one score where they are gathered, and those of a narrow cell elsewhere.
    """
    whole = np.flatnonzero(~sample.wanted & (sample.sums.size > 0))
    score, place = np.unique(sample.rows.score, return_inverse=True)
    count = np.zeros((len(score), 2), np.int64)
    np.add.at(count, (place, sample.rows.event), sample.rows.count)
    order = np.argsort(np.append(whole, cell_of(score)), kind="stable")
    total = np.append(sample.sums.score[whole], score * count.sum(axis=1))
    return np.concatenate([sample.sums.count[whole], count])[order], total[order]
