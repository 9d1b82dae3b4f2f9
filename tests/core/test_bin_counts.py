"""Counts add up, merge, and refuse what cannot be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.bin_counts import BinCounts, without
from bayescal.core.bin_edges import bin_edges, refine
from bayescal.core.binning import bin_scores, count_into
from bayescal.core.errors import InputError
from bayescal.core.scores import Task

# Few distinct values, the ends among them, so that edges repeat and meet scores.
SCORES = st.lists(
    st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 0.9, 1.0]), min_size=1, max_size=40
)
CLOSED = st.sampled_from(["right", "left"])


def same(a, b):
    assert a.closed == b.closed
    np.testing.assert_array_equal(a.edges, b.edges)
    np.testing.assert_array_equal(a.count, b.count)
    np.testing.assert_array_equal(a.positives, b.positives)
    np.testing.assert_allclose(a.mean_score, b.mean_score, rtol=1e-12)


def labels(score):
    return np.arange(len(score)) % 3 == 0


@pytest.mark.slow
@given(SCORES, st.integers(1, 50), st.integers(1, 50), CLOSED)
def test_merging_fine_bins_equals_binning_the_rows(score, n_bins, n_cells, closed):
    score = np.array(score)
    event = labels(score)
    edges = bin_edges(score, n_bins, "quantile")
    for other in (bin_edges(score, n_cells, "quantile"), bin_edges(score, n_cells, "uniform")):
        fine = count_into(score, event, refine(edges, other, closed), closed)
        same(fine.merge(edges), count_into(score, event, edges, closed))
        same(fine.merge(other), count_into(score, event, other, closed))


@pytest.mark.slow
@given(SCORES, st.integers(1, 12), CLOSED, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(score, n_bins, closed, random):
    score = np.array(score)
    event = labels(score)
    order = list(range(len(score)))
    random.shuffle(order)
    options = {"n_bins": n_bins, "strategy": "quantile", "closed": closed}
    same(
        bin_scores(Task({}, score[order], event[order].astype(np.uint8)), **options),
        bin_scores(Task({}, score, event.astype(np.uint8)), **options),
    )


def test_properties():
    bins = BinCounts([0, 0.5, 0.5, 1], [4, 0, 6], [1, 0, 6], [0.25, np.nan, 0.75])
    assert bins.n_bins == 3
    assert bins.n == 10
    assert bins.mean_score.tolist() == [0.25, 0.5, 0.75]
    with pytest.raises(ValueError, match="read-only"):
        bins.count[0] = 1


def test_a_score_may_stand_for_an_empty_bin():
    bins = BinCounts([0, 0.5, 0.8, 1], [0, 0, 6], [0, 0, 6], [0.4, 0.9, 0.85])
    assert bins.mean_score.tolist() == [0.4, 0.65, 0.85]


def test_equal_means_stay_as_they_are():
    bins = BinCounts([0, 0.1, 0.2, 1], [1, 2, 1], [0, 1, 1], [0.1, 0.1, 0.3])
    assert (bins + bins + bins).mean_score.tolist() == [0.1, 0.1, 0.3]
    assert bins.merge([0, 0.2, 1]).mean_score.tolist() == [0.1, 0.3]


def test_input_arrays_stay_writeable():
    edges = np.array([0, 0.5, 1.0])
    BinCounts(edges, [1, 1], [0, 1], [0.2, 0.7])
    edges[1] = 0.4


def test_a_mean_off_by_float32_rounding_is_taken_and_mended():
    bins = BinCounts([0, 0.3, 1], [1, 1], [0, 1], [0.3 + 1e-8, 0.7])
    assert bins.mean_score[0] == 0.3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": [4, -1]}, r"count must be whole numbers >= 0; got -1 in bin 1"),
        ({"count": [4.5, 6]}, r"count must be whole numbers >= 0; got 4.5 in bin 0"),
        ({"count": [4, np.nan]}, r"count must be whole numbers >= 0; got nan in bin 1"),
        ({"count": [4]}, r"count must have one value a bin, 2 in all; got shape \(1,\)"),
        ({"positives": [5, 5]}, "positives must not exceed count; got 5 of 4 in bin 0"),
        (
            {"mass": [4, 6], "rows": [4, 6], "positive_rows": [1, 7]},
            "positive_rows must not exceed rows; got 7 of 6 in bin 1",
        ),
        ({"mean_score": [0.25, 0.25]}, "mean_score must lie in its bin; got 0.25 in bin 1"),
        ({"mean_score": [np.nan, 0.75]}, "mean_score must lie in its bin; got nan in bin 0"),
        ({"mean_score": [0.1]}, r"mean_score must have one value a bin"),
        ({"edges": [0, 0.5, 0.9]}, "must run from 0 to 1"),
        ({"closed": "both"}, "closed must be one of 'right', 'left'; got 'both'"),
    ],
)
def test_impossible_counts(change, message):
    fields = {
        "edges": [0, 0.5, 1],
        "count": [4, 6],
        "positives": [1, 5],
        "mean_score": [0.25, 0.75],
    }
    with pytest.raises(InputError, match=message):
        BinCounts(**(fields | change))


def test_other_bins_do_not_add_up():
    one = BinCounts([0, 0.5, 1], [1, 1], [0, 1], [0.2, 0.7])
    for other in (
        BinCounts([0, 0.4, 1], [1, 1], [0, 1], [0.2, 0.7]),
        BinCounts([0, 0.5, 1], [1, 1], [0, 1], [0.2, 0.7], closed="left"),
    ):
        with pytest.raises(InputError, match="only counts of the same bins add up"):
            one + other


def test_strategy_of_a_sum():
    def counts(strategy):
        return BinCounts([0, 1], [1], [0], [0.5], strategy=strategy)

    assert (counts("uniform") + counts("uniform")).strategy == "uniform"
    assert (counts("uniform") + counts("quantile")).strategy == "edges"


def test_bins_are_not_cut():
    bins = BinCounts([0, 0.5, 1], [1, 1], [0, 1], [0.2, 0.7])
    with pytest.raises(InputError, match=r"must use edges of the finer ones; 0.3 is none"):
        bins.merge([0, 0.3, 1])
    with pytest.raises(InputError, match="do not separate the rows at 0 from the rest"):
        bins.merge([0, 0, 1])
    left = BinCounts([0, 0.5, 1], [1, 1], [0, 1], [0.2, 0.7], closed="left")
    with pytest.raises(InputError, match="do not separate the rows at 1 from the rest"):
        left.merge([0, 1, 1])


def test_bins_left_out_hold_nothing_and_the_others_keep_their_units():
    # Sixty rows, those with the event three times as heavy: a unit is the weight of a row.
    rows, positive = np.array([20, 20, 20]), np.array([1, 2, 5])
    mass, squares = rows + 2.0 * positive, rows + 8.0 * positive
    bins = BinCounts(
        edges=[0, 0, 0.5, 1],
        count=mass**2 / squares,
        positives=mass**2 / squares * 3 * positive / mass,
        mean_score=[0, 0.3, 0.8],
        mass=mass,
        rows=rows,
        positive_rows=positive,
    )
    left = without(bins.evened(), np.array([True, False, False]))
    np.testing.assert_allclose(left.unit[:, 1:], [[1, 1], [3, 3]])
    np.testing.assert_allclose(left.mass_count, [0, 20, 20])
    assert left.positive_rows.tolist() == [0, 2, 5]
    assert left.weight_by_label[:, 0].tolist() == [0, 0]
