"""Several samples of rows, such as labelled and unlabelled ones, summed up by score together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.edges import quantile_ranks
from bayescal.core.bins.score_cells import CellSums, Gathered, Rows, Split, cell_of

type SampleRows = Sequence[Rows]
"""The rows of each sample in one batch."""


def sum_samples(
    batches: Iterable[SampleRows], seen: Sequence[Sequence[DistinctScores]]
) -> list[CellSums]:
    """Sum each sample up by narrow cells; `seen` has who is shown its scores, a list a sample."""
    found = [CellSums.none() for _ in seen]
    for batch in batches:
        for (score, event), sums, shown in zip(batch, found, seen, strict=True):
            sums.add(score, event)
            for distinct in shown:
                distinct.add(score)
    return found


def split_samples(
    batches: Iterable[SampleRows], sums: Sequence[CellSums], wanted: NDArray[np.bool_]
) -> list[Split]:
    """Gather the rows of each sample in the cells that are wanted, (cell,)."""
    parts: list[list[Gathered]] = [[] for _ in sums]
    for batch in batches:
        for rows, gathered in zip(batch, parts, strict=True):
            _append(gathered, Gathered.of([rows], wanted))
    found = (
        reduce(Gathered.plus, gathered) if gathered else Gathered.of([], wanted)
        for gathered in parts
    )
    return [Split(each, wanted, rows) for each, rows in zip(sums, found, strict=True)]


def _append(parts: list[Gathered], part: Gathered) -> None:
    """Keep few parts, each longer than the one after it: rows are joined a few times in all."""
    if not len(part.score):
        return
    while parts and len(parts[-1].score) <= len(part.score):
        part = parts.pop().plus(part)
    parts.append(part)


def joint(samples: Sequence[Split]) -> Split:
    """Take all samples as one."""
    return Split(
        reduce(CellSums.plus, (one.sums for one in samples)),
        samples[0].wanted,
        reduce(Gathered.plus, (one.rows for one in samples)),
    )


def n_rows(sums: CellSums) -> int:
    """Number of rows in all cells."""
    return int(sums.count.sum())


def cells_of_quantiles(sums: CellSums, numbers: Sequence[int]) -> NDArray[np.bool_]:
    """Cells that hold the inner edges of so many bins of equal mass, (cell,)."""
    wanted = np.zeros(len(sums.count), dtype=bool)
    for number in numbers:
        ranks = quantile_ranks(n_rows(sums), number)
        wanted[sums.of_ranks(ranks[ranks > 0])] = True
    return wanted


def cells_of_scores(sums: CellSums, scores: ArrayLike) -> NDArray[np.bool_]:
    """Cells that some scores lie in, and the last cell with rows below each of these, (cell,)."""
    cells = cell_of(np.asarray(scores, dtype=np.float64))
    held = np.flatnonzero(sums.count.any(axis=1))
    wanted = np.zeros(len(sums.count), dtype=bool)
    wanted[cells] = True
    below = np.searchsorted(held, cells) - 1
    wanted[held[below[below >= 0]]] = True
    return wanted


def by_score(sample: Split) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Counts by event, (group, 2), and sums of scores, (group,), by rising score.

    A group is the rows of one score where they are gathered, and those of a narrow cell elsewhere.
    """
    whole = np.flatnonzero(~sample.wanted & sample.sums.count.any(axis=1))
    score, place = np.unique(sample.rows.score, return_inverse=True)
    count = np.zeros((len(score), 2), np.int64)
    np.add.at(count, (place, sample.rows.event), sample.rows.count)
    order = np.argsort(np.append(whole, cell_of(score)), kind="stable")
    total = np.append(sample.sums.score[whole].sum(axis=1), score * count.sum(axis=1))
    return np.concatenate([sample.sums.count[whole], count])[order], total[order]
