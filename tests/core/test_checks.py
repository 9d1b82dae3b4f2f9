import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bayescal.core import checks
from bayescal.core.errors import InputError


def test_listing_cuts_off_after_six():
    assert checks.listing(range(6)) == "0, 1, 2, 3, 4, 5"
    assert checks.listing(range(9)) == "0, 1, 2, 3, 4, 5 and 3 more"


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1)))
def test_probabilities_pass_unchanged(values):
    cleaned = checks.clean_probabilities(values, "y_prob")
    np.testing.assert_array_equal(cleaned, values)
    assert not np.signbit(cleaned).any()


def test_bad_value_in_a_table_is_named_with_its_column_and_number_of_rows():
    values = np.full((5, 3), 0.5)
    values[2, 1] = values[2, 2] = values[4, 0] = 7.0
    with pytest.raises(InputError, match=r"got 7 at row 2, column 1 \(2 such rows\)"):
        checks.clean_probabilities(values, "y_prob")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_beyond_the_ends_is_clipped(dtype):
    eps = np.finfo(dtype).eps
    values = np.array([1 + 2 * eps, -eps, 0.5], dtype)
    cleaned = checks.clean_probabilities(values, "y_prob")
    np.testing.assert_array_equal(cleaned, np.array([1, 0, 0.5], dtype))
    assert cleaned.dtype == dtype
    assert values[0] > 1, "the caller's array is left alone"


def test_more_than_rounding_is_refused():
    with pytest.raises(InputError, match=r"got 1\.00001 at row 0"):
        checks.clean_probabilities(np.array([1 + 1e-5]), "y_prob")


@pytest.mark.parametrize("bad", ["1.0000001", "-1e-07"])
def test_a_value_just_outside_is_shown_in_full_and_not_taken_for_a_logit(bad):
    with pytest.raises(InputError, match=rf"got {bad} at row 1\. .*; clip what rounding"):
        checks.clean_probabilities(np.array([0.5, float(bad)]), "y_prob")


def test_negative_zero_becomes_zero():
    assert not np.signbit(checks.clean_probabilities(np.array([-0.0, 0.5]), "y_prob")).any()


def test_nan_alone_is_found():
    checks.check_no_nan(np.array([np.inf, 1.0]), "logits")
    with pytest.raises(InputError, match=r"logits must not be missing; got NaN at row 1 \(2 such"):
        checks.check_no_nan(np.array([0.0, np.nan, np.nan]), "logits")


def test_row_sums_allow_rounding_and_name_the_row():
    checks.check_row_sums(np.array([[0.333, 0.333, 0.333], [0.2, 0.3, 0.5]]), "y_prob")
    # The sum is 0.999 less its last bit.
    rounded = np.array([[0.298, 0.042, 0.659]])
    assert abs(rounded.sum() - 1) > 0.001
    checks.check_row_sums(rounded, "y_prob")
    checks.check_row_sums(rounded.astype(np.float32), "y_prob")
    with pytest.raises(InputError, match=r"each row of y_prob must sum to 1; got 0\.9 at row 1\."):
        checks.check_row_sums(np.array([[0.5, 0.5], [0.5, 0.4]]), "y_prob")


@pytest.mark.parametrize(
    ("asked", "suggested"), [("lable", "label"), ("LABEL", "label"), (" Score", "score")]
)
def test_the_nearest_name_is_suggested(asked, suggested):
    with pytest.raises(InputError, match=rf"did you mean '{suggested}'\? It has: 'label', 'score'"):
        checks.check_known(asked, ["label", "score"], "column", "scores.csv")


def test_nothing_is_suggested_where_nothing_is_near():
    with pytest.raises(InputError, match=r"scores\.csv has no column 'zzz'\. It has: 'label'\."):
        checks.check_known("zzz", ["label"], "column", "scores.csv")


@pytest.mark.parametrize("value", [3, np.int8(3)])
def test_whole_numbers_are_pythons_and_numpys(value):
    found = checks.check_whole(value, "n", 3)
    assert found == 3
    assert type(found) is int


@pytest.mark.parametrize("value", [2, -1, 3.0, True, "3", None, np.nan])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(InputError, match=r"n must be a whole number >= 3; got .*\. Pass 3 or more"):
        checks.check_whole(value, "n", 3)
    with pytest.raises(InputError, match="Pass the rows"):
        checks.check_whole(value, "n", 3, "Pass the rows.")


def test_a_whole_number_has_a_most():
    assert checks.check_whole(7, "draws", most=7) == 7
    with pytest.raises(InputError, match=r"draws must be 7,000 at most; got 1000\S*\. Pass less"):
        checks.check_whole(10**30, "draws", most=7000)


def test_seeds_are_whole_numbers_of_64_bits():
    assert checks.check_seed(2**63 - 1) == 2**63 - 1
    for value in (-1, 2**63, 0.5, "7"):
        with pytest.raises(InputError, match="seed must be "):
            checks.check_seed(value)


def test_a_0d_array_is_its_number():
    assert checks.check_whole(np.array(3), "n") == 3
    assert checks.check_number(np.array(0.5), "delta", "(0, 1)", "Pass 0.1.") == 0.5
    assert checks.check_flag(np.array(True), "soft") is True


@pytest.mark.parametrize(
    ("value", "interval"),
    [
        (0, "[0, 1)"),
        (1, "(0, 1]"),
        (np.float32(0.5), "(0, 1)"),
        (1e300, "[0, inf)"),
        (-3, "(-inf, inf)"),
    ],
)
def test_numbers_in_an_interval_are_floats_of_python(value, interval):
    found = checks.check_number(value, "delta", interval, "Pass 0.1.")
    assert found == value
    assert type(found) is float


NO_NUMBERS = ["0.5", "", b"0.5", None, True, [0.5], [[0.5]], object(), 1j, np.nan, np.array([0.5])]


@pytest.mark.parametrize(
    ("value", "interval"),
    [(0, "(0, 1]"), (1, "[0, 1)"), (-0.1, "[0, 1]"), (np.inf, "[0, inf)"), (10**400, "[0, inf)")]
    + [(-(10**400), "(-inf, inf)")]
    + [(value, "[0, 1]") for value in NO_NUMBERS],
)
def test_what_is_no_number_in_the_interval_is_refused(value, interval):
    with pytest.raises(InputError) as refused:
        checks.check_number(value, "delta", interval, "Pass 0.1, say.")
    said = str(refused.value)
    assert said.startswith(f"delta must be a number in {interval}; got ")
    assert said.endswith(". Pass 0.1, say.")
    assert "\n" not in said
    assert len(said) < 200


@pytest.mark.parametrize("value", [0, 1, "no", None, 0.5, [True], np.nan])
def test_flags_are_true_or_false(value):
    with pytest.raises(InputError, match="soft must be True or False; got"):
        checks.check_flag(value, "soft")


def test_objects_are_of_a_class():
    checks.check_is(3, (int, str), "key", "Pass a word.")
    with pytest.raises(InputError, match=r"^key must be int or str; got float\. Pass a word\.$"):
        checks.check_is(0.5, (int, str), "key", "Pass a word.")
    with pytest.raises(InputError, match=r"^key must be str; got NoneType\. Pass a word\.$"):
        checks.check_is(None, str, "key", "Pass a word.")
    with pytest.raises(
        InputError, match=r"^ece takes str; got int\. Pass bayescal.Scores\(\.\.\.\)\.$"
    ):
        checks.check_data(3, (str,), "ece", "Scores(...)")


class _Rude:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value", [np.eye(100), "a" * 9999, 10**5000, [["x" * 99] * 99], _Rude()], ids=list("abcde")
)
def test_any_value_is_shown_in_a_few_words_on_one_line(value):
    said = checks.shown(value)
    assert "\n" not in said
    assert 0 < len(said) < 500


@pytest.mark.parametrize("interval", ["(0, 1)", "[0, inf)", "(-inf, inf)", "[-3, -2]"])
def test_the_number_that_is_proposed_lies_in_the_interval(interval):
    with pytest.raises(InputError, match=r"Pass .*, say") as refused:
        checks.check_number("x", "delta", interval)
    proposed = float(str(refused.value).rpartition("Pass ")[2].removesuffix(", say."))
    assert checks.check_number(proposed, "delta", interval) == proposed


def test_one_word_or_several():
    assert checks.checked_words("ab", "score") == ["ab"]
    assert checks.checked_words(("a", "b"), "score") == ["a", "b"]
    assert checks.checked_words(np.array(["a", "b"]), "score") == ["a", "b"]
    for value in (3, None, [], [3], b"a", ["a", None], np.array(3)):
        with pytest.raises(InputError, match="score must be a word, or a list of words; got"):
            checks.checked_words(value, "score")


def test_functions_are_callable_or_left_out():
    checks.check_call(None, "progress")
    checks.check_call(print, "progress")
    with pytest.raises(InputError, match="progress must be a function; got 3"):
        checks.check_call(3, "progress")


@pytest.mark.parametrize("name", [3, None, ["label"], b"label"])
def test_names_are_words(name):
    with pytest.raises(InputError, match="a column must be named by a word; got"):
        checks.check_known(name, ["label"], "column", "scores.csv")
