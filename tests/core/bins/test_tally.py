"""Counting by sorted blocks against a row-by-row reading of the rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.bins.binning import _BLOCK_BYTES, tally

GRID = [k / 10 for k in range(11)] + [k / 15 for k in range(16)] + [k / 100 for k in range(101)]


def place_of(value, edges, closed):
    """The rule as the papers write it, in exact comparisons of one value."""
    bins = range(len(edges) - 1)
    if closed == "right":
        return next(b for b in bins if value <= edges[b + 1] and (value > edges[b] or value == 0))
    return next(b for b in bins[::-1] if value >= edges[b] and (value < edges[b + 1] or value == 1))


def by_row(score, event, edges, closed):
    rows, positives = np.zeros(len(edges) - 1, int), np.zeros(len(edges) - 1, int)
    score_sum = np.zeros(len(edges) - 1)
    for value, happened in zip(score, event, strict=True):
        b = place_of(float(value), edges, closed)
        rows[b] += 1
        positives[b] += happened
        score_sum[b] += float(value)
    return rows, positives, score_sum


def check(score, event, edges, closed):
    found = tally(score, event, np.asarray(edges, float), closed)
    rows, positives, score_sum = by_row(score, event, edges, closed)
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.positives, positives)
    np.testing.assert_allclose(found.score_sum, score_sum, rtol=1e-12)


@st.composite
def problems(draw):
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    width = 32 if dtype is np.float32 else 64
    value = st.one_of(st.floats(0, 1, width=width), st.sampled_from(GRID))
    rows = draw(st.lists(st.tuples(value, st.booleans()), max_size=60))
    score = np.array([v for v, _ in rows], dtype)
    near = st.sampled_from([float(v) for v in score]) if rows else st.just(0.5)
    inner = draw(st.lists(st.one_of(near, st.floats(0, 1), st.sampled_from(GRID)), max_size=12))
    edges = [0.0, *sorted(inner), 1.0]
    return (
        score,
        np.array([e for _, e in rows], bool),
        edges,
        draw(st.sampled_from(["right", "left"])),
    )


@pytest.mark.slow
@given(problems())
def test_equals_the_rule_row_by_row(problem):
    check(*problem)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("decimals", [1, 2, 3])
@pytest.mark.parametrize("n_bins", [3, 7, 10, 15, 20])
def test_rounded_scores_fall_where_the_edges_say(closed, dtype, decimals, n_bins):
    rng = np.random.default_rng(3)
    score = rng.random(2000).round(decimals).astype(dtype)
    check(score, rng.integers(0, 2, 2000), [b / n_bins for b in range(n_bins + 1)], closed)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbours_of_an_edge_are_told_apart(dtype):
    edges = np.arange(16) / 15
    near = edges[1:-1].astype(dtype)
    score = np.concatenate([np.nextafter(near, dtype(0)), near, np.nextafter(near, dtype(1))])
    for closed in ("right", "left"):
        check(score, np.ones(len(score), np.uint8), edges, closed)


def test_negative_zero_is_zero_and_no_event():
    found = tally(
        np.array([-0.0, 0.0, 0.7], np.float32), np.array([0, 1, 0]), np.array([0, 0, 1.0]), "right"
    )
    assert found.rows.tolist() == [2, 1]
    assert found.positives.tolist() == [1, 0]


def test_edges_below_the_smallest_float32():
    score = np.array([0.0, 1e-45, 1e-30], np.float32)
    check(score, np.array([1, 0, 1]), [0.0, 1e-50, 1e-45, 1e-31, 1.0], "right")
    check(score, np.array([1, 0, 1]), [0.0, 1e-50, 1e-45, 1e-31, 1.0], "left")


@pytest.mark.parametrize("event_type", [bool, np.uint8, np.int32, np.int64])
def test_labels_of_any_type(event_type):
    rng = np.random.default_rng(0)
    check(rng.random(50), rng.integers(0, 2, 50).astype(event_type), [0, 0.3, 1], "right")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_blocks_and_a_rest(dtype):
    rng = np.random.default_rng(5)
    n = 3 * _BLOCK_BYTES // np.dtype(dtype).itemsize + 17
    score = rng.beta(0.3, 0.5, n).astype(dtype)
    event = rng.integers(0, 2, n).astype(np.uint8)
    edges = np.array([0, 0.001, 0.2, 0.2, 0.7, 1])
    found = tally(score[::-1], event[::-1], edges, "right")
    place = np.searchsorted(edges[1:-1], score.astype(float), side="left")
    np.testing.assert_array_equal(found.rows, np.bincount(place, minlength=5))
    np.testing.assert_array_equal(found.positives, np.bincount(place[event == 1], minlength=5))
    expected = np.bincount(place, weights=score.astype(float), minlength=5)
    np.testing.assert_allclose(found.score_sum, expected, rtol=1e-12)


def test_float32_sums_do_not_drift():
    # 10 million copies of one float32: a float32 sum is off in the third digit.
    score = np.full(10_000_000, 0.1, np.float32)
    found = tally(score, np.zeros(len(score), np.uint8), np.array([0, 0.5, 1]), "right")
    assert found.score_sum[0] / len(score) == pytest.approx(float(np.float32(0.1)), rel=1e-13)


def test_no_rows():
    found = tally(np.empty(0), np.empty(0, np.uint8), np.array([0, 0.5, 1]), "left")
    assert found.rows.tolist() == [0, 0]
    assert found.score_sum.tolist() == [0.0, 0.0]
