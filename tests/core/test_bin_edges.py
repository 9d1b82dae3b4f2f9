"""Where edges of bins and cells lie: the papers' definitions, read literally."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.bin_edges import (
    bin_edges,
    cell_edges,
    check_edges,
    number_and_width,
    optimal_number,
    place_in,
    quantile_ranks,
    refine,
    strategy_name,
)
from bayescal.core.binning import Binning, bin_scores, fine_counts
from bayescal.core.errors import InputError
from bayescal.core.scores import Task


def umb(score, n_bins):
    """u_b is the floor(n b / B)-th smallest score; the 0-th is the left end."""
    ordered = [0.0, *sorted(float(s) for s in score)]
    inner = [ordered[math.floor(len(score) * b / n_bins)] for b in range(1, n_bins)]
    return [0.0, *inner, 1.0]


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=50), st.integers(1, 60))
def test_quantile_edges_are_the_order_statistics_of_the_paper(score, n_bins):
    assert bin_edges(np.array(score), n_bins, "quantile").tolist() == umb(score, n_bins)


@pytest.mark.parametrize("score", [[0, 1], np.array([0, 1]), np.array([False, True]), [0.1, 0.9]])
def test_scores_of_any_type_are_placed(score):
    assert place_in(np.array([0, 0.5, 1]), score).tolist() == [0, 1]


def test_quantile_edges_of_float32_are_those_floats():
    score = np.array([0.1, 0.2, 0.7, 0.9], np.float32)
    assert bin_edges(score, 2, "quantile")[1] == float(np.float32(0.2))


def test_uniform_edges_are_the_nearest_floats_to_the_fractions():
    assert bin_edges(np.empty(0), 10, "uniform").tolist() == [b / 10 for b in range(11)]


def test_ranks_are_exact_where_a_float_quotient_is_not():
    n = 10**16 + 1
    assert quantile_ranks(n, 3).tolist() == [n // 3, 2 * n // 3]


@pytest.mark.parametrize("factor", [0.1, 1 / 3, 0.7])
def test_sums_of_weights_reach_a_whole_rank_whatever_their_unit(factor):
    """Whole weights rank as repeated rows do; ten bins of 1,200 need no rounding of ranks."""
    weight = np.random.default_rng(0).permutation(np.repeat([1, 2, 3, 4, 5], 80))
    score = np.arange(1, 401) / 401
    expected = bin_edges(np.repeat(score, weight), 10, "quantile")
    np.testing.assert_array_equal(bin_edges(score, 10, "quantile", factor * weight), expected)


def test_given_edges_are_taken_as_they_are():
    assert bin_edges(np.empty(0), 99, [0, 0.5, 0.5, 1]).tolist() == [0, 0.5, 0.5, 1]
    assert strategy_name([0, 1]) == "edges"
    assert strategy_name("uniform") == "uniform"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([0.1, 1], "must run from 0 to 1; got 0.1 to 1"),
        ([0, 0.9], "must run from 0 to 1; got 0 to 0.9"),
        ([0, 0.6, 0.5, 1], "must not decrease; got 0.5 after 0.6 at position 2"),
        ([0, math.nan, 1], "must not decrease; got nan after 0"),
        ([0], "at least two numbers"),
        ([[0, 1]], r"at least two numbers; got shape \(1, 2\)"),
    ],
)
def test_bad_edges(edges, message):
    with pytest.raises(InputError, match=message):
        check_edges(edges)


@pytest.mark.parametrize("n_bins", [0, -3, 2.5, "many", None])
def test_bad_number_of_bins(n_bins):
    with pytest.raises(InputError, match="n_bins must be a whole number >= 1; got"):
        bin_edges(np.array([0.5]), n_bins, "uniform")


def test_unknown_strategy():
    with pytest.raises(InputError, match="strategy must be one of 'uniform', 'quantile'"):
        bin_edges(np.array([0.5]), 3, "equal")


def test_refine_keeps_a_doubled_end_only_where_it_is_closed():
    doubled = [0, 0, 0.4, 1, 1]
    assert refine(doubled, [0, 0.5, 1], "right").tolist() == [0, 0, 0.4, 0.5, 1]
    assert refine([0, 0.5, 1], doubled, "left").tolist() == [0, 0.4, 0.5, 1, 1]
    assert refine([0, 0.5, 0.5, 1], [0, 0.2, 1]).tolist() == [0, 0.2, 0.5, 1]


def test_an_effective_number_may_be_off_by_rounding() -> None:
    assert optimal_number(1 / (0.25 / 500 + 1 / 2000)) == 10
    assert optimal_number(0.3) == 1


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize(("n", "expected"), [(1, 1), (8, 2), (9, 3), (1000, 10)])
def test_bins_of_scores_follow_their_number(strategy, n, expected) -> None:
    rng = np.random.default_rng(n)
    task = Task({}, rng.random(n), np.zeros(n, np.uint8))
    bins = bin_scores(task, n_bins="optimal", strategy=strategy)
    assert bins.n_bins == expected
    np.testing.assert_array_equal(
        bins.edges, bin_scores(task, n_bins=expected, strategy=strategy).edges
    )


def test_a_binning_is_resolved_once_the_rows_are_known() -> None:
    asked = Binning(n_bins="optimal", strategy="uniform", closed="left")
    assert asked.attrs["n_bins"] == "optimal"
    assert asked.resolve(27) == Binning(n_bins=3, strategy="uniform", closed="left")
    assert Binning(n_bins=7).resolve(27) == Binning(n_bins=7)
    edges = Binning(n_bins="optimal", strategy=[0, 0.5, 1])
    assert edges.resolve(10**6).n_bins == 2


def test_another_word_is_refused() -> None:
    with pytest.raises(InputError, match="n_bins must be a whole number >= 1; got 'best'"):
        Binning(n_bins="best")


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_weighted_rows_count_by_their_effective_number(strategy) -> None:
    rng = np.random.default_rng(3)
    weight = np.where(np.arange(1000) < 500, 1.0, 3.0)  # 2000^2 / 5000 = 800 effective rows
    task = Task({}, rng.random(1000), np.zeros(1000, np.uint8), weight=weight)
    assert bin_scores(task, n_bins="optimal", strategy=strategy).n_bins == 10  # 9^3 = 729
    alike = Task({}, task.score, task.event, weight=np.full(1000, 0.7))
    assert bin_scores(alike, n_bins="optimal", strategy=strategy).n_bins == 10


VALUES = st.one_of(
    st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.1, 0.3, 5e-324, np.nextafter(1, 0)])
)
CLOSED = st.sampled_from(["right", "left"])


def rows(score, dtype=float):
    score = np.asarray(score, dtype)
    return Task({}, score, (np.arange(len(score)) % 3 == 0).astype(np.uint8))


def held(cells):
    return cells.count > 0


def check_one_score_a_cell(cells, task):
    values, place, count = np.unique(task.score + 0.0, return_inverse=True, return_counts=True)
    positives = np.bincount(place, task.event, len(values))
    assert cells.mean_score[held(cells)].tolist() == values.tolist()
    assert cells.count[held(cells)].tolist() == count.tolist()
    assert cells.positives[held(cells)].tolist() == positives.tolist()


@given(
    st.lists(VALUES, min_size=1, max_size=30),
    st.integers(1, 9),
    st.lists(VALUES, max_size=5),
    st.sampled_from(["quantile", "uniform", "given"]),
    CLOSED,
)
def test_few_scores_are_a_cell_each(score, repeats, inner, strategy, closed):
    task = rows(score * repeats)
    edges = np.array([0.0, *sorted(inner), 1.0])
    if strategy != "given":
        edges = bin_edges(task.score, 7, strategy)
    cells = fine_counts(task, edges, closed=closed)
    check_one_score_a_cell(cells, task)
    bins = bin_scores(task, strategy=edges, closed=closed)
    back = cells.merge(edges)
    np.testing.assert_array_equal(back.count, bins.count)
    np.testing.assert_array_equal(back.positives, bins.positives)
    np.testing.assert_allclose(back.mean_score, bins.mean_score, rtol=1e-12)
    np.testing.assert_array_equal(
        cells.find(task.score), np.flatnonzero(held(cells))[np.unique(task.score, True, True)[2]]
    )


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("limit", [50, 100])
def test_at_the_limit_and_beyond(closed, dtype, limit):
    few, many = np.linspace(0.1, 0.9, limit), np.linspace(0.1, 0.9, limit + 1)
    task = rows(np.tile(few, 7), dtype)
    check_one_score_a_cell(fine_counts(task, [0, 0.5, 1], limit, closed), task)
    quantiles = fine_counts(rows(np.tile(many, 7), dtype), [0, 1], limit, closed)
    assert held(quantiles).sum() <= limit


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ends", [[0.0], [1.0], [0.0, 1.0], []])
def test_rows_of_exactly_0_and_1_stand_alone_among_many_scores(closed, dtype, ends):
    rng = np.random.default_rng(0)
    near = [np.nextafter(dtype(0), dtype(1)), np.nextafter(dtype(1), dtype(0))]
    task = rows(np.concatenate([rng.random(3000), near, ends * 2]), dtype)
    edges = bin_edges(task.score, 15, "quantile")
    cells = fine_counts(task, edges, closed=closed)
    assert cells.n_bins <= 100 + 14 + 2
    for end in (0.0, 1.0):
        at = held(cells) & (cells.mean_score == end)
        assert cells.count[at].tolist() == [2] * (end in ends)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("score", [[0.0], [1.0], [0.3], [0.0, 1.0], [0.0, 0.3, 1.0]])
def test_one_score_and_the_ends(score, closed):
    task = rows(score * 3)
    for edges in ([0, 1], [0, 0, 1], [0, 1, 1], [0, 0, 0.3, 0.3, 1, 1]):
        check_one_score_a_cell(fine_counts(task, edges, closed=closed), task)


def test_few_scores_are_found_whatever_rows_come_first(monkeypatch):
    monkeypatch.setattr("bayescal.core.bin_edges._FIRST_ROWS", 2)
    few, many = np.array([0.1, 0.1, 0.1, 0.2, -0.0]), np.array([0.1, 0.1, 0.1, 0.2, 0.3])
    # Neither 0 nor 1 counts: they are cells of their own in any case.
    found = cell_edges(few, 2, [0, 1], None, "right")
    assert found.tolist() == [0, 0, 0.1, 1]
    found = cell_edges(many, 2, [0, 1], lambda: np.array([0, 0.15, 1.0]), "right")
    assert found.tolist() == [0, 0.15, 1]


def test_the_number_and_the_width_of_bins_for_bounds() -> None:
    for strategy in ("uniform", "quantile"):
        assert number_and_width(8, strategy) == (8, 0.125)
    assert number_and_width(8, [0, 0.25, 1]) == (2, 0.75)
    with pytest.raises(InputError, match="strategy"):
        number_and_width(8, "even")
