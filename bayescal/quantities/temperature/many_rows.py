"""Rows of class probabilities that need not fit in memory, gone through part by part."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from bayescal.core.bins.numbered_batches import Batch, numbered_batches
from bayescal.core.bins.streaming import Batched
from bayescal.core.checks import check_rows, check_unique
from bayescal.core.columns import Label, factorize
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, code_binary, collect
from bayescal.core.partitions import rows_of
from bayescal.core.quantity import Floats
from bayescal.core.scores import from_parts
from bayescal.quantities.temperature.calibrators.class_wise import ClassWise
from bayescal.quantities.temperature.data import Facts, Problem
from bayescal.quantities.temperature.loss import ALPHA_MAX, ALPHA_MIN, LAST_STEP, MOST_STEPS
from bayescal.quantities.temperature.models.vector_scaling import CentredRows
from bayescal.quantities.temperature.predictive import SCALINGS
from bayescal.quantities.temperature.table import Tabulated, peak

# Numbers of a part: its probabilities, and those that draws give its rows.
_NUMBERS = 1 << 23


def count_rows(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str],
    pos_label: Any = 1,
    from_logits: bool = False,
    classes: Sequence[Any] | None = None,
    classifier: str | None = None,
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
    columns = [score] if isinstance(score, str) else list(score)
    check_unique(columns, "score")
    rows = rows_of(data)
    if classes is None and len(columns) < 3:
        classes = _two_classes(rows, label, pos_label)
    name = classifier or (columns[0] if len(columns) == 1 else "classifier")
    source = _Source(rows, label, tuple(columns), pos_label, from_logits, classes, name)
    return CountedRows.of(source)


def _two_classes(table: Batched, label: str, pos_label: Any) -> tuple[Label, Label]:
    """Both labels: a part may have only one of them, or none."""
    seen: dict[Label, None] = {}
    for batch in numbered_batches(table, [label]):
        seen |= dict.fromkeys(factorize(batch.columns[label], label + batch.place)[1])
    return code_binary(np.array(sorted(seen, key=str), object), pos_label, None, label)[1]


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """The labels and scores of a table."""

    table: Batched
    label: str
    columns: tuple[str, ...]
    pos_label: Any
    from_logits: bool
    classes: Sequence[Any] | None
    classifier: str

    def parts(self) -> Iterator[Problem]:
        """Read the rows anew."""
        size = max(1, _NUMBERS // (len(self.columns) + 2 * SCALINGS))
        for batch in numbered_batches(self.table, [self.label, *self.columns], size):
            yield self._problem(batch)

    def _problem(self, batch: Batch) -> Problem:
        columns = [np.asarray(batch.columns[name]) for name in self.columns]
        if len(columns) == 1:
            named = batch.column(self.columns[0])
        else:
            called = f"the table of columns {self.columns[0]!r} to {self.columns[-1]!r}"
            named = Column(called + batch.place, np.column_stack(columns))
        found = collect(
            {self.classifier: named},
            batch.column(self.label),
            group=None,
            pos_label=self.pos_label,
            from_logits=self.from_logits,
            classes=self.classes,
        )
        return Problem.of(from_parts(found), self.classifier, batch.first)


@dataclass(frozen=True, slots=True, eq=False)
class CountedRows:
    """Rows of one classifier that are read again where they are gone through.

    Attributes
    ----------
    classifier : str
        Name of the classifier.
    classes : tuple of str
        Names of the classes.
    """

    classifier: str
    classes: tuple[str, ...]
    _source: _Source
    _facts: Facts
    _tabulated: Tabulated
    _numbers: ClassWise

    @classmethod
    def of(cls, source: _Source) -> CountedRows:
        """Read the rows once for the table, and for each of Newton's steps from its peaks."""
        found: tuple[Facts, Tabulated] | None = None
        classes: tuple[str, ...] = ()
        for part in source.parts():
            classes, facts, table = part.classes, part.facts(), part.tabulated()
            found = (
                (facts, table) if found is None else (found[0].plus(facts), found[1].plus(table))
            )
        if found is None:
            check_rows(0, f"the column {source.label!r}")
            raise AssertionError
        if not found[0].n_labeled:
            raise InputError(
                f"{source.label} must hold at least one label; all {found[0].n} rows are missing. "
                "Label some rows: temperatures cannot be estimated without."
            )
        return cls(source.classifier, classes, source, *found, _least_loss(source, *found))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def facts(self) -> Facts:
        """What is said of the rows."""
        return self._facts

    def tabulated(self) -> Tabulated:
        """The labelled rows' log likelihood by predicted class."""
        return self._tabulated

    def numbers(self) -> ClassWise:
        """Class-wise temperature scaling of the labelled rows."""
        return self._numbers

    def labeled_logits(self) -> CountedLogits:
        """The labelled rows, as vector scaling takes them."""
        return CountedLogits(self)

    def parts(self) -> Iterator[Problem]:
        """Read the rows anew."""
        return self._source.parts()

    def whole(self) -> Problem:
        """All rows in memory."""
        return reduce(Problem.plus, self.parts())

    def fingerprint(self) -> str:
        """Hash of names, and of the table."""
        digest = hashlib.sha256(repr((self.classifier, self.classes, self._facts)).encode())
        for array in self._tabulated:
            digest.update(array.tobytes())
        return digest.hexdigest()


def _least_loss(source: _Source, facts: Facts, found: Tabulated) -> ClassWise:
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
        slope, curvature = _derivatives(source, alpha)
        step = np.divide(-slope, curvature, out=np.zeros_like(slope), where=open_)
        alpha = np.clip(alpha + step, ALPHA_MIN, ALPHA_MAX)
        open_ &= np.abs(step) > LAST_STEP * alpha
    shared = float(alpha[-1])
    return ClassWise(np.where(found.rows > 0, alpha[:-1], shared), shared)


def _derivatives(source: _Source, alpha: Floats) -> tuple[Floats, Floats]:
    """Derivatives of the log loss of each class, and of all classes with one number."""
    total = np.zeros((2, len(alpha)))
    for part in source.parts():
        rows = part.labeled()
        own, every = rows.sums(alpha[:-1]), rows.as_one().sums(alpha[-1:])
        total += [np.append(own[at], every[at]) for at in (1, 2)]
    return total[0], total[1]


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

    def parts(self) -> Iterator[CentredRows]:
        """Read the rows anew."""
        for part in self.rows.parts():
            yield part.labeled_logits()

    def every(self, step: int) -> CentredRows:
        """Every so many rows, from the first on."""
        found, passed = [], 0
        for part in self.parts():
            at = slice(-passed % step, None, step)
            found.append((part.logits[at], part.label[at]))
            passed += part.n
        logits, label = zip(*found, strict=True)
        return CentredRows(np.concatenate(logits), np.concatenate(label))
