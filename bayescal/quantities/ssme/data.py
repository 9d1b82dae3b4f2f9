"""What is missing in the labels, in sentences that a status shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_choice, check_rows, listing
from bayescal.core.columns import MISSING, Label
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Class probabilities by classifier, and the labels that are known.

    Parameters
    ----------
    probs : ndarray of shape (classifier, obs, class), float64, in [0, 1]
        Probabilities; the classes of a row sum to 1. A binary score s becomes (1 - s, s).
    y : ndarray of shape (obs,), int32
        Index into `classes`; -1 where the label is not known.
    classifiers : tuple of str
        Names of the classifiers.
    classes : tuple
        The labels; of a binary task the negative one, then the positive one.
    group : ndarray of shape (obs,), int32, or None
        Index into `groups`.
    groups : tuple of str
        Names of the groups; empty without groups.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.data import panel_of
    >>> scores = bc.Scores.stack({"a": [0.2, 0.9], "b": [0.4, 0.7]}, y_true=[0, None])
    >>> panel = panel_of(scores)
    >>> panel.probs.shape, panel.y.tolist(), panel.n_labeled
    ((2, 2, 2), [0, -1], 1)
    """

    probs: NDArray[np.float64]
    y: NDArray[np.int32]
    classifiers: tuple[str, ...]
    classes: tuple[Label, ...]
    group: NDArray[np.int32] | None = None
    groups: tuple[str, ...] = ()

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Whether the label of each row is known, shape (obs,)."""
        known: NDArray[np.bool_] = self.y != MISSING
        return known

    @property
    def n_obs(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_labeled(self) -> int:
        """Number of rows whose label is known."""
        return int(np.count_nonzero(self.labeled))

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return len(self.classifiers)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes."""
        return self.n_classes == 2

    def take(self, rows: NDArray[Any]) -> Panel:
        """Take some rows."""
        group = None if self.group is None else self.group[rows]
        probs = self.probs[:, rows]
        return Panel(probs, self.y[rows], self.classifiers, self.classes, group, self.groups)

    def select(self, classifier: int) -> Panel:
        """Take one classifier."""
        name = (self.classifiers[classifier],)
        probs = self.probs[[classifier]]
        return Panel(probs, self.y, name, self.classes, self.group, self.groups)


def panel_of(scores: Scores) -> Panel:
    """Bring scores into the one shape that the quantity computes with."""
    if not isinstance(scores, Scores):
        raise InputError(
            f"scores must be a bayescal.Scores; got {type(scores).__name__}. "
            "Make one with bc.Scores.stack({name: probabilities}, y_true=labels)."
        )
    check_rows(scores.n_obs, "the scores")
    prob = scores.y_prob.astype(np.float64)
    if scores.is_binary:
        probs = np.stack([1.0 - prob, prob], axis=-1)
    else:
        probs = prob / prob.sum(axis=-1, keepdims=True)
    return Panel(
        probs, scores.y_true, scores.classifiers, scores.classes, scores.group, scores.groups
    )


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


def data_warnings(panel: Panel) -> list[str]:
    """Say what the labels cannot tell."""
    if panel.n_labeled == 0:
        return [
            "no row is labeled: the answer is what the classifiers say of each other under the "
            "prior, and no data have checked it. Label some rows."
        ]
    found = []
    count = np.bincount(panel.y[panel.labeled], minlength=panel.n_classes)
    bare = [panel.classes[k] for k in np.flatnonzero(count == 0)]
    if bare:
        found.append(
            f"no label of {listing(bare)}: what is said of such a class rests on the prior. Label "
            "more rows, chosen as the others were."
        )
    if panel.group is not None:
        labels = np.bincount(panel.group[panel.labeled], minlength=len(panel.groups))
        unseen = [panel.groups[g] for g in np.flatnonzero(labels == 0)]
        if unseen:
            found.append(f"no label in group {listing(unseen)}: it is taken to be like the others.")
    return found
