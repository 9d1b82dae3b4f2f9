import warnings
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import bayescal as bc
from bayescal.core import intake
from bayescal.core.binning import Binning, bin_scores, fine_counts
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.intake import round_scores
from bayescal.core.scores import Scores


def read(values, **options):
    return intake.probabilities(intake.Column("y_prob", values), **options)


@given(st.lists(st.floats(0.001, 0.999), min_size=1))
def test_logits_of_probabilities_give_them_back(values):
    np.testing.assert_allclose(read(logit(values), from_logits=True), values, rtol=0, atol=1e-12)


def test_softmax_of_two_logits_is_the_logistic_of_their_difference():
    logits = np.array([[0.0, 1.5], [2.0, -1.0]])
    np.testing.assert_allclose(
        read(logits, from_logits=True), expit(logits[:, 1] - logits[:, 0]), rtol=0, atol=1e-12
    )


def test_softmax_is_the_normalised_exponential():
    logits = np.array([[0.1, 1.0, -2.0], [700.0, 701.0, 0.0]])
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    expected = shifted / shifted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(read(logits, from_logits=True), expected, rtol=0, atol=1e-12)


def test_infinite_logits_are_certain():
    np.testing.assert_array_equal(read([np.inf, -np.inf], from_logits=True), [1.0, 0.0])
    certain = read([[0.0, -np.inf, -np.inf]], from_logits=True)
    np.testing.assert_array_equal(certain, [[1.0, 0.0, 0.0]])


def test_probabilities_of_single_precision_logits_are_those_of_double_precision():
    """In single precision all above 17 would be exactly 1, which is a score of its own kind."""
    found = read(np.float32([0.5, 18.0, -18.0]), from_logits=True)
    np.testing.assert_allclose(found, expit([0.5, 18.0, -18.0]), rtol=0, atol=1e-12)
    (found,) = read(np.float32([[18.0, 0.0, 0.0]]), from_logits=True)
    np.testing.assert_allclose(1 - found[0], 2 / (2 + np.exp(18)), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        ([0.0, np.nan], "y_prob must not be missing; got NaN at row 1"),
        ([[0.0, 1.0, 2.0], [0.0, np.inf, 1.0]], "largest logit.*must be finite; got inf at row 1"),
        ([[-np.inf] * 3], "largest logit.*must be finite; got -inf at row 0"),
    ],
)
def test_logits_without_an_answer(logits, message):
    with pytest.raises(InputError, match=message):
        read(logits, from_logits=True)


def test_two_columns_are_the_negative_and_the_positive_class():
    table = [[0.75, 0.25], [0.5, 0.5]]
    np.testing.assert_array_equal(read(table), [0.25, 0.5])
    np.testing.assert_array_equal(read(table, positive=0), [0.75, 0.5])


def test_one_column_is_no_second_dimension():
    np.testing.assert_array_equal(read([[0.25], [0.5]]), [0.25, 0.5])


@pytest.mark.parametrize("shape", [(3, 0), (3, 2, 2)])
def test_shapes_that_are_no_scores(shape):
    with pytest.raises(InputError, match=r"y_prob must have shape \(obs,\) or \(obs, class\); got"):
        read(np.zeros(shape))


def gather(scores, label, group=None):
    return intake.collect(
        {name: intake.Column(name, values) for name, values in scores.items()},
        intake.Column("label", label),
        group=None if group is None else intake.Column("group", group),
        pos_label=1,
        from_logits=False,
        classes=None,
    )


def test_float32_columns_are_not_copied():
    scores = np.float32([0.25, 0.5])
    assert np.shares_memory(gather({"a": scores}, [0, 1]).values, scores)


def test_mixed_precision_is_stacked_in_double():
    parts = gather({"a": np.float32([0.25, 0.5]), "b": np.array([0.1, 0.9])}, [0, 1])
    assert parts.values.dtype == np.float64
    np.testing.assert_array_equal(parts.values, [[0.25, 0.5], [0.1, 0.9]])


def test_float32_scores_beside_double_ones_keep_their_bins():
    score, label = np.arange(101) / 100, np.arange(101) % 2
    single = score.astype(np.float32)
    alone = Scores(label, single, classifier="a")
    frame = pd.DataFrame({"y": label, "a": single, "b": score})
    for both in (
        Scores.stack({"a": single, "b": score}, y_true=label),
        Scores.from_frame(frame, label="y", score=["a", "b"]),
    ):
        np.testing.assert_array_equal(both.y_prob[0], score)
        counts = (
            bin_scores(one, n_bins=10, strategy="uniform").count
            for one in (alone, both.select("a"))
        )
        np.testing.assert_array_equal(*counts)
    logits = {"a": np.float32([0.1, 0.2]), "b": np.array([0.1, 0.2])}
    mixed = Scores.stack(logits, y_true=[0, 1], from_logits=True)
    np.testing.assert_array_equal(mixed.logits[0], np.float32([0.1, 0.2]))


@pytest.mark.parametrize(
    ("scores", "label", "group", "message"),
    [
        ({}, [0, 1], None, "at least one classifier; got none"),
        ({"a": [0.1, 0.2], "b": [0.1]}, [0, 1], None, "b and a must have the same length"),
        ({"a": [0.1, 0.2]}, [0, 1, 1], None, "a and label .*got 2 and 3 rows.*None or NaN"),
        ({"a": [0.1, 0.2]}, [0, 1], ["x"], "group and label must have.*got 1 and 2 rows"),
        (
            {"a": [0.1, 0.2], "b": np.full((2, 3), 1 / 3)},
            [0, 1],
            None,
            r"all classifiers must score the same classes; got b of shape \(2, 3\) and a",
        ),
    ],
)
def test_columns_that_do_not_fit(scores, label, group, message):
    with pytest.raises(InputError, match=message):
        gather(scores, label, group)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *((1, 1), (1, True), (1, "1"), (True, "1"), ("0", False)),
        *(("-1", -1), (True, "true"), ("False", False), ("a", "a")),
    ],
)
def test_labels_that_are_one(first, second):
    assert intake.same_label(first, second)
    assert intake.same_label(second, first)


@pytest.mark.parametrize(
    ("first", "second"), [(1, 0), ("a", "A"), (1, "01"), (True, "0"), (1, "one")]
)
def test_labels_that_are_two(first, second):
    assert not intake.same_label(first, second)


@pytest.mark.parametrize(
    ("labels", "pos_label", "codes", "classes"),
    [
        ([0, 1, None], 1, [0, 1, -1], (0, 1)),
        ([-1, 1, 1], 1, [0, 1, 1], (-1, 1)),
        ([1, 2, 1], 2, [0, 1, 0], (1, 2)),
        ([1, 2, 1], 1, [1, 0, 1], (2, 1)),
        ([0.0, 1.0, np.nan], 1, [0, 1, -1], (0, 1)),
        ([True, False], 1, [1, 0], (False, True)),
        ([True, False], True, [1, 0], (False, True)),
        ([True, False], "true", [1, 0], (False, True)),
        ([True, False], "1", [1, 0], (False, True)),
        (["spam", "ham"], "spam", [1, 0], ("ham", "spam")),
        (["0", "1"], 1, [0, 1], ("0", "1")),
        ([0, 1], "1", [0, 1], (0, 1)),
        ([0, 1], np.int64(1), [0, 1], (0, 1)),
    ],
)
def test_two_labels(labels, pos_label, codes, classes):
    found, names = intake.code_binary(labels, pos_label, None, "y_true")
    assert found.tolist() == codes
    assert names == classes
    assert [type(name) for name in names] == [type(name) for name in classes]


@pytest.mark.parametrize(
    ("labels", "pos_label", "code", "classes"),
    [
        ([0, 0], 1, 0, (0, 1)),
        ([1, 1], 1, 1, (0, 1)),
        ([0, 0], 0, 1, (1, 0)),
        ([-1, -1], 1, 0, (-1, 1)),
        ([0, 0], "1", 0, (0, 1)),
        ([False, False], 1, 0, (False, True)),
        ([True, True], 1, 1, (False, True)),
        ([False, False], "true", 0, (False, True)),
        (["0", "0"], 1, 0, ("0", "1")),
        (["ham", "ham"], "spam", 0, ("ham", "spam")),
        (["spam", "spam"], "spam", 1, ("not spam", "spam")),
    ],
)
def test_one_label_seen_is_enough(labels, pos_label, code, classes):
    found, names = intake.code_binary(labels, pos_label, None, "y_true")
    assert found.tolist() == [code, code]
    assert names == classes
    assert [type(name) for name in names] == [type(name) for name in classes]


def test_one_label_of_another_kind_than_pos_label_is_refused():
    with pytest.raises(InputError, match=r"pos_label must be one of the labels; got 1, .*'ham'"):
        intake.code_binary(["ham", "ham"], 1, None, "y_true")
    with pytest.raises(InputError, match="pos_label must be one of the labels; got 'spam'"):
        intake.code_binary([0, 0], "spam", None, "y_true")
    with pytest.raises(InputError, match="pos_label must be one of the labels; got '--5'"):
        intake.code_binary([0, 0], "--5", None, "y_true")


def test_absent_pos_label_says_what_there_is():
    message = (
        "pos_label must be one of the labels; got 1, and y_true holds 'ham', 'spam'.*"
        "pos_label='spam'"
    )
    with pytest.raises(InputError, match=message):
        intake.code_binary(["ham", "spam"], 1, None, "y_true")


def test_pos_label_must_be_a_label():
    with pytest.raises(InputError, match=r"pos_label must be a word.*got 0\.5"):
        intake.code_binary([0, 1], 0.5, None, "y_true")


def test_more_than_two_labels_name_pos_label():
    with pytest.raises(InputError, match=r"got 3: 0, 1, 2\..*pos_label=1"):
        intake.code_binary([0, 1, 2], 1, None, "y_true")


def test_all_labels_missing():
    found, names = intake.code_binary([None, None], 1, None, "y_true")
    assert found.tolist() == [-1, -1]
    assert names == (0, 1)
    found, names = intake.code_classes([None, np.nan], 3, None, "y_true")
    assert found.tolist() == [-1, -1]
    assert names == (0, 1, 2)


def test_all_labels_missing_leaves_a_word_its_opposite():
    assert intake.code_binary([None, None], "spam", None, "y_true")[1] == ("not spam", "spam")


def test_binary_classes_are_checked_and_ordered():
    found, names = intake.code_binary(["b", "a"], "b", ["b", "a"], "y_true")
    assert found.tolist() == [1, 0]
    assert names == ("a", "b")
    with pytest.raises(InputError, match="y_true must hold the classes 'a', 'b'; got 'c' at row 1"):
        intake.code_binary(["a", "c"], "b", ["a", "b"], "y_true")
    with pytest.raises(InputError, match="got 'z', and classes holds 'a', 'b'"):
        intake.code_binary(["a", "b"], "z", ["a", "b"], "y_true")
    with pytest.raises(InputError, match=r"classes must name 2 classes.*got 'a', 'b', 'c'"):
        intake.code_binary(["a", "b"], "b", ["a", "b", "c"], "y_true")


@pytest.mark.parametrize(
    ("labels", "classes", "codes", "names"),
    [
        ([0, 2, None], None, [0, 2, -1], (0, 1, 2)),
        (["c", None, "a"], ["a", "b", "c"], [2, -1, 0], ("a", "b", "c")),
        ([30, 10], [10, 20, 30], [2, 0], (10, 20, 30)),
        ([2, 0], ["0", "1", "2"], [2, 0], ("0", "1", "2")),
        ([2, 0], ["cat", "dog", "fox"], [2, 0], ("cat", "dog", "fox")),
    ],
)
def test_several_classes(labels, classes, codes, names):
    found, given = intake.code_classes(labels, 3, classes, "y_true")
    assert found.tolist() == codes
    assert given == names


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        ([1, 2, 3], None, r"number the 3 columns of y_prob, 0 to 2; got 3 at row 2\..*classes="),
        (["a", "b"], None, r"number the 3 columns of y_prob.*got 'a' at row 0"),
        (["a", "z"], ["a", "b", "c"], "hold the classes 'a', 'b', 'c'; got 'z' at row 1"),
        (["dgo"], ["cat", "dog", "fox"], "the classes 'cat', 'dog', 'fox'; got 'dgo' at row 0"),
        ([0, 3], ["cat", "dog", "fox"], "got 3 at row 1"),
        ([0], ["a", "b"], "name 3 classes, those of the columns of y_prob; got 'a', 'b'"),
        ([0], ["a", "a", "b"], "class names must differ; got 'a' twice"),
        ([0], ["a", "b", 0.5], "classes must name 3 classes"),
    ],
)
def test_labels_that_no_column_has(labels, classes, message):
    with pytest.raises(InputError, match=message):
        intake.code_classes(labels, 3, classes, "y_true")


def test_groups_are_named_and_sorted():
    codes, names = intake.code_groups([10, 2, 10], "group", 3, "y_true")
    assert codes.tolist() == [1, 0, 1]
    assert names == ("2", "10")
    codes, names = intake.code_groups(["b", "10", "2", "-1", "02"], "group", 5, "y_true")
    assert codes.tolist() == [4, 3, 2, 0, 1]
    assert names == ("-1", "02", "2", "10", "b")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], "group and y_true must have the same length; got 2 and 3 rows"),
        (["a", "", ""], "known in every row; got 2 missing, the first at row 1.*'unknown'"),
        (["a", None, None], "known in every row; got 2 missing, the first at row 1.*'unknown'"),
        ([1, "1", 2], "group names must differ; got '1' twice"),
        ([0.5, 1, 2], r"group must hold words, whole numbers or true/false; got 0\.5 at row 0"),
    ],
)
def test_bad_groups(groups, message):
    column = np.array(groups, object)
    with pytest.raises(InputError, match=message):
        intake.code_groups(column, "group", 3, "y_true")


def test_numbers_of_any_shape():
    assert intake.to_probabilities(0.5, "p").shape == ()
    assert intake.to_probabilities([[0.25, 1]], "p").tolist() == [[0.25, 1]]
    assert intake.to_probabilities([], "p").shape == (0,)
    assert intake.finite_numbers([-3, 4.5], "x").tolist() == [-3, 4.5]


@pytest.mark.parametrize("value", [[1.5], [np.nan], ["a"], [[0.5], [0.5, 0.5]], None])
def test_what_are_no_probabilities_is_refused(value):
    with pytest.raises(InputError, match="p must"):
        intake.to_probabilities(value, "p")


@pytest.mark.parametrize("value", [[1.5, np.inf], np.nan, ["a"], None])
def test_what_are_no_finite_numbers_is_refused(value):
    with pytest.raises(InputError, match="x must"):
        intake.finite_numbers(value, "x")


CLOSED = pytest.mark.parametrize("closed", ["right", "left"])
STRATEGY = pytest.mark.parametrize(
    "strategy", ["quantile", "uniform", np.linspace(0, 1, 16)], ids=["quantile", "uniform", "edges"]
)


@given(st.floats(0, 1))
def test_it_is_the_nearest_decimal_number(score):
    digits = "1e-12" if score >= 1e-4 else f"1e{Decimal(score).adjusted() - 11}"
    step = Decimal(digits)
    nearest = float((Decimal(score) / step).to_integral_value() * step)
    found = round_scores(np.array([score]))[0]
    assert found == pytest.approx(nearest, rel=1e-15, abs=1e-300)
    assert abs(found - score) <= 0.5000001e-12


@given(st.lists(st.floats(0, 1), min_size=1))
def test_twice_is_once_and_order_stays(scores):
    once = round_scores(np.sort(scores))
    np.testing.assert_array_equal(round_scores(once), once)
    assert (np.diff(once) >= 0).all()


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_neighbours_of_a_fraction_are_one_score(part, whole):
    share = min(part / whole, 1.0)
    near = round_scores(np.array([np.nextafter(share, 0), share, np.nextafter(share, 1)]))
    # A zero has no last place: its neighbour is 5e-324.
    assert len(set(near.tolist())) == 1


def test_blocks_and_tables_are_rounded_as_single_scores():
    table = np.random.default_rng(1).random((40_000, 3)) ** 8
    found = round_scores(table)
    rows = [0, 10_922, 10_923, 39_999]
    np.testing.assert_array_equal(found[rows], [round_scores(table[row]) for row in rows])
    assert len(round_scores(np.empty((0, 3)))) == 0


def test_single_precision_is_left_alone():
    scores = np.float32([0.1, 1 / 3])
    assert round_scores(scores) is scores


def shares():
    """Scores that stand on edges of 15 bins, on ties, or on neither, and labels."""
    rng = np.random.default_rng(20)
    scores = np.concatenate([rng.integers(0, 31, 300) / 30, rng.random(300)])
    return scores, (rng.random(600) < scores).astype(int)


def moved(scores, seed):
    towards = np.random.default_rng(seed).integers(0, 2, len(scores)).astype(float)
    return np.nextafter(scores, towards)


def everything(scores, labels, strategy, closed):
    """Bins and cells, of rows and of their counts."""
    (task,) = Scores(y_true=labels, y_prob=scores).tasks()
    binning = Binning(15, strategy, closed)
    counts = Counts.from_arrays(labels, scores)
    bins = bin_scores(task, binning)
    cells = fine_counts(task, bins.edges, closed=closed)
    return bins, cells, counts.bins_of(binning), counts.cells_of(binning, 100)


@CLOSED
@STRATEGY
@pytest.mark.parametrize("seed", range(3))
def test_the_last_bit_changes_no_bin_and_no_cell(strategy, closed, seed):
    scores, labels = shares()
    before = everything(scores, labels, strategy, closed)
    after = everything(moved(scores, seed), labels, strategy, closed)
    for one, other in zip(before, after, strict=True):
        for field in ("edges", "count", "positives", "mean_score"):
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@CLOSED
def test_the_classes_of_a_binary_score_tie_alike(closed):
    scores, labels = shares()
    for turn in (lambda s: s.one_vs_rest(0), lambda s: s.top_label()):
        one, other = (
            bin_scores(
                turn(Scores(y_true=labels, y_prob=y_prob)), strategy="uniform", closed=closed
            )
            for y_prob in (scores, moved(scores, 1))
        )
        np.testing.assert_array_equal(one.count, other.count)


@CLOSED
@pytest.mark.parametrize("n_bins", [10, 100])
def test_float32_scores_turned_round_are_the_decimals_that_they_stand_for(closed, n_bins):
    scores = np.arange(1001) / 1000
    for turn in (lambda s: s.one_vs_rest(0), lambda s: s.top_label()):
        double, single = (
            turn(Scores(y_true=np.arange(1001) % 2, y_prob=scores.astype(kind)))
            for kind in (np.float64, np.float32)
        )
        assert single.y_prob.dtype == np.float32
        np.testing.assert_array_equal(single.y_prob, double.y_prob.astype(np.float32))
        one, other = (
            bin_scores(each, n_bins=n_bins, strategy="uniform", closed=closed).count
            for each in (double, single)
        )
        np.testing.assert_array_equal(one, other)


@given(st.lists(st.floats(0, 1, width=32), min_size=2))
def test_complements_of_float32_scores_are_nearest_and_in_order(scores):
    score = np.sort(np.float32(scores))
    found = intake.complement(score)
    assert (np.diff(found) <= 0).all()
    # Half the distance of float32 numbers below 1.
    np.testing.assert_allclose(found.astype(float) + score, 1, atol=2.0**-25, rtol=0)


def test_a_score_on_an_edge_that_no_binary_fraction_meets_is_in_its_bin():
    scores = Scores(y_true=[0] * 14, y_prob=np.arange(1, 15) / 15)
    assert bin_scores(scores, n_bins=15, strategy="uniform").count.tolist() == [1] * 14 + [0]


@pytest.mark.parametrize("types", [("f8", "f4"), ("f4", "f8")])
def test_equal_scores_of_two_samples_are_equal_in_single_precision_too(types):
    score = np.array([0.0, 0.1, 0.6, 0.7, 0.9999999999, 1.0])
    one, other = intake.alike(*(score.astype(dtype) for dtype in types))
    # .9999999999 is 1 in single precision, and stays the 1 that it was given as.
    np.testing.assert_array_equal(one[[0, 1, 2, 3, 5]], other[[0, 1, 2, 3, 5]])
    assert 1.0 in (one[4], other[4])
    narrow = np.float32([0.25, 0.3])
    assert intake.alike(narrow, np.array([0.4]))[0] is narrow


@pytest.mark.parametrize("types", [("f8", "f4"), ("f4", "f8")])
def test_samples_of_two_types_give_what_those_of_one_give(types):
    first, second = (np.array([0.2, 0.6, 0.6, 0.8]).astype(dtype) for dtype in types)
    split = bc.CalibrationSplit(calibration=Scores([0, 0, 1, 1], first), target=second[:2])
    # Isotonic regression with one more row of .6, or of .2.
    assert bc.credal.estimate(split).p0.tolist() == [0, 1 / 3]
    assert bc.credal.estimate(split).p1.tolist() == [0.5, 2 / 3]
    pu = bc.PUScores(positive=first, unlabeled=second)
    found = bc.pu_ece.estimate(pu, class_prior=0.5, n_bins=3)
    assert found.count.tolist() == found.positive_count.tolist()
    plan = bc.agnostic.plan(Scores([0, 0, 1, 1], first), bc.agnostic.Priors(), unlabeled=second)
    assert plan.cases[0].problem.cells.count.tolist() == [2, 4, 2]


SHUFFLED = [3, 0, 4, 1, 2]


@pytest.mark.parametrize("argument", ["y_prob", "group", "sample_weight"])
@pytest.mark.parametrize(
    "index", [range(5), list("abcde"), pd.MultiIndex.from_product([[1], list("abcde")])]
)
def test_columns_whose_indexes_are_in_another_order_are_refused(argument, index):
    frame = pd.DataFrame({"y": [0, 0, 1, 1, 1], "p": [0.1, 0.2, 0.6, 0.7, 0.9]}, index=index)
    columns = {"y_true": frame.y, "y_prob": frame.p, "group": frame.y, "sample_weight": frame.p}
    right = Scores(**columns)
    moved = {name: one.iloc[SHUFFLED] for name, one in columns.items()}
    with pytest.raises(InputError, match=f"{argument} must have its rows in the order of y_true"):
        Scores(**columns | {argument: moved[argument]})
    np.testing.assert_array_equal(Scores(**moved).y_prob, right.y_prob[:, SHUFFLED])
    # xarray calls the dimension of an unnamed index `index`.
    arrays = {n: xr.DataArray(one, dims="index") for n, one in columns.items()}
    np.testing.assert_array_equal(Scores(**arrays).y_prob, right.y_prob)
    with pytest.raises(InputError, match=f"{argument} must have its rows in the order of y_true"):
        Scores(**arrays | {argument: arrays[argument][SHUFFLED]})


def test_rows_of_other_indexes_are_matched_by_place():
    y, p = pd.Series([0, 1, 1], index=[7, 2, 5]), pd.Series([0.2, 0.6, 0.9])
    same = pd.Series([0, 1, 1], index=[0, 0, 0])
    for labels, values in ((y, p), (same, p), (same, p.set_axis(same.index)), (p > 0.5, [*p])):
        np.testing.assert_array_equal(Scores(labels, values).y_prob, [p])
        np.testing.assert_array_equal(Scores(labels, values).y_true, [0, 1, 1])


def test_equal_indexes_of_two_types_are_in_one_order():
    times = pd.date_range("2024-01-01", periods=3, tz="UTC")
    known = pd.Index([3, None, 1], dtype="Int64")
    pairs = (times, times.tz_convert("Asia/Tokyo")), (known, pd.Index([3, None, 1], dtype=object))
    for first, other in pairs:
        y, p = pd.Series([0, 1, 1], index=first), pd.Series([0.2, 0.6, 0.9], index=other)
        np.testing.assert_array_equal(Scores(y, p).y_prob, [p])
        with pytest.raises(InputError, match="in another one"):
            Scores(y, p.iloc[::-1])


_X = pd.DataFrame({"x": np.arange(6.0)})
_Y, _THREE = pd.Series([0, 1, 0, 1, 0, 1]), pd.Series([0, 1, 2, 0, 1, 2])
_P, _W = _X.x / 6, _X.x + 1
_TABLE, _NONE = pd.DataFrame(np.eye(3)[_THREE] / 2 + 1 / 6), pd.DataFrame(np.zeros((6, 3)))
_RULE = bc.agnostic.bayes_rule({"keep": (5, 0), "remove": (0, 3)})
_FITTED = {"X": _X, "y": _Y, "sample_weight": _W}
_SLICES = bc.temperature.SliceCalibration(scale="probabilities")
_SETS = {"lower": _NONE, "upper": _NONE + 1}


@pytest.mark.parametrize(
    ("call", "rows"),
    [
        (
            partial(Scores.from_estimator, LogisticRegression().fit(_X, _Y)),
            {**_FITTED, "group": _Y},
        ),
        (partial(Scores.from_cv, LogisticRegression(), cv=2), {**_FITTED, "group": _Y}),
        (Counts.from_arrays, {"y_true": _Y, "y_prob": _P, "sample_weight": _W}),
        (bc.agnostic.interval_measure, {"score": _P, "label": _Y, "weight": _W}),
        (partial(bc.agnostic.actual_cost, _RULE), {"score": _P, "label": _Y, "weight": _W}),
        (
            partial(bc.agnostic.expected_cost, _RULE),
            {"score": _P, "probability": _P, "weight": _W},
        ),
        (partial(bc.agnostic.estimated_cost, _RULE), {"score": _P, "weight": _W}),
        (bc.agnostic.roc, {"score": _P, "probability": _P}),
        (bc.agnostic.untestable_distance, {"score": _P, "weight": _W}),
        (bc.agnostic.minimise_measure, {"score": _P, "label": _Y, "basis": _X}),
        (bc.agnostic.half_plane_measure, {"prob": _TABLE, "label": _THREE}),
        (bc.credal.fit_ivap, {"score": _P, "label": _Y, "rows": _W}),
        (bc.credal.fit_one_vs_rest, {"score": _TABLE, "label": _THREE, "rows": _W}),
        (bc.credal.fit_cross_venn_abers, {"score": _P, "label": _Y, "fold": _Y}),
        (bc.credal.merged, {"p0": _P / 2, "p1": _P / 2 + 0.5}),
        (bc.credal.reachable, _SETS),
        (bc.credal.project, {"prob": _TABLE, **_SETS}),
        (bc.credal.divergence, {"p": _TABLE, "prob": _TABLE}),
        (bc.VennAbersCalibrator().fit, _FITTED),
        (bc.credal.NetworkClassifier().fit, _FITTED),
        (bc.credal.NetworkClassifier().fit_credal, {"X": _X, **_SETS, "sample_weight": _W}),
        (
            partial(bc.credal.SelfLearningRows, unlabeled=_X, target=_X),
            {"features": _X, "labels": _Y},
        ),
        (
            partial(bc.credal.SelfLearningRows, _X, _Y, _X, _X),
            {"calibration_features": _X, "calibration_labels": _Y},
        ),
        (bc.pu_ece.PUClassifier(class_prior=0.5).fit, {"X": _X, "y": _Y}),
        (lambda **p: bc.PUScores.stack({a: (p[a], _P) for a in p}), {"one": _P, "other": _P}),
        (lambda **p: bc.PUScores.stack({a: (_P, p[a]) for a in p}), {"one": _P, "other": _P}),
        (
            partial(bc.ssme.metrics, np.full((1, 6, 3), 1 / 3)),
            {"q": _TABLE, "weights": _W, "errors_q": _TABLE},
        ),
        (bc.temperature.HeldOutCalibration(n_folds=2).fit, _FITTED),
        (
            _SLICES.fit,
            {"X": _TABLE, "y": _THREE, "sample_weight": _W, "slices": _Y},
        ),
        (
            _SLICES.fit(_TABLE, _THREE, _Y).predict_proba,
            {"X": _TABLE, "slices": _Y},
        ),
    ],
)
def test_rows_in_another_order_are_refused(call, rows):
    first = next(iter(rows))
    for name in set(rows) - {first}:
        moved = {**rows, name: rows[name].iloc[::-1]}
        with pytest.raises(InputError, match=r"in another one, \d for \d at row 0"):
            call(**moved)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(**rows)
