"""Rows in bins: rules read row by row, other libraries' conventions, and weights."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import average_precision_score, roc_auc_score

import bayescal as bc
from bayescal.core import binning
from bayescal.core.bin_counts import BinCounts, TiedRows
from bayescal.core.bin_edges import bin_edges, weight_units
from bayescal.core.errors import InputError
from bayescal.core.intake import round_scores
from bayescal.core.scores import Scores, Task
from bayescal.measures.scores import auc, auprc
from bayescal.quantities import ece


def make_task(n=500, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    score = rng.random(n) if decimals is None else rng.random(n).round(decimals)
    return Task({}, score, (rng.random(n) < score**1.5).astype(np.uint8))


def test_ties_and_the_ends():
    scores = Scores(y_true=[0, 0, 1, 0, 1, 1], y_prob=[0.0, 0.5, 0.5, 0.25, 0.75, 1.0])
    right = binning.bin_scores(scores, n_bins=4, strategy="uniform")
    assert right.count.tolist() == [2, 2, 1, 1]
    assert right.positives.tolist() == [0, 1, 1, 1]
    assert right.mean_score.tolist() == [0.125, 0.5, 0.75, 1.0]
    left = binning.bin_scores(scores, n_bins=4, strategy="uniform", closed="left")
    assert left.count.tolist() == [1, 1, 2, 2]
    assert left.positives.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("closed", ["right", "left"])
def test_constant_scores_are_one_bin(value, strategy, closed):
    task = Task({}, np.full(20, value), np.arange(20).astype(np.uint8) % 2)
    bins = binning.bin_scores(task, n_bins=5, strategy=strategy, closed=closed)
    assert sorted(bins.count.tolist()) == [0, 0, 0, 0, 20]
    assert bins.mean_score[bins.count > 0] == pytest.approx(value)


def test_no_row():
    with pytest.raises(InputError, match="at least one row"):
        binning.bin_scores(Task({}, np.empty(0), np.empty(0, np.uint8)))


def test_one_binary_problem_is_asked_for():
    panel = Scores.stack({"a": [0.1, 0.9], "b": [0.2, 0.8]}, y_true=[0, 1])
    with pytest.raises(InputError, match=r"got 2. Take one with .select\('a'\)"):
        binning.bin_scores(panel)
    many = Scores(y_true=[0, 2], y_prob=[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    with pytest.raises(InputError, match=r"got 3 classes. Take .top_label\(\)"):
        binning.bin_scores(many)
    assert binning.bin_scores(many.top_label()).n == 2


@pytest.mark.parametrize("decimals", [None, 1, 2])
def test_scikit_learn_bins_alike(decimals):
    task = make_task(decimals=decimals)
    # scikit-learn's edges are linspace's, which differ from b / B in the last bit.
    for n_bins in (5, 10, 15):
        rate, mean = calibration_curve(task.event, task.score, n_bins=n_bins)
        bins = binning.bin_scores(task, strategy=np.linspace(0, 1, n_bins + 1))
        held = bins.count > 0
        np.testing.assert_allclose(bins.mean_score[held], mean, rtol=1e-12)
        np.testing.assert_allclose((bins.positives / np.maximum(bins.count, 1))[held], rate)


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


def in_type_of(score, edge):
    """An edge as NumPy compares it with a float32; one beside 0 or 1 is neither."""
    narrow = float(score.dtype.type(edge))
    return narrow if (narrow in (0, 1)) == (edge in (0, 1)) else edge


def check(score, event, edges, closed):
    found = binning.tally(score, event, np.asarray(edges, float), closed)
    narrow = [in_type_of(score, float(edge)) for edge in edges]
    rows, positives, score_sum = by_row(score, event, narrow, closed)
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


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("weight", [None, np.ones(400)])
def test_float32_scores_fall_as_the_decimals_that_they_stand_for(closed, weight):
    rng = np.random.default_rng(1)
    score, event = rng.integers(0, 21, 400) / 20, rng.integers(0, 2, 400)
    bins, narrow = binning.Binning(10, "uniform", closed), score.astype(np.float32)
    expected = bins.count(score, event=event)
    counts = bc.Counts.from_arrays(event, narrow)
    for found in (bins.count(narrow, event=event, weight=weight), counts.bins_of(bins)):
        np.testing.assert_allclose(found.count, expected.count, rtol=1e-12)
        np.testing.assert_allclose(found.positives, expected.positives, rtol=1e-12)
        np.testing.assert_allclose(found.mean_score, expected.mean_score, rtol=1e-7)


def test_negative_zero_is_zero_and_no_event():
    found = binning.tally(
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
    n = 3 * binning._BLOCK_BYTES // np.dtype(dtype).itemsize + 17
    score = rng.beta(0.3, 0.5, n).astype(dtype)
    event = rng.integers(0, 2, n).astype(np.uint8)
    edges = np.array([0, 0.25, 0.25, 0.75, 1])
    found = binning.tally(score[::-1], event[::-1], edges, "right")
    place = np.searchsorted(edges[1:-1], score.astype(float), side="left")
    np.testing.assert_array_equal(found.rows, np.bincount(place, minlength=4))
    np.testing.assert_array_equal(found.positives, np.bincount(place[event == 1], minlength=4))
    expected = np.bincount(place, weights=score.astype(float), minlength=4)
    np.testing.assert_allclose(found.score_sum, expected, rtol=1e-12)


def test_float32_sums_do_not_drift():
    # 10 million copies of one float32: a float32 sum is off in the third digit.
    score = np.full(10_000_000, 0.1, np.float32)
    found = binning.tally(score, np.zeros(len(score), np.uint8), np.array([0, 0.5, 1]), "right")
    assert found.score_sum[0] / len(score) == pytest.approx(float(np.float32(0.1)), rel=1e-13)


def test_no_rows():
    found = binning.tally(np.empty(0), np.empty(0, np.uint8), np.array([0, 0.5, 1]), "left")
    assert found.rows.tolist() == [0, 0]
    assert found.score_sum.tolist() == [0.0, 0.0]


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
    for name in ("count", "positives", "mean_score", "weight"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9)


def by_formula(score, event, weight, inside):
    """Effective number, rate, mean score and mass of the rows of one bin."""
    w, y, s = weight[inside], event[inside], score[inside]
    rate, mean = np.average(y, weights=w), np.average(s, weights=w)
    return w.sum() ** 2 / (w**2).sum(), rate, mean, w.sum()


@given(WHOLE, st.integers(1, 20))
def test_edges_of_whole_weights_are_those_of_repeated_rows(rows, n_bins):
    score, _, weight = columns(rows)
    # Rows of one weight rank as rows without.
    repeated = np.sort(score.repeat(weight.astype(int) if np.ptp(weight) else 1))
    ranks = len(repeated) * np.arange(1, n_bins) // n_bins
    expected = [0, *(repeated[rank - 1] if rank else 0.0 for rank in ranks), 1]
    np.testing.assert_array_equal(bin_edges(score, n_bins, "quantile", weight), expected)


@given(REAL, st.integers(1, 20))
def test_edges_of_any_weights_are_where_the_weight_below_reaches_its_share(rows, n_bins):
    score, _, weight = columns(rows)
    edges = bin_edges(score, n_bins, "quantile", weight)
    total = weight.sum()
    slack = 1e-9 * total
    # Whole weights count rows, and equal ones too: a share may lack a part of one.
    a_row = weight.max() if np.ptp(weight) == 0 else 1
    for b in range(1, n_bins):
        assert weight[score <= edges[b]].sum() >= total * b / n_bins - a_row - slack
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
    def units(*weight):
        given = np.array(weight)
        return weight_units(given, given**2, np.ones(len(given), np.int64))

    assert units(3.0, 1.0, 2.0).tolist() == [3, 1, 2]
    assert units(3.0, 3.0).tolist() == [1, 1]
    broken = units(0.1, 0.2, 1e-3)
    np.testing.assert_allclose(broken / broken.sum(), np.array([0.1, 0.2, 1e-3]) / 0.301, 1e-12)
    assert units(1e100, 1e99).sum() < 2**51


def test_cells_of_one_mean_weight_have_the_edges_of_their_rows():
    score = np.arange(1, 10).repeat(2) / 10
    label, weight = np.arange(18) % 2, np.tile([0.1, 0.3], 9)
    rows = binning.bin_scores(Scores(label, score, sample_weight=weight), n_bins=4)
    counts = bc.Counts.from_arrays(label, score, sample_weight=weight)
    # A quarter of the weight is that of two scores and a quarter.
    np.testing.assert_array_equal(rows.edges, [0, 0.3, 0.5, 0.7, 1])
    same(counts.bins_of(binning.Binning(4)), rows)


@pytest.mark.parametrize("each", [1.0, 2.0, 0.3, 1e-90, 1e90])
def test_bins_of_equal_weights_are_those_without(each):
    score, event, _ = made(700)
    plain = binning.bin_scores(Scores(event, score))
    weights = Scores(event, score, sample_weight=np.full(700, each))
    counts = bc.Counts.from_arrays(event, score, sample_weight=np.full(700, each))
    for found in (binning.bin_scores(weights), counts.bins):
        np.testing.assert_array_equal(found.rows, plain.count)
        np.testing.assert_allclose(found.count, plain.count)
        np.testing.assert_allclose(found.positives, plain.positives)


@given(st.one_of(WHOLE, REAL), st.integers(1, 9), CLOSED)
def test_bins_hold_the_sums_of_the_formulas(rows, n_bins, closed):
    score, event, weight = columns(rows)
    bins = binning.Binning(n_bins, closed=closed).count(score, event=event, weight=weight)
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


@given(st.one_of(WHOLE, REAL), st.integers(1, 9), st.integers(1, 40), CLOSED, st.booleans())
def test_cells_merge_to_the_bins_of_the_rows(rows, n_bins, n_cells, closed, weighted):
    score, event, weight = columns(rows)
    weight = weight if weighted else None
    task = Task({}, score, event, weight=weight)
    bins = binning.bin_scores(task, n_bins=n_bins, closed=closed)
    cells = binning.fine_counts(task, bins.edges, n_cells, closed)
    same(cells.merge(bins.edges), bins)
    if len(np.unique(score)) <= n_cells:
        assert cells.mean_score[cells.count > 0].tolist() == np.unique(score).tolist()


@given(REAL, REAL, CLOSED, st.booleans())
def test_parts_add_up_to_the_whole(first, second, closed, weighted):
    score, event, weight = columns(first + second)
    edges = bin_edges(score, 5, "quantile")
    whole, *parts = (
        binning.count_into(
            score[rows], event[rows], edges, closed, weight=weight[rows] if weighted else None
        )
        for rows in (slice(None), slice(len(first)), slice(len(first), None))
    )
    same(parts[0] + parts[1], whole)


def test_rows_without_weights_weigh_1_beside_others():
    score, event, weight = made(200)
    edges = np.linspace(0, 1, 6)
    plain = binning.count_into(score, event, edges)
    both = plain + binning.count_into(score, event, edges, weight=weight)
    twice = [np.tile(values, 2) for values in (score, event)]
    whole = binning.count_into(*twice, edges, weight=np.append(np.ones(200), weight))
    same(both, whole)


def test_counts_of_rows_without_weights_stay_whole():
    score, event, _ = made(50)
    bins = binning.bin_scores(Task({}, score, event))
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
        ({"positives": [2.5, 5.5]}, "positives must not exceed count; got 5.5 of 4.5 in bin 1"),
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


def held(cells):
    return np.flatnonzero(cells.rows)


@given(REAL, CLOSED)
@example([(0.0, False, 2.0), (0.0, False, 2.0), (0.0, True, 3.0)], "right")
def test_neighbours_share_their_effective_rows_by_weight(rows, closed):
    score, event, weight = columns(rows)
    # So few rows are one block: the factor from weight to effective rows is one number. Where every
    # row is there with either label, weights do not depend on it.
    twice = Task({}, score.repeat(2), np.arange(2 * len(score)) % 2, weight=weight.repeat(2))
    n_eff = 2 * weight.sum() ** 2 / (weight**2).sum()
    by_label = np.where(event, weight.max(), weight.min())
    rate, events = np.average(event, weights=by_label), event.sum()
    others = len(event) - events
    # The delta method for the logit of a rate; of one label, a row is a row.
    known = events * others / (len(event) * rate * (1 - rate)) if events * others else len(event)
    for task, expected in ((twice, n_eff), (Task({}, score, event, weight=by_label), known)):
        cells = binning.fine_counts(task, [0, 1], closed=closed)
        even, total = cells.evened(), task.weight.sum()
        np.testing.assert_allclose(even.count, cells.mass * expected / total, rtol=1e-9)
        share = np.average(task.event, weights=task.weight)
        assert even.positives.sum() == pytest.approx(expected * share)
        np.testing.assert_array_equal(even.mass, cells.mass)
        # Sums of gamma variates by label have the variance of sums of w g, g ~ Exponential(1).
        squares = even.unit * even.weight_by_label
        assert squares.sum() == pytest.approx((task.weight**2).sum())
        rows = even.weight_by_label / np.where(even.unit > 0, even.unit, 1)
        np.testing.assert_allclose(even.mass_count, rows.sum(axis=0))


@pytest.mark.parametrize("weights", [(1.0, 1.0), (10.0, 1.0), (1.0, 4.0)])
def test_a_rate_varies_as_that_of_rows_drawn_by_their_label(weights):
    rng = np.random.default_rng(2)
    score, event = rng.random(3000), rng.random(3000) < 0.3
    weight = np.where(event, weights[1], weights[0])
    task = Task({}, score, event.astype(np.uint8), weight=weight)
    even = binning.fine_counts(task, [0.0, 1.0], 1).evened()
    rate = np.average(event, weights=weight)
    # The delta method for the log of the ratio of two independent sums of weights.
    variance = 1 / event.sum() + 1 / (~event).sum()
    assert 1 / (even.count.sum() * rate * (1 - rate)) == pytest.approx(variance)


def test_blocks_of_neighbours_are_tenths_of_many_rows():
    score, event, weight = made(4000)
    cells = binning.fine_counts(Task({}, score, event, weight=weight), [0, 1])
    factor = cells.evened().count[held(cells)] / cells.mass[held(cells)]
    assert len(np.unique(factor.round(12))) == 10
    assert cells.evened().count.sum() == pytest.approx(cells.effective_n, rel=0.05)


def test_equal_weights_are_shared_out_as_rows():
    score, event, _ = made(700)
    for weight in (1.0, 0.25):
        cells = binning.fine_counts(Task({}, score, event, weight=np.full(700, weight)), [0, 1])
        np.testing.assert_allclose(cells.evened().count, cells.rows, rtol=1e-12)
    plain = binning.fine_counts(Task({}, score, event), [0, 1])
    assert plain.evened() is plain


def test_an_unknown_field_is_refused_with_the_nearest_name():
    for function in (ece.estimate, ece.expected_if_calibrated):
        with pytest.raises(InputError, match="has no option 'nbins'; did you mean 'n_bins'"):
            function(Scores([1, 0], [0.3, 0.4]), nbins=3)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("events", [0, 1, 30, 3000])
def test_parts_of_cells_hold_few_rows_of_either_label(closed: str, events: int) -> None:
    rng, n = np.random.default_rng(3), 6000
    score = rng.random(n)
    score[:600] = np.repeat([0.0, 0.25, 1.0], 200)  # tied
    task = Scores(y_true=rng.permutation(np.arange(n) < events), y_prob=score).tasks()[0]
    cells = binning.fine_counts(task, [0.0, 0.3, 1.0], 20, closed)
    parts = binning.part_counts(task, cells)
    merged = parts.merge(cells.edges)
    np.testing.assert_array_equal(merged.count, cells.count)
    np.testing.assert_array_equal(merged.positives, cells.positives)
    place = parts.find(task.score)
    for end in (0, 1, 0.25):
        (own,) = np.unique(place[score == end])
        assert end == 0.25 or (score[place == own] == end).all()
    free = ~np.isin(place, place[:600])
    for label in (0, 1):
        rows = np.bincount(place[free & (task.event == label)])
        assert rows.max(initial=0) <= np.ceil((task.event == label).sum() / 100)
    # Rows counted by score are parted alike.
    value, inverse = np.unique(task.score, return_inverse=True)
    tied = TiedRows(value, np.bincount(inverse), np.bincount(inverse, task.event).astype(int))
    np.testing.assert_array_equal(tied.parts(cells).edges, parts.edges)
    np.testing.assert_array_equal(tied.parts(cells).positives, parts.positives)


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("events", [1, 3, 50])
def test_few_events_rank_among_very_many_rows_as_they_do(closed: str, dtype: Any, events: int):
    rng, n = np.random.default_rng(3), 6000
    score, event = rng.random(n).astype(dtype), np.zeros(n, np.uint8)
    event[np.argsort(-score)[5 :: n // events][:events]] = 1
    task = Task({}, score, event)
    cells = binning.fine_counts(task, [0.0, 0.3, 1.0], 20, closed)
    parts = binning.part_counts(task, cells)
    held = parts.count > 0
    rate, mass = parts.positives[held] / parts.count[held], parts.share[held]
    of_parts = rate, parts.mean_score[held], mass
    assert auc(*of_parts) == pytest.approx(roc_auc_score(event, score), abs=1e-12)
    assert auprc(*of_parts) == pytest.approx(average_precision_score(event, score), abs=1e-12)


@pytest.mark.parametrize("closed", ["right", "left"])
def test_parts_of_float32_scores_lie_in_the_cells_of_their_rows(closed: str) -> None:
    rng = np.random.default_rng(3)
    score = rng.random(5000).round(3).astype(np.float32)
    task = Task({}, score, (rng.random(5000) < score).astype(np.uint8))
    cells = binning.fine_counts(task, np.arange(11) / 10, closed=closed)
    parts = binning.part_counts(task, cells)
    held = np.bincount(parts.place_in(cells.edges), parts.count, cells.n_bins)
    np.testing.assert_array_equal(held, cells.count)
