"""From what a user hands in to binary problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayescal.core.bin_counts import BinCounts
from bayescal.core.bin_edges import strategy_name
from bayescal.core.binning import Binning, fine_counts, part_counts
from bayescal.core.checks import check_rows
from bayescal.core.count_table import CountTable
from bayescal.core.counts import Counts
from bayescal.core.counts_sql import ALONE
from bayescal.core.plausibility import all_labels, label_signs
from bayescal.core.scores import Scores, Task
from bayescal.curves.cells import Problem
from bayescal.quantities.ece.estimator import by_group
from bayescal.quantities.ece.priors import CurveAverage, Priors, SmoothCurve

type Data = Scores | BinCounts | CountTable
"""Rows, the counts of one classifier, or counts by classifier."""

# Fine enough that the score hardly varies inside a cell, few enough to sample in no time.
CELLS = 100
# Cells of each group's scores; fewer than of all rows, as groups have fewer.
GROUP_CELLS = 50


def problems(data: Data, priors: Priors, binning: Binning, multiclass: str) -> list[Problem]:
    """Cut data into binary problems and count each."""
    if isinstance(data, BinCounts):
        check_rows(data.n, "the counts")
        even = data.evened()
        return [Problem({"classifier": "classifier"}, even, data, even if even.weighted else None)]
    fine = is_fine(priors)
    if isinstance(data, CountTable):
        return [_of_counts({"classifier": name}, found, fine) for name, found in data.items()]
    return [problem_of(task, fine, binning) for task in data.tasks(multiclass)]


def problems_by_group(
    data: Scores | CountTable, priors: Priors, binning: Binning, multiclass: str
) -> Iterator[list[Problem]]:
    """Count the groups with labelled rows, of one classifier (and class) at a time."""
    fine = is_fine(priors)
    if isinstance(data, CountTable):
        for name in data:
            yield [
                _of_counts({"classifier": name, "group": group}, found, fine, GROUP_CELLS)
                for group, found in labelled_groups(data, name).items()
            ]
        return
    for task in data.tasks(multiclass):
        yield [problem_of(part, fine, binning, GROUP_CELLS) for part in by_group(task)]


def labelled_groups(table: CountTable, name: str) -> dict[str, Counts]:
    """Counts of a classifier by group with labels."""
    return {group: found for group, found in table.groups_of(name).items() if found.n_labeled}


def is_fine(priors: Priors) -> bool:
    """Whether a curve wants cells finer than the bins."""
    return isinstance(priors.label_rate, CurveAverage | SmoothCurve)


def _of_counts(
    coords: Mapping[str, str], found: Counts, fine: bool, most: int | None = None
) -> Problem:
    cells = bins = found.bins
    if fine and found.n_cells is not None:
        n_cells = found.n_cells if most is None else min(found.n_cells, most)
        cells = found.cells_of(found.binning, n_cells)
    return Problem(coords, cells.evened(), bins, found.labeled.parts(cells).evened())


def in_table(data: Any, binning: Binning | None) -> Any:
    """Put counts into a table, with the requested bins."""
    if isinstance(data, Counts):
        data = {ALONE: data}
    if not isinstance(data, Mapping):
        return data
    table = data if isinstance(data, CountTable) else CountTable(data)
    if binning is not None:
        table = table.each(lambda counts: replace(counts, binning=binning))
    return _with_one_number(table) if table.groups else table


def _with_one_number(table: CountTable) -> CountTable:
    """Let all groups have one number of bins, where it follows the rows."""
    each = [
        one.labeled.effective_n for name in table for one in labelled_groups(table, name).values()
    ]
    check_rows(len(each), "the counts")
    rows = np.mean(each)
    return table.each(lambda one: replace(one, binning=one.binning.resolve(rows)))


def problem_of(task: Task, fine: bool, binning: Binning, n_cells: int = CELLS) -> Problem:
    """Count one binary problem, in cells finer than the bins or not."""
    check_rows(task.n, "the labelled rows")
    if not fine:
        bins = binning.count(task.score, event=task.event, weight=task.weight)
        return Problem(task.coords, bins.evened(), bins, part_counts(task, bins).evened())
    edges = binning.edges(task.score, task.weight)
    cells = fine_counts(task, edges, n_cells, binning.closed)
    bins = cells.merge(edges, strategy_name(binning.strategy))
    return Problem(task.coords, cells.evened(), bins, part_counts(task, cells).evened())


def data_warnings(problem: Problem) -> list[str]:
    """What a reader must know of the data, in sentences."""
    bins, cells = problem.bins, problem.cells
    if not bins.positives.any() or (bins.positives == bins.count).all():
        return [
            f"{all_labels(bins.n)} {'positive' if bins.positives.any() else 'negative'}. Label "
            "rates rest on one class alone; check the labels, and pos_label."
        ]
    return [*label_signs(cells.mean_score, cells.count - cells.positives, cells.positives)]
