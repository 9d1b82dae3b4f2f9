"""Cells of the score, and sums of rows by cell."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_same_length
from bayescal.core.columns import MISSING, Label, factorize
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, checked_label, position, probabilities, weights
from bayescal.core.logistic import sigmoid

type Floats = NDArray[np.float64]
type Whole = NDArray[np.int64]

# Cells of a unit of the score's logit, a power of 2, and the logit from which on scores share one.
_SHIFT: Final = 13
PER_LOGIT: Final = 1 << _SHIFT
_MOST_LOGIT: Final = 40
# Cells of the scores 0 and 1, all others lie between them.
ZERO: Final = -PER_LOGIT * _MOST_LOGIT - 1
ONE: Final = PER_LOGIT * _MOST_LOGIT
N_CELLS: Final = ONE - ZERO + 1
# What a row is.
NEGATIVE, POSITIVE, UNLABELED = range(3)
# A score is summed up as a whole number of about 2^44 at each logit, so that sums are exact.
_DIGITS: Final = 44
_BY_LOGIT: Final = np.arange(-_MOST_LOGIT - 1, _MOST_LOGIT + 1)
_UNITS: Final = np.ldexp(
    1.0, _DIGITS + np.maximum(np.ceil(-_BY_LOGIT / np.log(2)) - 2, 0).astype(int)
)
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
                self._add_weights(cell, kind[block], weight[block])
            # May leave the range of integers and come back, as the cell's own part is taken off.
            np.add.at(self._whole[3], cell, np.rint(value, out=value).astype(np.int64))
            cell += np.multiply(kind[block], N_CELLS, dtype=np.int64)
            np.add.at(self._whole.reshape(-1), cell, 1)

    def _add_weights(self, cell: Whole, kind: NDArray[np.integer], weight: Floats) -> None:
        for label in (NEGATIVE, POSITIVE):
            held = kind == label
            np.add.at(self._weights[label], cell[held], weight[held])
            np.add.at(self._weights[2], cell[held], weight[held] ** 2)

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


class CountedColumns:
    """Sums of a column of scores that comes in batches, with labels and perhaps weights."""

    def __init__(self, pos_label: Any, weighted: bool) -> None:
        self._sums, self._pos_label = CellSums(weighted), checked_label(pos_label)
        self._labels: dict[Label, None] = {}
        self._n_read = 0

    def add(self, label: Column, score: Column, weight: Column | None, from_logits: bool) -> None:
        """Check a batch, and take in its rows of weight above 0."""
        code, labels = factorize(label.values, label.name)
        self._labels |= dict.fromkeys(labels)
        positive = position(self._pos_label, labels)
        value = probabilities(score, from_logits)
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
