"""What the model sees of a split: labels counted in cells of the rank of the score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.binning import fine_counts
from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.edges import choose_edges
from bayescal.core.plausibility import label_signs
from bayescal.core.quantity import Floats
from bayescal.core.rounding import round_scores
from bayescal.core.tasks import Task
from bayescal.quantities.credal.calibration_split import CalibrationSplit, labeled_rows

type Counts = NDArray[np.int64]

# Curves times rows that a result holds draws of: it does not grow with the target rows.
MOST: Final = 200
FEWEST: Final = 20


@dataclass(frozen=True, slots=True, eq=False)
class EmpiricalCDF:
    """Rank in [0, 1] of any score among the calibration scores; made by `EmpiricalCDF.of`."""

    # Distinct scores with both ends of their range, and the share of the rows below each, those
    # of that very score counted half: both (knot,).
    score: Floats
    rank: Floats

    @classmethod
    def of(cls, score: NDArray[np.floating], rows: NDArray[np.int64] | None = None) -> EmpiricalCDF:
        """Rank scores, each of which stands for one row or for so many."""
        distinct, place = np.unique(round_scores(score).astype(np.float64), return_inverse=True)
        count = np.bincount(place, rows)
        rank = (np.cumsum(count) - count / 2) / count.sum()
        low, high = np.zeros(int(distinct[0] > 0)), np.ones(int(distinct[-1] < 1))
        return cls(np.concatenate([low, distinct, high]), np.concatenate([low, rank, high]))

    def __call__(self, score: NDArray[np.floating]) -> Floats:
        """Look up ranks, linear between the knots."""
        return np.asarray(np.interp(round_scores(score), self.score, self.rank))

    def score_at(self, rank: Floats) -> Floats:
        """Look up the score of each rank."""
        return np.asarray(np.interp(rank, self.rank, self.score))


def cell_of(rank: Floats, n_cells: int) -> NDArray[np.int64]:
    """Cell of each rank, of cells of equal width; rounded, as a rank may lie on an edge."""
    return np.minimum(round_scores(rank * n_cells).astype(np.int64), n_cells - 1)


def cell_middle(rank: Floats, n_cells: int) -> Floats:
    """Middle of each rank's cell."""
    return np.asarray((cell_of(rank, n_cells) + 0.5) / n_cells)


class Counted(NamedTuple):
    """Rows of one curve in cells, those of its label, and their mean rank, (cell,) each."""

    total: Counts
    positives: Counts
    place: Floats


@dataclass(frozen=True, slots=True, eq=False)
class CurveRows:
    """Rows that one curve is fitted to."""

    score: Floats  # (obs,)
    happened: NDArray[np.bool_]  # (obs,): whether the row has the curve's label
    number: Counts | None = None  # (obs,): rows that each stands for; None for one each

    def total(
        self, place: NDArray[np.int64], size: int, values: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sum values up by place; without any, count rows."""
        if self.number is None:
            return np.bincount(place, values, size)
        return np.bincount(place, self.number * (1 if values is None else values), size)

    def fine_counts(self, most: int) -> BinCounts:
        """Count rows into cells of the score."""
        score = round_scores(self.score).astype(np.float64)
        if self.number is None:
            return fine_counts(Task({}, score, self.happened.astype(np.uint8)), [0.0, 1.0], most)
        seen = DistinctScores(most)
        seen.add(score)
        order = np.argsort(score)
        last = np.cumsum(self.number[order])

        def scores_of(ranks: NDArray[np.int64]) -> Floats:
            return score[order[np.searchsorted(last, ranks)]]

        edges = seen.cell_edges(
            [0.0, 1.0], lambda: choose_edges(scores_of, int(last[-1]), most, "quantile"), "right"
        )
        place, size = np.searchsorted(edges[1:-1], score), len(edges) - 1
        count = self.total(place, size)
        mean = self.total(place, size, score) / np.where(count > 0, count, np.nan)
        return BinCounts(edges, count, self.total(place, size, self.happened), mean)


class Cells(Protocol):
    """How the rows of a curve are put into cells."""

    def count(self, ranks: EmpiricalCDF, rows: CurveRows) -> Counted:
        """Count rows."""
        ...


@dataclass(frozen=True, slots=True)
class RankCells:
    """So many cells of equal width in the rank: about equal numbers of rows."""

    number: int

    def count(self, ranks: EmpiricalCDF, rows: CurveRows) -> Counted:
        """Count rows; a cell without any has its middle for a rank."""
        rank = ranks(rows.score)
        cell = cell_of(rank, self.number)
        count = rows.total(cell, self.number)
        positives = rows.total(cell, self.number, rows.happened)
        middle = (np.arange(self.number) + 0.5) / self.number
        total = rows.total(cell, self.number, rank)
        place = np.where(count > 0, total / np.maximum(count, 1), middle)
        return Counted(count.astype(np.int64), positives.astype(np.int64), place)


@dataclass(frozen=True, slots=True)
class ScoreCells:
    """A cell a score where they are few, else cells at their quantiles; scores 0 and 1 apart."""

    most: int

    @property
    def number(self) -> int:
        """Number of cells, with those of the scores 0 and 1."""
        return self.most + 2

    def count(self, ranks: EmpiricalCDF, rows: CurveRows) -> Counted:
        """Count rows; cells without any come last."""
        cells = rows.fine_counts(self.most)
        held = np.flatnonzero(cells.count)
        missing = self.number - len(held)
        return Counted(
            np.pad(cells.count[held], (0, missing)),
            np.pad(cells.positives[held], (0, missing)),
            np.pad(ranks(cells.mean_score[held]), (0, missing), "edge"),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One classifier's calibration rows in cells of their score's rank; made by `Problem.of`.

    A curve is the probability of one label given its score: one of a binary task, one for each
    class against the rest otherwise.
    """

    ranks: tuple[EmpiricalCDF, ...]
    # Rows in each cell, and those of the curve's label, (curve, cell).
    count: Counts
    positives: Counts
    # Mean rank of the rows of each cell, (curve, cell); any rank where there are none.
    place: Floats
    # Ranks of the target rows that the result holds, (obs, curve).
    target_rank: Floats

    @classmethod
    def of(cls, data: CalibrationSplit, rows: NDArray[np.intp], cells: Cells) -> Problem:
        """Count the rows of a classifier."""
        (score,), label = labeled_rows(data)
        target = data.target.y_prob[0][rows]
        if score.ndim == 1:
            score, target, event = score[:, None], target[:, None], (label == 1)[:, None]
        else:
            event = label[:, None] == np.arange(score.shape[1])
        ranks = tuple(EmpiricalCDF.of(column, data.rows) for column in score.T)
        counted = [
            cells.count(rank, CurveRows(column, happened, data.rows))
            for rank, column, happened in zip(ranks, score.T, event.T, strict=True)
        ]
        count, positives, place = (np.stack(parts) for parts in zip(*counted, strict=True))
        at = np.stack([rank(t) for rank, t in zip(ranks, target.T, strict=True)], axis=1)
        return cls(ranks, count, positives, place, at)

    @property
    def n_curves(self) -> int:
        """Number of curves."""
        return len(self.ranks)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.count.shape[1])

    def cell_score(self) -> Floats:
        """Score at the mean rank of each cell, (curve, cell)."""
        rows = zip(self.ranks, self.place, strict=True)
        return np.stack([ranks.score_at(place) for ranks, place in rows])

    def relabelled(self, positives: Counts) -> Problem:
        """Give the cells other numbers of labels."""
        return replace(self, positives=positives)


# Standard errors by which the mean rank of labelled rows may lie below the middle.
_FALLS = 3.0


def data_warnings(problem: Problem, names: tuple[str, ...], falls: str) -> list[str]:
    """Warn of labels that do not occur, and of labels that grow rarer as the score rises.

    `falls` says what the latter means; without it there is no warning of it.
    """
    found: list[str] = []
    total = problem.count.sum(axis=1)
    for name, rows, labels in zip(names, total, problem.positives.sum(axis=1), strict=True):
        if labels in (0, rows):
            found.append(
                f"{'no' if labels == 0 else 'every'} calibration row is of class {name}; one end "
                "of its bounds rests on the prior. Add rows of both kinds."
            )
    if len(problem.count) == 1:
        (score,), (count,), (positives,) = problem.cell_score(), problem.count, problem.positives
        found += label_signs(score, count - positives, positives)
    if falls:
        for name, rarer in zip(names, _fall(problem), strict=True):
            if rarer:
                found.append(f"class {name} grows rarer as its score rises{falls}")
    return found


def _fall(problem: Problem) -> list[bool]:
    """Whether rows of each label have lower ranks than the others (Mann-Whitney)."""
    found = []
    rows = zip(problem.count, problem.positives, problem.place, strict=True)
    for count, positives, place in rows:
        n, k = count.sum(), positives.sum()
        if k in (0, n):
            found.append(False)
            continue
        middle = np.average(place, weights=count)
        variance = np.average((place - middle) ** 2, weights=count)
        error = np.sqrt(variance * (n - k) / (k * max(n - 1, 1)))
        found.append(bool(np.average(place, weights=positives) - middle < -_FALLS * error))
    return found


def held_rows(data: CalibrationSplit) -> NDArray[np.intp]:
    """Choose the target rows that a result holds draws of, (obs,)."""
    score = data.target.y_prob[0]
    last = score if score.ndim == 1 else score[:, -1]
    curves = 1 if score.ndim == 1 else score.shape[1]
    number = max(FEWEST, MOST // curves)
    if len(last) <= number:
        return np.arange(len(last))
    order = np.argsort(last, kind="stable")
    return np.sort(order[np.linspace(0, len(last) - 1, number).round().astype(np.intp)])
