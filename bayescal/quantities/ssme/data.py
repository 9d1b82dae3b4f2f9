"""From scores to the rows that estimate and model see, and what their labels leave open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.edges import effective_number
from bayescal.core.checks import check_choice, check_rows, listing
from bayescal.core.columns import MISSING, Label
from bayescal.core.errors import InputError
from bayescal.core.plausibility import Sign, signs_of_rows
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores, check_unweighted

LABELING: Final = ("random", "one-per-class")
# More rows without label leave the metrics' posterior as it is, to a few percent of its width.
MOST_UNLABELED = 5000
# Of each group, where there are so many groups that they would be left with fewer.
LEAST_OF_GROUP = 500
# The same rows in every fit: a result depends on its seed through the sampler alone.
_ROWS_SEED = 20


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMatrix:
    """Class probabilities by classifier, and the labels that are known."""

    probs: Floats  # (classifier, obs, class)
    y: NDArray[np.int32]  # (obs,)
    classifiers: tuple[str, ...]
    classes: tuple[Label, ...]
    group: NDArray[np.int32] | None = None  # (obs,)
    groups: tuple[str, ...] = ()
    weight: Floats | None = None  # (obs,); None for 1 each

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Whether the label of each row is known, shape (obs,)."""
        return np.asarray(self.y != MISSING)

    @property
    def known(self) -> Floats:
        """The known labels as one-hot rows, shape (label, class)."""
        return np.asarray(np.eye(self.n_classes)[self.y[self.labeled]])

    @property
    def n_obs(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_labeled(self) -> int:
        """Number of rows whose label is known."""
        return int(np.count_nonzero(self.labeled))

    @property
    def row_weight(self) -> Floats:
        """Weights of the rows, 1 each where they have none, (obs,)."""
        return np.ones(self.n_obs) if self.weight is None else self.weight

    @property
    def effective_labels(self) -> float:
        """Number of labelled rows; of weighted ones the effective number."""
        weight = self.row_weight[self.labeled]
        return effective_number(len(weight), weight) if len(weight) else 0.0

    @property
    def label_rows(self) -> Floats:
        """How many rows each labelled row counts as, (label,): in all the effective number."""
        weight = self.row_weight[self.labeled]
        return weight * weight.sum() / max((weight**2).sum(), np.finfo(np.float64).tiny)

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

    def take(self, rows: NDArray[Any]) -> ScoreMatrix:
        """Take some rows."""
        group, weight = (None if v is None else v[rows] for v in (self.group, self.weight))
        return replace(self, probs=self.probs[:, rows], y=self.y[rows], group=group, weight=weight)

    def select(self, classifier: int) -> ScoreMatrix:
        """Take one classifier."""
        name = (self.classifiers[classifier],)
        return replace(self, probs=self.probs[[classifier]], classifiers=name)


def score_matrix(scores: Scores | ScoreMatrix) -> ScoreMatrix:
    """Bring scores into the one shape, for a method that has no use for weights."""
    if isinstance(scores, Scores):
        check_unweighted(scores, "this method")
    return weighted_matrix(scores)


def weighted_matrix(scores: Scores | ScoreMatrix) -> ScoreMatrix:
    """Bring scores into the one shape that the quantity computes with."""
    if isinstance(scores, ScoreMatrix):
        return scores
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
    divided = scores.group, scores.groups, scores.sample_weight
    return ScoreMatrix(probs, scores.y_true, scores.classifiers, scores.classes, *divided)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The rows that a model sees, and how many each stands for; made by `Problem.of`.

    All labeled rows, and at most 5,000 of those without label; of many rows with groups an equal
    share of every group, at least 500.
    """

    matrix: ScoreMatrix
    weight: Floats  # (obs,): 1 for labeled rows, times the sample weights
    labeling: str  # how rows were chosen to be labeled, one of LABELING

    @classmethod
    def of(cls, matrix: ScoreMatrix, labeling: str) -> Problem:
        """Take all labeled rows and enough of the others."""
        check_choice(labeling, LABELING, "labeling")
        if labeling != "random" and matrix.weight is not None:
            raise InputError(
                f"labeling must be 'random' where rows have weights; got {labeling!r}. Leave out "
                "the rows that were labeled first, or the weights: scores.without_weight()."
            )
        unlabeled = np.flatnonzero(~matrix.labeled)
        if len(unlabeled) <= MOST_UNLABELED:
            return cls(matrix, matrix.row_weight, labeling)
        rng = np.random.default_rng(_ROWS_SEED)
        weight = matrix.labeled.astype(np.float64)
        parts, most = _by_group(matrix, unlabeled)
        for part in parts:
            kept = part[_some(len(part), most, rng)]
            weight[kept] = len(part) / len(kept)
        rows = np.flatnonzero(weight)
        return cls(matrix.take(rows), (weight * matrix.row_weight)[rows], labeling)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Places of the labeled rows, (label,)."""
        return np.flatnonzero(self.matrix.labeled)

    @property
    def labels(self) -> NDArray[np.int32]:
        """Their labels, (label,)."""
        return self.matrix.y[self.rows]


def sampled(n: int, most: int) -> NDArray[np.int64]:
    """Places of the rows that are taken of so many without groups, rising."""
    if n <= most:
        return np.arange(n)
    return np.sort(_some(n, most, np.random.default_rng(_ROWS_SEED)))


def _some(n: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.choice(n, min(n, most), replace=False)


def _by_group(matrix: ScoreMatrix, rows: NDArray[np.intp]) -> tuple[list[NDArray[np.intp]], int]:
    """Cut rows by group, so that a small group keeps its rows; and how many of each to take."""
    if matrix.group is None:
        return [rows], MOST_UNLABELED
    n_groups = len(matrix.groups)
    parts = (rows[matrix.group[rows] == g] for g in range(n_groups))
    return [part for part in parts if part.size], max(MOST_UNLABELED // n_groups, LEAST_OF_GROUP)


def data_warnings(matrix: ScoreMatrix) -> list[str]:
    """Say which classes and groups have no label, in sentences that a status shows."""
    if matrix.n_labeled == 0:
        return [
            "no row is labeled: the answer is what the classifiers say of each other under the "
            "prior, and no data have checked it. Label some rows."
        ]
    found: list[str] = []
    rows = matrix.labeled
    for name, probs in zip(matrix.classifiers, matrix.probs, strict=True):
        signs = signs_of_rows(probs[rows], matrix.y[rows])
        found += [Sign(f"{name}: {sign}") for sign in signs]
    bare = _without_label(matrix, matrix.y, matrix.classes)
    if bare:
        found.append(
            f"no label of {listing(bare)}: what is said of such a class rests on the prior. Label "
            "more rows, chosen as the others were."
        )
    if matrix.group is not None:
        unseen = _without_label(matrix, matrix.group, matrix.groups)
        if unseen:
            found.append(f"no label in group {listing(unseen)}: it is taken to be like the others.")
    return found


def _without_label(
    matrix: ScoreMatrix, code: NDArray[np.int32], names: tuple[Label, ...]
) -> list[Label]:
    """Names of the classes, or groups, that no labeled row is of."""
    count = np.bincount(code[matrix.labeled], minlength=len(names))
    return [names[place] for place in np.flatnonzero(count == 0)]
