from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

from bayescal.core.columns import arrow_to_numpy, is_missing, to_floats, to_numpy
from bayescal.core.errors import InputError

FLOATS = [0.25, None, 0.75]
WORDS = ["yes", None, "no"]
NUMBERS = [1, None, 0]
BOOLS = [True, None, False]


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.ma.masked]
)
def test_what_is_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, 1.5, b""])
def test_what_is_not_missing(value):
    assert not is_missing(value)


def containers(values, pandas_dtype):
    return {
        "list": values,
        "tuple": tuple(values),
        "object array": np.array(values, object),
        "pandas nullable": pd.Series(values, dtype=pandas_dtype),
        "pandas object": pd.Series(values, dtype=object),
        "pandas category": pd.Series(values, dtype="category"),
        "polars": pl.Series(values),
        "arrow array": pa.array(values),
        "arrow chunks": pa.chunked_array([values[:1], values[1:]]),
        "arrow dictionary": pa.chunked_array(
            [pa.array(values[:1]).dictionary_encode(), pa.array(values[1:]).dictionary_encode()]
        ),
        "xarray": xr.DataArray(np.array(values, object)),
    }


KINDS = [(FLOATS, "Float64"), (WORDS, "string"), (NUMBERS, "Int64"), (BOOLS, "boolean")]


@pytest.mark.parametrize(
    ("values", "column"),
    [
        pytest.param(values, column, id=f"{name} of {dtype}")
        for values, dtype in KINDS
        for name, column in containers(values, dtype).items()
    ],
)
def test_every_container_gives_the_values_and_the_gap(values, column):
    array = to_numpy(column, "y_true")
    assert array.shape == (3,)
    assert is_missing(array[1])
    assert [array[0], array[2]] == [values[0], values[2]]


@pytest.mark.parametrize(
    "column",
    [
        np.float32([0.25, 0.5]),
        np.float16([0.25, 0.5]),
        pd.Series([0.25, 0.5], dtype="float32"),
        pl.Series([0.25, 0.5], dtype=pl.Float32),
        pa.array([0.25, 0.5], pa.float32()),
        xr.DataArray(np.float32([0.25, 0.5])),
    ],
)
def test_single_precision_stays(column):
    assert to_floats(column, "y_prob").dtype == np.float32


@pytest.mark.parametrize(
    "column", [[0, 1], [False, True], np.int8([0, 1]), pa.array([0, 1]), np.array([0, 1], ">f8")]
)
def test_other_numbers_become_double_precision(column):
    floats = to_floats(column, "y_prob")
    assert floats.dtype == np.float64
    np.testing.assert_array_equal(floats, [0, 1])


@pytest.mark.parametrize("column", [FLOATS, pd.Series(FLOATS, dtype="Float32"), pa.array(FLOATS)])
def test_missing_numbers_are_nan(column):
    np.testing.assert_array_equal(to_floats(column, "y_prob"), [0.25, np.nan, 0.75])


def test_masked_arrays_lose_nothing():
    numbers = np.ma.array([1, 0, 1], mask=[False, True, False])
    np.testing.assert_array_equal(to_numpy(numbers, "y_true"), [1, np.nan, 1])
    words = np.ma.array(["a", "b"], mask=[False, True])
    assert to_numpy(words, "y_true").tolist() == ["a", None]


def test_text_beside_nan_is_not_read_as_text():
    array = to_numpy(["a", float("nan")], "y_true")
    assert array[0] == "a"
    assert is_missing(array[1])


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [0.1, 0.2], "b": [0.9, 0.8]}),
        pl.DataFrame({"a": [0.1, 0.2], "b": [0.9, 0.8]}),
        pa.table({"a": [0.1, 0.2], "b": [0.9, 0.8]}),
        pa.record_batch({"a": [0.1, 0.2], "b": [0.9, 0.8]}),
        xr.DataArray([[0.1, 0.9], [0.2, 0.8]]),
        [[0.1, 0.9], [0.2, 0.8]],
    ],
)
def test_tables_give_one_column_a_class(table):
    np.testing.assert_array_equal(to_floats(table, "y_prob"), [[0.1, 0.9], [0.2, 0.8]])


def test_arrow_decimals_and_empty_columns_are_numbers():
    decimals = pa.array([Decimal(1), Decimal(2)])
    np.testing.assert_array_equal(arrow_to_numpy(decimals), [1.0, 2.0])
    assert np.isnan(arrow_to_numpy(pa.nulls(3))).all()


@pytest.mark.parametrize("thing", ["scores.csv", 0.5, None, {"a": [1]}, pl.LazyFrame({"a": [1]})])
def test_what_is_no_column_is_named(thing):
    with pytest.raises(InputError, match=f"must be a column.*got one {type(thing).__name__}"):
        to_numpy(thing, "y_prob")


def test_ragged_rows():
    with pytest.raises(InputError, match="rows of several lengths"):
        to_numpy([[0.1, 0.9], [1.0]], "y_prob")


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ([0.5, "high"], "'high' at row 1"),
        (["low", "high"], "'low' at row 0"),
        (pd.Series(["0.5", "x"]), "'0.5' at row 0"),
        (np.array([[0.5, 0.5], [0.5, "x"]], object), "'x' at row 1"),
        (pa.array([[0.5], [0.6]]), r"\[0.5\] at row 0"),
        (np.array([1j]), "1j at row 0"),
    ],
)
def test_what_is_no_number_is_named(column, found):
    with pytest.raises(InputError, match=f"y_prob must be numbers; got {found}"):
        to_floats(column, "y_prob")
