"""Cells of labelled and unlabelled rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.edges import choose_edges
from bayescal.core.bins.first_reading import FirstReading
from bayescal.core.bins.labeled_columns import LabeledColumns
from bayescal.core.bins.score_cells import Gathered, Rows, Split
from bayescal.core.bins.score_samples import (
    ScoreSums,
    by_score,
    cells_of_quantiles,
    cells_of_scores,
    check_unchanged,
    joint,
)
from bayescal.core.checks import checked_words
from bayescal.core.columns import MISSING, Label, factorize
from bayescal.core.intake import probabilities
from bayescal.core.partial_sums import Batch, Batched, joined, summed
from bayescal.core.partitions import rows_of
from bayescal.core.plausibility import area_under_roc
from bayescal.curves.cells import Problem
from bayescal.quantities.agnostic.data import CELLS, CountedScores, IntervalProblem, rule_edges
from bayescal.quantities.agnostic.decisions import DecisionRule
from bayescal.quantities.agnostic.estimator import Estimate
from bayescal.quantities.agnostic.figures import CountFigures
from bayescal.quantities.agnostic.intervals import IntervalMeasure
from bayescal.quantities.agnostic.many_rows import measure_of
from bayescal.quantities.agnostic.plan import named_rules


def count_rows(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str],
    pos_label: Any = 1,
    from_logits: bool = False,
    decision: DecisionRule | Mapping[str, DecisionRule] | None = None,
) -> dict[str, CountedScores]:
    r"""Count labelled and unlabelled rows by cells of the score, partition by partition.

    Parameters
    ----------
    data : path, Dask dataframe or dict of Dask arrays
        A CSV or Parquet file, a directory of Parquet files, or the columns by name.
    label : str
        Column of the labels. Rows without one count as unlabelled.
    score : str or sequence of str
        Column of each classifier's scores.
    pos_label : default 1
        The positive label.
    from_logits : bool, default False
        Whether the scores are logits.
    decision : DecisionRule or mapping of str to DecisionRule, optional
        The rules whose costs are wanted: no cell lies across a threshold of theirs.

    Returns
    -------
    dict of str to CountedScores
        What `bayescal.fit` of `bayescal.agnostic` takes, by score column; rules are passed to it
        again.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist, or labels or scores cannot be used.

    Notes
    -----
    Cells and counts are those of all rows at once, exactly; mean scores, costs and the measure to
    rounding. The areas under the ROC curves of the rows themselves take scores of one narrow cell
    for tied, unless an edge lies in it: there are 65,536 of them between 1/4 and 1/2, as many
    between 1/8 and 1/4, 8,192 in every halving below, and the same above 1/2. All rows are read
    twice for each score, and once or more for its measure.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayescal as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("y,p\n0,0.125\n0,0.5\n,0.5\n1,0.75\n")
    ...     found = bc.agnostic.count_rows(path, label="y", score="p")
    >>> problem = found["p"].problem
    >>> problem.cells.count.tolist(), problem.unlabeled_count.tolist()
    ([1, 2, 1], [0, 1, 0])
    """
    rows, edges = rows_of(data), rule_edges(list(named_rules(decision).values()))
    found = {}
    for name in checked_words(score, "score"):
        columns = LabeledColumns(label, name, from_logits=from_logits)
        found[name] = _count(rows, columns, pos_label, edges)
    return found


def _count(
    rows: Batched, columns: LabeledColumns, pos_label: Any, edges: Sequence[float]
) -> CountedScores:
    """Count the rows of one classifier into cells that none of the edges divides."""
    first = summed(rows, columns.names, partial(_FirstReading.of, columns=columns))
    classes = first.labeled.classes(columns, pos_label)
    sums, rest = first.labeled.sums_with(classes[1]), first.unlabeled
    of_labels = first.labeled.distinct
    of_all = of_labels.plus(rest.distinct)
    every = sums.plus(rest.sums)
    wanted = cells_of_scores(every, np.concatenate([edges, of_labels.values, of_all.values]))
    wanted |= cells_of_quantiles(sums, [CELLS] * (not of_labels.few))
    wanted |= cells_of_quantiles(every, [CELLS] * (not of_all.few))

    def gather(cells: NDArray[np.bool_]) -> _Gathered:
        of_part = partial(_Gathered.of, columns=columns, positive=classes[1], wanted=cells)
        found = summed(rows, columns.names, of_part)
        check_unchanged(sums, found.labeled, cells, columns.names)
        check_unchanged(rest.sums, found.unlabeled, cells, columns.names)
        return found

    gathered, measure = gather(wanted), measure_of(sums, lambda cells: gather(cells).labeled)
    labeled = Split(sums, wanted, gathered.labeled)
    unlabeled = Split(rest.sums, wanted, gathered.unlabeled)
    cells = _cells(labeled, of_labels, [0.0, 1.0])
    curve = Problem({"classifier": columns.score}, cells, cells)
    return CountedScores(_problem(curve, labeled, unlabeled, of_all, edges, measure), classes)


@dataclass(frozen=True, slots=True, eq=False)
class _FirstReading:
    """Labelled rows and rows without a label, summed up; those of two parts add up."""

    labeled: FirstReading
    unlabeled: ScoreSums

    @classmethod
    def of(cls, batches: Iterable[Batch], columns: LabeledColumns) -> _FirstReading:
        """Sum up batches, which are gone through once."""
        rest = ScoreSums.of((), CELLS)

        def passing() -> Iterator[Batch]:
            for batch in batches:
                rest.add(_unlabeled(batch, columns))
                yield batch

        return cls(FirstReading.of(passing(), columns, CELLS), rest)

    def plus(self, other: _FirstReading) -> _FirstReading:
        """Join with the rows that come next."""
        return _FirstReading(self.labeled.plus(other.labeled), self.unlabeled.plus(other.unlabeled))


@dataclass(frozen=True, slots=True, eq=False)
class _Gathered:
    """Labelled rows and rows without a label of some cells; those of two parts add up."""

    labeled: Gathered
    unlabeled: Gathered

    @classmethod
    def of(
        cls,
        batches: Iterable[Batch],
        columns: LabeledColumns,
        positive: Label,
        wanted: NDArray[np.bool_],
    ) -> _Gathered:
        """Gather the rows of batches, which are gone through once."""
        rest = [Gathered.of((), wanted)]

        def passing() -> Iterator[Batch]:
            for batch in columns.near(batches, wanted):
                rest.append(Gathered.of([_unlabeled(batch, columns)], wanted))
                yield batch

        labeled = Gathered.of(columns.events(passing(), positive), wanted)
        return cls(labeled, joined(rest, Gathered.plus))

    def plus(self, other: _Gathered) -> _Gathered:
        """Join with the rows of another part."""
        return _Gathered(self.labeled.plus(other.labeled), self.unlabeled.plus(other.unlabeled))


def _unlabeled(batch: Batch, columns: LabeledColumns) -> Rows:
    """Scores of the rows without a label."""
    label = batch.column(columns.label)
    missing = factorize(label.values, label.name)[0] == MISSING
    if not missing.any():
        return np.empty(0), np.empty(0, np.uint8)
    score = probabilities(batch.column(columns.score), columns.from_logits)[missing]
    return score, np.zeros(len(score), np.uint8)


def _problem(
    curve: Problem,
    labeled: Split,
    unlabeled: Split,
    seen: DistinctScores,
    edges: Sequence[float],
    measure: IntervalMeasure,
) -> IntervalProblem:
    """Count labelled and unlabelled rows in the cells of both."""
    every = joint(labeled, unlabeled)
    counts = _cells(every, seen, edges)
    cells = replace(counts, positives=np.zeros_like(counts.count))
    of_labels, rest = (part.count(cells.edges, "right", "edges") for part in (labeled, unlabeled))
    labels = np.column_stack([of_labels.count - of_labels.positives, of_labels.positives])
    total = np.where(rest.count > 0, rest.count * rest.mean_score, 0.0)
    by_label, _ = by_score(labeled)
    counted, implied = by_score(unlabeled)
    rest_by_label = np.column_stack([counted.sum(axis=1) - implied, implied])
    figures = CountFigures(
        n_unlabeled=int(rest.count.sum()),
        measure=Estimate(*(np.float64(getattr(measure, name)) for name in Estimate._fields)),
        areas=(area_under_roc(by_label), area_under_roc(rest_by_label)),
        only_score=_only_score(labeled),
        score=cells.mean_score,
        labels=labels,
        implied=np.column_stack([rest.count - total, total]),
    )
    return IntervalProblem(curve, figures, cells, labels, rest.count, _one_score(every, cells))


def _cells(sample: Split, seen: DistinctScores, edges: Sequence[float]) -> BinCounts:
    """Count a sample into its own cells, as `fine_counts` does with rows in memory."""
    total = int(sample.sums.size.sum())
    found = seen.cell_edges(
        edges, lambda: choose_edges(sample.scores_of, total, CELLS, "quantile"), "right"
    )
    return sample.count(found, "right", "edges")


def _one_score(every: Split, cells: BinCounts) -> NDArray[np.bool_]:
    """Cells whose rows all have one score that is not a single row's, (cell,).

    The last narrow cell with rows in each of these cells is gathered, and so is the only one.
    """
    whole = np.flatnonzero(~every.wanted & (every.sums.size > 0))
    middle = every.sums.score[whole] / every.sums.rows[whole]
    others = np.bincount(cells.find(middle), minlength=cells.n_bins)
    different = np.bincount(cells.find(np.unique(every.rows.score)), minlength=cells.n_bins)
    return np.asarray((others + different <= 1) & (cells.count != 1))


def _only_score(labeled: Split) -> float | None:
    """The score of all rows, where they share one."""
    different = np.unique(labeled.rows.score)
    all_gathered = labeled.rows.count.sum() == labeled.sums.size.sum()
    return float(different[0]) if all_gathered and len(different) == 1 else None
