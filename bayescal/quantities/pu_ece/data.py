"""From positive and unlabelled rows, in memory, in files or in parts, to counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import Any, Final, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_counts import NEGATIVE, POSITIVE, UNLABELED, BinCounts, TiedRows, totals
from bayescal.core.bin_edges import bin_edges, cell_edges, strategy_name
from bayescal.core.binning import Binning, BinningFields, count_into, part_counts
from bayescal.core.checks import (
    check_columns,
    check_is,
    check_known,
    check_rows,
    check_same_length,
    check_unique,
    checked_scores,
    listing,
)
from bayescal.core.columns import to_numpy
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, alike, check_classifiers, check_one_order, probabilities
from bayescal.core.many_rows import column_of, counted_by, rows_of
from bayescal.core.scores import Task
from bayescal.core.shown import Showing, Shown
from bayescal.core.sums import Batch, CellSums, Several
from bayescal.core.tables import Table, open_table
from bayescal.core.text import counted
from bayescal.curves.cells import Problem
from bayescal.curves.priors import CurveAverage, SmoothCurve
from bayescal.quantities.pu_ece.priors import Priors

type Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class PUScores(Showing):
    """Scores of rows known to be positive and of rows whose label is not known.

    Parameters
    ----------
    positive : array-like or Series of shape (positive,), in [0, 1]
        Scores of a random sample of positives.
    unlabeled : array-like or Series of shape (unlabeled,), in [0, 1]
        Scores of a random sample of the population, positives and negatives.
    classifier : str, default "classifier"
        Name of the classifier.

    Attributes
    ----------
    positive, unlabeled : tuple of ndarray
        Scores of each classifier; float32 stays float32.
    classifiers : tuple of str
        Names of the classifiers.

    Raises
    ------
    InputError
        If one of the samples is empty, or a score is no probability.

    Notes
    -----
    The positives are taken to be selected completely at random (SCAR): their scores are distributed
    like those of the positives among the unlabelled rows. The two samples are drawn separately
    (case-control); the positives are not rows of the unlabelled sample. Arrays are looked at, not
    copied: do not change them afterwards.

    References
    ----------
    .. [1] C. Elkan and K. Noto, KDD 2008. https://doi.org/10.1145/1401890.1401920

    Examples
    --------
    >>> from bayescal.quantities.pu_ece.data import PUScores
    >>> PUScores(positive=[0.7, 0.9], unlabeled=[0.1, 0.4, 0.8], classifier="vit")
    <PUScores: classifiers 'vit'; n_positive 2, n_unlabeled 3>
    """

    positive: tuple[Floats, ...]
    unlabeled: tuple[Floats, ...]
    classifiers: tuple[str, ...]

    def __init__(self, *, positive: Any, unlabeled: Any, classifier: str = "classifier") -> None:
        check_is(classifier, (str, int), "classifier", "Name it by a word.")
        _fill(self, {str(classifier): (positive, unlabeled)}, "")

    @classmethod
    def stack(cls, scores: Mapping[str, tuple[Any, Any]]) -> PUScores:
        """Put several classifiers' scores of the same rows together.

        Parameters
        ----------
        scores : mapping of str to (positive, unlabeled)
            Both samples' scores by name of the classifier, each as for `PUScores`.

        Returns
        -------
        PUScores
            With one entry of ``classifier`` each, in the order given.

        Raises
        ------
        InputError
            If there is no classifier, or they score different numbers of rows.

        Examples
        --------
        >>> from bayescal.quantities.pu_ece.data import PUScores
        >>> PUScores.stack({"vit": ([0.7], [0.1, 0.4]), "gbm": ([0.8], [0.2, 0.3])}).n_classifiers
        2
        """
        if not isinstance(scores, Mapping) or not scores:
            raise InputError(
                f"there must be at least one classifier with its scores; got {scores!r:.60}. "
                "Pass {name: (positive, unlabeled)}."
            )
        check_unique([str(name) for name in scores], "classifier")
        found = cls.__new__(cls)
        _fill(found, {str(name): pair for name, pair in scores.items()}, " of {!r}")
        return found

    @property
    def n_positive(self) -> int:
        """Number of positives."""
        return len(self.positive[0])

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows."""
        return len(self.unlabeled[0])

    @property
    def n_classifiers(self) -> int:
        """Number of classifiers."""
        return len(self.classifiers)

    def select(self, classifier: str) -> PUScores:
        """Take one classifier.

        Parameters
        ----------
        classifier : str
            Its name.

        Returns
        -------
        PUScores
            That classifier alone.

        Examples
        --------
        >>> from bayescal.quantities.pu_ece.data import PUScores
        >>> both = PUScores.stack({"vit": ([0.7], [0.1, 0.4]), "gbm": ([0.8], [0.2, 0.3])})
        >>> both.select("gbm").classifiers
        ('gbm',)
        """
        check_known(classifier, self.classifiers, "classifier", "the scores")
        place = self.classifiers.index(classifier)
        return PUScores(
            positive=self.positive[place], unlabeled=self.unlabeled[place], classifier=classifier
        )

    def _show_(self) -> Shown:
        each = zip(self.classifiers, self.positive, self.unlabeled, strict=True)
        return Shown(
            lead=[
                f"{counted(self.n_positive, 'positive')} and "
                f"{counted(self.n_unlabeled, 'unlabelled row')}."
            ],
            columns=("Classifier", "Mean score of positives", "of unlabelled rows"),
            rows=[(name, *(f"{one.mean():.4f}" for one in samples)) for name, *samples in each],
        )

    def __repr__(self) -> str:
        """Name the classifiers and count the rows."""
        names = ", ".join(map(repr, self.classifiers))
        return (
            f"<PUScores: classifiers {names}; n_positive {self.n_positive}, "
            f"n_unlabeled {self.n_unlabeled}>"
        )


_PAIR: Final = "Pass {name: (positive, unlabeled)}."


def _fill(found: PUScores, scores: Mapping[str, tuple[Any, Any]], whose: str) -> None:
    """Check and set the fields; `whose` names the classifier in a message."""
    check_classifiers(scores)
    samples: dict[str, list[Floats]] = {"positive": [], "unlabeled": []}
    first: list[Column] = []
    for name, pair in scores.items():
        check_is(pair, (tuple, list), f"scores[{name!r}]", _PAIR)
        if len(pair) != 2:
            raise InputError(f"scores[{name!r}] must be two columns; got {len(pair)}. {_PAIR}")
        names = [sample + whose.format(name) for sample in samples]
        given = [Column(*each) for each in zip(names, pair, strict=True)]
        first = first or given
        for one, other in zip(first, given, strict=True):
            check_one_order(one, other)
        columns = alike(*map(probabilities, given))
        for (sample, arrays), called, values in zip(samples.items(), names, columns, strict=True):
            array = _binary(values, called)
            if arrays:
                start = sample + whose.format(next(iter(scores)))
                check_same_length(len(array), called, len(arrays[0]), start)
            arrays.append(array)
    for sample, arrays in samples.items():
        object.__setattr__(found, sample, tuple(arrays))
    object.__setattr__(found, "classifiers", tuple(scores))


def _binary(values: Floats, name: str) -> Floats:
    if values.ndim != 1:
        raise InputError(
            f"{name} must hold one score a row; got shape {values.shape}. "
            "Pass the probability of the positive class."
        )
    read_only = values.view()
    read_only.flags.writeable = False
    return read_only


@dataclass(frozen=True, slots=True, eq=False)
class PUProblem:
    """Unlabelled rows by cell and bin, and positives in the same cells; made by `PUProblem.of`."""

    unlabeled: Problem
    positive: NDArray[np.int64]  # (cell,)
    total: NDArray[np.int64]  # (cell,)
    n_positive: int

    @classmethod
    def of(cls, unlabeled: Problem, positive: NDArray[np.int64]) -> PUProblem:
        """Join the counts of both samples."""
        total = positive + unlabeled.cells.count
        return cls(unlabeled, positive, total, int(positive.sum()))

    @property
    def cells(self) -> BinCounts:
        """Cells of the unlabelled scores."""
        return self.unlabeled.cells

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows."""
        return self.cells.n

    @property
    def log_ratio(self) -> float:
        """Log of positives over unlabelled rows."""
        return float(np.log(self.n_positive / self.n_unlabeled))

    def positive_in_bins(self) -> NDArray[np.int64]:
        """Positives in each bin, (bin,)."""
        return np.asarray(self.positive @ self.unlabeled.membership()).astype(np.int64)


class PUCounts(NamedTuple):
    """Positives and unlabelled rows by cells of the score, and bins that the cells make up."""

    bins: BinCounts  #: Unlabelled rows by bin.
    cells: BinCounts  #: Unlabelled rows by cell.
    positive: BinCounts  #: Positives by cell.
    parts: BinCounts | None = None  #: Rows by part of a cell: unlabelled ones, where it has these.

    @property
    def n_positive(self) -> int:
        """Number of positives."""
        return self.positive.n

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows."""
        return self.cells.n

    def positive_in_bins(self) -> NDArray[np.int64]:
        """Positives in each bin, (bin,)."""
        place = self.cells.place_in(self.bins.edges)
        return np.asarray(totals(self.positive.count[np.newaxis], place, self.bins.n_bins)[0])


CELLS = 100


def problems(
    data: PUScores | Mapping[str, PUCounts], priors: Priors, binning: Binning
) -> list[PUProblem]:
    """Count each classifier's scores; a curve needs cells finer than the bins."""
    fine = isinstance(priors.label_rate, CurveAverage | SmoothCurve)
    if isinstance(data, Mapping):
        # Of the counts of earlier versions none are known: a result has them of all cases or none.
        if any(counts.parts is None for counts in data.values()):
            data = {name: counts._replace(parts=None) for name, counts in data.items()}
        return [_problem(name, counts, fine) for name, counts in data.items()]
    return [
        _problem(name, _counted(positive, unlabeled, fine, binning), fine)
        for name, positive, unlabeled in zip(
            data.classifiers, data.positive, data.unlabeled, strict=True
        )
    ]


def _problem(name: str, counts: PUCounts, fine: bool) -> PUProblem:
    coords = {"classifier": name}
    if not fine:
        return PUProblem.of(Problem(coords, counts.bins, counts.bins), counts.positive_in_bins())
    cells, positive = counts.cells, counts.positive
    # A cell of positives alone stands at their mean score.
    mean_score = np.where(cells.count > 0, cells.mean_score, positive.mean_score)
    cells = replace(cells, mean_score=mean_score)
    return PUProblem.of(Problem(coords, cells, counts.bins, counts.parts), positive.count)


def _counted(positive: Floats, unlabeled: Floats, fine: bool, binning: Binning) -> PUCounts:
    """Count both samples of one classifier."""
    narrow = edges = binning.edges(unlabeled)
    both = np.concatenate([unlabeled, positive])
    if fine:
        quantiles = partial(bin_edges, unlabeled, CELLS, "quantile")
        narrow = cell_edges(both, CELLS, edges, quantiles, binning.closed)

    def count(score: Floats, edges: Floats) -> BinCounts:
        return count_into(score, np.zeros(len(score), np.uint8), edges, binning.closed)

    cells = count(unlabeled, narrow)
    counts = PUCounts(
        cells.merge(edges, strategy_name(binning.strategy)), cells, count(positive, narrow)
    )
    if not fine:
        return counts
    kind = np.repeat(np.arange(2, dtype=np.uint8), [len(unlabeled), len(positive)])
    parts = part_counts(Task({}, both, kind), cells)
    return counts._replace(parts=_parts(cells, parts, count(unlabeled, parts.edges)))


def _parts(cells: BinCounts, both: BinCounts, unlabeled: BinCounts) -> BinCounts:
    """Unlabelled rows by part of a cell; in a cell of positives alone these."""
    alone = (cells.count == 0)[both.place_in(cells.edges)]
    fields = {
        name: np.where(alone, getattr(both, name), getattr(unlabeled, name))
        for name in ("count", "mean_score")
    }
    return replace(unlabeled, **fields)


_YES = ("1", "true", "yes", "positive", "p")
_NO = ("0", "false", "no", "unlabeled", "unlabelled", "u")


def read_pu_scores(
    path: str | PathLike[str], *, positive_column: str, score: str | Sequence[str] | None = None
) -> PUScores:
    r"""Read the scores of positives and unlabelled rows from a CSV or Parquet file.

    Parameters
    ----------
    path : path-like
        The file; see `bayescal.core.tables.open_table`.
    positive_column : str
        Column that says of each row which sample it is from: 1 (or true, yes, positive) for a
        positive, 0 (or false, no, unlabeled, an empty field) for an unlabelled row.
    score : str or sequence of str, optional
        Column of each classifier's scores; the one other column of the file if not given.

    Returns
    -------
    PUScores
        Classifiers are named after their columns.

    Raises
    ------
    InputError
        If the file cannot be read, a column is missing or wrong, or `PUScores` refuses the scores.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayescal.quantities.pu_ece.data import read_pu_scores
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pu.csv")
    ...     _ = path.write_text("s,vit\n1,0.75\n0,0.5\n,0.25\n")
    ...     read_pu_scores(path, positive_column="s")
    <PUScores: classifiers 'vit'; n_positive 1, n_unlabeled 2>
    """
    table = open_table(path)
    check_known(positive_column, table.columns, "column", table.path.name)
    names = _score_columns(table, positive_column, score)
    check_columns(names, positive_column=positive_column)
    columns = table.read([positive_column, *names])
    where = f"column {positive_column!r} of {table.path.name}"
    _check_not_swapped(columns, positive_column, names, table.path.name)
    positive = selected(columns[positive_column], where)
    return PUScores.stack(
        {name: (columns[name][positive], columns[name][~positive]) for name in names}
    )


def _score_columns(
    table: Table, positive_column: str, score: str | Sequence[str] | None
) -> list[str]:
    if score is not None:
        return checked_scores(score)
    others = [name for name in table.columns if name != positive_column]
    if len(others) != 1:
        raise InputError(
            f"the column of the scores must be named where there are several; {table.path.name} "
            f"has {listing(others) if others else 'no other column'}. Name it as the score."
        )
    return others


def _check_not_swapped(
    columns: dict[str, NDArray[Any]], positive_column: str, names: Sequence[str], file: str
) -> None:
    """Recognise a column of scores where that of the samples should be, and the reverse."""
    if columns[positive_column].dtype.kind != "f":
        return
    values = columns[positive_column]
    known = values[np.isfinite(values)]
    scores_there = len(np.unique(known)) > 2 and ((known >= 0) & (known <= 1)).all()
    binary = [
        name
        for name in names
        if columns[name].dtype.kind in "biuf" and set(np.unique(columns[name]).tolist()) <= {0, 1}
    ]
    if scores_there and binary:
        raise InputError(
            f"column {positive_column!r} of {file} must hold 1 for positives and 0 for unlabelled "
            f"rows; it holds scores, and column {binary[0]!r} holds 0 and 1. Swap the two."
        )


def selected(values: NDArray[Any], where: str) -> NDArray[np.bool_]:
    """Which rows are positives."""
    if values.dtype.kind in "biuf":
        positive = np.asarray(values == 1)
        # Missing ones, which are no number, are unlabelled.
        unlabeled = (values == 0) | (values != values)
    else:
        words = [_word(value) for value in values.tolist()]
        positive = np.array([word in _YES for word in words], dtype=np.bool_)
        unlabeled = np.array([word in _NO or not word for word in words], dtype=np.bool_)
    wrong = np.flatnonzero(~(positive | unlabeled))
    if wrong.size:
        raise InputError(
            f"{where} must hold 1 for positives and 0 for unlabelled rows; got "
            f"{values[wrong[:1]].tolist()[0]!r} at row {wrong[0]}. Name the column that says which "
            "is which."
        )
    return positive


def _word(value: Any) -> str:
    """A cell in lower case; whole numbers without a point, nothing for a missing value."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().casefold()


def count_rows(
    data: Any,
    *,
    positive_column: str,
    score: str | Sequence[str],
    binning: Binning | None = None,
    **fields: Unpack[BinningFields],
) -> dict[str, PUCounts]:
    r"""Count positive and unlabelled rows into bins, reading them partition by partition.

    Parameters
    ----------
    data : path, Dask dataframe or dict of Dask arrays
        A CSV or Parquet file, a directory of Parquet files, or the columns by name.
    positive_column : str
        Column that says of each row which sample it is from: 1 (or true, yes, positive) for a
        positive, 0 (or false, no, unlabeled, an empty field) for an unlabelled row.
    score : str or sequence of str
        Column of each classifier's scores.
    binning : Binning, optional
        Bins, cut on the unlabelled scores; by default 15 of equal mass.
    **fields
        `n_bins`, `strategy` and `closed` of a `Binning`, instead of `binning`.

    Returns
    -------
    dict of str to PUCounts
        What `bayescal.fit` of `bayescal.pu_ece` takes, by score column.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist or cannot be used, one of the samples is
        empty, or the number of bins is ``"optimal"``, which depends on the class prior.

    Notes
    -----
    All rows are read once for each eight scores, and memory does not grow with them. Rows of a
    narrow cell of the score count as rows of its mean score; see `bayescal.Counts`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayescal as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("s,p\n1,0.75\n,0.25\n,0.75\n1,0.5\n")
    ...     found = bc.pu_ece.count_rows(path, positive_column="s", score="p", n_bins=2)
    >>> found["p"].bins.count.tolist(), found["p"].positive_in_bins().tolist()
    ([1, 1], [0, 2])
    """
    names = checked_scores(score)
    check_columns(names, positive_column=positive_column)
    chosen = Binning.of(binning, **fields)
    if not isinstance(chosen.n_bins, int):
        raise InputError(
            "n_bins must be a number where rows are counted, as the optimal one depends on the "
            "class prior; got 'optimal'. Pass bayescal.pu_ece.optimal_n_bins(n_positive, "
            "n_unlabeled, class_prior)."
        )
    rows = rows_of(data)
    found = counted_by(rows, names, [positive_column], partial(_counts, column=positive_column))
    where = column_of(rows, positive_column)
    return {name: binned(counts, chosen, chosen.n_bins, where) for name, counts in found.items()}


def _counts(batches: Iterator[Batch], scores: Sequence[str], column: str) -> Several[Counts]:
    """Count the rows of a part."""
    sums, n_read = {name: CellSums() for name in scores}, 0
    for batch in batches:
        name, values, _ = batch.column(column)
        kind = np.where(selected(to_numpy(values, name), name), POSITIVE, UNLABELED)
        for score, one in sums.items():
            one.add(probabilities(batch.column(score)), kind)
        n_read += len(kind)
    return Several({name: Counts(*one.held(), (1,), 1, n_read) for name, one in sums.items()})


def binned(counts: Counts, binning: Binning, n_bins: int, column: str) -> PUCounts:
    """Count the rows of one classifier into bins of the unlabelled rows."""
    n_unlabeled, n_negative = (int(counts.sums[kind].sum()) for kind in (UNLABELED, NEGATIVE))
    if counts.weighted:
        raise InputError(
            "pu_ece cannot use sample weights; got counts of weighted rows. Count the rows without "
            "weights."
        )
    if n_negative:
        raise InputError(
            "counts of positive and unlabelled rows must have no others; got "
            f"{counted(n_negative, 'negative row')}. Count rows that are not positive without a "
            "label."
        )
    check_rows(counts.n_obs, column)
    check_rows(n_unlabeled, f"the unlabelled rows by {column}")
    check_rows(counts.n_labeled, f"the positive rows by {column}")
    held, none = counts.unlabeled > 0, np.zeros(len(counts.cell), np.int64)
    unlabeled = TiedRows(counts.score[held], counts.unlabeled[held], none[held])
    positive = replace(counts.labeled, positives=np.zeros_like(counts.labeled.rows))
    edges = unlabeled.edges(n_bins, binning.strategy)
    narrow = cell_edges(
        counts.score, CELLS, edges, lambda: unlabeled.edges(CELLS, "quantile"), binning.closed
    )
    cells, of_positive = (rows.count(narrow, binning.closed) for rows in (unlabeled, positive))
    both = TiedRows(counts.score, counts.unlabeled + counts.positives, counts.positives)
    parts = both.parts(cells)
    parts = _parts(cells, parts, unlabeled.count(parts.edges, binning.closed))
    bins = cells.merge(edges, strategy_name(binning.strategy))
    return PUCounts(bins, cells, of_positive, parts)
