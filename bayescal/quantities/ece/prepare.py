"""From what a user hands in to binary problems."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import count_into, fine_counts
from bayescal.core.checks import check_rows
from bayescal.core.edges import Strategy, bin_edges, strategy_name
from bayescal.core.problem import Problem
from bayescal.core.scores import Scores
from bayescal.core.streaming import StreamedCounts
from bayescal.core.tasks import Task
from bayescal.quantities.ece.priors import Priors, SmoothCurve

type Data = Scores | BinCounts | Mapping[str, StreamedCounts]
"""Rows, the counts of one classifier, or counts by classifier of rows too many to hold."""

# Fine enough that the score hardly varies inside a cell, few enough to sample in no time.
CELLS = 100


def problems(
    data: Data,
    priors: Priors,
    n_bins: int,
    strategy: Strategy,
    closed: str,
    multiclass: str,
) -> list[Problem]:
    """Cut data into binary problems and count each."""
    if isinstance(data, BinCounts):
        check_rows(data.n, "the counts")
        return [Problem({"classifier": "classifier"}, data, data)]
    fine = isinstance(priors.label_rate, SmoothCurve)
    if isinstance(data, Mapping):
        return [_of_stream(name, found, fine) for name, found in data.items()]
    return [problem_of(task, fine, n_bins, strategy, closed) for task in data.tasks(multiclass)]


def _of_stream(name: str, found: StreamedCounts, fine: bool) -> Problem:
    cells = found.bins if found.cells is None or not fine else found.cells
    return Problem({"classifier": name}, cells, found.bins)


def problem_of(
    task: Task,
    fine: bool,
    n_bins: int,
    strategy: Strategy,
    closed: str,
    n_cells: int = CELLS,
) -> Problem:
    """Count one binary problem."""
    check_rows(task.n, "the labelled rows")
    edges = bin_edges(task.score, n_bins, strategy)
    name = strategy_name(strategy)
    if not fine:
        bins = count_into(task.score, task.event, edges, closed, name)
        return Problem(task.coords, bins, bins)
    cells = fine_counts(task, edges, n_cells, closed)
    return Problem(task.coords, cells, cells.merge(np.asarray(edges), name))


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
            found.append(Task(coords, task.score[rows], task.event[rows]))
    return found
