import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.columns import MISSING, factorize, plain_label
from bayescal.core.errors import InputError


def decode(codes, values):
    return [None if code == MISSING else values[code] for code in codes]


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


def test_every_missing_value_is_one():
    column = np.array([None, np.nan, float("nan"), pd.NA, pd.NaT, "a"], object)
    codes, values = factorize(column, "y_true")
    assert codes.tolist() == [-1] * 5 + [0]
    assert values == ("a",)


def test_bytes_are_words():
    assert factorize(np.array([b"no", b"yes"]), "y_true")[1] == ("no", "yes")


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
        (np.array(["a", 0.25], object), r"0\.25 at row 1"),
        (np.array(["2020-01-01"], "M8[D]"), "datetime.date"),
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
