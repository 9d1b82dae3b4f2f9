"""How the calibration errors of classifiers that scored the same rows move together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.quantity import Draws, Floats
from bayescal.core.scores import Task
from bayescal.quantities.ece.posterior import EceCase


def error_correlation(
    tasks: Sequence[Task], cases: Sequence[EceCase], draws: Sequence[Draws]
) -> Floats:
    """Correlation of classifiers' calibration errors over shared rows, (classifier, classifier)."""
    found = []
    for task, case, drawn in zip(tasks, cases, draws, strict=True):
        rates = case.model.cell_rates(drawn, np.random.default_rng(0))
        sign = np.sign(rates - case.problem.cells.mean_score).mean(axis=(0, 1))
        found.append(influence(task, case.problem.cells, sign))
    return correlation(found)


def influence(task: Task, cells: BinCounts, sign: Floats) -> Floats:
    """What each row adds to the estimate of a classifier's calibration error, (obs,).

    Notes
    -----
    The calibration error is ``E |P(Y | f) - f| = E [d(f) (Y - f)]`` with d the sign of the gap. Row
    i adds ``d(s_i) (y_i - s_i)``, and as d is optimal the error in it is of second order: this is
    the influence function of the error.
    """
    direction = sign[cells.find(task.score)]
    return np.asarray(direction * (task.event - task.score), dtype=np.float32)


def correlation(influences: Sequence[Floats]) -> Floats:
    """Correlation of classifiers' calibration errors due to their shared rows.

    Notes
    -----
    Under the Bayesian bootstrap, Dirichlet(1, ..., 1) weights shared by all classifiers, the errors
    are weighted sums of the rows' influences. Their correlation is then that of the influences over
    the rows, so nothing has to be resampled.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.atleast_2d(np.corrcoef(np.stack(influences)))
    found = np.nan_to_num(found, nan=0.0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found, dtype=float)
