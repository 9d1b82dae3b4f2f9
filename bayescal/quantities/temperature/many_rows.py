"""Rows of class probabilities that need not fit in memory, gone through part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Final

import numpy as np

from bayescal.core.checks import check_columns, check_rows, checked_labels, checked_scores
from bayescal.core.errors import InputError
from bayescal.core.intake import binary_classes, collect, weights
from bayescal.core.many_rows import column_of, rows_of
from bayescal.core.quantity import Floats, digest_of
from bayescal.core.scores import Scores, from_parts
from bayescal.core.sums import Batch, Labels, Rows, Several, Sums, batches_of, plus, summed
from bayescal.quantities.temperature.data import Facts, Problem, check_labels
from bayescal.quantities.temperature.logits import (
    ALPHA_MAX,
    ALPHA_MIN,
    LAST_STEP,
    MOST_STEPS,
    ClassWise,
    peak,
    tabulated,
)
from bayescal.quantities.temperature.vector_scaling import SCALINGS, CentredRows, Total

# Numbers of a part: its probabilities, and those that draws give its rows.
_NUMBERS: Final = 1 << 23
# Relative: sums in another order differ by less.
_SAME: Final = 1e-10


def count_rows(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str],
    pos_label: Any = 1,
    from_logits: bool = False,
    classes: Sequence[Any] | None = None,
    classifier: str | None = None,
    weight: str | None = None,
) -> CountedRows:
    r"""Tabulate the log likelihood of one classifier's labels, partition by partition.

    Parameters
    ----------
    data, label
        As for `bayescal.count_rows`. Data are read again by the fit; rows without a label count in
        the calibration errors alone.
    score : str or sequence of str
        Columns of the scores of each class; of two classes that of the positive one is enough.
    pos_label, from_logits
        As for `bayescal.count_rows`.
    classes : sequence of labels, optional
        The label of each column. Without it labels of more than two classes are column numbers.
    classifier : str, optional
        Name of the classifier; by default that of a single column, or ``"classifier"``.
    weight : str, optional
        Column of sample weights.

    Returns
    -------
    CountedRows
        What `bayescal.fit` of `bayescal.temperature` takes.

    Raises
    ------
    InputError
        If data cannot be read, a column is missing or cannot be used, or no row has a label.

    Notes
    -----
    Nothing is approximated: the posterior is that of rows in memory, but for the rounding of sums
    in another order. The table that temperatures are drawn from takes one reading, the best numbers
    two more, and weights another. The fit reads the rows again: for vector scaling as often as
    Newton's method takes steps, and twice for calibration errors, which sum what draws make of each
    row. Fewer than 200 rows a class, and fewer than 20,000, are held in memory then.
    """
    columns = checked_scores(score)
    check_columns(columns, label=label, weight=weight)
    check_columns(classifier=classifier)
    rows = rows_of(data)
    if classes is None and len(columns) > 2:
        classes = range(len(columns))
    elif classes is None:
        # A part may have only one of the labels, or none.
        seen = summed(rows, [label], partial(Labels.of, label=label)).seen
        classes = binary_classes(seen, pos_label, column_of(rows, label))
    name = classifier or (columns[0] if len(columns) == 1 else "classifier")
    source = Columns(
        label,
        tuple(columns),
        pos_label,
        from_logits,
        checked_labels(classes, "classes"),
        name,
        weight,
    )
    return CountedRows.of(Source(rows, source))


def _first_reading(problem: Problem) -> Several[Any]:
    """What is said of rows, and the table of their likelihood."""
    return Several({"facts": problem.facts, "table": Total(tabulated(problem.labeled()))})


@dataclass(frozen=True, slots=True, eq=False)
class CountedRows:
    """Rows of one classifier that are read again where they are gone through."""

    classifier: str  #: Its name.
    classes: tuple[str, ...]  #: Their names.
    _source: Source
    facts: Facts  #: Numbers of rows and labels.
    #: The labelled rows' log likelihood by predicted class, as of their effective number.
    table: Floats
    numbers: ClassWise  #: Of the least log loss.
    #: As how many rows a unit of weight counts in the table, (class,).
    per_weight: Floats

    @classmethod
    def of(cls, source: Source) -> CountedRows:
        """Read the rows once for the table, and for each of Newton's steps from its peaks."""
        (noted, mark), columns = source.noted(_first_reading), source.columns
        source, (facts, found) = replace(source, mark=mark), noted.each.values()
        label = column_of(source.table, columns.label)
        check_rows(facts.n, label)
        check_labels(label, facts.n_labeled, facts.n)
        numbers = _least_loss(source, facts, found.value)
        per_weight = np.ones(len(facts.labels))
        if columns.weight is not None:
            slopes = source.summed(partial(_squared_slopes, alpha=numbers.alpha)).value
            per_weight = facts.per_weight(slopes)
        table = found.value * per_weight[:, None, None]
        names = tuple(map(str, columns.classes))
        return cls(columns.classifier, names, source, facts, table, numbers, per_weight)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def from_logits(self) -> bool:
        """Whether scores are logits."""
        return self._source.columns.from_logits

    def labeled_logits(self) -> CountedRows:
        """The labelled rows, as vector scaling takes them."""
        return self

    @property
    def n(self) -> int:
        """Number of labelled rows."""
        return self.facts.n_labeled

    def sums(self, point: Floats) -> Total:
        """Value, gradient and information of the log likelihood at a point, one after the other."""
        return self.summed(partial(_vector_sums, point=point, per_weight=self.per_weight))

    def every(self, step: int) -> CentredRows:
        """Every so many labelled rows, from the first on."""
        found, passed = [], 0
        for problem in self._source.problems():
            found.append(problem.take(problem.known[-passed % step :: step]))
            passed += len(problem.known)
        return reduce(Problem.plus, found).centred(self.per_weight)

    def summed[S: Sums](self, of: Callable[[Problem], S]) -> S:
        """Read the rows anew, and add up what parts of them give."""
        return self._source.summed(of)

    def whole(self) -> Problem:
        """All rows in memory."""
        return reduce(Problem.plus, self._source.problems())

    def fingerprint(self) -> str:
        """Hash of names, of the table, and of the sum that rows without labels are in too."""
        names = repr((self.classifier, self.classes, self.facts))
        return digest_of(names, self.table, self.facts.predicted, self._source.mark)


def problems_of(data: Scores | CountedRows) -> Sequence[Problem | CountedRows]:
    """Rows of each classifier, some of them labelled."""
    if isinstance(data, CountedRows):
        return [data]
    check_labels("y_true", data.n_labeled, data.n_obs)
    return [Problem.of(data, name) for name in data.classifiers]


def _least_loss(source: Source, facts: Facts, table: Floats) -> ClassWise:
    """Numbers of least log loss: the peaks of the table, and Newton's steps from there."""
    table = np.concatenate([table, table.sum(axis=0, keepdims=True)])
    # Without a wrong prediction there is no minimum.
    wrong = facts.predicted - facts.right
    wrong = np.append(wrong, wrong.sum())
    # Of rows of equal logits the likelihood is the same at all numbers, and below 1.
    told = (table[:, 0, 0] != table[:, -1, 0]) | (table[:, 0, 0] == 0)
    alpha = np.where(told, np.where(wrong > 0, np.exp(peak(table)), ALPHA_MAX), 1.0)
    open_ = told & (wrong > 0) & (alpha > ALPHA_MIN) & (alpha < ALPHA_MAX)
    for _ in range(MOST_STEPS):
        if not open_.any():
            break
        slope, curvature = source.summed(partial(_derivatives, alpha=alpha)).value
        step = np.divide(-slope, curvature, out=np.zeros_like(slope), where=open_)
        alpha = np.clip(alpha + step, ALPHA_MIN, ALPHA_MAX)
        open_ &= np.abs(step) > LAST_STEP * alpha
    shared = float(alpha[-1])
    return ClassWise(np.where(told[:-1] & (facts.predicted > 0), alpha[:-1], shared), shared)


def _derivatives(problem: Problem, alpha: Floats) -> Total:
    """Derivatives of the log loss of each class, and of all classes with one number."""
    rows = problem.labeled()
    own, every = rows.sums(alpha[:-1]), rows.as_one().sums(alpha[-1:])
    return Total(np.stack([np.append(own[at], every[at]) for at in (1, 2)]))


def _squared_slopes(problem: Problem, alpha: Floats) -> Total:
    return Total(problem.labeled().squared_slopes(alpha))


def _vector_sums(problem: Problem, point: Floats, per_weight: Floats) -> Total:
    return problem.centred(per_weight).sums(point)


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns are labels and scores, and of what."""

    label: str
    scores: tuple[str, ...]
    pos_label: Any
    from_logits: bool
    classes: tuple[Any, ...]
    classifier: str
    weight: str | None = None

    def problem(self, batch: Batch) -> Problem:
        """Check the rows of a batch."""
        found = collect(
            {self.classifier: batch.table(self.scores)},
            batch.column(self.label),
            group=None,
            pos_label=self.pos_label,
            from_logits=self.from_logits,
            classes=self.classes,
        )
        problem = Problem.of(from_parts(found), self.classifier, batch.first, batch.of)
        return (
            problem if self.weight is None else problem.weighted(weights(batch.column(self.weight)))
        )

    def summed[S: Sums](self, batches: Iterator[Batch], of: Callable[[Problem], S]) -> S:
        """Add up what batches give; without any, what no rows give."""
        parts = (of(self.problem(batch)) for batch in batches)
        if (first := next(parts, None)) is not None:
            return reduce(plus, parts, first)
        none, names = np.zeros(0, np.int64), tuple(map(str, self.classes))
        weight = None if self.weight is None else np.zeros(0)
        empty = np.zeros((0, len(names)))
        return of(Problem(self.classifier, names, empty, none, none, weight))


def _noted(problem: Problem, of: Callable[[Problem], Any]) -> Several[Any]:
    """Sums, and what the rows are known by that they are of."""
    return Several({"sums": of(problem), "mark": Total(problem.mark)})


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Columns of a table, and its rows as the first reading found them."""

    table: Rows
    columns: Columns
    mark: Floats | None = None

    def noted[S: Sums](self, of: Callable[[Problem], S]) -> tuple[S, Floats]:
        """Read the rows, add up what parts of them give, and note which rows they were."""
        # No closure, so that Dask's workers get it.
        sum_up = partial(self.columns.summed, of=partial(_noted, of=of))
        found, mark = summed(self.table, self._names, sum_up, self._batch_rows).each.values()
        return found, mark.value

    def summed[S: Sums](self, of: Callable[[Problem], S]) -> S:
        """Read the rows anew, and add up what parts of them give."""
        found, mark = self.noted(of)
        self._check(mark)
        return found

    def problems(self) -> Iterator[Problem]:
        """Read the rows anew, in order."""
        mark = np.zeros(2)
        for batch in batches_of(self.table, self._names, self._batch_rows):
            problem = self.columns.problem(batch)
            mark += problem.mark
            yield problem
        self._check(mark)

    def _check(self, mark: Floats) -> None:
        """Check that the rows are those of the first reading."""
        if self.mark is None or (np.isclose(mark, self.mark, [0, _SAME])).all():
            return
        first, n = int(self.mark[0]), int(mark[0])
        apart = f"{first} rows and then {n}" if n != first else "other values"
        raise InputError(
            f"rows must be the same at every reading, until the fit is done; got {apart}. Count "
            "them anew when no program writes to them."
        )

    @property
    def _names(self) -> list[str]:
        weight = () if self.columns.weight is None else (self.columns.weight,)
        return [self.columns.label, *self.columns.scores, *weight]

    @property
    def _batch_rows(self) -> int:
        return max(1, _NUMBERS // (len(self.columns.scores) + 2 * SCALINGS))
