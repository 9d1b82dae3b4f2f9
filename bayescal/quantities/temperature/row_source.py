"""One classifier's rows in a table that need not fit in memory, checked part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Final

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.intake import collect, weights
from bayescal.core.partial_sums import Batch, Rows, Sums, batches_of, plus, summed
from bayescal.core.scores import from_parts
from bayescal.quantities.temperature.calibrate_rows import SCALINGS
from bayescal.quantities.temperature.data import Problem
from bayescal.quantities.temperature.sums import Noted

# Numbers of a part: its probabilities, and those that draws give its rows.
_NUMBERS: Final = 1 << 23
# Relative: sums in another order differ by less.
_SAME: Final = 1e-10


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns are labels and scores, and of what."""

    label: str
    scores: tuple[str, ...]
    pos_label: Any
    from_logits: bool
    classes: tuple[Any, ...]
    classifier: str
    weight: str | None = None

    def problem(self, batch: Batch) -> Problem:
        """Check the rows of a batch."""
        found = collect(
            {self.classifier: batch.table(self.scores)},
            batch.column(self.label),
            group=None,
            pos_label=self.pos_label,
            from_logits=self.from_logits,
            classes=self.classes,
        )
        problem = Problem.of(from_parts(found), self.classifier, batch.first, batch.of)
        return (
            problem if self.weight is None else problem.weighted(weights(batch.column(self.weight)))
        )

    def summed[S: Sums](self, batches: Iterator[Batch], of: Callable[[Problem], S]) -> S:
        """Add up what batches give; without any, what no rows give."""
        parts = (of(self.problem(batch)) for batch in batches)
        first = next(parts, None)
        return of(self._no_rows()) if first is None else reduce(plus, parts, first)

    def _no_rows(self) -> Problem:
        size = len(self.classes)
        none, names = np.zeros(0, np.int64), tuple(map(str, self.classes))
        weight = None if self.weight is None else np.zeros(0)
        return Problem(self.classifier, names, np.zeros((0, size)), none, none, weight)


def _noted[S: Sums](problem: Problem, of: Callable[[Problem], S]) -> Noted[S]:
    return Noted(of(problem), len(problem.label), problem.mark())


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Columns of a table, and its rows as the first reading found them."""

    table: Rows
    columns: Columns
    first: Noted[Any] | None = None

    def noted[S: Sums](self, of: Callable[[Problem], S]) -> Noted[S]:
        """Read the rows, add up what parts of them give, and note which rows they were."""
        # No closure, so that Dask's workers get it.
        sum_up = partial(self.columns.summed, of=partial(_noted, of=of))
        return summed(self.table, self._names, sum_up, self._batch_rows)

    def summed[S: Sums](self, of: Callable[[Problem], S]) -> S:
        """Read the rows anew, and add up what parts of them give."""
        found: Noted[S] = self.noted(of)
        self._check(found.n, found.mark)
        return found.sums

    def problems(self) -> Iterator[Problem]:
        """Read the rows anew, in order."""
        n, mark = 0, 0.0
        for batch in batches_of(self.table, self._names, self._batch_rows):
            problem = self.columns.problem(batch)
            n, mark = n + len(problem.label), mark + problem.mark()
            yield problem
        self._check(n, mark)

    def _check(self, n: int, mark: float) -> None:
        """Check that the rows are those of the first reading."""
        if self.first is None or (n == self.first.n and np.isclose(mark, self.first.mark, _SAME)):
            return
        apart = f"{self.first.n} rows and then {n}" if n != self.first.n else "other values"
        raise InputError(
            f"rows must be the same at every reading, until the fit is done; got {apart}. Count "
            "them anew when no program writes to them."
        )

    @property
    def _names(self) -> list[str]:
        weight = () if self.columns.weight is None else (self.columns.weight,)
        return [self.columns.label, *self.columns.scores, *weight]

    @property
    def _batch_rows(self) -> int:
        return max(1, _NUMBERS // (len(self.columns.scores) + 2 * SCALINGS))
