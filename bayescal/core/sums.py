"""Sums over rows: by cell of the score, and over the parts of a table, several at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bayescal.core import intake
from bayescal.core.bin_counts import NEGATIVE, POSITIVE, UNLABELED, totals
from bayescal.core.checks import check_same_length
from bayescal.core.columns import MISSING, Floats, Label, Whole, factorize
from bayescal.core.errors import InputError
from bayescal.core.functionals import sigmoid
from bayescal.core.intake import Column, weights
from bayescal.core.scores import Task
from bayescal.core.shown import Progress, progress_bar
from bayescal.core.streams import stream

if TYPE_CHECKING:
    from bayescal.core.counts import Counts

BATCH_ROWS: Final = 1 << 19
_END: Final = object()


class Batch(NamedTuple):
    """Some rows, and where they are in their table."""

    columns: Mapping[str, NDArray[Any]]
    first: int  # number of the first row
    of: str = ""  # such as " of scores.csv" or " of partition 3", where rows are counted within it

    @property
    def place(self) -> str:
        """Where the columns are, and from where a message counts their rows."""
        return self.of + (f" (rows counted from row {self.first})" if self.first else "")

    def column(self, name: str) -> Column:
        """Take a column, under a name that says where it is."""
        return Column(f"column {name!r}{self.place}", self.columns[name], name)

    def table(self, names: Sequence[str]) -> Column:
        """Take several columns side by side; a single one stays as it is."""
        if len(names) == 1:
            return self.column(names[0])
        return Column(
            f"the table of columns {names[0]!r} to {names[-1]!r}{self.place}",
            np.column_stack([np.asarray(self.columns[name]) for name in names]),
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
    """Sums by name; parts of a table may lack some."""

    each: Mapping[Any, S]

    def plus(self, other: Several[S]) -> Several[S]:
        """Add those of other rows, name by name."""
        found = dict(self.each)
        for name, one in other.each.items():
            found[name] = found[name].plus(one) if name in found else one
        return Several(found)


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
        return elsewhere(names, batch_rows, sum_up)  # type: ignore[no-any-return]  # of Dask, untyped
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


# Cells of a unit of the score's logit, a power of 2, and the logit from which on scores share one.
_SHIFT: Final = 13
PER_LOGIT: Final = 1 << _SHIFT
_MOST_LOGIT: Final = 40
# Cells of the scores 0 and 1, all others lie between them.
ZERO: Final = -PER_LOGIT * _MOST_LOGIT - 1
ONE: Final = PER_LOGIT * _MOST_LOGIT
N_CELLS: Final = ONE - ZERO + 1
# A score is summed up as a whole number of about 2^44 at each logit, so that sums are exact.
_DIGITS: Final = 44
_BY_LOGIT: Final = np.arange(-_MOST_LOGIT - 1, _MOST_LOGIT + 1)
_UNITS: Final = np.ldexp(
    1.0, _DIGITS + np.maximum(np.ceil(-_BY_LOGIT / np.log(2)) - 2, 0).astype(int)
)
# Rows of a cell at most: what their scores exceed its least one by is below 2^63 units then.
_MOST_ROWS: Final = 3_000_000_000
# Rows gone through at a time, few enough for a core's cache.
_BLOCK: Final = 1 << 16


def cell_of(score: Floats) -> Whole:
    """The cell of each score in [0, 1]: ``floor(8192 logit(score))``; 0 and 1 have cells alone."""
    with np.errstate(divide="ignore"):
        place = np.log(score / (1 - score))
    place *= PER_LOGIT
    np.floor(place, out=place)
    # Below 1 no logit is above 37, so that what is clipped there are the scores of 1.
    np.clip(place, ZERO + 1, ONE, out=place)
    place[score == 0] = ZERO
    return place.astype(np.int64)


def units_of(cell: Whole) -> Floats:
    """What scores of a cell are counted in, as parts of 1."""
    return np.asarray(_UNITS[(cell >> _SHIFT) - _BY_LOGIT[0]])


class Held(NamedTuple):
    """Sums of cells with rows: what `Counts` holds by the same names."""

    cell: Whole
    sums: Whole
    weights: Floats


class CellSums:
    """Sums by cell that rows are added to in place."""

    def __init__(self, weighted: bool = False) -> None:
        # Rows of each kind and all their scores; weights of both labels and their squares.
        self._whole = np.zeros((4, N_CELLS), np.int64)
        self._weights = np.zeros((3 if weighted else 0, N_CELLS))

    def add(
        self, score: NDArray[np.floating], kind: NDArray[np.integer], weight: Floats | None = None
    ) -> None:
        """Take in rows: scores in [0, 1], what each row is, and weights, (obs,)."""
        for start in range(0, len(score), _BLOCK):
            block = slice(start, start + _BLOCK)
            value = score[block].astype(np.float64)
            cell = cell_of(value)
            value *= units_of(cell)
            cell -= ZERO
            if weight is not None:
                for label in (NEGATIVE, POSITIVE):
                    held = kind[block] == label
                    heavy = weight[block][held]
                    np.add.at(self._weights[label], cell[held], heavy)
                    np.add.at(self._weights[2], cell[held], heavy**2)
            # May leave the range of integers and come back, as the cell's own part is taken off.
            np.add.at(self._whole[3], cell, np.rint(value, out=value).astype(np.int64))
            cell += np.multiply(kind[block], N_CELLS, dtype=np.int64)
            np.add.at(self._whole.reshape(-1), cell, 1)

    def held(self) -> Held:
        """The sums of cells with rows alone."""
        held = np.flatnonzero(self._whole[:3].any(axis=0))
        whole, cell = self._whole[:, held], held + ZERO
        whole[3] -= whole[:3].sum(axis=0) * lowest(cell)
        return Held(cell, whole, self._weights[:, held])


def cell_bounds(cell: Whole) -> tuple[Floats, Floats]:
    """Least and largest scores of cells."""
    least, most = sigmoid(cell / PER_LOGIT), sigmoid((cell + 1) / PER_LOGIT)
    inside = (cell > ZERO) & (cell < ONE)
    return np.where(inside, least, cell == ONE), np.where(inside, most, cell == ONE)


def lowest(cell: Whole) -> Whole:
    """Least score of each cell, in its units."""
    return np.floor(cell_bounds(cell)[0] * units_of(cell)).astype(np.int64)


def check_room(cell: Whole, rows: Whole) -> None:
    """Check that sums of scores do not leave the range of integers."""
    if (rows > _MOST_ROWS).any():
        raise InputError(
            f"a cell of counts must have {_MOST_ROWS:,} rows at most; got {rows.max():,} of the "
            f"cell {cell[rows.argmax()]}. Count every tenth row."
        )


class CountedColumns:
    """Sums of a column of scores that comes in batches, with labels and perhaps weights."""

    def __init__(self, pos_label: Any, weighted: bool) -> None:
        self._sums, self._pos_label = CellSums(weighted), intake.checked_label(pos_label)
        self._labels: dict[Label, None] = {}
        self._n_read = 0

    def add(self, label: Column, score: Column, weight: Column | None, from_logits: bool) -> None:
        """Check a batch, and take in its rows of weight above 0."""
        intake.check_one_order(label, score, weight)
        code, labels = factorize(label.values, label.name)
        self._labels |= dict.fromkeys(labels)
        positive = intake.position(self._pos_label, labels)
        value = intake.probabilities(score, from_logits)
        if value.ndim > 1:
            raise InputError(
                f"{score.name} must hold one score a row; got {value.shape[1]}. Pass the scores of "
                "one class, or the largest score with whether its class is right as the label."
            )
        check_same_length(len(value), score.name, len(code), label.name)
        kind = np.where(code == positive, np.int8(POSITIVE), np.int8(NEGATIVE))
        kind[code == MISSING] = UNLABELED
        heavy = None
        if weight is not None:
            heavy = weights(weight)
            check_same_length(len(heavy), weight.name, len(code), label.name)
            counting = heavy > 0
            value, kind, heavy = value[counting], kind[counting], heavy[counting]
        self._sums.add(value, kind, heavy)
        self._n_read += len(code)

    def fields(self) -> tuple[Whole, Whole, Floats, tuple[Label, ...], Label, int]:
        """What the batches add up to, as the first fields of `Counts`."""
        return *self._sums.held(), tuple(self._labels), self._pos_label, self._n_read


_MOST_CLASSIFIERS: Final = 8
# Combinations of cells and a label that are kept; of more, neighbouring cells are joined.
_MOST: Final = 1 << 16
_BITS: Final = (N_CELLS - 1).bit_length()
# Rows that stand for all: a correlation over them has a standard error of .002 at most.
_DRAWN: Final = 200_000


@dataclass(frozen=True, eq=False)
class SharedCounts:
    """Labelled rows by combinations of cells of several scores; those of parts add up.

    Cells are 2**`shift` narrow ones wide, as narrow as leaves 65,536 combinations at most. A part
    has no more than all rows, so that the sum has the same cells whatever the parts.
    """

    classifiers: tuple[str, ...]
    shift: int
    key: Whole  # (combination,), rising: the cells of the classifiers and the label, in 63 bits
    rows: Whole  # (combination,)

    @classmethod
    def of_rows(
        cls, score: Mapping[str, NDArray[np.floating]], positive: NDArray[np.bool_], shift: int = 0
    ) -> SharedCounts:
        """Count labelled rows by scores of classifiers, in cells as wide as `shift` at least."""
        check_together(tuple(score))
        shift = max(shift, _BITS - 62 // len(score))
        place = [cell_of(own.astype(np.float64)) - ZERO >> shift for own in score.values()]
        key = _key(np.stack(place), positive.astype(np.int64), shift)
        return cls(tuple(score), shift, *np.unique(key, return_counts=True))._narrowed()

    def _narrowed(self) -> SharedCounts:
        found = self
        while len(found.key) > _MOST:
            found = found._joined(found.shift + 1)
        return found

    def _joined(self, shift: int) -> SharedCounts:
        key = _key(self.place >> (shift - self.shift), self.label, shift)
        return SharedCounts(self.classifiers, shift, *_added(key, self.rows))

    @property
    def label(self) -> Whole:
        """Whether rows are positive, (combination,)."""
        return self.key & 1

    @property
    def place(self) -> Whole:
        """The cells of each classifier, counted from that of 0, (classifier, combination)."""
        bits = _BITS - self.shift
        steps = 1 + bits * np.arange(len(self.classifiers))[::-1, np.newaxis]
        return np.asarray(self.key >> steps & ((1 << bits) - 1))

    def plus(self, other: SharedCounts) -> SharedCounts:
        """Add the rows of another part."""
        if self.classifiers != other.classifiers:
            raise InputError(
                "rows counted together must be of the same classifiers; got "
                f"{', '.join(self.classifiers)} and {', '.join(other.classifiers)}. Name the "
                "scores of all parts in one order."
            )
        shift = max(self.shift, other.shift)
        parts = [one._joined(shift) for one in (self, other)]
        key = np.concatenate([one.key for one in parts])
        rows = np.concatenate([one.rows for one in parts])
        return SharedCounts(self.classifiers, shift, *_added(key, rows))._narrowed()

    def tasks(self, counts: Mapping[str, Counts]) -> list[Task]:
        """Rows that stand for all: as many of each combination, at scores drawn from its cells."""
        rng = stream(0, "rows counted together")
        n = int(self.rows.sum())
        held = np.repeat(np.arange(len(self.rows)), self.rows) if n <= _DRAWN else None
        drawn = rng.choice(len(self.rows), _DRAWN, p=self.rows / n) if held is None else held
        place, label = self.place[:, drawn], self.label[drawn]
        event = label.astype(np.uint8)
        return [
            Task({"classifier": name}, self._scores(counts[name], own, label, rng), event)
            for name, own in zip(self.classifiers, place, strict=True)
        ]

    def _scores(
        self, counts: Counts, place: Whole, label: Whole, rng: np.random.Generator
    ) -> Floats:
        """Draw a score of each row from those of its cell and label."""
        wide = (counts.cell - ZERO) >> self.shift
        score = np.empty(len(place))
        for kind in (NEGATIVE, POSITIVE):
            held = label == kind
            last = np.append(0, np.cumsum(counts.sums[kind]))
            low, high = (last[np.searchsorted(wide, place[held], side)] for side in _SIDES)
            rank = low + np.floor(rng.random(len(low)) * (high - low)).astype(np.int64)
            score[held] = counts.score[np.searchsorted(last, rank, "right") - 1]
        return score


_SIDES: Final = ("left", "right")


def _key(place: Whole, label: Whole, shift: int) -> Whole:
    """Put the cells of the classifiers, (classifier, row), and the label into one number."""
    key = np.zeros_like(label)
    for own in place:
        key = key << (_BITS - shift) | own
    return np.asarray(key << 1 | label)


def _added(key: Whole, rows: Whole) -> tuple[Whole, Whole]:
    """Add up the rows of equal combinations."""
    found, inverse = np.unique(key, return_inverse=True)
    return found, totals(rows[np.newaxis], inverse, len(found))[0]


def check_together(classifiers: Collection[str]) -> None:
    """Check that there are some classifiers, and not too many, to count rows together of."""
    if not 2 <= len(classifiers) <= _MOST_CLASSIFIERS:
        raise InputError(
            f"pairs must be of 2 to {_MOST_CLASSIFIERS} scores; got {len(classifiers)}. Count "
            "together the scores of those classifiers that are compared."
        )
