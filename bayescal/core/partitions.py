"""Rows by partitions: Dask's dataframes and arrays, summed up where their partitions are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, cast

from bayescal.core.checks import check_known, listing
from bayescal.core.columns import to_numpy
from bayescal.core.errors import InputError
from bayescal.core.partial_sums import Batch, Rows, Sums, joined, numbered, plus
from bayescal.core.tables import open_table


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
        for name in columns:
            check_known(name, tuple(map(str, self.data.columns)), "column", "the dataframe")
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
            delayed(_sum_up)(once, part, tuple(columns), batch_rows, number)
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

    (part,) = compute(partition)  # type: ignore[no-untyped-call]  # Dask has no types
    yield from _batches(part, columns, batch_rows, number)


def _sum_up[S](
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
