"""Cells of labelled and unlabelled rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.edges import choose_edges
from bayescal.core.bins.label_samples import LabelSamples
from bayescal.core.bins.score_cells import Split
from bayescal.core.bins.score_samples import (
    by_score,
    cells_of_quantiles,
    cells_of_scores,
    joint,
    n_rows,
)
from bayescal.core.calibration_curve.problem import Problem
from bayescal.core.partitions import rows_of
from bayescal.quantities.agnostic.data import CELLS, CountedScores, IntervalProblem, rule_edges
from bayescal.quantities.agnostic.decisions.rule import DecisionRule
from bayescal.quantities.agnostic.estimator import Estimate
from bayescal.quantities.agnostic.figures import CountFigures
from bayescal.quantities.agnostic.intervals import IntervalMeasure
from bayescal.quantities.agnostic.many_rows import interval_measure_of_rows
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
    for tied, unless an edge lies in it: there are 8192 of them between 1/4 and 1/2, and as many
    in each half of what is left towards 0, and the same above 1/2. All rows are read twice for each
    score, and twice or more for its measure.

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
    ([1, 2, 1, 0], [0, 1, 0, 0])
    """
    rows, edges = rows_of(data), rule_edges(list(named_rules(decision).values()))
    found = {}
    for name in [score] if isinstance(score, str) else list(score):
        columns: _Columns = {
            "label": label,
            "score": name,
            "pos_label": pos_label,
            "from_logits": from_logits,
        }
        measure = interval_measure_of_rows(rows, **columns)
        found[name] = _count(LabelSamples(rows, **columns), name, edges, measure)
    return found


class _Columns(TypedDict):
    label: str
    score: str
    pos_label: Any
    from_logits: bool


def _count(
    rows: LabelSamples, name: str, edges: Sequence[float], measure: IntervalMeasure
) -> CountedScores:
    """Count the rows of one classifier into cells that none of the edges divides."""
    of_labels, of_all = DistinctScores(CELLS), DistinctScores(CELLS)
    sums = rows.sum_up([[of_labels, of_all], [of_all]])
    every = sums[0].plus(sums[1])
    fixed = np.concatenate([edges, of_labels.values, of_all.values])
    wanted = cells_of_scores(every, fixed)
    wanted |= cells_of_quantiles(sums[0], [CELLS] * (not of_labels.few))
    wanted |= cells_of_quantiles(every, [CELLS] * (not of_all.few))
    samples = rows.split(sums, wanted)
    cells = _cells(samples[0], of_labels, [0.0, 1.0])
    labeled = Problem({"classifier": name}, cells, cells)
    return CountedScores(_problem(labeled, samples, of_all, edges, measure), rows.classes)


def _problem(
    labeled: Problem,
    samples: Sequence[Split],
    seen: DistinctScores,
    edges: Sequence[float],
    measure: IntervalMeasure,
) -> IntervalProblem:
    """Count labelled and unlabelled rows in the cells of both."""
    every = joint(samples)
    counts = _cells(every, seen, edges)
    cells = replace(counts, positives=np.zeros_like(counts.count))
    of_labels, rest = (part.count(cells.edges, "right", "edges") for part in samples)
    labels = np.column_stack([of_labels.count - of_labels.positives, of_labels.positives])
    total = np.where(rest.count > 0, rest.count * rest.mean_score, 0.0)
    by_label, _ = by_score(samples[0])
    counted, implied = by_score(samples[1])
    figures = CountFigures(
        n_unlabeled=int(rest.count.sum()),
        measure=Estimate(*(np.float64(getattr(measure, name)) for name in Estimate._fields)),
        areas=(_area(by_label), _area(np.column_stack([counted.sum(axis=1) - implied, implied]))),
        only_score=_only_score(samples[0]),
        score=cells.mean_score,
        labels=labels,
        implied=np.column_stack([rest.count - total, total]),
    )
    return IntervalProblem(labeled, figures, cells, labels, rest.count, _one_score(every, cells))


def _cells(sample: Split, seen: DistinctScores, edges: Sequence[float]) -> BinCounts:
    """Count a sample into its own cells, as `fine_counts` does with rows in memory."""
    total = n_rows(sample.sums)
    found = seen.cell_edges(
        edges, lambda: choose_edges(sample.scores_of, total, CELLS, "quantile"), "right"
    )
    return sample.count(found, "right", "edges")


def _area(groups: NDArray[Any]) -> float:
    """Area under the ROC curve of groups by rising score, (group, 2); NaN without both labels."""
    negative, positive = np.asarray(groups, np.float64).T
    pairs = negative.sum() * positive.sum()
    above = positive.sum() - np.cumsum(positive)
    return float(negative @ (above + positive / 2) / pairs) if pairs > 0 else np.nan


def _one_score(every: Split, cells: BinCounts) -> NDArray[np.bool_]:
    """Cells whose rows all have one score that is not a single row's, (cell,).

    The last narrow cell with rows in each of these cells is gathered, and so is the only one.
    """
    whole = np.flatnonzero(~every.wanted & every.sums.count.any(axis=1))
    middle = every.sums.score[whole].sum(axis=1) / every.sums.count[whole].sum(axis=1)
    others = np.bincount(cells.find(middle), minlength=cells.n_bins)
    different = np.bincount(cells.find(np.unique(every.rows.score)), minlength=cells.n_bins)
    return np.asarray((others + different <= 1) & (cells.count != 1))


def _only_score(labeled: Split) -> float | None:
    """The score of all rows, where they share one."""
    different = np.unique(labeled.rows.score)
    all_gathered = labeled.rows.count.sum() == n_rows(labeled.sums)
    return float(different[0]) if all_gathered and len(different) == 1 else None
