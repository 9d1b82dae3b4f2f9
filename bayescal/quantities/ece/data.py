"""From what a user hands in to binary problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.binning import Binning, fine_counts
from bayescal.core.bins.edges import effective_number, strategy_name
from bayescal.core.checks import check_rows
from bayescal.core.columns import MISSING
from bayescal.core.counts import Counts
from bayescal.core.plausibility import label_signs
from bayescal.core.scores import Scores
from bayescal.core.tasks import Task
from bayescal.curves.cells import Problem
from bayescal.quantities.ece.priors import CurveAverage, Priors, SmoothCurve

type Data = Scores | BinCounts | Mapping[str, Counts]
"""Rows, the counts of one classifier, or counts by classifier."""

# Fine enough that the score hardly varies inside a cell, few enough to sample in no time.
CELLS = 100


def resolved(binning: Binning, data: Data) -> Binning:
    """Choose the number of bins where it follows the rows: one number for all groups."""
    if not isinstance(data, Scores) or not data.n_labeled:
        return binning
    known = data.y_true != MISSING
    groups = 1 if data.group is None else len(np.unique(data.group[known]))
    weight = None if data.sample_weight is None else data.sample_weight[known]
    return binning.resolve(effective_number(data.n_labeled, weight) / groups)


def problems(data: Data, priors: Priors, binning: Binning, multiclass: str) -> list[Problem]:
    """Cut data into binary problems and count each."""
    if isinstance(data, BinCounts):
        check_rows(data.n, "the counts")
        return [Problem({"classifier": "classifier"}, data.evened(), data)]
    fine = is_fine(priors)
    if isinstance(data, Mapping):
        return [_of_counts(name, found, fine) for name, found in data.items()]
    return [problem_of(task, fine, binning) for task in data.tasks(multiclass)]


def is_fine(priors: Priors) -> bool:
    """Whether a curve wants cells finer than the bins."""
    return isinstance(priors.label_rate, CurveAverage | SmoothCurve)


def _of_counts(name: str, found: Counts, fine: bool) -> Problem:
    bins = found.bins
    cells = found.cells if fine else None
    return Problem({"classifier": name}, (bins if cells is None else cells).evened(), bins)


def by_classifier(data: Any, binning: Binning | None) -> Any:
    """Name counts that have no name, and let all have the bins that are asked for."""
    if isinstance(data, Counts):
        data = {"classifier": data}
    if binning is None or not isinstance(data, Mapping):
        return data
    return {
        name: replace(found, binning=binning) if isinstance(found, Counts) else found
        for name, found in data.items()
    }


def problem_of(task: Task, fine: bool, binning: Binning, n_cells: int = CELLS) -> Problem:
    """Count one binary problem, in cells finer than the bins or not."""
    check_rows(task.n, "the labelled rows")
    if not fine:
        bins = binning.count(task.score, event=task.event, weight=task.weight)
        return Problem(task.coords, bins.evened(), bins)
    edges = binning.edges(task.score, task.weight)
    cells = fine_counts(task, edges, n_cells, binning.closed)
    bins = cells.merge(edges, strategy_name(binning.strategy))
    return Problem(task.coords, cells.evened(), bins)


def by_group(task: Task) -> list[Task]:
    """Split a task by its groups."""
    check_rows(task.n, "the labelled rows")
    if task.group is None:
        return [task]
    found = []
    for code, name in enumerate(task.groups):
        rows = task.group == code
        if rows.any():
            coords = {**task.coords, "group": name}
            weight = None if task.weight is None else task.weight[rows]
            found.append(Task(coords, task.score[rows], task.event[rows], weight=weight))
    return found


def data_warnings(problem: Problem) -> list[str]:
    """What a reader must know of the data, in sentences."""
    bins, cells = problem.bins, problem.cells
    if not bins.positives.any() or (bins.positives == bins.count).all():
        return [
            f"all {bins.n} labels are {'positive' if bins.positives.any() else 'negative'}. Label "
            "rates rest on one class alone; check the labels, and pos_label."
        ]
    return [*label_signs(cells.mean_score, cells.count - cells.positives, cells.positives)]
