"""Columns of every container; Arrow's against its own conversion to Python values."""

import contextlib
import datetime as dt
import subprocess
import sys
import warnings
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescal.core.binning import bin_scores
from bayescal.core.columns import (
    MISSING,
    arrow_to_numpy,
    factorize,
    is_missing,
    plain_label,
    to_floats,
    to_numpy,
)
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores

FLOATS = [0.25, None, 0.75]
WORDS = ["yes", None, "no"]
NUMBERS = [1, None, 0]
BOOLS = [True, None, False]


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.ma.masked, Decimal("nan")]
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
        np.array([0.25, 0.5], ">f4"),
        np.array([0.25, 0.5], ">f2"),
        pd.Series([0.25, 0.5], dtype="float32"),
        pl.Series([0.25, 0.5], dtype=pl.Float32),
        pa.array([0.25, 0.5], pa.float32()),
        pa.array([0.25, 0.5], pa.float32()).dictionary_encode(),
        np.array(list(np.float32([0.25, 0.5])), object),
        np.array(list(np.float16([0.25, 0.5])), object),
        xr.DataArray(np.float32([0.25, 0.5])),
    ],
)
def test_single_precision_stays(column):
    found = to_floats(column, "y_prob")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [0.25, 0.5])


def test_byte_order_moves_no_score_into_another_bin():
    scores = [Scores([0, 1, 0], np.array([0.1, 0.6, 0.7], order + "f4")) for order in "<>"]
    counts = [bin_scores(one, n_bins=10, strategy="uniform").count for one in scores]
    np.testing.assert_array_equal(*counts)


def test_half_precision_stands_for_its_decimals():
    decimals = np.arange(1001) / 1000
    found = to_floats(np.stack([decimals, -decimals]).astype(np.float16), "y_prob")
    np.testing.assert_array_equal(found, np.stack([decimals, -decimals]).astype(np.float32))
    np.testing.assert_array_equal(to_floats(np.float16([np.nan, np.inf]), "x"), [np.nan, np.inf])


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
    narrow = np.ma.array([1, 0, 1], mask=[False, True, False], dtype=np.uint8)
    assert narrow.fill_value == 999_999  # once asked for it is kept, beyond half precision
    with warnings.catch_warnings(action="error"):
        np.testing.assert_array_equal(to_numpy(narrow, "y_true"), [1, np.nan, 1])
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
    decimals = [Decimal(k) / 100 for k in range(1000)]
    np.testing.assert_array_equal(arrow_to_numpy(pa.array(decimals)), np.arange(1000) / 100)
    assert np.isnan(arrow_to_numpy(pa.nulls(3))).all()


def test_a_matrix_and_a_tensor_are_arrays():
    rows = np.arange(6.0).reshape(3, 2)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.asmatrix(rows[:, :1].astype(int))
    codes, labels = factorize(matrix, "y")
    assert (codes.tolist(), labels) == ([0, 1, 2], (0, 2, 4))
    np.testing.assert_array_equal(to_floats(pa.Tensor.from_numpy(rows), "y_prob"), rows)


@pytest.mark.parametrize("value", [[0.25] * 99, {"a": 1}, ([0.25] * 99,)])
def test_a_value_that_is_no_label_is_shown_in_few_words_and_at_its_row(value):
    column = np.empty(3, object)
    column[:] = [1, 0, value]
    with pytest.raises(InputError, match=r"^.{,160} at row 2\. .{,80}$"):
        factorize(column, "y_true")
    with pytest.raises(InputError, match=r"^.{,160} at row 2\. .{,80}$"):
        to_floats(column, "y_prob")


@pytest.mark.parametrize("thing", ["scores.csv", 0.5, None, {"a": [1]}, pl.LazyFrame({"a": [1]})])
def test_what_is_no_column_is_named(thing):
    with pytest.raises(InputError, match=f"must be a column.*got one {type(thing).__name__}"):
        to_numpy(thing, "y_prob")


def test_ragged_rows():
    with pytest.raises(InputError, match="rows of one length; NumPy cannot read it: "):
        to_numpy([[0.1, 0.9], [1.0]], "y_prob")


def test_columns_of_one_name_are_named():
    with pytest.raises(InputError, match=r"unique column names, got: - 'a' 2 times\. Pass"):
        to_numpy(pd.DataFrame([[0.1, 0.9]], columns=["a", "a"]), "y_prob")
    table = pa.table([[0.1], [0.9]], names=["a", "a"])
    several = "must have each column once; got 'a' twice"
    with pytest.raises(InputError, match=several):
        Scores([1], table)
    for frame in (table, table.to_pandas()):
        with pytest.raises(InputError, match=several):
            Scores.from_frame(frame, label="y", score="a")


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ([0.5, "high"], "'high' at row 1"),
        (["low", "high"], "'low' at row 0"),
        (pd.Series(["0.5", "x"]), "'x' at row 1"),
        (pd.Series(["0.5", "0,6"]), "'0,6' at row 1.* with a decimal point"),
        (np.array(["0.5", "0.6"]), "'0.5' at row 0.* not as text"),
        (pd.Series(["0.5", "0.6"]), "'0.5' at row 0.* not as text"),
        (pd.Series([0.5, "0.6"]), "'0.6' at row 1.* not as text"),
        (pl.Series(["0.5", "0.6"]), "'0.5' at row 0.* not as text"),
        (pa.array(["0.5", "0.6"]), "'0.5' at row 0.* not as text"),
        (np.array([[0.5, 0.5], [0.5, "x"]], object), "'x' at row 1"),
        (pa.array([[0.5], [0.6]]), r"\[0.5\] at row 0"),
        (np.array([1j]), "1j at row 0"),
    ],
)
def test_what_is_no_number_is_named(column, found):
    with pytest.raises(InputError, match=f"y_prob must be numbers; got {found}"):
        to_floats(column, "y_prob")


def decode(codes, values):
    return [None if code == MISSING else values[code] for code in codes]


@pytest.mark.slow
@given(st.lists(st.none() | st.integers(-(2**60), 2**60)))
def test_whole_numbers_come_back(labels):
    codes, values = factorize(labels, "y_true")
    assert decode(codes, values) == labels
    assert list(values) == sorted(set(labels) - {None})


@given(
    st.lists(st.integers(-300, 300), min_size=1), st.sampled_from(["i2", "i4", "i8", "f4", "f8"])
)
def test_numeric_arrays_come_back(labels, dtype):
    codes, values = factorize(np.array(labels, dtype), "y_true")
    assert decode(codes, values) == labels
    assert all(type(value) is int for value in values)
    assert codes.dtype == np.int32


@given(st.lists(st.none() | st.text(max_size=3)))
def test_words_come_back(labels):
    codes, values = factorize(np.array(labels, object), "y_true")
    assert decode(codes, values) == labels


def test_unsigned_bytes_do_not_wrap():
    codes, values = factorize(np.array([200, 3, 255], np.uint8), "y_true")
    assert codes.tolist() == [1, 0, 2]
    assert values == (3, 200, 255)


def test_widely_spread_numbers_need_no_table():
    codes, values = factorize(np.array([2**40, -(2**40), 2**40]), "y_true")
    assert codes.tolist() == [1, 0, 1]
    assert values == (-(2**40), 2**40)


@pytest.mark.parametrize(
    "column",
    [
        [True, None, False],
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([True, np.nan, False]),
    ],
)
def test_bools_stay_bools(column):
    codes, values = factorize(column, "y_true")
    assert codes.tolist() == [1, -1, 0]
    assert values == (False, True)
    assert all(type(value) is bool for value in values)


def test_floats_are_whole_numbers_with_gaps():
    codes, values = factorize([2.0, np.nan, 1.0], "y_true")
    assert codes.tolist() == [1, -1, 0]
    assert values == (1, 2)


DECIMALS = [Decimal("1.0"), None, Decimal(0)]


@pytest.mark.parametrize(
    "column",
    [
        list,
        pa.array,
        pl.Series,
        partial(pd.Series, dtype=object),
        partial(pd.Series, dtype=pd.ArrowDtype(pa.decimal128(3, 1))),
    ],
)
def test_decimals_are_whole_numbers_with_gaps(column):
    codes, values = factorize(column(DECIMALS), "y_true")
    assert (codes.tolist(), values) == ([1, MISSING, 0], (0, 1))


def test_every_missing_value_is_one():
    column = np.array([None, np.nan, float("nan"), pd.NA, pd.NaT, "a"], object)
    codes, values = factorize(column, "y_true")
    assert codes.tolist() == [-1] * 5 + [0]
    assert values == ("a",)


def test_bytes_are_words():
    assert factorize(np.array([b"no", b"yes"]), "y_true")[1] == ("no", "yes")


LATIN = [b"a", b"\xe9", b"\xe8"]


@pytest.mark.parametrize(
    "column",
    [
        np.array(LATIN),
        pl.Series(LATIN),
        # Parquet files hold what was written as text, whatever it is.
        pa.StringArray.from_buffers(3, *pa.array(LATIN).buffers()[1:]),
    ],
    ids=["NumPy", "polars", "Arrow"],
)
def test_bytes_that_are_no_words_do_not_become_one(column):
    with pytest.raises(InputError, match=r"g must hold words.* b'\\xe9' at row 1\. .* UTF-8"):
        factorize(column, "g")


@pytest.mark.parametrize(
    "column", [pa.array, list, pl.Series, lambda days: np.array(days, "M8[D]")]
)
def test_days_are_words_in_order(column):
    days = column([dt.date(2025, 2, 1), None, dt.date(2025, 1, 31)])
    codes, values = factorize(days, "group")
    assert (codes.tolist(), values) == ([1, MISSING, 0], ("2025-01-31", "2025-02-01"))


def test_one_column_of_a_table_is_a_column():
    assert factorize(np.array([[1], [0]]), "y_true")[0].tolist() == [1, 0]


def test_no_rows():
    for column in ([], np.empty(0, np.int64), np.empty(0, object)):
        codes, values = factorize(column, "y_true")
        assert len(codes) == 0
        assert values == ()


def test_one_hot_labels_are_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"shape \(2, 3\)\. For one-hot rows pass their argmax"):
        factorize([[0, 1, 0], [1, 0, 0]], "y_true")


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ([np.nan, 1.0, 0.25], r"0\.25 at row 2"),
        ([1.0, np.inf], "inf at row 1"),
        ([Decimal(1), Decimal("0.25")], r"Decimal\('0\.25'\) at row 1"),
        ([Decimal(1), Decimal("1e999999999")], r"Decimal\('1E\+999999999'\) at row 1"),
        ([Decimal("inf")], r"Decimal\('Infinity'\) at row 0"),
        (np.array(["a", 0.25], object), r"0\.25 at row 1"),
        (np.array(["2020-01-01"], "M8[s]"), r"datetime64\('2020-.*pandas: \.dt\.date\), or write"),
        ([dt.datetime(2020, 1, 1)], r"datetime\(2020, .*pandas: \.dt\.date\), or write"),
        (np.array(["nat", "2020-01-01"], "M8[ns]"), r"datetime64\('2020-.* at row 1"),
        (np.array([7], "m8[ns]"), r"timedelta64\(7,'ns'\) at row 0"),
        (np.array([1 + 2j]), r"\(1\+2j\) at row 0"),
        (np.array([[1], "a"], object), "at row 0"),
        (np.array(["a", (1, 2)], object), r"\(1, 2\) at row 1"),
    ],
)
def test_what_is_no_label_is_named(column, found):
    with pytest.raises(
        InputError, match=f"y_true must hold words, whole numbers or true/false; got .*{found}"
    ):
        factorize(column, "y_true")


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (np.int8(3), 3),
        (np.str_("a"), "a"),
        (np.bool_(True), True),
        (b"a", "a"),
        (2.0, 2),
        (0.5, None),
    ],
)
def test_plain_labels(value, label):
    plain = plain_label(value)
    assert plain == label
    assert type(plain) is type(label)


ARROW_NUMBERS = ["halffloat", "float", "double", "int8", "uint8", "int32", "uint64", "int64"]


def plain(array: pa.Array) -> list[object]:
    return [None if value != value else value for value in array.to_pylist()]


def found(array: object) -> list[object]:
    values = arrow_to_numpy(array).tolist()
    return [None if value is None or value != value else value for value in values]


@pytest.mark.parametrize("kind", ARROW_NUMBERS)
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
from bayescal.core.columns import arrow_to_numpy
table = csv.read_csv(io.BytesIO(b"a,b,c,d\\n0.5,1,true,x\\n,2,,\\n"))
for column in table.columns:
    arrow_to_numpy(column)
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**1100), 2**1100)
    | st.floats()
    | st.text(max_size=2)
    | st.binary(max_size=2)
    | st.complex_numbers()
    | st.datetimes()
    | st.decimals()
    | st.sampled_from(
        [pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT", "s"), object(), {}, set()]
    )
)
ROWS = st.lists(SCALARS | st.lists(SCALARS, max_size=3), max_size=4)
DTYPES = ["f2", "f4", "f8", "i1", "u8", "?", "c16", "O", "U2", "S2", "M8[s]", "m8[s]", "V2"]


@st.composite
def columns(draw):
    """Whatever somebody may hand in as a column, empty and of odd shapes too."""
    if draw(st.booleans()):
        return draw(ROWS | st.tuples(SCALARS, SCALARS))
    if draw(st.booleans()):
        rows = draw(ROWS)
        array = np.fromiter(rows, dtype=object, count=len(rows))
        # pandas 2 fails where it looks for a type of such large whole numbers.
        tables = [pd.Series(array, dtype=object), pd.DataFrame(array, dtype=object)]
        return draw(st.sampled_from([array, array[:, None], *tables]))
    shape = draw(st.sampled_from([(), (0,), (0, 0), (0, 3), (2, 0), (1,), (3,), (3, 1), (2, 2, 2)]))
    array = np.zeros(shape, draw(st.sampled_from(DTYPES)))
    return draw(st.sampled_from([array, np.ma.masked_array(array, True), xr.DataArray(array)]))


@pytest.mark.mcmc
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@settings(max_examples=300)
@given(columns())
def test_hostile_columns_are_read_or_refused(column):
    for read in (factorize, to_floats):
        with contextlib.suppress(InputError):
            read(column, "y")


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
@given(columns(), columns())
def test_hostile_scores_are_read_or_refused(y_prob, y_true):
    for logits in (False, True):
        with contextlib.suppress(InputError):
            Scores(y_prob=y_prob, y_true=y_true, group=y_true, from_logits=logits)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0)])
def test_empty_columns_are_refused(dtype, shape):
    with pytest.raises(InputError, match="y_prob must"):
        Scores(y_true=np.zeros(shape[0], int), y_prob=np.empty(shape, dtype))


@pytest.mark.parametrize("table", [pd.DataFrame(), pl.DataFrame(), pa.table({})])
def test_a_table_without_columns_is_refused(table):
    with pytest.raises(InputError, match="y must be a column of values"):
        to_numpy(table, "y")


def test_numbers_too_large_for_a_float_are_named():
    with pytest.raises(InputError, match=r"y must be numbers; got 1000.* at row 1"):
        to_floats([0.5, 10**400], "y")


@pytest.mark.parametrize("values", [[2**63, 2**63 + 7], [0, 2**64 - 1]])
def test_the_widest_whole_numbers(values):
    codes, labels = factorize(np.array(values, np.uint64), "y")
    assert (codes.tolist(), labels) == ([0, 1], tuple(values))


@pytest.mark.parametrize(
    "array",
    [
        pa.array([dt.datetime(2020, 1, 1, 12), None]),
        pa.array([{"a": 1}, None]),
        pa.array([dt.timedelta(1), None]),
    ],
)
def test_other_arrow_types_are_no_labels(array):
    with pytest.raises(InputError, match="must hold words, whole numbers or true/false; got"):
        factorize(array, "y")


def masked(values):
    known = [0 if value is None else value for value in values]
    return np.ma.masked_array(known, [value is None for value in values])


LARGE = [2**53, 2**53 + 1, None, -(2**53) - 1]


@pytest.mark.parametrize("kind", ["arrow", "pandas", "pandas arrow", "polars", "masked", "list"])
def test_large_whole_numbers_stay_exact_beside_missing_ones(kind):
    column = {
        "arrow": lambda: pa.array(LARGE),
        "pandas": lambda: pytest.importorskip("pandas").Series(LARGE, dtype="Int64"),
        "pandas arrow": lambda: pytest.importorskip("pandas").Series(LARGE, dtype="int64[pyarrow]"),
        "polars": lambda: pytest.importorskip("polars").Series(LARGE),
        "masked": lambda: masked(LARGE),
        "list": lambda: LARGE,
    }[kind]()
    codes, labels = factorize(column, "y")
    assert labels == (-(2**53) - 1, 2**53, 2**53 + 1)
    assert codes.tolist() == [1, 2, -1, 0]


@pytest.mark.parametrize("value", [2.0**53, -(2.0**53), 1e300])
def test_floats_that_leave_whole_numbers_out_are_no_labels(value):
    with pytest.raises(InputError, match=r"y must hold whole numbers below 2\*\*53 .* at row 1"):
        factorize(np.array([1.0, value, np.nan]), "y")
