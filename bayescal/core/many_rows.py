"""Counts of rows that need not fit in memory, of files and of Dask, in one reading of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import batched
from os import PathLike
from typing import Any, Final, Unpack, cast

import numpy as np

from bayescal.core.binning import Binning, BinningFields
from bayescal.core.checks import (
    check_columns,
    check_flag,
    check_known,
    check_rows,
    check_unique,
    check_whole,
    checked_scores,
    listing,
)
from bayescal.core.columns import MISSING, factorize, to_numpy, words_of
from bayescal.core.count_table import CountTable
from bayescal.core.counts import MOST_CELLS, Counts, check_labeled
from bayescal.core.counts_sql import WHOLE
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, check_order, code_groups, position, probabilities
from bayescal.core.sums import (
    Batch,
    CountedColumns,
    Rows,
    Several,
    SharedCounts,
    Sums,
    check_together,
    joined,
    numbered,
    plus,
    summed,
)
from bayescal.core.tables import Table, open_table

# Columns of scores that are counted at a time: each takes up to 40 MB in each thread.
_TOGETHER: Final = 8


def count_rows(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str],
    pos_label: Any = 1,
    from_logits: bool = False,
    group: str | None = None,
    weight: str | None = None,
    binning: Binning | None = None,
    n_cells: int | None = 100,
    pairs: bool = False,
    **fields: Unpack[BinningFields],
) -> CountTable:
    r"""Count rows by narrow cells of the score, reading them partition by partition.

    Parameters
    ----------
    data : path, Dask dataframe or dict of Dask arrays
        A CSV or Parquet file, a directory of Parquet files, or the columns by name.
    label : str
        Column of the labels. Rows without one are counted as unlabelled, which bins leave out.
    score : str or sequence of str
        Column of each classifier's scores.
    pos_label : default 1
        The positive label.
    from_logits : bool, default False
        Whether the scores are logits.
    group : str, optional
        Column of the groups.
    weight : str, optional
        Column of sample weights.
    binning : Binning, optional
        The bins; or its fields as keyword arguments. By default 15 quantile bins.
    n_cells : int or None, default 100
        Cells within the bins that a curve is fitted to, as for rows in memory; None: bins alone.
    pairs : bool, default False
        Whether to count the rows of all classifiers together too, up to 8 of them without weights,
        in one reading more, so that `bayescal.difference` compares them as it does rows.
    **fields
        `n_bins`, `strategy` and `closed`, as of `Binning`.

    Returns
    -------
    CountTable
        What `bayescal.fit` of `bayescal.ece` and of `bayescal.agnostic` takes, by score column.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist, or labels or scores cannot be used.

    Notes
    -----
    All rows are read once for each eight scores, and memory does not grow with them. Parts of
    Parquet files are read by several threads, and Dask's partitions are counted where Dask computes
    them. Rows of a narrow cell of the score count as rows of its mean score; see `Counts`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayescal as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("y,p\n0,0.1\n0,0.4\n1,0.5\n1,0.9\n")
    ...     found = bc.count_rows(path, label="y", score="p", n_bins=2, strategy="uniform")
    >>> found["p"].bins.count.tolist()
    [3, 1]
    """
    names, chosen = checked_scores(score), Binning.of(binning, **fields)
    if n_cells is not None:
        check_whole(n_cells, "n_cells", most=MOST_CELLS)
    if check_flag(pairs, "pairs"):
        check_together(names)
        if weight is not None:
            raise InputError(
                f"pairs must be of rows without weights; got {weight!r}. Leave it out."
            )
    check_columns(names, label=label, group=group, weight=weight)
    check_flag(from_logits, "from_logits")
    how: Any = {"label": label, "pos_label": pos_label, "from_logits": from_logits}
    rows, together = rows_of(data), None
    rows = rows.with_words(group) if isinstance(rows, Table) else rows
    others = [name for name in (label, group, weight) if name is not None]
    found: dict[str, dict[str, Counts]] = {}
    for (name, part), counts in counted_by(
        rows, names, others, partial(_counts, group=group, weight=weight, **how)
    ).items():
        found.setdefault(name, {})[part] = counts
    labels, weights = (name and column_of(rows, name) for name in (label, weight))
    check_rows(len(found), str(labels))
    for name, parts in found.items():
        every = check_labeled(joined(parts.values(), Counts.plus), str(labels), weights)
        check_order(Column(column_of(rows, name), None, name), every.classes)
    if pairs:
        together = summed(rows, [label, *names], partial(_together, scores=names, **how))
    table = CountTable(found, together)
    return table.each(lambda one: replace(one, binning=chosen, n_cells=n_cells))


def counted_by(
    rows: Rows, scores: Sequence[str], others: Sequence[str], count: Callable[..., Several[Counts]]
) -> dict[Any, Counts]:
    """Count rows by some scores at a time; `count` is a function of the batches and of `scores`."""
    found = dict[Any, Counts]()
    for some in batched(scores, _TOGETHER):
        found |= summed(rows, [*others, *some], partial(count, scores=some)).each
    return found


def _counts(
    batches: Iterator[Batch],
    scores: Sequence[str],
    label: str,
    group: str | None,
    weight: str | None,
    pos_label: Any,
    from_logits: bool,
) -> Several[Counts]:
    """Count the rows of a part; of groups one of a batch at a time, as its sums take 20 MB."""
    found: Several[Counts] = Several({})
    weighted = weight is not None
    sums = {name: CountedColumns(pos_label, weighted) for name in scores}
    for batch in batches:
        for part, columns in _by_group(batch, group):
            heavy = None if weight is None else columns[weight]
            for name in scores:
                one = sums[name] if group is None else CountedColumns(pos_label, weighted)
                try:
                    one.add(columns[label], columns[name], heavy, from_logits)
                except InputError:
                    # The row's number is that among all rows, not among its group's.
                    every = None if weight is None else batch.column(weight)
                    one.add(batch.column(label), batch.column(name), every, from_logits)
                    raise
                if group is not None:
                    found = found.plus(Several({(name, part): Counts(*one.fields())}))
    if group is not None:
        return found
    return Several({(name, WHOLE): Counts(*one.fields()) for name, one in sums.items()})


def _by_group(batch: Batch, group: str | None) -> Iterator[tuple[str, dict[str, Column]]]:
    """The columns of a batch, or of the rows of each of its groups."""
    columns = {name: batch.column(name) for name in batch.columns}
    if group is None:
        yield WHOLE, columns
        return
    name, values, _ = columns[group]
    codes, groups = code_groups(values, name, len(values), name)
    for place, part in enumerate(groups):
        rows = np.flatnonzero(codes == place)
        yield part, {key: own._replace(values=own.values[rows]) for key, own in columns.items()}


def _together(
    batches: Iterator[Batch], label: str, scores: Sequence[str], pos_label: Any, from_logits: bool
) -> SharedCounts:
    """Count labelled rows by combinations of cells."""
    found = SharedCounts.of_rows({name: np.zeros(0) for name in scores}, np.zeros(0, np.bool_))
    for batch in batches:
        code, labels = factorize(batch.columns[label], label)
        known = code != MISSING
        value = {name: probabilities(batch.column(name), from_logits)[known] for name in scores}
        positive = code[known] == position(pos_label, labels)
        found = found.plus(SharedCounts.of_rows(value, positive, found.shift))
    return found


def column_of(rows: Rows, name: str) -> str:
    """What messages about all rows of a column call it."""
    return f"column {name!r}" + (rows.of if isinstance(rows, Table) else "")


def rows_of(data: Any) -> Rows:
    """Take a file, a directory of Parquet files, a Dask dataframe, or Dask arrays by name."""
    if isinstance(data, str | PathLike):
        return open_table(data)
    if _is_dask(data, "get_partition"):
        return DaskFrame(data)
    if isinstance(data, Mapping) and data and all(_is_dask(a, "numblocks") for a in data.values()):
        _check_cut_alike(data)
        return DaskArrays(data)
    if hasattr(data, "parts"):
        return cast("Rows", data)
    raise InputError(
        "data must be the path of a file or of a directory of Parquet files, a Dask dataframe, or "
        f"a dict of Dask arrays; got {type(data).__name__}. Rows in memory go into bayescal.Scores."
    )


def _is_dask(data: Any, attribute: str) -> bool:
    return hasattr(data, "__dask_graph__") and hasattr(data, attribute)


def _check_cut_alike(arrays: Mapping[str, Any]) -> None:
    first = next(iter(arrays))
    for name, array in arrays.items():
        if array.ndim != 1 or array.numblocks != arrays[first].numblocks:
            raise InputError(
                f"Dask arrays must have one dimension and as many blocks; {name} has shape "
                f"{array.shape} in {listing(map(str, array.numblocks))}, and {first} "
                f"{arrays[first].shape} in {listing(map(str, arrays[first].numblocks))}. "
                f"Pass {name}.rechunk({first}.chunks)."
            )


@dataclass(frozen=True, slots=True, eq=False)
class DaskFrame:
    """Columns in partitions that Dask computes, of a dataframe."""

    data: Any

    def partitions(self, columns: Sequence[str]) -> list[Any]:
        """For each partition its columns by name, not computed yet."""
        known = words_of(self.data.columns)
        check_unique(known, "column")
        for name in columns:
            check_known(name, known, "column", "the dataframe")
        return cast("list[Any]", self.data[list(columns)].to_delayed())

    def parts(self, columns: Sequence[str], batch_rows: int) -> list[Iterator[Batch]]:
        """Partitions that are computed when they are gone through."""
        return [
            _computed(partition, columns, batch_rows, number)
            for number, partition in enumerate(self.partitions(columns))
        ]

    def summed[S: Sums](
        self, columns: Sequence[str], batch_rows: int, sum_up: Callable[[Iterator[Batch]], S]
    ) -> S:
        """Sum the partitions up where Dask computes them; only the sums of all come back."""
        from dask.delayed import delayed

        # One node of the graph, so that what it holds is sent to each worker once.
        once = delayed(sum_up)
        sums = [
            delayed(_summed_part)(once, part, tuple(columns), batch_rows, number)
            for number, part in enumerate(self.partitions(columns))
        ]
        return cast("S", joined(sums, delayed(plus)).compute())


class DaskArrays(DaskFrame):
    """Arrays of one dimension by name, which are cut alike."""

    def partitions(self, columns: Sequence[str]) -> list[Any]:
        """For each block the arrays by name."""
        for name in columns:
            check_known(name, tuple(self.data), "array", "data")
        blocks = [self.data[name].to_delayed() for name in columns]
        return [dict(zip(columns, block, strict=True)) for block in zip(*blocks, strict=True)]


def _computed(
    partition: Any, columns: Sequence[str], batch_rows: int, number: int
) -> Iterator[Batch]:
    from dask.base import compute

    (part,) = compute(partition)
    yield from _batches(part, columns, batch_rows, number)


def _summed_part[S](
    sum_up: Callable[[Iterator[Batch]], S],
    part: Any,
    columns: Sequence[str],
    batch_rows: int,
    number: int,
) -> S:
    return sum_up(_batches(part, columns, batch_rows, number))


def _batches(part: Any, columns: Sequence[str], batch_rows: int, number: int) -> Iterator[Batch]:
    """Cut a computed partition into batches, whose rows are counted within it."""
    arrays = {name: to_numpy(part[name], name) for name in columns}
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"Dask arrays must have blocks of the same rows; block {number} has {lengths}. "
            "Rechunk them alike."
        )
    cut = (
        {name: values[start : start + batch_rows] for name, values in arrays.items()}
        for start in range(0, lengths[columns[0]], batch_rows)
    )
    return numbered(cut, of=f" of partition {number}")
