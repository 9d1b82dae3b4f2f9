"""Rows by partitions: Dask's dataframes and arrays, summed up where their partitions are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeGuard, cast

from numpy.typing import NDArray

from bayescal.core.checks import check_known, listing
from bayescal.core.columns import to_numpy
from bayescal.core.errors import InputError
from bayescal.core.partial_sums import Batch, Batched, Sums, joined, numbered
from bayescal.core.tables import open_table


def rows_of(data: Any) -> Batched:
    """Take a file, a directory of Parquet files, a Dask dataframe, or Dask arrays by name."""
    if isinstance(data, str | PathLike):
        return open_table(data)
    if _is_frame(data):
        return DaskFrame(data)
    if isinstance(data, Mapping) and data and all(map(_is_array, data.values())):
        return DaskArrays.of(data)
    if hasattr(data, "batches"):
        return cast("Batched", data)
    raise InputError(
        "data must be the path of a file or of a directory of Parquet files, a Dask dataframe, or "
        f"a dict of Dask arrays; got {type(data).__name__}. Rows in memory go into bayescal.Scores."
    )


def _is_frame(data: Any) -> TypeGuard[Any]:
    return hasattr(data, "__dask_graph__") and hasattr(data, "get_partition")


def _is_array(data: Any) -> TypeGuard[Any]:
    return hasattr(data, "__dask_graph__") and hasattr(data, "numblocks")


class _Partitioned(ABC):
    """Columns in partitions that Dask computes."""

    @abstractmethod
    def partitions(self, columns: Sequence[str]) -> list[Any]:
        """For each partition its columns by name, not computed yet."""

    def batches(
        self, columns: Sequence[str], batch_rows: int
    ) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Compute the columns anew, partition by partition."""
        from dask.base import compute

        for number, partition in enumerate(self.partitions(columns)):
            (part,) = compute(partition)  # type: ignore[no-untyped-call]  # Dask has no types
            yield from _cut(part, columns, batch_rows, number)

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
        return cast("S", joined(sums, delayed(_plus)).compute())


def _sum_up[S](
    sum_up: Callable[[Iterator[Batch]], S],
    part: Any,
    columns: Sequence[str],
    batch_rows: int,
    number: int,
) -> S:
    # Where a partition begins among all rows is not known before those before it are computed.
    of = f" of partition {number}"
    return sum_up(numbered(_cut(part, columns, batch_rows, number), of=of))


def _plus[S: Sums](first: S, second: S) -> S:
    return first.plus(second)


def _cut(
    part: Any, columns: Sequence[str], batch_rows: int, number: int
) -> Iterator[Mapping[str, NDArray[Any]]]:
    """Cut the columns of a computed partition into batches."""
    arrays = {name: to_numpy(part[name], name) for name in columns}
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"Dask arrays must have blocks of the same rows; block {number} has {lengths}. "
            "Rechunk them alike."
        )
    for start in range(0, lengths[columns[0]], batch_rows):
        yield {name: values[start : start + batch_rows] for name, values in arrays.items()}


@dataclass(frozen=True, slots=True, eq=False)
class DaskFrame(_Partitioned):
    """A Dask dataframe."""

    frame: Any

    def partitions(self, columns: Sequence[str]) -> list[Any]:
        """For each partition a dataframe."""
        for name in columns:
            check_known(name, tuple(map(str, self.frame.columns)), "column", "the dataframe")
        return cast("list[Any]", self.frame[list(columns)].to_delayed())


@dataclass(frozen=True, slots=True, eq=False)
class DaskArrays(_Partitioned):
    """Dask arrays of one dimension, by name; made by `DaskArrays.of`."""

    arrays: Mapping[str, Any]

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> DaskArrays:
        """Check that the arrays are cut alike."""
        first = next(iter(arrays))
        for name, array in arrays.items():
            if array.ndim != 1 or array.numblocks != arrays[first].numblocks:
                raise InputError(
                    f"Dask arrays must have one dimension and as many blocks; {name} has shape "
                    f"{array.shape} in {listing(map(str, array.numblocks))}, and {first} "
                    f"{arrays[first].shape} in {listing(map(str, arrays[first].numblocks))}. "
                    f"Pass {name}.rechunk({first}.chunks)."
                )
        return cls(arrays)

    def partitions(self, columns: Sequence[str]) -> list[Any]:
        """For each block the arrays by name."""
        for name in columns:
            check_known(name, tuple(self.arrays), "array", "data")
        blocks = {name: self.arrays[name].to_delayed() for name in columns}
        return [
            {name: parts[number] for name, parts in blocks.items()}
            for number in range(len(blocks[columns[0]]))
        ]
