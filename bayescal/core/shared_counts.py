"""Rows that several classifiers share, summed up by cells of all their scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.cell_sums import N_CELLS, NEGATIVE, POSITIVE, ZERO, Floats, Whole, cell_of
from bayescal.core.errors import InputError
from bayescal.core.streams import stream
from bayescal.core.tasks import Task

if TYPE_CHECKING:
    from bayescal.core.counts import Counts

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
    has no more combinations than all rows do, so that in whatever parts rows are counted, the sum
    has the same cells.
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
        """Join neighbouring cells until combinations are few."""
        found = self
        while len(found.key) > _MOST:
            found = found._joined(found.shift + 1)
        return found

    def _joined(self, shift: int) -> SharedCounts:
        """Join neighbouring cells."""
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
    total = np.zeros(len(found), np.int64)
    np.add.at(total, inverse, rows)
    return found, total


def check_together(classifiers: Collection[str]) -> None:
    """Check that there are some classifiers, and not too many, to count rows together of."""
    if not 2 <= len(classifiers) <= _MOST_CLASSIFIERS:
        raise InputError(
            f"pairs must be of 2 to {_MOST_CLASSIFIERS} scores; got {len(classifiers)}. Count "
            "together the scores of those classifiers that are compared."
        )
