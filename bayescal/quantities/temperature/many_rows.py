"""Rows of class probabilities that need not fit in memory, gone through part by part."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from bayescal.core.checks import (
    check_columns,
    check_rows,
    check_unique,
    checked_labels,
    checked_words,
)
from bayescal.core.columns import Label
from bayescal.core.errors import InputError
from bayescal.core.intake import binary_classes
from bayescal.core.partial_sums import Labels, Rows, Sums, summed
from bayescal.core.partitions import rows_of
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.data import Facts, Problem
from bayescal.quantities.temperature.logits import (
    ALPHA_MAX,
    ALPHA_MIN,
    LAST_STEP,
    MOST_STEPS,
    ClassWise,
    Tabulated,
    peak,
    tabulated,
)
from bayescal.quantities.temperature.row_source import Columns, Source
from bayescal.quantities.temperature.sums import Total
from bayescal.quantities.temperature.vector_scaling import CentredRows


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
    data : path, Dask dataframe or dict of Dask arrays
        A CSV or Parquet file, a directory of Parquet files, or the columns by name. It is read
        again by the fit.
    label : str
        Column of the labels. Rows without one count in the calibration errors alone.
    score : str or sequence of str
        Columns of the scores of each class; of two classes that of the positive one is enough.
    pos_label : default 1
        The positive label of two classes.
    from_logits : bool, default False
        Whether the scores are logits.
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
        If data cannot be read, a column does not exist, labels or scores cannot be used, or no row
        has a label.

    Notes
    -----
    Nothing is approximated: the posterior is that of rows in memory, but for the rounding of sums
    in another order. The table that temperatures are drawn from takes one reading, and the best
    numbers two more. The fit reads the rows again: for vector scaling as often as Newton's method
    takes steps, and twice for calibration errors, which sum up what draws make of each row. Where
    there are fewer than 200 rows a class, and fewer than 20,000, these are held in memory then.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayescal as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("y,a,b,c\n0,2.5,0,1\n1,0,1,0.5\n2,0,1,3\n,0,1,4\n")
    ...     found = bc.temperature.count_rows(
    ...         path, label="y", score=["a", "b", "c"], from_logits=True
    ...     )
    >>> found.tabulated().rows.tolist()
    [1, 1, 1]
    """
    columns = checked_words(score, "score")
    check_unique(columns, "score")
    check_columns(label=label, weight=weight, classifier=classifier)
    rows = rows_of(data)
    if classes is None:
        classes = _two_classes(rows, label, pos_label) if len(columns) < 3 else range(len(columns))
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


def _two_classes(table: Rows, label: str, pos_label: Any) -> tuple[Label, Label]:
    """Both labels: a part may have only one of them, or none."""
    seen = summed(table, [label], partial(Labels.of, label=label)).seen
    return binary_classes(seen, pos_label, label)


@dataclass(frozen=True, slots=True, eq=False)
class _FirstReading:
    """What is said of rows, and the table of their likelihood; those of two parts add up."""

    classes: tuple[str, ...]
    facts: Facts
    tabulated: Tabulated

    @classmethod
    def of(cls, problem: Problem) -> _FirstReading:
        return cls(problem.classes, problem.facts(), tabulated(problem.labeled()))

    def plus(self, other: _FirstReading) -> _FirstReading:
        return _FirstReading(
            self.classes, self.facts.plus(other.facts), self.tabulated.plus(other.tabulated)
        )


@dataclass(frozen=True, slots=True, eq=False)
class CountedRows:
    """Rows of one classifier that are read again where they are gone through."""

    classifier: str
    classes: tuple[str, ...]
    _source: Source
    _facts: Facts
    _tabulated: Tabulated
    _numbers: ClassWise

    @classmethod
    def of(cls, source: Source) -> CountedRows:
        """Read the rows once for the table, and for each of Newton's steps from its peaks."""
        noted, label = source.noted(_FirstReading.of), source.columns.label
        source, first = replace(source, first=noted), noted.sums
        facts, found = first.facts, first.tabulated
        check_rows(facts.n, f"the column {label!r}")
        if not facts.n_labeled:
            raise InputError(
                f"{label} must hold at least one label; all {facts.n} rows are missing. Label some "
                "rows: temperatures cannot be estimated without."
            )
        numbers = _least_loss(source, facts, found)
        found = found.times(facts.per_weight)
        return cls(source.columns.classifier, first.classes, source, facts, found, numbers)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def from_logits(self) -> bool:
        """Whether scores are logits."""
        return self._source.columns.from_logits

    def facts(self) -> Facts:
        """What is said of the rows."""
        return self._facts

    def per_weight(self) -> Floats:
        """Effective labelled rows of each predicted class per unit of their weight, (class,)."""
        return self._facts.per_weight

    def tabulated(self) -> Tabulated:
        """The labelled rows' log likelihood by predicted class, as of their effective number."""
        return self._tabulated

    def numbers(self) -> ClassWise:
        """Class-wise temperature scaling of the labelled rows."""
        return self._numbers

    def labeled_logits(self) -> CountedLogits:
        """The labelled rows, as vector scaling takes them."""
        return CountedLogits(self)

    def summed[S: Sums](self, of: Callable[[Problem], S]) -> S:
        """Read the rows anew, and add up what parts of them give."""
        return self._source.summed(of)

    def problems(self) -> Iterator[Problem]:
        """Read the rows anew, in order."""
        return self._source.problems()

    def whole(self) -> Problem:
        """All rows in memory."""
        return reduce(Problem.plus, self.problems())

    def fingerprint(self) -> str:
        """Hash of names, and of the table."""
        digest = hashlib.sha256(repr((self.classifier, self.classes, self._facts)).encode())
        for array in self._tabulated:
            digest.update(array.tobytes())
        return digest.hexdigest()


def _least_loss(source: Source, facts: Facts, found: Tabulated) -> ClassWise:
    """Numbers of least log loss: the peaks of the table, and Newton's steps from there."""
    table = np.concatenate([found.table, found.table.sum(axis=0, keepdims=True)])
    # Without a wrong prediction there is no minimum.
    wrong = facts.predicted - facts.right
    wrong = np.append(wrong, wrong.sum())
    alpha = np.where(wrong > 0, np.exp(peak(table)), ALPHA_MAX)
    open_ = (wrong > 0) & (alpha > ALPHA_MIN) & (alpha < ALPHA_MAX)
    for _ in range(MOST_STEPS):
        if not open_.any():
            break
        slope, curvature = source.summed(partial(_derivatives, alpha=alpha)).value
        step = np.divide(-slope, curvature, out=np.zeros_like(slope), where=open_)
        alpha = np.clip(alpha + step, ALPHA_MIN, ALPHA_MAX)
        open_ &= np.abs(step) > LAST_STEP * alpha
    shared = float(alpha[-1])
    return ClassWise(np.where(found.rows > 0, alpha[:-1], shared), shared)


def _derivatives(problem: Problem, alpha: Floats) -> Total:
    """Derivatives of the log loss of each class, and of all classes with one number."""
    rows = problem.labeled()
    own, every = rows.sums(alpha[:-1]), rows.as_one().sums(alpha[-1:])
    return Total(np.stack([np.append(own[at], every[at]) for at in (1, 2)]))


@dataclass(frozen=True, slots=True, eq=False)
class CountedLogits:
    """Labelled rows of logits that are read again where they are gone through."""

    rows: CountedRows

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.facts().n_labeled

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.rows.n_classes

    def sums(self, point: Floats) -> Total:
        """Value, gradient and information of the log likelihood at a point, one after the other."""
        per_weight = self.rows.per_weight()
        return self.rows.summed(partial(_vector_sums, point=point, per_weight=per_weight))

    def every(self, step: int) -> CentredRows:
        """Every so many rows, from the first on."""
        found, passed = [], 0
        for problem in self.rows.problems():
            part = problem.centred(self.rows.per_weight())
            found.append(part.every(step, -passed % step))
            passed += part.n
        return reduce(CentredRows.plus, found)


def _vector_sums(problem: Problem, point: Floats, per_weight: Floats) -> Total:
    return problem.centred(per_weight).sums(point)
