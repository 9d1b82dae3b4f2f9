"""The measure against all pairs of scores; the estimate's dims, classes, and unlabelled rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.quantities.agnostic.estimator import (
    _BLOCK,
    Estimate,
    IntervalStream,
    estimate,
    interval_measure,
)


def drawn(rng, most=25, decimals=None):
    """Few scores with ties, and labels that need not fit them."""
    n = int(rng.integers(1, most))
    score = rng.random(n).round(int(rng.integers(1, 4)) if decimals is None else decimals)
    return score, (rng.random(n) < score ** rng.uniform(0.2, 3)).astype(int)


def over_all_pairs(score, label, weight=None):
    """Definition 2, pair by pair."""
    weight = np.full(len(score), 1 / len(score)) if weight is None else weight / weight.sum()
    ends = [-1.0, *np.unique(score)]
    inside = [
        (score > low) & (score <= high) for place, low in enumerate(ends) for high in ends[place:]
    ]
    return max(abs((weight * (score - label))[rows].sum()) for rows in inside)


@pytest.mark.slow
def test_all_pairs_of_a_thousand_problems():
    rng = np.random.default_rng(20)
    for _ in range(1000):
        score, label = drawn(rng)
        assert interval_measure(score, label=label).c == pytest.approx(
            over_all_pairs(score, label), abs=1e-12
        )


def test_weighted_rows_against_all_pairs():
    rng = np.random.default_rng(21)
    for _ in range(300):
        score, label = drawn(rng)
        weight = rng.exponential(size=len(score))
        found = interval_measure(score, label=label, weight=weight)
        assert found.c == pytest.approx(over_all_pairs(score, label, weight), abs=1e-12)


def test_scores_that_a_fit_takes_as_one_are_one():
    score = np.where(np.arange(20) % 2, 0.3, 0.1 + 0.2)  # two numbers next to each other
    label = np.arange(20) % 2
    expected = abs(0.3 - 0.5)  # of one score, half of whose rows are positive
    stream = IntervalStream()
    stream.add(score, label=label)
    found = interval_measure(score, label=label), stream.measure()
    assert [one.c for one in found] == pytest.approx([expected, expected])
    assert estimate(Scores(y_true=label, y_prob=score)).c == pytest.approx(expected)


def test_the_interval_attains_the_measure_with_its_sign():
    rng = np.random.default_rng(23)
    for _ in range(300):
        score, label = drawn(rng)
        found = interval_measure(score, label=label)
        rows = (score > found.lower) & (score <= found.upper)
        sum_inside = (score - label)[rows].sum() / len(score)
        assert sum_inside == pytest.approx(found.sign * found.c, abs=1e-12)


def test_prefixes_against_all():
    rng = np.random.default_rng(24)
    for _ in range(300):
        score, label = drawn(rng)
        prefixes = [abs((score - label)[score <= end].sum()) for end in score]
        assert interval_measure(score, label=label).ks == pytest.approx(max(prefixes) / len(score))


def test_more_rows_than_a_block_with_ties_across_its_end():
    rng = np.random.default_rng(25)
    score = rng.random(3 * _BLOCK + 7).round(3)
    label = rng.random(len(score)) < score**1.2
    distinct, place = np.unique(score, return_inverse=True)
    sums = np.append(0, np.cumsum(np.bincount(place, weights=score - label)))
    assert interval_measure(score, label=label).c == pytest.approx(
        np.ptp(sums) / len(score), abs=1e-12
    )
    assert len(distinct) == 1001


@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.booleans()), min_size=1, max_size=40))
def test_float32_orders_and_bounds(rows):
    score = np.array([value for value, _ in rows], dtype=np.float32)
    label = [happened for _, happened in rows]
    found = interval_measure(score, label=label)
    assert 0 <= found.ks <= found.c <= 1
    assert found.c <= 2 * found.ks + 1e-12
    assert found.c == pytest.approx(interval_measure(score.astype(float), label=label).c, abs=1e-12)


@pytest.mark.parametrize("label", [[0, 1, 1], [-1, 1, 1], [False, True, True], [0.0, 1.0, 1.0]])
def test_labels_in_every_form(label):
    # (0.25, 0.75] has 2 positives of 1.25 by the scores.
    assert interval_measure([0.25, 0.5, 0.75], label=label).c == 0.25


def test_constant_scores():
    found = interval_measure([0.25] * 4, label=[0, 0, 0, 1])
    assert (found.c, found.sign, found.upper) == (0.0, 0, 0.25)


@pytest.mark.parametrize(("label", "sign"), [(0, 1), (1, -1)])
def test_one_label_class(label, sign):
    found = interval_measure([0.25, 0.5], label=[label] * 2)
    # All scores on one side: the sum over all rows, 3/4 or 5/4 of two rows.
    assert (found.c, found.sign) == ((0.375, sign) if label == 0 else (0.625, sign))
    assert found.lower == -np.inf


def test_half_precision_stands_for_its_decimals():
    score = np.array([0.6, 0.3, 0.6, 0.1], np.float16)
    # As with Scores: .6 is .60010 in half precision, .60000002 in single precision.
    found = interval_measure(score, label=[1, 0, 0, 0])
    assert found.c == pytest.approx((0.6 + 0.3 + 0.6 + 0.1 - 1) / 4, abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_of_a_stream_merge(dtype):
    rng = np.random.default_rng(27)
    score = rng.random(5000).round(2).astype(dtype)
    label = rng.random(5000) < score
    stream = IntervalStream()
    for rows in np.array_split(np.arange(5000), 7):
        stream.add(score[rows], label=label[rows])
        stream.measure()
    assert stream.measure() == interval_measure(score, label=label)


def test_a_stream_refuses_no_rows_and_other_types():
    stream = IntervalStream()
    with pytest.raises(InputError, match="at least one row"):
        stream.measure()
    stream.add([0.5], label=[1])
    with pytest.raises(InputError, match="keep its type"):
        stream.add(np.array([0.5], np.float32), label=[1])


@pytest.mark.parametrize(
    ("score", "label", "weight", "message"),
    [
        ([0.5, 1.5], [0, 1], None, r"lie in \[0, 1\]; got 1.5 at row 1"),
        ([0.5, np.nan], [0, 1], None, "missing; got NaN at row 1"),
        (["a", "b"], [0, 1], None, "score must be numbers"),
        ([[0.5]], [0], None, "one dimension"),
        ([], [], None, "at least one row"),
        ([0.5, 0.5], [0], None, "same length"),
        ([0.5, 0.5], [0, 2], None, "label must be 0 or 1, .*got 2 at row 1"),
        ([0.5, 0.5, 0.5], [0, -1, 1], None, "got 0 at row 0"),
        ([0.5, 0.5], [0.0, np.nan], None, "missing"),
        ([0.5], ["yes"], None, "numbers or booleans"),
        ([0.5, 0.5], [0, 1], [1, -1], "weight must be 0 or a number .*got -1 at row 1"),
        ([0.5, 0.5], [0, 1], [1, np.nan], "weight must be 0 or a number"),
        ([0.5, 0.5], [0, 1], [0, 0], "weight must be above 0 in at least one row"),
        ([0.5, 0.5], [0, 1], [1], "same length"),
    ],
)
def test_bad_input(score, label, weight, message):
    with pytest.raises(InputError, match=message):
        interval_measure(score, label=label, weight=weight)


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(20)
    prob = rng.dirichlet([1, 1, 1], 60)
    label = [int(rng.choice(3, p=row)) for row in prob]
    return prob, np.array(label)


def test_rows_without_a_label_are_left_out():
    found = estimate(Scores(y_true=[0, None, 1], y_prob=[0.25, 0.9, 0.5]))
    assert found.c == interval_measure([0.25, 0.5], label=[0, 1]).c
    assert np.ndim(found.c) == 0


def test_several_classifiers_are_a_dim():
    panel = Scores.stack({"a": [0.25, 0.5], "b": [0.5, 0.25]}, y_true=[0, 1])
    found = estimate(panel)
    assert isinstance(found, Estimate)
    for place, score in enumerate(([0.25, 0.5], [0.5, 0.25])):
        expected = interval_measure(score, label=[0, 1])
        for name in Estimate._fields:
            assert getattr(found, name)[place] == getattr(expected, name)


def test_classes_one_by_one_and_their_supremum(three_classes):
    prob, label = three_classes
    scores = Scores(y_true=label, y_prob=prob)
    expected = [interval_measure(scores.y_prob[0][:, k], label=label == k) for k in range(3)]
    by_class = estimate(scores, multiclass="class-wise")
    assert by_class.c.tolist() == [one.c for one in expected]
    worst = int(np.argmax(by_class.c))
    supremum = estimate(scores, multiclass="supremum")
    assert (supremum.c, supremum.upper) == (expected[worst].c, expected[worst].upper)


def test_as_a_supremum_each_measure_is_the_largest_of_any_class():
    rng = np.random.default_rng(1)
    prob, label = rng.dirichlet(np.ones(3), 20), rng.integers(0, 3, 20)
    gaps = np.take_along_axis(prob - np.eye(3)[label], prob.argsort(axis=0), axis=0)
    sums = np.cumsum(gaps, axis=0) / 20
    c, ks = np.ptp(np.vstack([np.zeros(3), sums]), axis=0), np.abs(sums).max(axis=0)
    assert c.argmax() != ks.argmax()
    found = estimate(Scores(y_true=label, y_prob=prob), multiclass="supremum")
    # Scores are rounded to 12 decimals.
    assert (found.c, found.ks) == pytest.approx((c.max(), ks.max()), abs=1e-11)


def test_top_label_is_of_being_right(three_classes):
    prob, label = three_classes
    found = estimate(Scores(y_true=label, y_prob=prob))
    right = prob.argmax(axis=1) == label
    assert found.c == pytest.approx(interval_measure(prob.max(axis=1), label=right).c, abs=1e-12)


def test_weights_are_those_of_the_labelled_rows():
    scores = Scores(y_true=[0, 1, 1], y_prob=[0.25, 0.5, 0.75], sample_weight=[2, 1, 1])
    assert estimate(scores).c == interval_measure([0.25, 0.25, 0.5, 0.75], label=[0, 0, 1, 1]).c
