"""From scores, in memory or not, to the rows that estimate and model see, and their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_edges import effective_number
from bayescal.core.checks import (
    MOST_DRAWN,
    check_choice,
    check_columns,
    check_is,
    check_rows,
    check_whole,
    checked_labels,
    checked_scores,
    listing,
)
from bayescal.core.columns import MISSING, Label
from bayescal.core.errors import InputError
from bayescal.core.intake import Parts, binary_classes, collect
from bayescal.core.many_rows import column_of, rows_of
from bayescal.core.plausibility import Sign, signs_of_rows
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores, check_unweighted, from_parts, select_rows
from bayescal.core.sums import Labels, batches_of, summed

LABELING: Final = ("random", "one-per-class")
# Of a few hundred labels more rows leave the posterior as it is, to a few percent of its width.
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
    remedy = "Make one with bc.Scores.stack({name: probabilities}, y_true=labels)."
    check_is(scores, Scores, "scores", remedy)
    check_rows(scores.n_obs, "the scores")
    prob = scores.y_prob
    # In float32 where scores are, whose complements meet scores and edges of bins there.
    if scores.is_binary:
        probs = np.stack([1 - prob, prob], axis=-1)
    else:
        total = prob.sum(axis=-1, keepdims=True)
        # Sums off by the rounding of scores stay: quotients of equal scores would differ.
        rounding = max(prob.shape[-1] * 1e-12, 2 * float(np.finfo(prob.dtype).eps))
        off = np.abs(total - 1) > rounding
        probs = prob / np.where(off, total, 1)
    doubles = probs.astype(np.float64, copy=False)
    divided = scores.group, scores.groups, scores.sample_weight
    return ScoreMatrix(doubles, scores.y_true, scores.classifiers, scores.classes, *divided)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The rows that a model sees, and how many each stands for; made by `Problem.of`.

    All labelled rows, and 5,000 others at most; of groups equal shares, at least 500 each.
    """

    matrix: ScoreMatrix
    weight: Floats  # (obs,): 1 for labelled rows, times the sample weights
    labeling: str  # how rows were chosen to be labelled, one of LABELING

    def __post_init__(self) -> None:
        check_choice(self.labeling, LABELING, "labeling")
        bare = unseen_names(self.labels, self.matrix.classes)
        if bare and self.labeling != "random":
            raise InputError(
                f"labeling={self.labeling!r} needs a label of every class; got none of "
                f"{listing(bare)}. Label a row of it, or pass labeling='random' if no row was "
                "labelled for its class."
            )

    @classmethod
    def of(cls, matrix: ScoreMatrix, labeling: str) -> Problem:
        """Take all labelled rows and enough of the others."""
        if labeling != "random" and matrix.weight is not None:
            raise InputError(
                f"labeling must be 'random' where rows have weights; got {labeling!r}. Leave out "
                "the rows that were labelled first, or the weights: scores.without_weight()."
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
    def weighted(self) -> ScoreMatrix:
        """The rows, each with the weight of those that it stands for."""
        return self.matrix if (self.weight == 1).all() else replace(self.matrix, weight=self.weight)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Places of the labelled rows, (label,)."""
        return np.flatnonzero(self.matrix.labeled)

    @property
    def labels(self) -> NDArray[np.int32]:
        """Their labels, (label,)."""
        return self.matrix.y[self.rows]


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
            "no row is labelled: the answer is what the classifiers say of each other under the "
            "prior, and no data have checked it. Label some rows."
        ]
    found: list[str] = []
    rows = matrix.labeled
    for name, probs in zip(matrix.classifiers, matrix.probs, strict=True):
        signs = signs_of_rows(probs[rows], matrix.y[rows])
        found += [Sign(f"{name}: {sign}") for sign in signs]
    bare = unseen_names(matrix.y[rows], matrix.classes)
    if bare:
        found.append(
            f"no label of {listing(bare)}: estimates of such a class rest on the prior. Label "
            "more rows, chosen as the others were."
        )
    if matrix.group is not None:
        absent = unseen_names(matrix.group, matrix.groups)
        if absent:
            found.append(f"all rows of group {listing(absent)} have weight 0: it has no metrics.")
        unseen = [
            name for name in unseen_names(matrix.group[rows], matrix.groups) if name not in absent
        ]
        if unseen:
            found.append(f"no label in group {listing(unseen)}: it is taken to be like the others.")
    return found


def unseen_names(code: NDArray[np.int32], names: tuple[Label, ...]) -> list[Label]:
    """Names of the classes, or groups, that no row is of."""
    return [names[place] for place in np.flatnonzero(np.bincount(code, minlength=len(names)) == 0)]


def check_draws(n_draws: int | None) -> None:
    """Refuse a number of draws of the labels that is none."""
    if n_draws is not None:
        check_whole(n_draws, "n_draws", most=MOST_DRAWN)


def draw_labels(prob: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw labels as one-hot rows, (draw, obs, class)."""
    place = classes_at(prob, rng.random((n_draws, len(prob))))
    # Class by class in memory, as metrics take them.
    one_hot = np.stack([place == k for k in range(prob.shape[-1])]).astype(np.float64)
    return one_hot.transpose(1, 2, 0)


def classes_at(prob: Floats, uniform: Floats) -> NDArray[np.intp]:
    """Places of the classes that uniform random numbers fall on, (..., obs)."""
    # Class by class, as NumPy is slow on the sums of a short axis.
    bound = np.zeros(prob.shape[:-1])
    place = np.zeros(np.broadcast_shapes(bound.shape, uniform.shape), dtype=np.intp)
    # The last bound is left out: rounding could put it below a uniform number.
    for k in range(prob.shape[-1] - 1):
        bound += prob[..., k]
        place += uniform >= bound
    return place


def with_known_labels(matrix: ScoreMatrix, prob_label: Floats) -> Floats:
    """Put certainty where labels are known."""
    prob = np.array(prob_label, dtype=np.float64)
    prob[..., matrix.labeled, :] = matrix.known
    return prob


EVERY_ROW = slice(None)


class SampledRows(NamedTuple):
    """Rows that stand for all rows."""

    scores: Scores  #: The rows.
    weight: Floats  #: For how many rows each stands, (obs,).
    n_obs: int  #: Number of all rows.


def count_rows(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    pos_label: Any = 1,
    from_logits: bool = False,
    classes: Sequence[Any] | None = None,
) -> SampledRows:
    r"""Take the labelled rows and a random part of the others, partition by partition.

    Parameters
    ----------
    data, label
        As for `bayescal.count_rows`. Labelled rows must fit in memory.
    score : str, sequence of str, or mapping of str to str or sequence of str
        Column of each classifier's scores; or, by name of the classifier, its columns, one a class.
    pos_label, from_logits
        As for `bayescal.count_rows`.
    classes : sequence of labels, optional
        The label of each of several columns; without it labels are column numbers.

    Returns
    -------
    SampledRows
        What `bayescal.fit` of `bayescal.ssme` takes.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist, or labels or scores cannot be used.

    Notes
    -----
    The model sees scores of single rows, which no sums stand for, but of 5,000 rows without a label
    at most, also of rows in memory. These are the same 5,000 rows here, so that the posterior is
    the same. All rows are read and checked once, after their labels were counted.
    """
    rows, columns = rows_of(data), _columns(score)
    check_columns(chain.from_iterable(columns.values()), label=label)
    counted = summed(rows, [label], partial(Labels.of, label=label))
    labels = column_of(rows, label)
    check_rows(counted.n, labels)
    if classes is None:
        classes = _classes(columns, counted.seen, pos_label, labels)
    known = checked_labels(classes, "classes")
    names = [label, *chain.from_iterable(columns.values())]
    chosen = _some(counted.n_unlabeled, MOST_UNLABELED, np.random.default_rng(_ROWS_SEED))
    parts, read, passed = [], 0, 0
    for batch in batches_of(rows, names):
        found = from_parts(
            collect(
                {name: batch.table(own) for name, own in columns.items()},
                batch.column(label),
                group=None,
                pos_label=pos_label,
                from_logits=from_logits,
                classes=known,
            )
        )
        missing = found.y_true == MISSING
        place = np.where(missing, passed + np.cumsum(missing) - 1, -1)
        parts.append(select_rows(found, np.flatnonzero(~missing | np.isin(place, chosen))))
        passed += int(missing.sum())
        read += len(missing)
    if (read, passed) != (counted.n, counted.n_unlabeled):
        raise InputError(
            f"the columns {listing(names)} must not change while they are read twice; the "
            "second time there were other rows. Count the rows when none is written."
        )
    scores = _joined(parts)
    weight = np.ones(scores.n_obs)
    weight[scores.y_true == MISSING] = counted.n_unlabeled / max(len(chosen), 1)
    return SampledRows(scores, weight, counted.n)


def _columns(
    score: str | Sequence[str] | Mapping[str, str | Sequence[str]],
) -> dict[str, Sequence[str]]:
    """Columns by classifier."""
    if isinstance(score, Mapping):
        return {str(name): checked_scores(own, f"score[{name!r}]") for name, own in score.items()}
    return {name: [name] for name in checked_scores(score)}


def _classes(
    columns: Mapping[str, Sequence[str]], labels: frozenset[Label], pos_label: Any, label: str
) -> Sequence[Label]:
    """Both labels of two classes, which a part need not have; else column numbers."""
    size = max(map(len, columns.values()), default=0)
    if size > 2:
        return range(size)
    return binary_classes(labels, pos_label, label)


def _joined(parts: Sequence[Scores]) -> Scores:
    """Put rows of the same classifiers together."""
    first = parts[0]
    y_prob = np.concatenate([part.y_prob for part in parts], axis=1)
    y_true = np.concatenate([part.y_true for part in parts])
    return from_parts(Parts(y_prob, y_true, first.classifiers, first.classes, None, ()))
