"""From positive and unlabelled scores to counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.core.binning import count_into, fine_counts
from bayescal.core.curve import SmoothCurve
from bayescal.core.edges import Strategy, bin_edges, strategy_name
from bayescal.core.problem import Problem
from bayescal.core.pu_scores import PUScores
from bayescal.core.tasks import Task
from bayescal.quantities.pu_ece.priors import Priors
from bayescal.quantities.pu_ece.problem import PUProblem

CELLS = 100


def problems(
    data: PUScores, priors: Priors, n_bins: int, strategy: Strategy, closed: str
) -> list[PUProblem]:
    """Count each classifier's scores."""
    fine = isinstance(priors.label_rate, SmoothCurve)
    return [
        _problem(name, positive, unlabeled, fine, n_bins, strategy, closed)
        for name, positive, unlabeled in zip(
            data.classifiers, data.positive, data.unlabeled, strict=True
        )
    ]


def _problem(
    name: str,
    positive: NDArray[np.floating],
    unlabeled: NDArray[np.floating],
    fine: bool,
    n_bins: int,
    strategy: Strategy,
    closed: str,
) -> PUProblem:
    task = Task({"classifier": name}, unlabeled, np.zeros(len(unlabeled), np.uint8))
    edges, how = bin_edges(unlabeled, n_bins, strategy), strategy_name(strategy)
    if fine:
        cells = fine_counts(task, edges, CELLS, closed)
        bins = cells.merge(edges, how)
    else:
        cells = bins = count_into(unlabeled, task.event, edges, closed, how)
    events = np.zeros(len(positive), np.uint8)
    found = count_into(positive, events, cells.edges, closed)
    return PUProblem.of(Problem(task.coords, cells, bins), found.count)
