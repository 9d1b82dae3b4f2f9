"""The result of a GROUP BY, turned into sums by cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypedDict

import numpy as np
from numpy.typing import NDArray

from bayescal.core.cell_sums import ONE, ZERO, Floats, Held, Whole, cell_bounds, lowest, units_of
from bayescal.core.checks import check_columns, check_known, check_rows, check_same_length
from bayescal.core.columns import frame_columns, to_floats
from bayescal.core.errors import InputError
from bayescal.core.intake import code_groups

ALONE: Final = "classifier"
"""What a classifier without a name is called."""
WHOLE: Final = ""
"""What the group of all rows is called, where there are no groups."""


class CountColumns(TypedDict, total=False):
    """Names of the columns of a GROUP BY, where they are not called so."""

    cell: str
    rows: str
    positives: str
    score_sum: str
    unlabeled: str
    weight_sum: str
    positive_weight: str
    weight_squares: str


type Numbers = dict[str, Floats]

_NAMES: Final = tuple(CountColumns.__annotations__)
_NEEDED, _WEIGHTS = _NAMES[:4], _NAMES[5:]
# A sum of floats may leave its cell by so much of its width, and by the rounding of each addition.
_SLACK: Final = 1e-3
_EPS: Final = float(np.finfo(np.float64).eps)
_MOST: Final = 2.0**53


def frame_sums(
    frame: Any, classifier: str | None, group: str | None, columns: CountColumns
) -> dict[str, dict[str, Held]]:
    """Sums by cell of each classifier and group; rows of the frame with one cell are added up."""
    found = frame_columns(frame, "Pass the result of the GROUP BY as one of these.")
    check_columns(classifier=classifier, group=group)
    for name in (classifier, group):
        if name is not None:
            check_known(name, tuple(found), "column", "the frame")
    names = _names(columns, tuple(found))
    numbers = {name: _numbers(found[own], own) for name, own in names.items()}
    n = len(numbers["cell"])
    check_rows(n, "the frame")
    for name, values in numbers.items():
        check_same_length(len(values), names[name], n, names["cell"])
    held = _held(numbers, names)
    counted = held.sums[:3].any(axis=0)
    check_rows(int(counted.sum()), "the frame")

    def codes(name: str | None, alone: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        if name is None:
            return np.zeros(n, np.int32), (alone,)
        return code_groups(found[name], name, n, names["cell"])

    (own, classifiers), (part, groups) = codes(classifier, ALONE), codes(group, WHOLE)
    return {
        one: {
            two: _added(held, rows)
            for place, two in enumerate(groups)
            if (rows := counted & (own == number) & (part == place)).any()
        }
        for number, one in enumerate(classifiers)
    }


def _names(columns: CountColumns, known: tuple[str, ...]) -> dict[str, str]:
    """The column of each number; those that need not be given only where they are."""
    check_columns(**columns)
    for name in columns:
        check_known(name, _NAMES, "column", "a frame of counts")
    named = {name: str(columns.get(name, name)) for name in _NAMES}
    weighted = any(name in columns or name in known for name in _WEIGHTS)
    needed = dict.fromkeys([*_NEEDED, *columns, *(_WEIGHTS if weighted else ())])
    for name in needed:
        check_known(named[name], known, "column", "the frame")
    return {name: own for name, own in named.items() if name in needed or own in known}


def _numbers(values: Any, name: str) -> Floats:
    """Numbers of a column, none of which is missing."""
    found = to_floats(values, name).astype(np.float64)
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if found.ndim != 1:
        raise InputError(f"{name} must have one dimension; got shape {found.shape}. Pass a column.")
    remedy = (
        "Correct or leave out rows of the table whose score is missing or outside [0, 1], or whose "
        "label is neither of the two: bayescal.counts_sql gives them the cell NULL."
    )
    _refuse(~np.isfinite(found), found, name, "must be a finite number", remedy)
    return found


def _refuse(bad: NDArray[np.bool_], values: Floats, name: str, rule: str, remedy: str) -> None:
    """Name the first row that breaks a rule."""
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{name} {rule}; got {values[row]:.17g} at row {row}. {remedy}")


def _held(numbers: Numbers, names: Mapping[str, str]) -> Held:
    """Checked sums, row by row of the frame."""
    cell = _whole(numbers["cell"], names["cell"], ZERO, ONE, "A cell is floor(8192 logit(score)).")
    rows, positives, unlabeled = (
        _whole(
            numbers.get(name, np.zeros(len(cell))), names.get(name, name), 0, _MOST, "Count rows."
        )
        for name in ("rows", "positives", "unlabeled")
    )
    _refuse(
        positives > rows,
        numbers["positives"],
        names["positives"],
        f"must be at most {names['rows']}",
        "Count labelled rows in the one, and those of the positive label in the other.",
    )
    sums = np.stack([rows - positives, positives, unlabeled, np.zeros_like(rows)])
    sums[3] = _excess(cell, rows + unlabeled, numbers["score_sum"], names["score_sum"])
    weights = _weights(numbers, names, rows, positives) if "weight_sum" in numbers else None
    return Held(cell, sums, np.zeros((0, len(cell))) if weights is None else weights)


def _whole(values: Floats, name: str, least: float, most: float, remedy: str) -> Whole:
    bad = (values != np.floor(values)) | (values < least) | (values > most)
    _refuse(bad, values, name, f"must be a whole number from {least:.0f} to {most:.0f}", remedy)
    return values.astype(np.int64)


def _excess(cell: Whole, rows: Whole, score_sum: Floats, name: str) -> Whole:
    """What scores exceed the least one of their cell by, in units."""
    least, most = cell_bounds(cell)
    # The outermost cells hold all scores beyond.
    least, most = np.where(cell == ZERO + 1, 0.0, least), np.where(cell == ONE - 1, 1.0, most)
    mean = score_sum / np.maximum(rows, 1)
    slack = _SLACK * (most - least) + _EPS * (rows + 8) * np.abs(mean)
    out = np.where(rows > 0, (mean < least - slack) | (mean > most + slack), score_sum != 0)
    if out.any():
        row = int(out.argmax())
        raise InputError(
            f"{name} must be the sum of the scores of its cell, {cell[row]}, that lie from "
            f"{least[row]:.9g} to {most[row]:.9g}; got a mean of {mean[row]:.9g} at row {row}. "
            "Sum the scores of labelled and unlabelled rows, in double precision."
        )
    units, low = units_of(cell), lowest(cell)
    excess = (np.clip(score_sum, rows * least, rows * most) - rows * (low / units)) * units
    return np.rint(excess).astype(np.int64)


def _weights(numbers: Numbers, names: Mapping[str, str], rows: Whole, positives: Whole) -> Floats:
    """Weights of negative and of positive rows, and the squares of both."""
    total, positive, squares = (numbers[name] for name in _WEIGHTS)
    slack = _EPS * (rows + 8) * np.abs(total)
    remedy = "Sum the weights of labelled rows, and leave out rows of weight 0."
    rule = f"must be 0 where there are no rows, and above 0 elsewhere, as {names['rows']} is"
    _refuse((total > 0) != (rows > 0), total, names["weight_sum"], rule, remedy)
    rule = f"must lie within {names['weight_sum']}, and be above 0 where there are positives"
    bad = ((positive > 0) != (positives > 0)) | (positive < 0) | (positive > total + slack)
    _refuse(bad, positive, names["positive_weight"], rule, remedy)
    # By Cauchy and Schwarz.
    bad = (squares * rows < total * (total - slack)) | (squares > total * (total + slack))
    rule = (
        f"must lie between {names['weight_sum']}**2 / {names['rows']} and {names['weight_sum']}**2"
    )
    _refuse(bad, squares, names["weight_squares"], rule, "Sum the squares of the weights.")
    negative = np.where(rows > positives, np.maximum(total - positive, 0), 0.0)
    return np.stack([negative, positive, squares])


def _added(held: Held, rows: NDArray[np.bool_]) -> Held:
    """Add up some rows of a frame by their cells."""
    cell, place = np.unique(held.cell[rows], return_inverse=True)

    def total[Number: np.generic](values: NDArray[Number]) -> NDArray[Number]:
        found = np.zeros((len(values), len(cell)), values.dtype)
        np.add.at(found.T, place, values[:, rows].T)
        return found

    return Held(cell, total(held.sums), total(held.weights))
