"""The rows that a posterior is computed from, and how their labels were chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_choice
from bayescal.quantities.ssme.panel import Panel

LABELING: Final = ("random", "one-per-class")
# More rows without label leave the metrics' posterior as it is, to a few percent of its width.
MOST_UNLABELED = 5000
# Of each group, where there are so many groups that they would be left with fewer.
LEAST_OF_GROUP = 500
# The same rows in every fit: a result depends on its seed through the sampler alone.
_ROWS_SEED = 20


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows of several classifiers, some of them labeled; made by `Problem.of`.

    Attributes
    ----------
    panel : Panel
        All labeled rows, and at most 5,000 of those without label; of many rows with groups an
        equal share of every group, at least 500.
    weight : ndarray of shape (obs,)
        How many rows each stands for; 1 for labeled ones.
    labeling : {"random", "one-per-class"}
        How rows were chosen to be labeled.
    n_obs : int
        Rows of the data.
    """

    panel: Panel
    weight: NDArray[np.float64]
    labeling: str
    n_obs: int

    @classmethod
    def of(cls, panel: Panel, labeling: str) -> Problem:
        """Take all labeled rows and enough of the others."""
        check_choice(labeling, LABELING, "labeling")
        unlabeled = np.flatnonzero(~panel.labeled)
        if len(unlabeled) <= MOST_UNLABELED:
            return cls(panel, np.ones(panel.n_obs), labeling, panel.n_obs)
        rng = np.random.default_rng(_ROWS_SEED)
        weight = panel.labeled.astype(np.float64)
        for part in _by_group(panel, unlabeled):
            kept = rng.choice(part, min(len(part), _most_of_group(panel)), replace=False)
            weight[kept] = len(part) / len(kept)
        rows = np.flatnonzero(weight)
        return cls(panel.take(rows), weight[rows], labeling, panel.n_obs)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Places of the labeled rows, (label,)."""
        return np.flatnonzero(self.panel.labeled)

    @property
    def labels(self) -> NDArray[np.int32]:
        """Their labels, (label,)."""
        return self.panel.y[self.rows]


def _by_group(panel: Panel, rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Cut rows by group, so that a small group keeps its rows."""
    if panel.group is None:
        return [rows]
    parts = (rows[panel.group[rows] == g] for g in range(len(panel.groups)))
    return [part for part in parts if part.size]


def _most_of_group(panel: Panel) -> int:
    if panel.group is None:
        return MOST_UNLABELED
    return max(MOST_UNLABELED // len(panel.groups), LEAST_OF_GROUP)
