"""Arrow columns, against Arrow's own conversion to Python values."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from bayescal.core.arrow_columns import arrow_to_numpy

NUMBERS = ["halffloat", "float", "double", "int8", "uint8", "int32", "uint64", "int64"]


def plain(array: pa.Array) -> list[object]:
    return [None if value != value else value for value in array.to_pylist()]


def found(array: object) -> list[object]:
    values = arrow_to_numpy(array).tolist()
    return [None if value is None or value != value else value for value in values]


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("values", [[1, 0, 3], [None, 1, 0, None, 5] * 5, [], [None, None]])
@pytest.mark.parametrize("start", [0, 1])
def test_numbers(kind: str, values: list[int | None], start: int) -> None:
    if kind == "halffloat":
        values = [None if value is None else np.float16(value) for value in values]
    array = pa.array(values, pa.type_for_alias(kind)).slice(start)
    assert found(array) == plain(array)
    if array.null_count == 0:
        assert arrow_to_numpy(array).dtype == np.dtype(array.type.to_pandas_dtype())


@pytest.mark.parametrize(
    ("kind", "dtype"), [("float", np.float32), ("int8", np.float64), ("int64", np.float64)]
)
def test_nulls_make_numbers_floats_of_their_own_width(kind: str, dtype: type) -> None:
    array = arrow_to_numpy(pa.array([1, None], pa.type_for_alias(kind)))
    assert array.dtype == dtype


@pytest.mark.parametrize("start", range(10))
@pytest.mark.parametrize("values", [[True, False, True] * 5, [True, None, False] * 5])
def test_bools_whatever_the_bit_they_start_at(values: list[bool | None], start: int) -> None:
    array = pa.array(values).slice(start, 4)
    assert found(array) == array.to_pylist()


@pytest.mark.parametrize("start", [0, 2])
@pytest.mark.parametrize(
    "array",
    [
        pa.array(["yes", None, "no", "yes"]),
        pa.array(["yes", None, "no", "yes"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], pa.int8()), ["a", None]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 0], pa.uint8()), [5, 7]),
        pa.array([b"a", b"b", None, b"a"]),
        pa.array([[1], None, [2], [3]]),
        pa.array([None, None, None]),
    ],
    ids=["text", "dictionary", "null word", "number words", "bytes", "nested", "null"],
)
def test_everything_else(array: pa.Array, start: int) -> None:
    array = array.slice(start)
    assert found(array) == array.to_pylist()
    assert found(pa.chunked_array([array, array])) == array.to_pylist() * 2


def test_equal_words_are_one_object() -> None:
    words = arrow_to_numpy(pa.array(["a long word indeed"] * 3))
    assert words[0] is words[1] is words[2]


def test_a_table_is_rows_of_columns() -> None:
    table = pa.table({"a": [0.25, 0.5], "b": [0.75, None]})
    np.testing.assert_array_equal(arrow_to_numpy(table), [[0.25, 0.75], [0.5, np.nan]])


def test_pandas_is_not_loaded() -> None:
    code = """
import io, sys
from pyarrow import csv
from bayescal.core.arrow_columns import arrow_to_numpy
table = csv.read_csv(io.BytesIO(b"a,b,c,d\\n0.5,1,true,x\\n,2,,\\n"))
for column in table.columns:
    arrow_to_numpy(column)
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
