"""From scores to what the model sees: logits, labels and predicted classes of one classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import add
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from bayescal.core.bin_counts import weight_ratio
from bayescal.core.checks import check_data
from bayescal.core.columns import MISSING
from bayescal.core.errors import InputError
from bayescal.core.intake import round_scores
from bayescal.core.plausibility import below_chance
from bayescal.core.quantity import Floats, digest_of
from bayescal.core.scores import Scores, check_one_classifier, check_ungrouped, predicted_class
from bayescal.core.sums import Sums
from bayescal.core.text import counted
from bayescal.quantities.temperature.logits import (
    ALPHA_MAX,
    ALPHA_MIN,
    ClassWise,
    Integers,
    LabeledRows,
    class_wise,
    finite_logits,
    labeled_rows,
    least_loss,
    log_probabilities,
    logit_of_top,
    tabulated,
)
from bayescal.quantities.temperature.vector_scaling import CentredRows

if TYPE_CHECKING:
    from bayescal.quantities.temperature.many_rows import CountedRows

_BY_GROUP: Final = "bayescal.fit_many(bayescal.temperature, scores.by_group())"
# A log loss of 100 times as much, the largest number, is known to a millionth.
_MOST_GAP: Final = 1e8
# Times 100, the largest number, it changes no probability by a millionth.
_EQUAL: Final = 1e-8
# Confidences, as logits, between which weights may differ whatever the label.
_STRATA: Final = np.arange(-1.0, 10.0)
# So many rows of a class are as good as those of all classes at telling what its rows count.
_SHARED_ROWS: Final = 10
# The largest score of a classifier is at least this in some row.
_SURE: Final = 0.95
# Of rows that are all right, one error among ten times as many is not excluded.
_NO_ERROR: Final = 0.1


def check_labels(name: str, n_labeled: int, n: int) -> None:
    """Refuse rows of which none has a label."""
    if n_labeled == 0:
        raise InputError(
            f"{name} must hold at least one label; got none in {counted(n, 'row')}. Label some "
            "rows: temperatures cannot be estimated without."
        )


class Facts(NamedTuple):
    """What is said of rows beside their posterior; those of two parts add up."""

    n: int
    labels: NDArray[np.int64]  # labelled rows of each class, (class,)
    # Labelled rows by predicted class and confidence, those whose label it is, weights, 1 each if
    # they have none, their squares, and weights of those whose label it is, (5, class, stratum).
    sums: Floats
    # Least and largest logit after a shift that makes rows sum to 1.
    least: float
    largest: float
    norm: float  # largest Euclidean norm of a labelled row's centred logits

    @property
    def n_labeled(self) -> int:
        """Number of labelled rows."""
        return int(self.labels.sum())

    @property
    def predicted(self) -> NDArray[np.int64]:
        """Labelled rows by predicted class, (class,)."""
        return np.asarray(self.sums[0].sum(axis=1).astype(np.int64))

    @property
    def right(self) -> NDArray[np.int64]:
        """Those of them whose label is the predicted class, (class,)."""
        return np.asarray(self.sums[1].sum(axis=1).astype(np.int64))

    @property
    def weights(self) -> Floats:
        """Their weights, and squares of these, (2, class)."""
        return np.asarray(self.sums[2:4].sum(axis=2))

    @property
    def effective_n(self) -> float:
        """Effective number of labelled rows, ``(sum w)**2 / sum w**2``."""
        weight, squares = self.weights
        return float(weight.sum() ** 2 / squares.sum())

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        # Weights whose sum and whose squares' sum are the number of rows are 1 each.
        return bool((self.weights != self.predicted).any())

    @property
    def ratio(self) -> Floats:
        """How many times as much rows weigh whose label is the predicted class, (class,)."""
        return weight_ratio(self.sums)

    def per_weight(self, slopes: Floats) -> Floats:
        """As how many rows a unit of weight counts in the likelihood, (class,).

        `slopes` are sums of squared slopes of the log likelihood at its maximum, weighted by w and
        w**2, (2, class): it varies as that of so many rows. Small classes follow the others.
        """
        weight, squares = self.weights
        own: Floats = np.divide(weight, squares, out=np.ones_like(squares), where=squares > 0)
        each = slopes * [own, own**2]
        if not each.all(axis=1).any():
            return own
        first, second = each + _SHARED_ROWS * each.sum(axis=1, keepdims=True) / self.n_labeled
        return np.asarray(own * first / second)

    def plus(self, other: Facts) -> Facts:
        """Join with the facts of other rows."""
        (*sums, least, largest, norm), (*others, low, high, long) = self, other
        ends = min(least, low), max(largest, high), max(norm, long)
        return Facts._make([*map(add, sums, others), *ends])


type Rows = Problem | CountedRows
"""Rows of one classifier, which can be gone through again and again."""


def only_problem(data: Scores, what: str) -> Problem:
    """Check that scores are of one classifier, and take its rows."""
    check_data(data, (Scores,), "temperature", "Scores(y_true=..., y_prob=..., from_logits=True)")
    check_one_classifier(data, what)
    return Problem.of(data, data.classifiers[0])


@dataclass(frozen=True, eq=False)
class Problem:
    """All rows of one classifier, with and without labels; made by `Problem.of`."""

    classifier: str
    classes: tuple[str, ...]
    logits: Floats  # (obs, class)
    label: Integers  # (obs,); -1 where it is missing
    predicted: Integers  # (obs,)
    weight: Floats | None = None  # (obs,)
    dtype: DTypeLike = np.float64  # that scores or logits had

    @classmethod
    def of(cls, data: Scores, classifier: str, first: int = 0, of: str = "") -> Problem:
        """Take one classifier's scores as logits; messages count rows from `first` (of what)."""
        check_ungrouped(data, "temperature", _BY_GROUP)
        label = data.y_true
        rows = np.flatnonzero(label != MISSING)
        if data.sample_weight is not None:
            of += " of those of weight above 0"
        raw, logits = _logits_of(data, data.classifiers.index(classifier))
        impossible = rows[raw[rows, label[rows]] == (0 if data.logits is None else -np.inf)]
        if impossible.size:
            raise InputError(
                f"the label of a row must have a score above 0; it is 0 for {classifier} at row "
                f"{first + impossible[0]}{of} ({impossible.size} such rows). No temperature "
                "changes a probability of 0: pass finite logits with from_logits=True, or scores "
                "clipped from below."
            )
        # Other logits, which may be masks, are as far below as one likes; halves do not overflow.
        gap = logits[rows].max(axis=1) / 2 - logits[rows, label[rows]] / 2
        if gap.max(initial=0.0) > _MOST_GAP / 2:
            place = rows[gap.argmax()]
            raise InputError(
                f"the logit of a label must be within {_MOST_GAP:g} of the largest; got "
                f"{logits[place, label[place]]:.3g} beside {logits[place].max():.3g} for "
                f"{classifier} at row {first + place}{of}. Divide all logits by one number."
            )
        names = tuple(str(name) for name in data.classes)
        dtype = (data.y_prob if data.logits is None else data.logits).dtype
        rows_of = logits, label, predicted_class(logits), data.sample_weight
        return cls(classifier, names, *rows_of, dtype)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def known(self) -> Integers:
        """Places of the labelled rows."""
        return np.flatnonzero(self.label != MISSING)

    @cached_property
    def facts(self) -> Facts:
        """What is said of the rows."""
        rows = self.known
        label, logits = self.label[rows], self.logits
        shifted = logits + (1 - logits.sum(axis=1, keepdims=True)) / self.n_classes
        centred = logits[rows] - logits[rows].mean(axis=1, keepdims=True)
        return Facts(
            len(self.label),
            np.bincount(label, minlength=self.n_classes),
            self._sums(),
            float(shifted.min(initial=np.inf)),
            float(shifted.max(initial=-np.inf)),
            float(np.linalg.norm(centred, axis=1).max(initial=0.0)),
        )

    @cached_property
    def table(self) -> Floats:
        """The labelled rows' log likelihood by predicted class, as of their effective number."""
        return tabulated(self.labeled()) * self.per_weight[:, None, None]

    @cached_property
    def per_weight(self) -> Floats:
        """As how many rows a unit of weight counts in the likelihood, (class,)."""
        if self.weight is None:
            return np.ones(self.n_classes)
        rows = self.labeled()
        return self.facts.per_weight(rows.squared_slopes(least_loss(rows)))

    def _sums(self) -> Floats:
        """Sums of the labelled rows and their weights, as `Facts` has them."""
        rows = self.known
        predicted, size = self.predicted[rows], len(_STRATA) + 1
        right = self.label[rows] == predicted
        weight = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        stratum = np.digitize(logit_of_top(self.logits[rows]), _STRATA)
        place = predicted * size + stratum
        each = (np.ones(len(rows)), right, weight, weight**2, weight * right)
        found = [np.bincount(place, values, self.n_classes * size) for values in each]
        return np.stack(found).reshape(len(found), self.n_classes, size)

    @cached_property
    def numbers(self) -> ClassWise:
        """Class-wise temperature scaling of the labelled rows."""
        return class_wise(self.labeled())

    def labeled_logits(self) -> CentredRows:
        """The labelled rows, as vector scaling takes them."""
        return self.centred(self.per_weight)

    def centred(self, per_weight: Floats) -> CentredRows:
        """The labelled rows, each as so many effective rows as `per_weight` of its class says."""
        part = self.take(self.known)
        return CentredRows.of(part.logits, part.label, part.effective(per_weight))

    def effective(self, per_weight: Floats) -> Floats | None:
        """As how many rows each counts in the likelihood, (obs,)."""
        return None if self.weight is None else self.weight * per_weight[self.predicted]

    def summed[S: Sums](self, of: Callable[[Problem], S]) -> S:
        """Take all rows as one part."""
        return of(self)

    def whole(self) -> Problem:
        """All rows in memory."""
        return self

    def weighted(self, weight: Floats) -> Problem:
        """Give rows their weights, and leave out those whose weight is 0."""
        return replace(self, weight=weight).take(weight > 0)

    def take(self, rows: NDArray[Any]) -> Problem:
        """Take some rows."""
        weight = None if self.weight is None else self.weight[rows]
        some = self.logits[rows], self.label[rows], self.predicted[rows], weight
        return Problem(self.classifier, self.classes, *some, self.dtype)

    def near(self, confidence: Floats) -> NDArray[np.floating]:
        """Confidences as `Scores` holds scores, so that one of .6 meets the edge .6, (obs,)."""
        return round_scores(confidence.astype(self.dtype))

    def plus(self, other: Problem) -> Problem:
        """Join with other rows of the same classifier."""
        weight = None
        if self.weight is not None and other.weight is not None:
            weight = np.append(self.weight, other.weight)
        return replace(
            self,
            logits=np.concatenate([self.logits, other.logits]),
            label=np.append(self.label, other.label),
            predicted=np.append(self.predicted, other.predicted),
            weight=weight,
        )

    def labeled(self) -> LabeledRows:
        """The labelled rows, in slices by predicted class."""
        part = self.take(self.known)
        return labeled_rows(part.logits, part.label, part.predicted, part.n_classes, part.weight)

    @property
    def mark(self) -> Floats:
        """Rows, and a sum over them that is another if a logit, a label or a weight is, (2,)."""
        # Numbers without a common measure, so that columns cannot make up for each other.
        of_row = (self.logits * np.sqrt(2.0 + np.arange(self.n_classes))).sum(axis=1)
        weight = 1.0 if self.weight is None else self.weight
        return np.array([len(of_row), ((np.abs(of_row) + 1) * (self.label + 2) * weight).sum()])

    def fingerprint(self) -> str:
        """Hash of names, logits and labels."""
        names = repr((self.classifier, self.classes))
        # Confidences are rounded as scores of this precision are.
        dtype = None if self.dtype == np.float64 else str(self.dtype)
        return digest_of(names, self.logits, self.label, self.weight, dtype)


def _logits_of(data: Scores, place: int) -> tuple[NDArray[np.floating], Floats]:
    """One classifier's probabilities or logits as given, and finite logits, (obs, class)."""
    if data.logits is None:
        prob = data.y_prob[place]
        if prob.ndim == 1:
            prob = np.column_stack([1 - prob, prob])
        return prob, log_probabilities(prob)
    given = np.asarray(data.logits[place], np.float64)
    if given.ndim == 1:
        # One of both is 0, so that an infinite one stands beside it.
        given = np.column_stack([np.minimum(-given, 0), np.minimum(given, 0)])
    return given, finite_logits(given)


def data_warnings(problem: Rows) -> list[str]:
    """What a reader must know of the labelled rows."""
    facts = problem.facts
    found: list[str] = []
    if facts.n_labeled < problem.n_classes:
        found.append(
            f"labelled rows, {facts.n_labeled}, are fewer than the {problem.n_classes} classes. "
            "Most temperatures are those of the prior; label more rows."
        )
    if (facts.labels > 0).sum() == 1:
        found.append(
            f"all labels are {problem.classes[facts.labels.argmax()]}. Check the column of labels: "
            "rows of one class say nothing of the others."
        )
    if facts.norm < _EQUAL:
        found.append(
            "the scores of all classes are equal in every labelled row: temperatures change "
            "nothing there, and labels say nothing of them. Check the columns of scores."
        )
    # Probabilities up to a constant a row, some of them sure.
    if facts.least >= 0 and facts.largest > _SURE:
        found.append(
            "the logits look like probabilities, as each row's lie between 0 and 1 and sum to 1 "
            "after a shift. If they are, leave from_logits out."
        )
    found += below_chance(int(facts.right.sum()), facts.n_labeled, problem.n_classes)
    never = np.flatnonzero(facts.predicted == 0)
    found += _about(problem, never, "never predicted in a labelled row")
    always = np.flatnonzero((facts.predicted > 0) & (facts.right == facts.predicted))
    found += _about(problem, always, "right in every labelled row")
    return found


def range_warnings(problem: Rows, alpha: float) -> list[str]:
    """Say so where the number of all rows is an end of its range, though some are wrong."""
    facts = problem.facts
    if alpha not in (ALPHA_MIN, ALPHA_MAX) or facts.right.sum() == facts.n_labeled:
        return []
    return [
        f"the temperature of all rows is {1 / alpha:g}, an end of its range: the log loss falls "
        "further beyond. Check that scores and labels belong together, and the scale of the logits."
    ]


def sure_warnings(problem: Rows, error: Floats) -> list[str]:
    """Say so where draws of the error hold none possible, as of rows that are right and sure."""
    n = problem.facts.n_labeled
    if problem.facts.right.sum() < n or np.quantile(error, 0.95) > _NO_ERROR / n:
        return []
    limit = 1 - 0.05 ** (1 / n)
    return [
        f"labelled rows, {n}, are all right, and so sure that no temperature lets them err: "
        f"intervals of errors end near 0, though {limit:.2g} of such rows may be wrong (95% "
        "limit). Fit bayescal.ece to scores.top_label()."
    ]


def _about(problem: Rows, places: Integers, what: str) -> list[str]:
    """Say which classes draw their temperature from the others."""
    if not len(places):
        return []
    names: Sequence[str] = [problem.classes[k] for k in places[:4]]
    more = f" and {len(places) - 4} more" if len(places) > 4 else ""
    one = "class", "its temperature"
    noun, own = one if len(places) == 1 else ("classes", "their temperatures")
    return [
        f"predicted {noun} {', '.join(names)}{more}: {what}. How far {own} may lie from the shared "
        "one rests on the other classes and the prior."
    ]
