"""The distinct values of a column of words, numbers or bools, and each row's number among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.columns import is_missing, to_numpy
from bayescal.core.errors import InputError

type Label = bool | int | str
type Codes = NDArray[np.int32]

MISSING = -1
# Above this spread of integers, a table of which ones occur costs more than a sort.
_TABLE_SPREAD = 1 << 20


def factorize(column: Any, name: str) -> tuple[Codes, tuple[Label, ...]]:
    """Number the distinct values of a column."""
    array = to_numpy(column, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(
            f"{name} must have one dimension (obs,); got shape {array.shape}. "
            "For one-hot rows pass their argmax(axis=1)."
        )
    match array.dtype.kind:
        case "b":
            codes, values = _integers(array.view(np.uint8))
            return codes, tuple(bool(value) for value in values)
        case "i" | "u":
            return _integers(array)
        case "f":
            return _floats(array, name)
        case "O" | "U" | "S":
            return _objects(array, name)
        case _:
            raise InputError(_not_a_label(array[0].item() if len(array) else array.dtype, 0, name))


def _not_a_label(value: object, row: int, name: str) -> str:
    return (
        f"{name} must hold words, whole numbers or true/false; got {value!r} at row {row}. "
        "Check that this is the column you mean."
    )


def _integers(array: NDArray[Any]) -> tuple[Codes, tuple[Label, ...]]:
    if not len(array):
        return np.empty(0, np.int32), ()
    low, high = int(array.min()), int(array.max())
    if high - low >= _TABLE_SPREAD:
        values, inverse = np.unique(array, return_inverse=True)
        return inverse.astype(np.int32), tuple(values.tolist())
    offset = np.subtract(array, low, dtype=np.int64)
    present = np.zeros(high - low + 1, np.bool_)
    present[offset] = True
    code_of = (np.cumsum(present) - 1).astype(np.int32)
    return code_of[offset], tuple((np.flatnonzero(present) + low).tolist())


def _floats(array: NDArray[Any], name: str) -> tuple[Codes, tuple[Label, ...]]:
    known = ~np.isnan(array)
    numbers = array[known]
    # The largest float that still counts in steps of one; infinity is beyond it.
    whole = (np.floor(numbers) == numbers) & (np.abs(numbers) <= 2.0**53)
    if not whole.all():
        bad = int((~whole).argmax())
        raise InputError(_not_a_label(float(numbers[bad]), int(np.flatnonzero(known)[bad]), name))
    part, values = _integers(numbers.astype(np.int64))
    codes = np.full(len(array), MISSING, np.int32)
    codes[known] = part
    return codes, values


def _objects(array: NDArray[Any], name: str) -> tuple[Codes, tuple[Label, ...]]:
    rows = array.tolist()
    try:
        # Two passes that stay in C: words of a million rows are worth it.
        seen = {value: code for code, value in enumerate(dict.fromkeys(rows))}
        raw = np.fromiter(map(seen.__getitem__, rows), np.int64, len(rows))
    except TypeError as error:
        raise InputError(_not_a_label(array[0], 0, name)) from error
    labels = {}
    for value, code in seen.items():
        if not is_missing(value):
            label = plain_label(value)
            if label is None:
                raise InputError(_not_a_label(value, int((raw == code).argmax()), name))
            labels[code] = label
    values = tuple(sorted(set(labels.values()), key=lambda v: (isinstance(v, str), v)))
    code_of = np.full(len(seen), MISSING, np.int32)
    for code, label in labels.items():
        code_of[code] = values.index(label)
    return code_of[raw], values


def plain_label(value: Any) -> Label | None:
    """Turn one value into a Python label."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, bool | int | str) else None
