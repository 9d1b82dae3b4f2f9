"""Venn-Abers predictors against pairs of isotonic fits, the venn-abers package and the paper."""

import numpy as np
import pytest
from scipy.optimize import isotonic_regression, minimize_scalar
from sklearn.isotonic import IsotonicRegression

from bayescal.core.errors import InputError
from bayescal.quantities.credal.venn_abers import (
    fit_cross_venn_abers,
    fit_ivap,
    fit_one_vs_rest,
    merge_folds,
    merged,
    venn_abers_steps,
)
from tests.conftest import oracle
from tests.quantities.credal.made import random_classes

KINDS = ("smooth", "ties", "extremes", "constant", "perfect", "one row")


def random_rows(seed):
    """Calibration scores, labels and new scores of one of the kinds."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n = 1 if kind == "one row" else int(rng.integers(2, 60))
    score, new = rng.random(n), rng.random(20)
    label = rng.random(n) < score
    if kind == "ties":
        score, new = np.round(score, 1), np.round(new, 1)
    if kind == "extremes":
        score, new = np.round(score), np.round(new, 1)
    if kind == "constant":
        label = np.full(n, rng.random() < 0.5)
    if kind == "perfect":
        label = score > 0.5
    return score, label.astype(int), np.concatenate([new, score])


def isotonic_at(score, label, at, added):
    """Isotonic fit with one more row at a score, its sums in whole numbers."""
    scores, labels = np.append(score, at), np.append(label, added)
    place = np.unique(scores, return_inverse=True)[1]
    weight = np.bincount(place)
    rate = np.bincount(place, labels) / weight
    fit = isotonic_regression(rate, weights=weight.astype(float))
    block = np.searchsorted(fit.blocks, place[-1], side="right") - 1
    rows = slice(fit.blocks[block], fit.blocks[block + 1])
    inside = (place >= rows.start) & (place < rows.stop)
    # SciPy's block, its mean in whole numbers: equal to the last bit, where SciPy's own value, a
    # weighted mean of means, is off by rounding.
    exact = int(labels[inside].sum()) / int(inside.sum())
    assert abs(fit.x[place[-1]] - exact) < 1e-14
    return exact


@pytest.mark.parametrize("part", range(5))
def test_a_thousand_random_cases_are_two_isotonic_fits_to_the_last_bit(part):
    for seed in range(200 * part, 200 * (part + 1)):
        score, label, new = random_rows(seed)
        p0, p1 = fit_ivap(score, label=label).predict(new[:24])
        for place, at in enumerate(new[:24]):
            assert p0[place] == isotonic_at(score, label, at, 0)
            assert p1[place] == isotonic_at(score, label, at, 1)


@pytest.fixture(scope="module")
def venn_abers():
    # The package sets NumPy's error state when it is imported.
    with np.errstate():
        return oracle("venn_abers")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_thousand_random_cases_equal_another_program_to_the_last_bit(venn_abers):
    for seed in range(1000):
        score, label, new = random_rows(seed)
        with np.errstate(all="ignore"):
            other = venn_abers.VennAbers()
            other.fit(np.column_stack([1 - score, score]), label)
            prob, pair = other.predict_proba(np.column_stack([1 - new, new]))
        p0, p1 = fit_ivap(score, label=label).predict(new)
        assert np.array_equal(p0, pair[:, 0])
        assert np.array_equal(p1, pair[:, 1])
        assert np.array_equal(merged(p0, p1), prob[:, 1])


@pytest.mark.parametrize("side", [-np.inf, np.inf])
def test_the_last_bit_of_a_score_changes_nothing(side):
    rng = np.random.default_rng(5)
    # Scores of six decimals, so that none lies midway between two rounded ones.
    score = np.round(rng.random(300), 6)
    label = (rng.random(300) < score).astype(int)
    fitted = fit_ivap(score, label=label)
    expected = fitted.predict(score)
    moved = np.nextafter(score, side)
    assert not np.array_equal(moved, score)
    assert np.array_equal(fitted.predict(moved), expected)
    assert np.array_equal(fit_ivap(moved, label=label).predict(score), expected)
    # One row alone, of no dimension.
    assert np.array_equal(fitted.predict(moved[7]), [each[7] for each in expected])


def test_a_score_that_stands_for_rows_is_that_often_there():
    rng = np.random.default_rng(6)
    score = np.round(rng.random(80), 2)
    label, rows = (rng.random(80) < score).astype(int), rng.integers(1, 6, 80)
    new = np.linspace(0, 1, 41)
    found = fit_ivap(score, label=label, rows=rows).predict(new)
    expected = fit_ivap(np.repeat(score, rows), label=np.repeat(label, rows)).predict(new)
    assert np.array_equal(found, expected)
    # Whole numbers as floats.
    assert np.array_equal(fit_ivap(score, label=label, rows=rows * 1.0).predict(new), expected)
    # Rows whose products are beyond 64 bits, and equal weights: but for the one new row, of 1e-11.
    found = fit_ivap(score, label=label, rows=rows * 10**9).predict(score)
    plain = IsotonicRegression().fit(score, label, sample_weight=rows).predict(score)
    np.testing.assert_allclose(found, [plain, plain], rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(18))
def test_other_rows_are_weights_of_two_isotonic_fits(seed):
    score, label, new = random_rows(seed)
    rng = np.random.default_rng(seed)
    rows = rng.exponential(size=len(score)) * 10 ** rng.uniform(-3, 3)
    found = fit_ivap(score, label=label, rows=rows).predict(new)
    for added, values in enumerate(found):
        for at, value in zip(new, values, strict=True):
            other = IsotonicRegression().fit(
                np.append(score, at), np.append(label, added), sample_weight=np.append(rows, 1)
            )
            # Sums of at most 61 weights, of which the largest may outweigh the new row.
            assert value == pytest.approx(other.predict([at])[0], abs=1e-10)


@pytest.mark.parametrize(
    "rows",
    [[1, 0], [1.0, np.nan], [1.0, -2.0], [0.0, 0.0], [1e300, 1.0], [[1], [2]], [1], ["a", "b"]],
)
def test_numbers_of_rows_that_are_none_are_refused(rows):
    with pytest.raises(InputError, match="rows"):
        fit_ivap([0.2, 0.4], label=[0, 1], rows=rows)


def pooled(count, positive):
    """Isotonic regression by pooling adjacent violators, in whole numbers; rounded once."""
    blocks = []
    for rows, labels in zip(count, positive, strict=True):
        blocks.append([int(rows), int(labels), 1])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][0] >= blocks[-1][1] * blocks[-2][0]:
            right, left = blocks.pop(), blocks.pop()
            blocks.append([a + b for a, b in zip(left, right, strict=True)])
    return [labels / rows for rows, labels, scores in blocks for _ in range(scores)]


def with_one_more(count, positive):
    """p0 and p1 at each score, by two isotonic fits each."""
    found = []
    for place in range(len(count)):
        added = np.arange(len(count)) == place
        zero, one = (pooled(count + added, positive + y * added)[place] for y in (0, 1))
        found.append((zero, one))
    return np.array(found).T


def spread(steps, scores):
    return steps.value[np.searchsorted(steps.start, np.arange(scores), side="right") - 1]


@pytest.mark.parametrize("kind", ["perfect", "reversed", "convex", "smooth"])
def test_shapes_that_make_many_steps_or_few(kind):
    rng = np.random.default_rng(0)
    n = 300
    score = np.sort(rng.random(n))
    count = np.ones(n, int)
    positive = {
        "perfect": score > 0.5,
        "reversed": score < 0.5,
        "convex": np.arange(n),
        "smooth": rng.random(n) < score,
    }[kind].astype(int)
    if kind == "convex":
        count = np.full(n, n)
    expected = with_one_more(count, positive)
    p0, p1 = venn_abers_steps(count, positive)
    assert np.array_equal([spread(p0, n), spread(p1, n)], expected)
    for steps in (p0, p1):
        assert steps.start[0] == 0
        assert (np.diff(steps.start) > 0).all()
        assert (np.diff(steps.value) > 0).all()


def test_rates_that_barely_differ_are_told_apart():
    # One row more in 2**26: products of cumulated sums that differ in their last bits of 52.
    n = 1 << 26
    count, positive = np.array([n, n - 1]), np.array([n // 2, n // 2])
    expected = with_one_more(count, positive)
    found = [spread(steps, 2) for steps in venn_abers_steps(count, positive)]
    assert np.array_equal(found, expected)


def test_each_class_is_calibrated_against_the_rest():
    score, label = random_classes(200, 4, 0)
    new, _ = random_classes(50, 4, 1)
    rows = np.random.default_rng(5).integers(1, 4, 200)
    lower, upper = fit_one_vs_rest(score, label=label, rows=rows).predict(new)
    assert lower.shape == upper.shape == (50, 4)
    for k in range(4):
        p0, p1 = fit_ivap(score[:, k], label=label == k, rows=rows).predict(new[:, k])
        assert np.array_equal(lower[:, k], p0)
        assert np.array_equal(upper[:, k], p1)


def test_each_fold_is_a_predictor_of_its_own():
    rng = np.random.default_rng(0)
    score, fold = rng.random(90), rng.permutation(np.arange(90) % 3)
    label = (rng.random(90) < score).astype(int)
    new = rng.random((3, 20))
    found = fit_cross_venn_abers(score, label=label, fold=fold).predict(new)
    for k in range(3):
        expected = fit_ivap(score[fold == k], label=label[fold == k]).predict(new[k])
        assert np.array_equal([found.p0[k], found.p1[k]], expected)


@pytest.mark.parametrize("loss", ["log", "square"])
def test_the_merge_has_the_least_regret_in_the_worst_case(loss):
    p0, p1 = np.array([0.1, 0.3, 0.2]), np.array([0.3, 0.5, 0.9])

    def mean_loss(p, y):
        return -np.log(p if y else 1 - p) if loss == "log" else (y - p) ** 2

    def worst(p):
        regret_0 = mean_loss(p, 0) - np.mean([mean_loss(q, 0) for q in p0])
        regret_1 = mean_loss(p, 1) - np.mean([mean_loss(q, 1) for q in p1])
        return max(regret_0, regret_1)

    least = minimize_scalar(worst, bounds=(0.01, 0.99), method="bounded", options={"xatol": 1e-10})
    # A kink: the search is as exact as its step.
    assert float(merge_folds(p0, p1, loss)) == pytest.approx(least.x, abs=1e-8)


def test_one_fold_is_an_inductive_predictor():
    p0, p1 = np.array([0.0, 0.2, 0.6]), np.array([0.1, 0.4, 1.0])
    np.testing.assert_allclose(merge_folds(p0[None], p1[None]), merged(p0, p1), rtol=1e-14)


def test_certainty_in_one_fold_decides_and_a_contradiction_is_refused():
    assert merge_folds([1.0, 0.2], [1.0, 0.4]) == 1
    assert merge_folds([0.0, 0.2], [0.0, 0.4]) == 0
    with pytest.raises(InputError, match="must not contradict each other"):
        merge_folds([1.0, 0.0], [1.0, 0.0])


@pytest.mark.parametrize("fold", [[0, 2, 2], [1, 1, 2], [0.0, 1.0, 1.0], [0, -1, 1], [0, 1, 2**62]])
def test_folds_that_are_not_numbered_from_zero_are_refused(fold):
    with pytest.raises(InputError, match="fold must number the folds"):
        fit_cross_venn_abers([0.1, 0.2, 0.3], label=[0, 1, 0], fold=fold)


def test_other_than_one_score_a_fold_is_refused():
    fitted = fit_cross_venn_abers([0.1, 0.2], label=[0, 1], fold=[0, 1])
    with pytest.raises(InputError, match=r"score must have shape \(fold, obs\) with 2 folds"):
        fitted.predict([[0.5]])
    with pytest.raises(InputError, match="loss must be one of"):
        merge_folds([0.1], [0.2], "hinge")
    with pytest.raises(InputError, match="fold and score must have the same length"):
        fit_cross_venn_abers([0.1, 0.2], label=[0, 1], fold=[0, 1, 1])
