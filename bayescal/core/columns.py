"""Any column or table of a user's, turned into NumPy: lists, pandas, polars, Arrow, xarray."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrow_columns import arrow_to_numpy
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


def is_missing(value: object) -> bool:
    """Tell whether one Python value stands for "not known": None, NaN, pandas' NA or NaT."""
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    # Known by name, so that pandas is not imported to ask.
    return type(value).__name__ in ("NAType", "NaTType")


def to_numpy(column: Any, name: str) -> NDArray[Any]:
    """Turn a column (or, for scores of several classes, a table) into an array, (obs,)."""
    array = _convert(column, name)
    if array.ndim == 0:
        raise InputError(
            f"{name} must be a column of values; got one {type(column).__name__}. "
            "Pass an array, a list or a Series (several classifiers: Scores.stack)."
        )
    return array


def _convert(column: Any, name: str) -> NDArray[Any]:
    if isinstance(column, np.ma.MaskedArray):
        return _from_masked(column)
    if isinstance(column, np.ndarray):
        return column
    if isinstance(column, list | tuple):
        return _from_sequence(column, name)
    if type(column).__module__.partition(".")[0] == "pyarrow":
        return arrow_to_numpy(column)
    return _from_frame(column)


def _from_masked(column: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    if column.dtype.kind in "biuf":
        dtype = column.dtype if column.dtype.kind == "f" else np.dtype(np.float64)
        return np.ma.filled(np.ma.asarray(column, dtype=dtype), np.nan)
    array = np.ma.getdata(column).astype(object)
    array[np.ma.getmaskarray(column)] = None
    return array


def _from_sequence(column: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(column)
    except ValueError as error:
        raise InputError(
            f"{name} must be a column of values or rows of one length; got rows of several lengths."
        ) from error
    if array.dtype.kind in "US" and not all(isinstance(value, str | bytes) for value in column):
        # NumPy writes [None, "a"] and [nan, "a"] as text; the missing ones would be lost.
        return np.fromiter(column, dtype=object, count=len(column))
    return array


def _from_frame(column: Any) -> NDArray[Any]:
    import narwhals as nw

    if nw.dependencies.is_into_series(column):
        return np.asarray(nw.from_native(column, series_only=True).to_numpy())
    if nw.dependencies.is_into_dataframe(column):
        frame = nw.from_native(column, eager_only=True)
        return np.column_stack([frame[part].to_numpy() for part in frame.columns])
    return np.asarray(column)


def to_floats(column: Any, name: str) -> NDArray[np.floating]:
    """Turn a column or table of numbers into floats; float32 stays float32, (obs,)."""
    array = to_numpy(column, name)
    if array.dtype.kind == "O":
        array = np.where(_missing(array), np.nan, array)
    if array.dtype.kind not in "biufO":
        raise InputError(_not_numbers(array, name))
    narrow = array.dtype in (np.float16, np.float32)
    try:
        return np.asarray(array, dtype=np.float32 if narrow else np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(_not_numbers(array, name)) from error


def _missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    flat = np.fromiter((is_missing(value) for value in array.ravel()), np.bool_, array.size)
    return flat.reshape(array.shape)


def _not_numbers(array: NDArray[Any], name: str) -> str:
    flat = array.ravel().tolist()
    first = next((i for i, v in enumerate(flat) if not isinstance(v, bool | int | float)), 0)
    row = first // (array.size // len(array))
    return (
        f"{name} must be numbers; got {flat[first]!r} at row {row}. "
        "Pass the probabilities that the classifier gave."
    )
