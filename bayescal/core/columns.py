"""Any column or table of a user's, turned into NumPy: lists, pandas, polars, Arrow, xarray."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import listing, shown
from bayescal.core.errors import InputError

type Label = bool | int | str
type Codes = NDArray[np.int32]
type Floats = NDArray[np.float64]
type Whole = NDArray[np.int64]

MISSING = -1
# Above this spread of integers, a table of which ones occur costs more than a sort.
_TABLE_SPREAD = 1 << 20
# From here on floats leave whole numbers out.
_INEXACT = 2**53
_DIGITS = 16
_TEXT = (str, bytes)
# Decimals that float32 keeps apart from their neighbours.
_FLOAT32_DIGITS = 7


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
        case "O" | "U" | "S" | "T":
            return _objects(array.tolist(), name)
        case "M" if array.dtype == "datetime64[D]":
            return _objects(array.tolist(), name)
        case "M" | "m" if len(array):
            row = int(np.isnat(array).argmin())
            raise not_a_label(array[row], row, name)
        case _:
            raise not_a_label(array[0].item() if len(array) else array.dtype, 0, name)


def not_a_label(value: object, row: int, name: str) -> InputError:
    """Make the error for what names neither a label nor a group."""
    remedy = "Check that this is the column you mean, or write its values as words."
    if isinstance(value, bytes):
        remedy = "Save words as UTF-8 text."
    elif isinstance(value, datetime | np.datetime64):
        remedy = remedy.replace(", or", ", take the days of times (pandas: .dt.date), or")
    elif isinstance(value, float) and name == "y_true":
        remedy = "Labels come first, then scores: Scores(y_true, y_prob)."
    got = repr(value) if isinstance(value, np.generic) else shown(value)
    return InputError(
        f"{name} must hold words, whole numbers or true/false; got {got} at row {row}. {remedy}"
    )


def _integers(array: NDArray[Any]) -> tuple[Codes, tuple[Label, ...]]:
    if not len(array):
        return array.astype(np.int32), ()
    low, high = int(array.min()), int(array.max())
    if high - low <= 1:
        return (array > low).astype(np.int32), tuple(range(low, high + 1))
    if high - low >= _TABLE_SPREAD:
        values, inverse = np.unique(array, return_inverse=True)
        return inverse.astype(np.int32), tuple(values.tolist())
    # Signed numbers may be too narrow for their own differences, and uint64 too wide for int64.
    offset = np.subtract(array, low, dtype=np.uint64 if array.dtype.kind == "u" else np.int64)
    present = np.zeros(high - low + 1, np.bool_)
    present[offset] = True
    code_of = (np.cumsum(present) - 1).astype(np.int32)
    return code_of[offset], tuple(int(place) + low for place in np.flatnonzero(present))


def _floats(array: NDArray[Any], name: str) -> tuple[Codes, tuple[Label, ...]]:
    known = ~np.isnan(array)
    inexact = np.abs(array) >= np.float64(_INEXACT)
    bad = known & (inexact | (np.floor(array) != array))
    if bad.any():
        row = int(bad.argmax())
        if inexact[row] and np.isfinite(array[row]):
            raise InputError(
                f"{name} must hold whole numbers below 2**53 where these are floats, which are not "
                f"exact from there on; got {float(array[row]):.0f} at row {row}. Pass words, or "
                "integers."
            )
        raise not_a_label(float(array[row]), row, name)
    codes = np.full(len(array), MISSING, np.int32)
    codes[known], values = _integers(array[known].astype(np.int64))
    return codes, values


def _objects(rows: list[Any], name: str) -> tuple[Codes, tuple[Label, ...]]:
    try:
        # Two passes that stay in C: words of a million rows are worth it.
        seen = {value: code for code, value in enumerate(dict.fromkeys(rows))}
        raw = np.fromiter(map(seen.__getitem__, rows), np.int64, len(rows))
    except TypeError as error:
        # A tuple may hold what has no hash, and is no label either.
        lists = (isinstance(value, tuple) or not isinstance(value, Hashable) for value in rows)
        row = next((place for place, found in enumerate(lists) if found), 0)
        raise not_a_label(rows[row], row, name) from error
    labels: dict[Any, Label] = {}
    for value in seen:
        if not is_missing(value):
            label = plain_label(value)
            if label is None:
                raise not_a_label(value, int((raw == seen[value]).argmax()), name)
            labels[value] = label
    values = sorted(set(labels.values()), key=lambda label: (isinstance(label, str), label))
    place = {label: code for code, label in enumerate(values)}
    code_of = [place[labels[value]] if value in labels else MISSING for value in seen]
    return np.array(code_of, np.int32)[raw], tuple(values)


def plain_label(value: Any) -> Label | None:
    """Turn one value into a Python label."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):  # not text, so no label
            return value.decode()
        return None
    if isinstance(value, Decimal):
        # The whole number of a large one may have a billion digits.
        small = value.is_finite() and value.adjusted() < _DIGITS
        return int(value) if small and value == int(value) else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if type(value) is date:
        return value.isoformat()
    return value if isinstance(value, bool | int | str) else None


def is_missing(value: object) -> bool:
    """Whether one Python value stands for "not known": None, NaN, pandas' NA or NaT."""
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | np.floating):
        return bool(value != value)
    # Known by name, so that pandas is not imported to ask.
    return type(value).__name__ in ("NAType", "NaTType")


def to_numpy(column: Any, name: str) -> NDArray[Any]:
    """Turn a column (or, for scores of several classes, a table) into an array, (obs,)."""
    try:
        array = _convert(column)
    except (TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split()).partition(". ")[0].rstrip(".")
        raise InputError(
            f"{name} must be a column of values, or rows of one length; NumPy cannot read it: "
            f"{reason}. Pass an array."
        ) from error
    if array.ndim == 0:
        rule, remedy = "a column of values; got one", "an array, a list or a Series (several "
        remedy += "classifiers: Scores.stack)"
        if hasattr(column, "toarray"):
            rule, remedy = "dense; got a sparse", "its toarray()"
        raise InputError(f"{name} must be {rule} {type(column).__name__}. Pass {remedy}.")
    return array


def frame_columns(frame: Any, remedy: str) -> dict[str, Any]:
    """Columns of a frame of pandas, polars or Arrow, or of a mapping, by name."""
    if isinstance(frame, Mapping):
        return {name: frame[name] for name in words_of(frame)}
    import narwhals as nw

    if type(frame).__name__ in ("RecordBatch", "RecordBatchReader"):
        import pyarrow as pa

        frame = pa.table(frame)

    try:
        table = nw.from_native(frame)
        whole = table.collect() if isinstance(table, nw.LazyFrame) else table
        columns = zip(words_of(whole.columns), whole.iter_columns(), strict=True)
        return {name: column.to_native() for name, column in columns}
    except TypeError as error:
        raise InputError(
            "frame must be a pandas, polars or Arrow table, or columns by name; got "
            f"{type(frame).__name__}. {remedy}"
        ) from error
    except nw.exceptions.DuplicateError as error:
        raise _several_columns(frame) from error


def words_of(names: Iterable[Any]) -> list[Any]:
    """Names of columns, of which some are words, and others may be numbers and tuples of pandas."""
    given = list(names)
    if given and not any(isinstance(name, str) for name in given):
        raise InputError(
            f"columns of a frame must be named by words; got {listing(given)}. Rename them, with "
            "frame.columns = [...] in pandas."
        )
    return given


def column_names(values: Any) -> list[str] | None:
    """Names of the columns of a table, or of a lone one, by a dataframe library or xarray."""
    if isinstance(values, np.ndarray | list | tuple):
        return None
    if type(values).__module__.startswith("xarray.") and values.ndim == 2:
        index = values.indexes.get(values.dims[1])
        return None if index is None else list(map(str, index))
    import narwhals as nw

    if not nw.dependencies.is_into_dataframe(values):
        name = getattr(values, "name", None)
        return None if name is None else [str(name)]
    try:
        names = nw.from_native(values, eager_only=True).columns
        # As labels are written: floats that are whole numbers without a point.
        return [str(name if (found := plain_label(name)) is None else found) for name in names]
    except nw.exceptions.DuplicateError as error:
        raise _several_columns(values) from error


def _several_columns(frame: Any) -> InputError:
    # Arrow's columns are their values.
    names = list(getattr(frame, "column_names", frame.columns))
    twice = next(name for name in names if names.count(name) > 1)
    return InputError(
        f"frame must have each column once; got {twice!r} twice. Rename or drop one of them."
    )


def _convert(column: Any) -> NDArray[Any]:
    if isinstance(column, np.ma.MaskedArray):
        if column.dtype.kind in "bf" or (column.dtype.kind in "iu" and not inexact(column)):
            numbers = np.ma.getdata(column).astype(np.result_type(column, np.float16))
            numbers[np.ma.getmaskarray(column)] = np.nan
            return numbers
        array = np.ma.getdata(column).astype(object)
        array[np.ma.getmaskarray(column)] = None
        return array
    if isinstance(column, np.ndarray):
        return np.asarray(column)  # of np.matrix a column would stay a table
    if isinstance(column, list | tuple):
        array = np.asarray(column)
        if array.dtype.kind in "US" and not all(isinstance(v, str | bytes) for v in column):
            # NumPy writes [None, "a"] and [nan, "a"] as text; the missing ones would be lost.
            return np.fromiter(column, dtype=object, count=len(column))
        return array
    if type(column).__module__.partition(".")[0] == "pyarrow":
        return arrow_to_numpy(column)
    import narwhals as nw

    if nw.dependencies.is_into_series(column):
        series = nw.from_native(column, series_only=True)
        if series.dtype.is_integer() and series.null_count():
            return arrow_to_numpy(series.to_arrow())
        return np.asarray(series.to_numpy())
    if nw.dependencies.is_into_dataframe(column):
        frame = nw.from_native(column, eager_only=True)
        return np.column_stack([part.to_numpy() for part in frame.iter_columns()])
    return np.asarray(column)


def arrow_to_numpy(column: Any) -> NDArray[Any]:
    """An Arrow array, chunked array or table in NumPy, (obs,); its ``to_numpy`` imports pandas."""
    import pyarrow as pa

    if isinstance(column, pa.Tensor):
        return np.asarray(column)
    if isinstance(column, pa.Table | pa.RecordBatch):
        return np.column_stack([arrow_to_numpy(part) for part in column.columns])
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else column.combine_chunks()
    kind = column.type
    if pa.types.is_dictionary(kind) and _is_number(kind.value_type):
        return arrow_to_numpy(column.dictionary_decode())
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        words = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
        # The place behind the last word is for the nulls.
        table = np.array([*_values(words.dictionary), None], dtype=object)
        return np.asarray(table[_filled(words.indices.cast(pa.int64()), -1, np.int64)])
    if pa.types.is_boolean(kind):
        bits = _filled(column.cast(pa.uint8()), 0, np.uint8).view(np.bool_)
        return np.where(_null(column), np.array(None), bits) if column.null_count else bits
    if _is_number(kind):
        return _filled(column, np.nan, np.float32 if kind == pa.float32() else np.float64)
    if pa.types.is_decimal(kind) or pa.types.is_null(kind):
        # Arrow's own conversion of decimals is off by the last bit of some.
        return arrow_to_numpy(column.cast(pa.string()).cast(pa.float64()))
    return np.fromiter(_values(column), dtype=object, count=len(column))


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def without_codes(table: Any) -> Any:
    """A table whose dictionaries are written out, as those of another file may be none."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            values = table.column(place).cast(field.type.value_type)
            table = table.set_column(place, field.name, values)
    return table


def in_one_type(tables: Iterable[Any]) -> list[Any]:
    """Tables to be one, without dictionaries; of narrow floats beside others their decimals."""
    import pyarrow as pa

    parts = [without_codes(table) for table in tables]
    for name in parts[0].column_names:
        kinds = {table.schema.field(name).type for table in parts}
        for number, table in enumerate(parts):
            kind = table.schema.field(name).type
            if len(kinds) > 1 and pa.types.is_floating(kind) and kind != pa.float64():
                values = in_double(to_floats(arrow_to_numpy(table.column(name)), name))
                place = table.column_names.index(name)
                parts[number] = table.set_column(place, name, pa.array(values))
    return parts


def read_words(batch: Any, names: Iterable[str]) -> Any:
    """A batch with the numbers and truth values that words of columns stand for, where all do."""
    import pyarrow as pa

    for name in names:
        place = batch.schema.get_field_index(name)
        for kind in (pa.int64(), pa.float64(), pa.bool_()):
            with suppress(pa.ArrowInvalid):  # of another kind: the next one
                batch = batch.set_column(place, name, batch.column(place).cast(kind))
                break
    return batch


def _values(column: Any) -> list[Any]:
    """Values of an Arrow array; words are bytes where some are not UTF-8."""
    import pyarrow as pa

    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return list(column.cast(pa.binary()).to_pylist())


def _filled(column: Any, fill: float, dtype: type) -> NDArray[Any]:
    """Numbers of an Arrow array, with a value for nulls; its own ``fill_null`` imports pandas."""
    if not column.null_count:
        return np.from_dlpack(column)
    known = np.from_dlpack(column.drop_null())
    exact = known.dtype.kind == "f" or dtype is np.int64 or not inexact(known)
    values: NDArray[Any] = np.full(len(column), *((fill, dtype) if exact else (None, object)))
    values[~_null(column)] = known
    return values


def inexact(values: Any) -> bool:
    """Whether whole numbers change when they become floats."""
    return bool((values >= _INEXACT).any() or (values <= -_INEXACT).any())


def _null(column: Any) -> NDArray[np.bool_]:
    import pyarrow as pa

    return np.from_dlpack(column.is_null().cast(pa.uint8())).view(np.bool_)


def to_floats(column: Any, name: str) -> NDArray[np.floating]:
    """Turn numbers into floats; float16 becomes float32, which stays what it is, (obs,)."""
    array = to_numpy(column, name)
    if not array.size:
        return np.empty(array.shape)
    if array.dtype.kind == "O":
        array = _numbers(array, name)
    if array.dtype.kind not in "biufO":
        raise _not_numbers(array, name)
    if array.dtype.kind == "f":
        # Files of big-endian floats keep their byte order, in which a type is another one.
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    narrow = array.dtype in (np.float16, np.float32)
    if array.dtype == np.float16:
        # The decimals that they stand for: .6 is .60010 in half precision.
        held, place = np.unique(array, return_inverse=True)
        array = np.array(list(map(str, held)), np.float32)[place].reshape(array.shape)
    try:
        return np.asarray(array, dtype=np.float32 if narrow else np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise _not_numbers(array, name) from error


def _numbers(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Objects with NaN for what is missing; narrow floats in their type, and text in none."""
    flat = [np.nan if is_missing(value) else value for value in array.ravel()]
    kinds = set(map(type, flat))
    if any(issubclass(kind, _TEXT) for kind in kinds):
        raise _not_numbers(array, name)
    kind = kinds.pop() if kinds in ({np.float16}, {np.float32}) else object
    return np.fromiter(flat, dtype=kind, count=len(flat)).reshape(array.shape)


def to_doubles(values: Any, name: str) -> Floats:
    """Turn numbers of any shape, a single one among them, into float64."""
    if isinstance(values, int | float | np.number) or (
        isinstance(values, np.ndarray) and values.ndim == 0 and values.dtype.kind in "biuf"
    ):
        return to_floats([values], name).astype(np.float64).reshape(())
    return to_floats(values, name).astype(np.float64, copy=False)


def in_double(score: NDArray[np.floating]) -> Floats:
    """Scores in double precision; of float32 ones the decimals that they stand for."""
    exact = score.astype(np.float64)
    if score.dtype == np.float64:
        return exact
    decimal = np.round(exact, _FLOAT32_DIGITS)
    return np.where(decimal.astype(score.dtype) == score, decimal, exact)


def _not_numbers(array: NDArray[Any], name: str) -> InputError:
    """Name the first value that is no number, or one too large to be a float."""
    flat = array.ravel().tolist()
    wrong = [place for place, value in enumerate(flat) if not _reads(value)]
    wrong += [place for place, value in enumerate(flat) if isinstance(value, _TEXT)]
    first = next(iter(wrong), 0)
    row = first // (array.size // len(array))
    remedy = "Check that this is the column you mean."
    if isinstance(flat[first], str) and _reads(flat[first].replace(",", ".")):
        point = ", with a decimal point" if "," in flat[first] else ", not as text"
        remedy = f"Write numbers as numbers{point}."
    return InputError(f"{name} must be numbers; got {shown(flat[first])} at row {row}. {remedy}")


def _reads(value: Any) -> bool:
    """Whether a value is a number of float64's range, or the text of one."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
