"""Arrow columns as NumPy arrays, read from Arrow's own buffers.

Arrow's ``to_numpy`` imports pandas wherever it is installed, which costs more than reading a
million rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def arrow_to_numpy(column: Any) -> NDArray[Any]:
    """Turn an Arrow array, chunked array or table into NumPy, (obs,)."""
    import pyarrow as pa

    if isinstance(column, pa.Table | pa.RecordBatch):
        return np.column_stack([arrow_to_numpy(part) for part in column.columns])
    array = _one_chunk(column)
    if pa.types.is_nested(array.type):
        return np.fromiter(array.to_pylist(), dtype=object, count=len(array))
    if pa.types.is_decimal(array.type) or pa.types.is_null(array.type):
        array = array.cast(pa.float64())
    if pa.types.is_boolean(array.type):
        return _bools(array)
    if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        return _numbers(array)
    return _words(array)


def _one_chunk(column: Any) -> Any:
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
    return column


def _numbers(array: Any) -> NDArray[Any]:
    """Integers and floats; a view of the buffer where no value is null."""
    dtype = np.dtype(array.type.to_pandas_dtype())
    values = np.frombuffer(array.buffers()[1] or b"", dtype)
    values = values[array.offset : array.offset + len(array)]
    known = _known(array)
    if known is None:
        return values
    return np.where(known, values, dtype.type(np.nan) if dtype.kind == "f" else np.float64(np.nan))


def _bools(array: Any) -> NDArray[Any]:
    values = _bits(array.buffers()[1], array).astype(np.bool_)
    known = _known(array)
    return values if known is None else np.where(known, values, np.array(None, dtype=object))


def _words(array: Any) -> NDArray[Any]:
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    # The place behind the last word is for the nulls, which get the index -1.
    words = np.empty(len(array.dictionary) + 1, dtype=object)
    words[:-1] = array.dictionary.to_pylist()
    index = _numbers(array.indices)
    known = _known(array.indices)
    return np.asarray(words[index if known is None else np.where(known, index, -1).astype(int)])


def _known(array: Any) -> NDArray[np.bool_] | None:
    """Which values are not null; None where all are known."""
    if array.null_count == 0:
        return None
    return _bits(array.buffers()[0], array).astype(np.bool_)


def _bits(buffer: Any, array: Any) -> NDArray[np.uint8]:
    """One bit a value, least significant first, as Arrow packs them."""
    packed = np.frombuffer(buffer or b"", np.uint8)
    bits = np.unpackbits(packed, count=array.offset + len(array), bitorder="little")
    return np.asarray(bits[array.offset :])
