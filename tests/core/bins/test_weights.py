"""Weighted rows: whole weights rank as repeated rows do, and sums are those of the formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.binning import Binning, bin_scores, count_into, fine_counts
from bayescal.core.bins.edges import bin_edges, weight_units
from bayescal.core.errors import InputError
from bayescal.core.rounding import round_scores
from bayescal.core.tasks import Task

CLOSED = st.sampled_from(["right", "left"])
SCORE = st.one_of(st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]), st.floats(0, 1))
WHOLE = st.lists(st.tuples(SCORE, st.booleans(), st.integers(1, 5)), min_size=1, max_size=30)
REAL = st.lists(st.tuples(SCORE, st.booleans(), st.floats(1e-3, 1e3)), min_size=1, max_size=30)


def columns(rows):
    score, event, weight = (np.array(column) for column in zip(*rows, strict=True))
    return round_scores(score), event.astype(np.uint8), weight.astype(float)


def made(n=2000, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    score = round_scores(rng.beta(0.5, 0.7, n).astype(dtype))
    return score, (rng.random(n) < score).astype(np.uint8), rng.exponential(size=n)


def same(a, b):
    np.testing.assert_array_equal(a.edges, b.edges)
    np.testing.assert_array_equal(a.rows, b.rows)
    for name in ("count", "positives", "mean_score", "mass"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9)


def by_formula(score, event, weight, inside):
    """Effective number, rate, mean score and mass of the rows of one bin."""
    w, y, s = weight[inside], event[inside], score[inside]
    rate, mean = np.average(y, weights=w), np.average(s, weights=w)
    return w.sum() ** 2 / (w**2).sum(), rate, mean, w.sum()


@given(WHOLE, st.integers(1, 20))
def test_edges_of_whole_weights_are_those_of_repeated_rows(rows, n_bins):
    score, _, weight = columns(rows)
    repeated = np.sort(score.repeat(weight.astype(int)))
    ranks = len(repeated) * np.arange(1, n_bins) // n_bins
    expected = [0, *(repeated[rank - 1] if rank else 0.0 for rank in ranks), 1]
    np.testing.assert_array_equal(bin_edges(score, n_bins, "quantile", weight), expected)


@given(REAL, st.integers(1, 20))
def test_edges_of_any_weights_are_where_the_weight_below_reaches_its_share(rows, n_bins):
    score, _, weight = columns(rows)
    edges = bin_edges(score, n_bins, "quantile", weight)
    total = weight.sum()
    slack = 1e-9 * total
    for b in range(1, n_bins):
        assert weight[score <= edges[b]].sum() >= total * b / n_bins - 1 - slack
        assert weight[score < edges[b]].sum() <= total * b / n_bins + slack


@given(REAL, st.sampled_from([0.25, 3.0, 7.5, 1e50]))
def test_edges_of_broken_weights_do_not_depend_on_their_unit(rows, factor):
    score, _, weight = columns(rows)
    weight = weight.round(1) + 0.01
    edges = bin_edges(score, 7, "quantile", weight)
    off = bin_edges(score, 7, "quantile", weight * factor)
    share = weight / weight.sum()
    for a, b in zip(edges, off, strict=True):
        # Rounding may move an edge only past a share that meets its target exactly.
        between = share[(score > min(a, b)) & (score < max(a, b))].sum()
        assert between <= 1e-9


def test_units_are_whole_weights_or_a_small_part_of_the_sum():
    assert weight_units(np.array([3.0, 1.0, 2.0])).tolist() == [3, 1, 2]
    weight = np.array([0.1, 0.2, 1e-3])
    units = weight_units(weight)
    np.testing.assert_allclose(units / units.sum(), weight / weight.sum(), rtol=1e-12)
    assert weight_units(np.array([1e100, 1e99])).sum() < 2**51


@given(st.one_of(WHOLE, REAL), st.integers(1, 9), CLOSED)
def test_bins_hold_the_sums_of_the_formulas(rows, n_bins, closed):
    score, event, weight = columns(rows)
    bins = Binning(n_bins, closed=closed).count(score, event=event, weight=weight)
    place = bins.find(score)
    for b in range(bins.n_bins):
        inside = place == b
        assert bins.rows[b] == inside.sum()
        if inside.any():
            n_eff, rate, mean, mass = by_formula(score, event, weight, inside)
            assert bins.count[b] == pytest.approx(n_eff, rel=1e-9)
            assert bins.positives[b] == pytest.approx(n_eff * rate, rel=1e-9)
            assert bins.mean_score[b] == pytest.approx(mean, rel=1e-9, abs=1e-300)
            assert bins.mass[b] == pytest.approx(mass, rel=1e-9)
    assert bins.n == len(score)
    assert bins.effective_n == pytest.approx(weight.sum() ** 2 / (weight**2).sum(), rel=1e-9)
    assert bins.prevalence == pytest.approx(np.average(event, weights=weight), rel=1e-9)
    np.testing.assert_allclose(bins.share.sum(), 1)


@given(st.one_of(WHOLE, REAL), st.integers(1, 9), st.integers(1, 40), CLOSED)
def test_cells_merge_to_the_bins_of_the_rows(rows, n_bins, n_cells, closed):
    score, event, weight = columns(rows)
    task = Task({}, score, event, weight=weight)
    bins = bin_scores(task, n_bins=n_bins, closed=closed)
    cells = fine_counts(task, bins.edges, n_cells, closed)
    same(cells.merge(bins.edges), bins)
    if len(np.unique(score)) <= n_cells:
        assert cells.mean_score[cells.count > 0].tolist() == np.unique(score).tolist()


@given(REAL, REAL, CLOSED)
def test_parts_add_up_to_the_whole(first, second, closed):
    score, event, weight = columns(first + second)
    edges, k = bin_edges(score, 5, "quantile"), len(first)
    parts = [
        count_into(score[part], event[part], edges, closed, weight=weight[part])
        for part in (slice(k), slice(k, None))
    ]
    same(parts[0] + parts[1], count_into(score, event, edges, closed, weight=weight))


def test_rows_without_weights_weigh_1_beside_others():
    score, event, weight = made(200)
    edges = np.linspace(0, 1, 6)
    plain = count_into(score, event, edges)
    both = plain + count_into(score, event, edges, weight=weight)
    twice = [np.tile(values, 2) for values in (score, event)]
    whole = count_into(*twice, edges, weight=np.append(np.ones(200), weight))
    same(both, whole)


@pytest.mark.parametrize("strategy", ["uniform", "quantile", [0, 0.1, 0.1, 1]], ids=str)
def test_weights_of_1_change_nothing(strategy):
    score, event, _ = made(500)
    plain = Binning(strategy=strategy).count(score, event=event)
    ones = Binning(strategy=strategy).count(score, event=event, weight=np.ones(500))
    np.testing.assert_array_equal(ones.edges, plain.edges)
    np.testing.assert_array_equal(ones.count, plain.count)
    np.testing.assert_array_equal(ones.positives, plain.positives)
    np.testing.assert_allclose(ones.mean_score, plain.mean_score, rtol=1e-12)
    assert ones.effective_n == 500 == plain.effective_n


def test_counts_of_rows_without_weights_stay_whole():
    score, event, _ = made(50)
    bins = bin_scores(Task({}, score, event))
    assert bins.count.dtype == bins.positives.dtype == np.int64
    assert (bins.mass, bins.rows, bins.weighted) == (None, None, False)
    assert bins.weight is bins.count


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": None}, "mass and rows must be given together"),
        ({"mass": [1.0, -1.0]}, "mass must be finite and >= 0; got -1 in bin 1"),
        ({"mass": [1.0]}, "mass must have one value a bin"),
        ({"mass": [0.0, 1.0]}, "mass must be above 0 where count is; got 0 in bin 0"),
        ({"rows": [0, 7]}, "rows must be above 0 where count is; got 0 in bin 0"),
        ({"count": [np.nan, 4]}, "count must be finite and >= 0; got nan in bin 0"),
        ({"positives": [2.5, 5.5]}, "positives must not exceed count; got 5.5 of 4.5 rows"),
    ],
)
def test_impossible_weighted_counts(change, message):
    fields = {
        "edges": [0, 0.5, 1],
        "count": [3.5, 4.5],
        "positives": [2.5, 1.5],
        "mean_score": [0.25, 0.75],
        "mass": [2.0, 1.0],
        "rows": [5, 7],
    }
    assert BinCounts(**fields).n == 12
    with pytest.raises(InputError, match=message):
        BinCounts(**(fields | change))


@given(REAL, CLOSED)
def test_neighbours_share_their_effective_rows_by_weight(rows, closed):
    score, event, weight = columns(rows)
    cells = fine_counts(Task({}, score, event, weight=weight), [0, 1], closed=closed)
    even = cells.evened()
    # So few rows are one block: the factor from weight to effective rows is one number.
    n_eff = weight.sum() ** 2 / (weight**2).sum()
    np.testing.assert_allclose(even.count, cells.mass * n_eff / weight.sum(), rtol=1e-9)
    assert even.count.sum() == pytest.approx(n_eff)
    rate = np.average(event, weights=weight)
    assert even.positives.sum() == pytest.approx(n_eff * rate, abs=1e-9)
    np.testing.assert_array_equal(even.mass, cells.mass)


def test_blocks_of_neighbours_are_tenths_of_many_rows():
    score, event, weight = made(4000)
    cells = fine_counts(Task({}, score, event, weight=weight), [0, 1])
    factor = cells.evened().count / cells.mass
    held = cells.rows > 0
    assert len(np.unique(factor[held].round(12))) == 10
    assert cells.evened().count.sum() == pytest.approx(cells.effective_n, rel=0.05)


def test_equal_weights_are_shared_out_as_rows():
    score, event, _ = made(700)
    for weight in (1.0, 0.25):
        cells = fine_counts(Task({}, score, event, weight=np.full(700, weight)), [0, 1])
        np.testing.assert_allclose(cells.evened().count, cells.rows, rtol=1e-12)
    plain = fine_counts(Task({}, score, event), [0, 1])
    assert plain.evened() is plain
