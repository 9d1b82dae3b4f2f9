"""Sums over the rows of a table: several parts at a time, and where the parts are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bayescal.core.columns import MISSING, Label, factorize
from bayescal.core.intake import Column
from bayescal.core.progress import Progress, progress_bar

BATCH_ROWS: Final = 1 << 19
_END: Final = object()


class Batch(NamedTuple):
    """Some rows, and where they are in their table."""

    columns: Mapping[str, NDArray[Any]]
    first: int  # number of the first row
    of: str = ""  # such as " of partition 3", where rows are counted within it

    def column(self, name: str) -> Column:
        """Take a column, under a name that says from where a message counts its rows."""
        place = f" (rows counted from row {self.first}{self.of})" if self.first or self.of else ""
        return Column(name + place, self.columns[name])

    def table(self, names: Sequence[str]) -> Column:
        """Take several columns side by side; a single one stays as it is."""
        columns = [self.column(name) for name in names]
        if len(columns) == 1:
            return columns[0]
        place = columns[0].name.removeprefix(names[0])
        return Column(
            f"the table of columns {names[0]!r} to {names[-1]!r}{place}",
            np.column_stack([np.asarray(column.values) for column in columns]),
        )


def numbered(
    batches: Iterable[Mapping[str, NDArray[Any]]], first: int = 0, of: str = ""
) -> Iterator[Batch]:
    """Number the rows of batches; empty ones are left out."""
    for columns in batches:
        if rows := len(next(iter(columns.values()))):
            yield Batch(columns, first, of)
            first += rows


class Rows(Protocol):
    """A table that can be read repeatedly."""

    def parts(self, columns: Sequence[str], batch_rows: int) -> Sequence[Iterator[Batch]]:
        """Parts of the table in order, which are read when they are gone through."""


class Sums(Protocol):
    """What rows add up to."""

    def plus(self, other: Self) -> Self:
        """Add the sums of the rows that come next; neither is changed."""


@dataclass(frozen=True, slots=True, eq=False)
class Several[S: Sums]:
    """Sums of one kind."""

    each: tuple[S, ...]

    def plus(self, other: Several[S]) -> Several[S]:
        """Add those of other rows, one by one."""
        return Several(tuple(map(plus, self.each, other.each)))


@dataclass(frozen=True, slots=True)
class Labels:
    """Which labels occur in a column, and how often none does."""

    seen: frozenset[Label]
    n: int
    n_unlabeled: int

    @classmethod
    def of(cls, batches: Iterator[Batch], label: str) -> Labels:
        """Go through batches."""
        found = cls(frozenset(), 0, 0)
        for batch in batches:
            column = batch.column(label)
            codes, values = factorize(column.values, column.name)
            found = found.plus(cls(frozenset(values), len(codes), int((codes == MISSING).sum())))
        return found

    def plus(self, other: Labels) -> Labels:
        """Add those of other rows."""
        return Labels(
            self.seen | other.seen, self.n + other.n, self.n_unlabeled + other.n_unlabeled
        )


def summed[S: Sums](
    table: Rows,
    columns: Sequence[str],
    sum_up: Callable[[Iterator[Batch]], S],
    batch_rows: int = BATCH_ROWS,
) -> S:
    """Sum up all rows of a table; one that has `summed` does so itself, elsewhere perhaps."""
    names = list(dict.fromkeys(columns))
    if (elsewhere := getattr(table, "summed", None)) is not None:
        return elsewhere(names, batch_rows, sum_up)  # type: ignore[no-any-return]  # Dask
    parts = table.parts(names, batch_rows)
    with progress_bar("Counting rows") as update:
        if len(parts) == 1:
            return sum_up(read_ahead(parts[0]))
        with ThreadPoolExecutor(min(processors(), len(parts))) as pool:
            return joined(_watched(pool.map(sum_up, parts), len(parts), update), plus)


def _watched[S](sums: Iterable[S], total: int, update: Progress | None) -> Iterator[S]:
    """Sums as they come, counted."""
    for done, one in enumerate(sums, start=1):
        if update is not None:
            update("", done, total)
        yield one


def plus[S: Sums](first: S, second: S) -> S:
    """Add sums, as a function that workers can be sent."""
    return first.plus(second)


def joined[S](parts: Iterable[S], plus: Callable[[S, S], S]) -> S:
    """Add up one part or more by neighbours, then pairs: none is added more than a few times."""
    kept: list[tuple[int, S]] = []
    for part in parts:
        total, size = part, 1
        while kept and kept[-1][0] == size:
            total, size = plus(kept.pop()[1], total), 2 * size
        kept.append((size, total))
    total = kept.pop()[1]
    while kept:
        total = plus(kept.pop()[1], total)
    return total


def batches_of(
    table: Rows, columns: Sequence[str], batch_rows: int = BATCH_ROWS
) -> Iterator[Batch]:
    """Read columns anew, in order, each batch while the one before is worked on."""
    return read_ahead(chain.from_iterable(table.parts(list(dict.fromkeys(columns)), batch_rows)))


def read_ahead[Part](parts: Iterator[Part]) -> Iterator[Part]:
    """Take each part in another thread, as soon as the one before it is handed out."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, parts, _END)
        while (part := coming.result()) is not _END:
            coming = pool.submit(next, parts, _END)
            yield part  # type: ignore[misc]  # the end is no part


def processors() -> int:
    """Processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity else os.cpu_count() or 1
