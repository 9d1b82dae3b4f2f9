"""From what a user hands in to binary problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.binning import Binning, fine_counts
from bayescal.core.bins.edges import strategy_name
from bayescal.core.checks import check_rows
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


def data_warnings(problem: Problem) -> list[str]:
    """What a reader must know of the data, in sentences."""
    bins, cells = problem.bins, problem.cells
    if not bins.positives.any() or (bins.positives == bins.count).all():
        return [
            f"all {bins.n} labels are {'positive' if bins.positives.any() else 'negative'}. Label "
            "rates rest on one class alone; check the labels, and pos_label."
        ]
    return [*label_signs(cells.mean_score, cells.count - cells.positives, cells.positives)]
