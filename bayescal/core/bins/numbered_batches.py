"""Batches of a table, with the number of their first row for messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from bayescal.core.bins.streaming import BATCH_ROWS, Batched
from bayescal.core.intake import Column
from bayescal.core.read_ahead import read_ahead


class Batch(NamedTuple):
    """Some rows of a table."""

    first: int
    columns: Mapping[str, NDArray[Any]]

    @property
    def place(self) -> str:
        """What a column's name lacks where rows are counted from the first of the batch."""
        return f" (rows counted from row {self.first})" if self.first else ""

    def column(self, name: str) -> Column:
        """Take a column by name."""
        return Column(name + self.place, self.columns[name])


def numbered_batches(
    table: Batched, columns: Sequence[str], batch_rows: int = BATCH_ROWS
) -> Iterator[Batch]:
    """Read columns anew, in batches that are not empty, each while the one before is worked on."""
    names = list(dict.fromkeys(columns))
    first = 0
    for found in read_ahead(table.batches(names, batch_rows)):
        rows = len(found[names[0]])
        if rows:
            yield Batch(first, found)
            first += rows
