"""Rows summed up by narrow cells of the score: counts that add up, whatever the parts and order."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_counts import NEGATIVE, POSITIVE, UNLABELED, BinCounts, TiedRows
from bayescal.core.bin_edges import resolved_number, strategy_name
from bayescal.core.binning import Binning
from bayescal.core.checks import check_flag, check_is, check_rows, check_some_weight, check_whole
from bayescal.core.columns import Floats, Label, Whole
from bayescal.core.count_table import CountTable, check_alike, read_counts, write_counts
from bayescal.core.counts_sql import ALONE, WHOLE, CountColumns, frame_sums
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, binary_classes, check_order, checked_label, round_scores
from bayescal.core.scores import Scores, check_unweighted
from bayescal.core.shown import Showing, Shown
from bayescal.core.sums import (
    ONE,
    ZERO,
    CellSums,
    CountedColumns,
    Held,
    SharedCounts,
    cell_bounds,
    check_room,
    lowest,
    units_of,
)
from bayescal.core.text import counted

MOST_CELLS: Final = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Showing):
    """Rows of one classifier, summed up by narrow cells of the score; counts of two parts add up.

    Made by `from_arrays`, or by `bayescal.count_rows` of files and Dask's columns.

    Parameters
    ----------
    cell : ndarray of shape (cell,), int64
        Cells with rows, rising: ``floor(8192 logit(score))``. Scores of exactly 0 and 1 have cells
        of their own, -327681 and 327680; others nearer to them than a logit of 40 are at 40.
    sums : ndarray of shape (4, cell), int64
        Negative, positive and unlabelled rows, and what all their scores exceed the least score of
        the cell by, in units.
    weights : ndarray of shape (3, cell) or (0, cell)
        Weights of negative and of positive rows, and the squares of both; none without weights.
    labels : tuple
        Labels that occur.
    pos_label : label
        The label that the scores are the probability of.
    n_read : int
        Number of rows, with those of weight 0.
    binning : Binning
        Bins that the rows are evaluated in where none others are asked for.
    n_cells : int or None
        Cells at most that a calibration curve is fitted to; None for those of the bins.

    Notes
    -----
    Rows of a cell count as rows of its mean score. A cell is at most 3.1e-5 wide, and far narrower
    near 0 and 1. So numbers of rows are exact, and a bin's edge moves by a cell at most. The binned
    calibration error of a million rows is some 1e-5 from that of exact bins, 1e-4 where all scores
    are within .04 of each other: less than its standard error. Where each cell has one score, as of
    rounded scores, nothing moves.

    Numbers of rows and sums of scores are whole numbers, so that it makes no difference in which
    parts or which order rows were counted. Sums of weights are rounded.

    Examples
    --------
    >>> import bayescal as bc
    >>> monday = bc.Counts.from_arrays([0, 0, 1], [0.1, 0.4, 0.5])
    >>> tuesday = bc.Counts.from_arrays([1, None], [0.9, 0.1])
    >>> week = monday + tuesday
    >>> week
    <Counts: n_obs 5, n_labeled 4; 4 cells; classes 0, 1>
    >>> week.rows.tolist(), week.positives.tolist(), week.unlabeled.tolist()
    ([1, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 0])
    """

    cell: Whole
    sums: Whole
    weights: Floats
    labels: tuple[Label, ...]
    pos_label: Label
    n_read: int
    binning: Binning = field(default_factory=Binning)
    n_cells: int | None = 100

    def __post_init__(self) -> None:
        """Check that sums of scores are whole."""
        check_room(self.cell, self.sums[:3].sum(axis=0))

    @classmethod
    def from_arrays(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        pos_label: Any = 1,
        from_logits: bool = False,
        sample_weight: Any = None,
    ) -> Counts:
        """Count rows in memory.

        Parameters
        ----------
        y_true : array-like of shape (obs,)
            Labels; None, NaN and NA where the label is not known.
        y_prob : array-like of shape (obs,), in [0, 1]
            Scores of one classifier, for two classes.
        pos_label : label, default 1
            The label that the scores are the probability of.
        from_logits : bool, default False
            Whether `y_prob` holds logits.
        sample_weight : array-like of shape (obs,), optional
            Weights of the rows.

        Returns
        -------
        Counts
            Of these rows.

        Raises
        ------
        InputError
            If labels, scores or weights cannot be used, or there are more than two labels.
        """
        found = CountedColumns(pos_label, sample_weight is not None)
        weight = None if sample_weight is None else Column("sample_weight", sample_weight)
        score = Column("y_prob", y_prob)
        found.add(Column("y_true", y_true), score, weight, from_logits)
        counts = check_labeled(cls(*found.fields()), "y_true", weight and weight.name)
        check_order(score, counts.classes)
        return counts

    @overload
    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        classifier: None = None,
        group: None = None,
        pos_label: Any = 1,
        **columns: Unpack[CountColumns],
    ) -> Counts: ...

    @overload
    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        classifier: str | None = None,
        group: str | None = None,
        pos_label: Any = 1,
        **columns: Unpack[CountColumns],
    ) -> Counts | CountTable: ...

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        classifier: str | None = None,
        group: str | None = None,
        pos_label: Any = 1,
        **columns: Unpack[CountColumns],
    ) -> Counts | CountTable:
        """Take the result of a GROUP BY: sums of the rows of each cell, made by any engine.

        Parameters
        ----------
        frame : DataFrame, Arrow table or mapping of str to array-like
            Columns ``cell``, ``floor(8192 ln(score / (1 - score)))``, at least -327680 and at most
            327679, with -327681 for a score of 0 and 327680 for a score of 1; ``rows``, the number
            of labelled rows; ``positives``, those of the positive label; ``score_sum``, the sum of
            the scores. With ``unlabeled``, the number of rows without a label, `score_sum` is that
            of all rows. Of weighted rows, none of weight 0, also ``weight_sum``, the weights of
            labelled rows; ``positive_weight``, those of the positive ones; ``weight_squares``, the
            sum of the squares of the former.
        classifier : str, optional
            Column of the classifiers' names.
        group : str, optional
            Column of the groups.
        pos_label : label, default 1
            The label that the scores are the probability of.
        **columns
            Names of the columns of numbers, where they are others: ``rows="n"``.

        Returns
        -------
        Counts or CountTable
            Counts, or with `classifier` or `group` a table of them. Rows of the frame with one cell
            (and classifier and group) are added up.

        Raises
        ------
        InputError
            If a column is missing, or its numbers are no such sums.

        Notes
        -----
        Mean scores of cells are those of `from_arrays` to some 12 digits, numbers of rows exact.

        Examples
        --------
        >>> import bayescal as bc
        >>> sums = {"cell": [-8192, 8191], "rows": [4, 5], "positives": [1, 4]}
        >>> found = bc.Counts.from_frame(sums | {"score_sum": [1.07578, 3.65525]})
        >>> found
        <Counts: n_obs 9, n_labeled 9; 2 cells; classes 0, 1>
        """
        positive = checked_label(pos_label)

        def of(held: Held) -> Counts:
            return cls(*held, (positive,), positive, int(held.sums[:3].sum()))

        sums = frame_sums(frame, classifier, group, columns)
        parts = {name: {part: of(held) for part, held in own.items()} for name, own in sums.items()}
        if classifier is None and group is None:
            return parts[ALONE][WHOLE]
        return CountTable(parts)

    @classmethod
    def from_scores(cls, scores: Scores, *, pairs: bool = False) -> CountTable:
        """Count the rows of several classifiers, by group where they have groups.

        Parameters
        ----------
        scores : Scores
            Binary scores.
        pairs : bool, default False
            Whether to count the rows of all classifiers together too, up to 8 of them, so that
            their posteriors are coupled as those of rows are.

        Returns
        -------
        CountTable
            By classifier and group.

        Raises
        ------
        InputError
            If there are several classes, or `pairs` are of 1 classifier, over 8, or weighted rows.

        Examples
        --------
        >>> import bayescal as bc
        >>> scores = bc.Scores.stack({"a": [0.2, 0.9], "b": [0.4, 0.6]}, y_true=[0, 1])
        >>> bc.Counts.from_scores(scores, pairs=True)
        <CountTable: classifiers 'a', 'b'; n_obs 2>
        """
        check_is(scores, Scores, "scores", "Pass bayescal.Scores(y_true=..., y_prob=...).")
        check_flag(pairs, "pairs")
        if not scores.is_binary:
            raise InputError(
                f"counts must be of two classes; got {scores.n_classes}. Pass scores.top_label(), "
                "or scores.one_vs_rest(class_label)."
            )
        kind = np.array([NEGATIVE, POSITIVE, UNLABELED], np.int8)[scores.y_true]
        group, names = scores.group, scores.groups or (WHOLE,)

        def of_rows(score: NDArray[np.floating], rows: Any) -> Counts:
            weight = scores.sample_weight
            sums = CellSums(weight is not None)
            sums.add(score[rows], kind[rows], None if weight is None else weight[rows])
            return cls(*sums.held(), scores.classes, scores.classes[1], len(kind[rows]))

        parts = {
            name: {
                one: of_rows(score, slice(None) if group is None else group == place)
                for place, one in enumerate(names)
            }
            for name, score in zip(scores.classifiers, scores.y_prob, strict=True)
        }
        if not pairs:
            return CountTable(parts)
        check_unweighted(scores, "pairs")
        labeled = kind != UNLABELED
        each = zip(scores.classifiers, scores.y_prob, strict=True)
        together = {name: score[labeled] for name, score in each}
        return CountTable(parts, SharedCounts.of_rows(together, kind[labeled] == POSITIVE))

    @property
    def classes(self) -> tuple[Label, Label]:
        """The negative and the positive label."""
        return binary_classes(self.labels, self.pos_label, "the counts")

    @property
    def rows(self) -> Whole:
        """Labelled rows, (cell,)."""
        return np.asarray(self.sums[NEGATIVE] + self.sums[POSITIVE])

    @property
    def positives(self) -> Whole:
        """Rows of the positive label, (cell,)."""
        return np.asarray(self.sums[POSITIVE])

    @property
    def unlabeled(self) -> Whole:
        """Rows without a label, (cell,)."""
        return np.asarray(self.sums[UNLABELED])

    @property
    def n_labeled(self) -> int:
        """Number of labelled rows."""
        return int(self.rows.sum())

    @property
    def n_obs(self) -> int:
        """Number of rows; rows of weight 0 do not count."""
        return int(self.sums[:3].sum())

    @cached_property
    def score(self) -> Floats:
        """Mean score of each cell, (cell,)."""
        units, (least, most) = units_of(self.cell), cell_bounds(self.cell)
        excess = self.sums[3] / self.sums[:3].sum(axis=0)
        # Rounded as scores are, so that a cell of one score has that score.
        mean = round_scores(np.clip((lowest(self.cell) + excess) / units, least, most))
        mean = _decimal(mean, self.sums[:3].sum(axis=0))
        inside = np.clip(mean, np.nextafter(0, 1), np.nextafter(1, 0))
        return np.where((self.cell > ZERO) & (self.cell < ONE), inside, mean)

    @cached_property
    def labeled(self) -> TiedRows:
        """The labelled rows."""
        held = self.rows > 0
        weights = self.weights[:, held] if self.weighted else None
        return TiedRows(self.score[held], self.rows[held], self.positives[held], weights)

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return len(self.weights) > 0

    @property
    def bins(self) -> BinCounts:
        """Labelled rows in the bins of `binning`."""
        return self.bins_of(self.binning)

    @property
    def cells(self) -> BinCounts | None:
        """Labelled rows in cells within the bins; None without `n_cells`."""
        return None if self.n_cells is None else self.cells_of(self.binning, self.n_cells)

    def bins_of(self, binning: Binning) -> BinCounts:
        """Count the labelled rows into bins.

        Parameters
        ----------
        binning : Binning
            The bins.

        Returns
        -------
        BinCounts
            Counts, positives and mean scores.

        Raises
        ------
        InputError
            If there are no labelled rows, or what is asked for is none of these.
        """
        binning = Binning.of(binning)
        edges = self._edges(binning)
        return self.labeled.count(edges, binning.closed, strategy_name(binning.strategy))

    def cells_of(self, binning: Binning, n_cells: int) -> BinCounts:
        """Count the labelled rows into cells within bins, one a score where these are few.

        Parameters
        ----------
        binning : Binning
            The bins.
        n_cells : int
            Cells at most, but for those that an edge of a bin divides.

        Returns
        -------
        BinCounts
            Counts, positives and mean scores.

        Raises
        ------
        InputError
            If there are no labelled rows, or what is asked for is none of these.
        """
        binning = Binning.of(binning)
        check_whole(n_cells, "n_cells", most=MOST_CELLS)
        edges = self.labeled.cell_edges(self._edges(binning), n_cells, binning.closed)
        return self.labeled.count(edges, binning.closed)

    def _edges(self, binning: Binning) -> Floats:
        check_rows(self.n_labeled, "the counts")
        n_bins = resolved_number(binning.n_bins, self.labeled.effective_n)
        return self.labeled.edges(n_bins, binning.strategy)

    def plus(self, other: Counts) -> Counts:
        """Add the rows of another part of the same table, whose labels may still be found.

        Parameters
        ----------
        other : Counts
            Those of the other part.

        Returns
        -------
        Counts
            Of both.
        """
        cell = np.concatenate([self.cell, other.cell])
        # Stable sorting merges what is sorted already.
        order = np.argsort(cell, kind="stable")
        cell = cell[order]
        first = np.flatnonzero(np.diff(cell, prepend=ZERO - 1))

        def joined[Number: np.generic](*parts: NDArray[Number]) -> NDArray[Number]:
            rows = np.concatenate(parts, axis=1)[:, order]
            return np.asarray(np.add.reduceat(rows, first, axis=1))

        return replace(
            self,
            cell=cell[first],
            sums=joined(self.sums, other.sums),
            weights=joined(self.weights, other.weights),
            labels=tuple(dict.fromkeys(self.labels + other.labels)),
            n_read=self.n_read + other.n_read,
        )

    def __add__(self, other: Counts) -> Counts:
        """Count the rows of both; the left one's bins stay."""
        check_is(other, Counts, "what is added to counts", "Count rows with Counts.from_arrays.")
        check_alike("counts that add up", self, other)
        found = self.plus(other)
        binary_classes(found.labels, found.pos_label, "the sum of counts")
        return found

    def __radd__(self, other: Any) -> Counts:
        """Begin with 0, as the built-in `sum` does."""
        return self if isinstance(other, int) and other == 0 else self + other

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the counts to a file; an existing one is replaced once the new one is complete.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        pathlib.Path
            Where the counts are.

        Raises
        ------
        OutputError
            If the file cannot be written.

        Notes
        -----
        The file is Parquet, which other programs read too; only `load` compares its checksum.
        """
        return write_counts(path, {ALONE: {WHOLE: self}}, None, table=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Counts | CountTable:
        """Read counts from a file.

        Parameters
        ----------
        path : path
            A file that `save` wrote.

        Returns
        -------
        Counts or CountTable
            What was saved.

        Raises
        ------
        InputError
            If there is no such file, it has changed, or it is of another version or by other cells.

        Examples
        --------
        >>> import tempfile
        >>> import bayescal as bc
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = bc.Counts.from_arrays([0, 1], [0.1, 0.9]).save(f"{folder}/day1.counts")
        ...     bc.Counts.load(path)
        <Counts: n_obs 2, n_labeled 2; 2 cells; classes 0, 1>
        """
        found, pairs, table = read_counts(path)
        parts = {
            name: {group: cls(*fields) for group, fields in own.items()}
            for name, own in found.items()
        }
        return CountTable(parts, pairs) if table else parts[ALONE][WHOLE]

    def _show_(self) -> Shown:
        classes = ", ".join(map(str, self.classes))
        rows = counted(self.n_obs, "weighted row" if self.weighted else "row")
        return Shown(
            lead=[
                f"{rows}, {self.n_labeled:,} labelled, {self.positives.sum():,} of "
                f"these positive, in {counted(len(self.cell), 'narrow cell')}; classes {classes}."
            ]
        )

    def __repr__(self) -> str:
        """Count rows and cells, and name the classes."""
        classes = ", ".join(map(str, self.classes))
        return (
            f"<Counts: n_obs {self.n_obs}, n_labeled {self.n_labeled}; "
            f"{counted(len(self.cell), 'cell')}; classes {classes}>"
        )


def _decimal(mean: Floats, rows: Whole) -> Floats:
    """Decimals in the place of means of rows that all stand for one, some of them in float32."""
    near = np.round(mean, 4)
    # A float32 score of .6 is a little above .6.
    off = near.astype(np.float32) - near
    share = np.divide(mean - near, off, out=np.zeros_like(mean), where=off != 0)
    single = np.clip(np.rint(rows * share), 0, rows)
    found = (near % 1 > 0) & (abs(mean - near - off * single / rows) < 1e-12)
    return np.where(found, near, mean)


def check_labeled(counts: Counts, label: str, weight: str | None = None) -> Counts:
    """Check that there are labelled rows of two classes; messages name columns."""
    check_rows(counts.n_read, label)
    if weight is not None:
        check_some_weight(counts.n_obs, counts.n_read, weight)
    if not counts.n_labeled:
        raise InputError(
            f"{label} must hold at least one label; got none in {counted(counts.n_obs, 'row')}. "
            "Label some rows: calibration cannot be measured without."
        )
    binary_classes(counts.labels, counts.pos_label, label)
    return counts
