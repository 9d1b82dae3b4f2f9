"""Counts by narrow cells of the score add up exactly, and stay near the exact bins of the rows."""

from collections import Counter
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.core.binning import Binning, bin_scores, fine_counts
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.intake import round_scores
from bayescal.core.scores import Task
from bayescal.core.sums import ONE, ZERO, cell_of

EXTREMES = [0.0, 1e-300, 5e-324, 1e-17, 0.5, 1 - 1e-12, float(np.nextafter(1, 0)), 1.0]
SCORE = st.one_of(st.floats(0, 1), st.sampled_from(EXTREMES))
LABEL = st.sampled_from([0, 1, None])
ROWS = st.lists(st.tuples(LABEL, SCORE), min_size=1, max_size=30)
WEIGHTED = st.lists(st.tuples(LABEL, SCORE, st.integers(0, 9)), min_size=1, max_size=30)


def counted(rows, **options):
    """Counts of rows, with one of each label so that no part lacks them."""
    rows = [*rows, (0, 0.25), (1, 0.75)]
    return Counts.from_arrays([y for y, _ in rows], [s for _, s in rows], **options)


def same(one, other):
    for name in ("cell", "rows", "positives", "unlabeled", "score"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert (one.n_obs, one.n_labeled, one.classes) == (other.n_obs, other.n_labeled, other.classes)


def exact_cell(score):
    """The cell by arithmetic of fifty digits."""
    if score in (0, 1):
        return ZERO if score == 0 else ONE
    with localcontext() as context:
        context.prec = 50
        s = Decimal(score)
        place = (8192 * (s / (1 - s)).ln()).to_integral_value("ROUND_FLOOR")
    return min(max(int(place), ZERO + 1), ONE - 1)


@given(st.lists(SCORE, min_size=1, max_size=50))
def test_cells_are_those_of_the_definition(scores):
    found = cell_of(np.array(scores))
    expected = [exact_cell(score) for score in scores]
    # Rounding may put a score that is next to an edge on its other side.
    assert max(abs(a - b) for a, b in zip(found.tolist(), expected, strict=True)) <= 1
    inside = [0 < score < 1 for score in scores]
    assert [ZERO < cell < ONE for cell in found] == inside


@given(ROWS)
def test_counts_by_cell_are_those_of_brute_force(rows):
    found = counted(rows)
    rows = [*rows, (0, 0.25), (1, 0.75)]
    cells = cell_of(round_scores(np.array([score for _, score in rows]))).tolist()
    of_label = {
        label: Counter(cell for (y, _), cell in zip(rows, cells, strict=True) if y == label)
        for label in (0, 1, None)
    }
    assert found.cell.tolist() == sorted(set(cells))
    assert found.positives.tolist() == [of_label[1][cell] for cell in found.cell]
    assert (found.rows - found.positives).tolist() == [of_label[0][cell] for cell in found.cell]
    assert found.unlabeled.tolist() == [of_label[None][cell] for cell in found.cell]


@given(ROWS, ROWS, ROWS, st.randoms())
@example([(1, 0.1)] * 3, [(0, 0.3)], [(None, 0.7)], None)
def test_parts_add_up_to_the_whole_in_any_order_bit_for_bit(one, two, three, random):
    ends = [(0, 0.25), (1, 0.75)]
    whole = counted([*one, *two, *ends, *three, *ends])
    parts = [counted(part) for part in (one, two, three)]
    same(parts[0] + (parts[1] + parts[2]), whole)
    same(sum(parts), whole)
    if random is not None:
        random.shuffle(parts)
        same(sum(parts), whole)


@given(ROWS, st.integers(1, 9))
def test_a_cell_of_one_score_has_that_score(rows, repeats):
    rows = rows * repeats
    found = counted(rows)
    scores = round_scores(np.array([score for _, score in rows]))
    cells = cell_of(scores)
    for cell in set(cells.tolist()):
        held = np.unique(scores[cells == cell])
        mean = found.score[found.cell.tolist().index(cell)]
        if len(held) == 1 and (held[0] in (0, 1) or ZERO + 1 < cell < ONE - 1):
            if cell not in cell_of(np.array([0.25, 0.75])):
                # Below 1e-4 rounding to twelve digits may end a bit off.
                assert mean == held[0] or mean == pytest.approx(min(held[0], 1e-4), rel=1e-15)
        elif ZERO + 1 < cell < ONE - 1 and cell not in cell_of(np.array([0.25, 0.75])):
            of_rows = scores[cells == cell].mean()
            assert mean == pytest.approx(of_rows, rel=2e-12, abs=1e-12)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("times", [1, 300])
def test_parts_in_single_and_double_precision_have_the_bins_of_their_decimals(strategy, times):
    score, label = np.arange(101) / 100, np.arange(101) % 2
    one, two = (np.tile(column, times) for column in (score, label))
    whole = bc.Counts.from_arrays(np.append(two, label), np.append(one, score))
    binning = bc.Binning(10, strategy)
    for kinds in ((np.float32, float), (float, np.float32), (np.float32, np.float32)):
        first, second = (
            bc.Counts.from_arrays(labels, scores.astype(kind))
            for labels, scores, kind in zip((two, label), (one, score), kinds, strict=True)
        )
        found = (first + second).bins_of(binning)
        np.testing.assert_array_equal(found.edges, whole.bins_of(binning).edges)
        np.testing.assert_array_equal(found.count, whole.bins_of(binning).count)


def test_mean_scores_stay_exact_among_many_rows():
    rng = np.random.default_rng(0)
    score = round_scores(np.concatenate([rng.random(50_000), rng.random(50_000) * 1e-6]))
    found = Counts.from_arrays(np.arange(100_000) % 2, score)
    cells = cell_of(score)
    place = np.searchsorted(found.cell, cells)
    mean = np.bincount(place, score) / np.bincount(place)
    np.testing.assert_allclose(found.score, mean, rtol=1e-11, atol=1e-12)
    assert (np.diff(found.score) > 0).all()


def test_a_cell_has_as_many_rows_as_their_scores_sum_exactly():
    """Means are those of the sums, to the rounding of a float: no sum of integers wraps."""
    score = np.array([1e-30, 0.13, 0.5 + 2.9e-5])
    few = Counts.from_arrays([0, 1, 1], score)

    def frame(n, unlabeled=0):
        sums = {"cell": few.cell, "rows": [n] * 3, "positives": [n // 2] * 3}
        sums |= {"unlabeled": [unlabeled] * 3, "score_sum": (n + unlabeled) * score}
        return Counts.from_frame(sums)

    many = frame(3_000_000_000)
    np.testing.assert_allclose(many.score, few.score, rtol=1e-12)
    np.testing.assert_allclose(many.score[1:], score[1:], rtol=1e-12)
    for more in (lambda: many + many, lambda: frame(10**12), lambda: frame(2 * 10**9, 2 * 10**9)):
        with pytest.raises(InputError, match="must have 3,000,000,000 rows at most"):
            more()


def test_extremes_are_within_a_logit_of_40_and_never_0_or_1():
    found = Counts.from_arrays([0, 1, 1, 0, 1], [0.0, 1e-300, 4e-18, 1 - 1e-12, 1.0])
    assert found.cell.tolist() == [ZERO, ZERO + 1, exact_cell(1 - 1e-12), ONE]
    assert found.score[[0, -1]].tolist() == [0, 1]
    assert 0 < found.score[1] < 5e-18
    assert found.score[2] == 1 - 1e-12


SHAPES = {
    "logit": lambda rng, n: 1 / (1 + np.exp(-2 * rng.normal(size=n))),
    "uniform": lambda rng, n: rng.random(n),
    "rare": lambda rng, n: rng.random(n) * 2e-5,
    "extreme": lambda rng, n: rng.beta(0.05, 0.05, n),
    "rounded": lambda rng, n: rng.random(n).round(3),
    "narrow": lambda rng, n: 0.48 + 0.04 * rng.random(n),
    "float32": lambda rng, n: rng.random(n, dtype=np.float32),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_errors_of_a_million_rows_are_those_of_exact_bins_to_a_small_part_of_their_own(shape):
    rng = np.random.default_rng(1)
    score = SHAPES[shape](rng, 1_000_000)
    # Calibrated scores are the worst case: a row moved across an edge changes both its bins' gaps.
    # Their error is .0012 with a standard deviation of .0002. Narrow scores fill 1,310 cells only.
    event = (rng.random(len(score)) < score).astype(np.int8)
    # Nothing moves where all gaps have one sign.
    wrong = (rng.random(len(score)) < score**1.3).astype(np.int8)
    for label, limit in ((event, 2e-4 if shape == "narrow" else 2e-5), (wrong, 1e-9)):
        scores, counts = bc.Scores(y_true=label, y_prob=score), Counts.from_arrays(label, score)
        for strategy in ("quantile", "uniform"):
            exact = bc.ece.estimate(scores, strategy=strategy)
            found = bc.ece.estimate(counts, strategy=strategy)
            assert abs(float(found.ece - exact.ece)) < limit, strategy
            if label is wrong and shape == "rounded":
                np.testing.assert_array_equal(found.count, exact.count)
                np.testing.assert_array_equal(found.bin_edges, exact.bin_edges)
    assert len(counts.cell) < 400_000


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("strategy", ["quantile", "uniform", [0, 0.1, 0.1, 0.5, 1]], ids=str)
@pytest.mark.parametrize("levels", [30, 400])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_and_cells_of_rounded_scores_are_those_of_the_rows(closed, strategy, levels, weighted):
    rng = np.random.default_rng(2)
    score = rng.integers(0, levels + 1, 3000) / levels
    event = (rng.random(3000) < score).astype(np.uint8)
    weight = np.ceil(rng.exponential(size=3000)) if weighted else None
    task, binning = (
        Task({}, round_scores(score), event, weight=weight),
        Binning(7, strategy, closed),
    )
    counts = Counts.from_arrays(event, score, sample_weight=weight)
    bins = bin_scores(task, binning)
    for found, expected in (
        (counts.bins_of(binning), bins),
        (counts.cells_of(binning, 100), fine_counts(task, bins.edges, closed=closed)),
    ):
        np.testing.assert_array_equal(found.edges, expected.edges)
        np.testing.assert_array_equal(found.rows, expected.rows)
        for name in ("count", "positives", "mean_score"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-11)


@given(WEIGHTED)
def test_weights_add_up_and_rows_of_weight_0_are_left_out(rows):
    label, score, weight = (list(column) for column in zip(*rows, strict=True))
    label, score, weight = [*label, 0, 1], [*score, 0.25, 0.75], [*weight, 2, 3]
    found = Counts.from_arrays(label, score, sample_weight=weight)
    held = [w > 0 for w in weight]
    assert found.n_obs == sum(held)
    both = found + found
    assert both.n_obs == 2 * found.n_obs
    assert both.labeled.effective_n == pytest.approx(2 * found.labeled.effective_n)
    known = [w for y, w in zip(label, weight, strict=True) if y is not None and w > 0]
    n_eff = sum(known) ** 2 / sum(w**2 for w in known)
    assert found.labeled.effective_n == pytest.approx(n_eff)
    assert found.bins.mass.sum() == pytest.approx(sum(known))


def test_labels_of_parts_may_lack_a_class():
    yes = Counts.from_arrays(["yes"], [0.7], pos_label="yes")
    no = Counts.from_arrays(["no", None], [0.2, 0.2], pos_label="yes")
    assert yes.classes == ("not yes", "yes")
    assert (yes + no).classes == ("no", "yes")
    assert (yes + no).unlabeled.tolist() == [1, 0]


def test_a_positive_label_that_was_read_as_a_word_is_the_same():
    one = Counts.from_arrays([0, 1], [0.1, 0.9])
    word = Counts.from_arrays([0, 1], [0.1, 0.9], pos_label="1")
    assert (one + word).positives.tolist() == (word + one).positives.tolist() == [0, 2]
    assert (word + one).classes == (0, 1)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Counts.from_arrays([0, 2], [0.1, 0.2], pos_label=2), "same pos_label"),
        (Counts.from_arrays([0, 1], [0.1, 0.2], sample_weight=[1, 2]), "both have weights or none"),
        (Counts.from_arrays([3, 1], [0.1, 0.2]), "must hold two labels"),
        (7, "must be Counts"),
    ],
)
def test_what_does_not_add_up_is_refused(other, message):
    counts = Counts.from_arrays([0, 1], [0.1, 0.2])
    with pytest.raises(InputError, match=message):
        counts + other


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([0, 1], [0.5]), "y_prob and y_true must have the same length; got 1 and 2 rows"),
        (([0, 1, 2], [0.5] * 3), "y_true must hold two labels"),
        (([None], [0.5]), "y_true must hold at least one label; got none in 1 row"),
        (([0, 1], [0.5, 1.5]), r"y_prob must lie in \[0, 1\]; got 1.5 at row 1"),
        (([0], [[0.2, 0.3, 0.5]]), "y_prob must hold one score a row; got 3"),
    ],
)
def test_rows_that_cannot_be_counted(rows, message):
    with pytest.raises(InputError, match=message):
        Counts.from_arrays(*rows)


def test_a_column_named_as_the_other_class_is_not_counted():
    y, p = ["no", "yes"], pd.Series([0.2, 0.9], name="no")
    with pytest.raises(InputError, match="y_prob must be of the positive class, 'yes'; it is"):
        Counts.from_arrays(y, p, pos_label="yes")
    assert Counts.from_arrays(y, p.rename("vit"), pos_label="yes").positives.sum() == 1
