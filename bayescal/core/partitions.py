"""Rows by partitions: Dask's dataframes and arrays, read one partition at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeGuard, cast

from numpy.typing import NDArray

from bayescal.core.bins.streaming import Batched
from bayescal.core.checks import check_known, listing
from bayescal.core.errors import InputError
from bayescal.core.tables import open_table


def rows_of(data: Any) -> Batched:
    """Take a file, a directory of Parquet files, a Dask dataframe, or Dask arrays by name.

    Raises
    ------
    InputError
        If `data` is none of these, or arrays are not cut into the same blocks.
    """
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


@dataclass(frozen=True, slots=True, eq=False)
class DaskFrame:
    """A Dask dataframe."""

    frame: Any

    def batches(
        self, columns: Sequence[str], batch_rows: int
    ) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Compute the columns anew, partition by partition."""
        for name in columns:
            check_known(name, tuple(map(str, self.frame.columns)), "column", "the dataframe")
        wanted = self.frame[list(columns)]
        for number in range(self.frame.npartitions):
            part = wanted.get_partition(number).compute()
            for start in range(0, len(part), batch_rows):
                rows = part.iloc[start : start + batch_rows]
                yield {name: rows[name] for name in columns}


@dataclass(frozen=True, slots=True, eq=False)
class DaskArrays:
    """Dask arrays of one dimension, by name; made by `DaskArrays.of`."""

    arrays: Mapping[str, Any]
    n_blocks: int

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
        return cls(arrays, arrays[first].numblocks[0])

    def batches(
        self, columns: Sequence[str], batch_rows: int
    ) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Compute the arrays anew, block by block."""
        from dask.base import compute

        for name in columns:
            check_known(name, tuple(self.arrays), "array", "data")
        for number in range(self.n_blocks):
            found = compute(  # type: ignore[no-untyped-call]  # Dask has no types
                *(self.arrays[name].blocks[number] for name in columns)
            )
            part = dict(zip(columns, found, strict=True))
            lengths = {name: len(values) for name, values in part.items()}
            if len(set(lengths.values())) > 1:
                raise InputError(
                    f"Dask arrays must have blocks of the same rows; block {number} has {lengths}. "
                    "Rechunk them alike."
                )
            for start in range(0, next(iter(lengths.values())), batch_rows):
                yield {name: values[start : start + batch_rows] for name, values in part.items()}
