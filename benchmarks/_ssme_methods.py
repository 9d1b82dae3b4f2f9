"""Splits on which methods of SSME are compared, and their metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from _ssme_tasks import Task
from numpy.typing import NDArray

import bayescal as bc
from bayescal.quantities.ssme.metrics import Metrics

type Floats = NDArray[np.float64]
type Values = Mapping[str, Floats]

METRICS = ("accuracy", "ece", "auc", "auprc")
MASS = 0.9


class Split(NamedTuple):
    """One draw of rows: what an evaluator sees, the same with every label, and the truth.

    The truth is that of the rows kept apart, (classifier,).
    """

    scores: bc.Scores
    oracle: bc.Scores
    truth: Metrics


def split_of(task: Task, n_labeled: int, seed: int) -> Split:
    """Draw the rows of one split, not divided into groups."""
    scores, truth = task.split(n_labeled, seed)
    labeled_rows, rest = task.rows(n_labeled, seed)
    oracle = task.scores(np.concatenate([labeled_rows, rest]), rest[:0])
    return Split(scores.without_group(), oracle.without_group(), truth)


def values(found: Any) -> Values:
    """The metrics that are compared, of anything that has them."""
    return {name: np.asarray(getattr(found, name)) for name in METRICS}


def of_draws(draws: Values) -> tuple[Values, Values]:
    """Central 90% interval of draws, (draw, ...); of the draws in which a metric exists."""
    ends = [
        {name: np.nanquantile(value, level, axis=0) for name, value in draws.items()}
        for level in ((1 - MASS) / 2, (1 + MASS) / 2)
    ]
    return ends[0], ends[1]
