"""One unit in the last place moves no score across an edge, and parts no tie."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.bins.binning import Binning, bin_scores, fine_counts
from bayescal.core.counts import Counts
from bayescal.core.intake import round_scores
from bayescal.core.scores import Scores

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
            bin_scores(turn(Scores(y_true=labels, y_prob=y_prob)), strategy="uniform")
            for y_prob in (scores, moved(scores, 1))
        )
        np.testing.assert_array_equal(one.count, other.count)


def test_a_score_on_an_edge_that_no_binary_fraction_meets_is_in_its_bin():
    scores = Scores(y_true=[0] * 14, y_prob=np.arange(1, 15) / 15)
    assert bin_scores(scores, n_bins=15, strategy="uniform").count.tolist() == [1] * 14 + [0]


def test_the_error_moves_by_no_more_than_the_rounding():
    scores, labels = shares()
    (task,) = Scores(y_true=labels, y_prob=scores).tasks()
    assert abs(task.score - scores).max() <= 0.5000001e-12
