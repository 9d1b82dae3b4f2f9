"""What a result keeps of rows that several classifiers share: cells and labels of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_counts import BinCounts
from bayescal.core.scores import Task
from bayescal.core.streams import stream
from bayescal.curves.cells import Problem

# A correlation over 5,000 rows has a standard error of .014 at most.
MOST: Final = 5_000
# Rows times cases: many classes take fewer rows each, down to a standard error of .03.
_MOST_PLACES: Final = 500_000
_FEWEST: Final = 1000


def shared_rows(
    tasks: Sequence[Task], problems: Sequence[Problem]
) -> list[dict[str, NDArray[Any]]]:
    """Of each problem, the cells and parts of rows among those with rows, labels and weights.

    Of many rows some are drawn, the same ones whatever the seed: each as probably as it is rare
    among those of its label, by weight, and with how many it stands for.
    """
    n = tasks[0].n
    size = min(n, MOST, max(_FEWEST, _MOST_PLACES // len(tasks)))
    rows: slice | NDArray[np.int64] = slice(None)
    stands_for = {}
    if size < n:
        chance, rng = _chances(tasks, size), stream(0, "shared rows")
        order = rng.permutation(n)
        # Evenly spaced along the chances of rows in random order, which makes so many of them.
        reached = np.floor(np.cumsum(chance[order]) + rng.random())
        rows = np.sort(order[np.diff(reached, prepend=0) > 0])
        stands_for = {"stands_for": (1 / chance[rows]).astype(np.float32)}
    found = []
    for task, own in zip(tasks, problems, strict=True):
        kept = {
            "cell": _place(own.cells, task.score[rows]),
            **({} if own.parts is None else {"part": _place(own.parts, task.score[rows])}),
            "label": task.event[rows].astype(np.int8),
            **stands_for,
        }
        if task.weight is not None:
            kept["weight"] = task.weight[rows].astype(np.float32)
        found.append(kept)
    return found


def _place(counts: BinCounts, score: NDArray[Any]) -> NDArray[Any]:
    """The bin of each score among those with rows, in the smallest type that holds it."""
    place = np.cumsum(counts.count > 0) - 1
    return np.asarray(place[counts.find(score)].astype(np.min_scalar_type(counts.n_bins)))


def _chances(tasks: Sequence[Task], size: int) -> NDArray[np.float64]:
    """How probably a row is drawn: by its share of those of its label, summed over the problems."""
    chance = np.zeros(tasks[0].n)
    for task in tasks:
        weight = np.ones(task.n) if task.weight is None else task.weight
        chance += weight / np.bincount(task.event, weight)[task.event]
    # What rows that are sure to be drawn leave goes to the others.
    for _ in range(10):
        chance = np.minimum(chance * (size / chance.sum()), 1)
    return chance
