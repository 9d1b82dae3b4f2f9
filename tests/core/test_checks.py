import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bayescal.core.checks import (
    check_choice,
    check_known,
    check_no_nan,
    check_row_sums,
    check_rows,
    check_same_length,
    check_unique,
    check_whole,
    clean_probabilities,
    listing,
)
from bayescal.core.errors import InputError


def test_listing_cuts_off_after_six():
    assert listing(range(6)) == "0, 1, 2, 3, 4, 5"
    assert listing(range(9)) == "0, 1, 2, 3, 4, 5 and 3 more"


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1)))
def test_probabilities_pass_unchanged(values):
    cleaned = clean_probabilities(values, "y_prob")
    np.testing.assert_array_equal(cleaned, values)
    assert not np.signbit(cleaned).any()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.nan, r"y_prob must not be missing; got NaN at row 2\. Drop those rows"),
        (np.inf, r"y_prob must be finite; got inf at row 2\. .*logits.*from_logits=True"),
        (-np.inf, r"y_prob must be finite; got -inf at row 2\."),
        (1.03, r"y_prob must lie in \[0, 1\]; got 1\.03 at row 2\. .*logits.*from_logits=True"),
        (-0.5, r"y_prob must lie in \[0, 1\]; got -0\.5 at row 2\. .*logits.*from_logits=True"),
    ],
)
def test_no_probability_is_named_with_its_row(bad, message):
    with pytest.raises(InputError, match=message):
        clean_probabilities(np.array([0.0, 1.0, bad, 0.5]), "y_prob")


def test_bad_value_in_a_table_is_named_with_its_column_and_number_of_rows():
    values = np.full((5, 3), 0.5)
    values[2, 1] = values[2, 2] = values[4, 0] = 7.0
    with pytest.raises(InputError, match=r"got 7 at row 2, column 1 \(2 such rows\)"):
        clean_probabilities(values, "y_prob")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_beyond_the_ends_is_clipped(dtype):
    eps = np.finfo(dtype).eps
    values = np.array([1 + 2 * eps, -eps, 0.5], dtype)
    cleaned = clean_probabilities(values, "y_prob")
    np.testing.assert_array_equal(cleaned, np.array([1, 0, 0.5], dtype))
    assert cleaned.dtype == dtype
    assert values[0] > 1, "the caller's array is left alone"


def test_more_than_rounding_is_refused():
    with pytest.raises(InputError, match=r"got 1\.00001 at row 0"):
        clean_probabilities(np.array([1 + 1e-5]), "y_prob")


def test_negative_zero_becomes_zero():
    assert not np.signbit(clean_probabilities(np.array([-0.0, 0.5]), "y_prob")).any()


def test_nan_alone_is_found():
    check_no_nan(np.array([np.inf, 1.0]), "logits")
    with pytest.raises(InputError, match=r"logits must not be missing; got NaN at row 1 \(2 such"):
        check_no_nan(np.array([0.0, np.nan, np.nan]), "logits")


def test_row_sums_allow_rounding_and_name_the_row():
    check_row_sums(np.array([[0.333, 0.333, 0.333], [0.2, 0.3, 0.5]]), "y_prob")
    with pytest.raises(InputError, match=r"each row of y_prob must sum to 1; got 0\.9 at row 1\."):
        check_row_sums(np.array([[0.5, 0.5], [0.5, 0.4]]), "y_prob")


def test_zero_rows():
    check_rows(1, "y_prob")
    with pytest.raises(InputError, match="y_prob must have at least one row; got none"):
        check_rows(0, "y_prob")


def test_lengths_are_both_named():
    check_same_length(3, "y_prob", 3, "y_true")
    with pytest.raises(InputError, match=r"y_prob and y_true .* length; got 3 and 4"):
        check_same_length(3, "y_prob", 4, "y_true")


def test_a_repeated_name_is_named():
    check_unique(["a", "b"], "classifier")
    with pytest.raises(InputError, match="classifier names must differ; got 'a' twice"):
        check_unique(["a", "b", "a"], "classifier")


@pytest.mark.parametrize(
    ("asked", "suggested"), [("lable", "label"), ("LABEL", "label"), (" Score", "score")]
)
def test_the_nearest_name_is_suggested(asked, suggested):
    with pytest.raises(InputError, match=rf"did you mean '{suggested}'\? It has: 'label', 'score'"):
        check_known(asked, ["label", "score"], "column", "scores.csv")


def test_nothing_is_suggested_where_nothing_is_near():
    with pytest.raises(InputError, match=r"scores\.csv has no column 'zzz'\. It has: 'label'\."):
        check_known("zzz", ["label"], "column", "scores.csv")


def test_choices_are_listed():
    check_choice("left", ["right", "left"], "closed")
    with pytest.raises(InputError, match="closed must be one of 'right', 'left'; got 3"):
        check_choice(3, ["right", "left"], "closed")


@pytest.mark.parametrize("value", [3, np.int8(3)])
def test_whole_numbers_are_pythons_and_numpys(value):
    found = check_whole(value, "n", 3)
    assert found == 3
    assert type(found) is int


@pytest.mark.parametrize("value", [2, -1, 3.0, True, "3", None, np.nan])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(InputError, match=r"n must be a whole number >= 3; got .*\. Pass 3 or more"):
        check_whole(value, "n", 3)
    with pytest.raises(InputError, match="Pass the rows"):
        check_whole(value, "n", 3, "Pass the rows.")
