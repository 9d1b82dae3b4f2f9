import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from bayescal.core.errors import InputError
from bayescal.quantities.credal.venn_abers.ivap import fit_ivap, merged
from tests.conftest import oracle

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


@pytest.mark.slow
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


@given(st.integers(0, 10_000))
def test_both_rise_with_the_score_and_p1_is_above_p0(seed):
    score, label, new = random_rows(seed)
    p0, p1 = fit_ivap(score, label=label).predict(np.sort(new))
    assert (np.diff(p0) >= 0).all()
    assert (np.diff(p1) >= 0).all()
    # At least one row more in the denominator.
    assert (p1 - p0 >= 1 / (len(score) + 1) - 1e-15).all()
    point = merged(p0, p1)
    assert (p0 <= point).all()
    assert (point <= p1).all()


def test_only_the_order_of_scores_matters():
    score, label, new = random_rows(0)
    plain = fit_ivap(score, label=label).predict(new)
    logit = fit_ivap(np.log(score / (1 - score)), label=label).predict(np.log(new / (1 - new)))
    shuffled = np.random.default_rng(1).permutation(len(score))
    assert np.array_equal(plain, logit)
    assert np.array_equal(plain, fit_ivap(score[shuffled], label=label[shuffled]).predict(new))


def test_single_precision_is_compared_in_double():
    score, label, new = random_rows(0)
    narrow, asked = score.astype(np.float32), new.astype(np.float32)
    wide = fit_ivap(narrow.astype(float), label=label).predict(asked.astype(float))
    assert np.array_equal(fit_ivap(narrow, label=label).predict(asked), wide)
    assert np.array_equal(fit_ivap(narrow, label=label).predict(asked.astype(float)), wide)


def test_beyond_the_calibration_scores_one_end_is_certain():
    fitted = fit_ivap([0.2, 0.4, 0.4, 0.8], label=[0, 1, 0, 1])
    p0, p1 = fitted.predict([0.0, 1.0])
    assert p0[0] == 0
    assert p1[1] == 1


def test_one_row_and_labels_all_alike():
    p0, p1 = fit_ivap([0.5], label=[1]).predict([0.4, 0.5, 0.6])
    assert p0.tolist() == [0, 0.5, 0.5]
    assert p1.tolist() == [1, 1, 1]
    # By hand: n rows of label 0 and the new one of label 1 above, among or below them.
    p0, p1 = fit_ivap([0.1, 0.2, 0.3], label=[0, 0, 0]).predict([0.0, 0.2, 0.4])
    assert p0.tolist() == [0, 0, 0]
    assert p1.tolist() == [1 / 4, 1 / 3, 1]


@pytest.mark.parametrize("loss", [lambda p, y: -np.log(p if y else 1 - p)])
def test_the_merged_probability_has_the_same_regret_for_both_labels(loss):
    p0, p1 = 0.2, 0.5
    p = float(merged(p0, p1))
    regret = [loss(p, 0) - loss(p0, 0), loss(p, 1) - loss(p1, 1)]
    assert regret[0] == pytest.approx(regret[1], rel=1e-14)
    assert regret[0] == pytest.approx(np.log(1 - p0 + p1), rel=1e-14)
    # Equal regrets, one falling and one rising in p: the larger of the two is least.


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
    # Sums of rows beyond the range of 32 bits.
    assert (fit_ivap(score, label=label, rows=rows * 10**9).predict(new).p1 <= 1).all()


@pytest.mark.parametrize("rows", [[1, 0], [1.0, 2.0], [[1], [2]], [1], ["a", "b"]])
def test_numbers_of_rows_that_are_none_are_refused(rows):
    with pytest.raises(InputError, match="rows"):
        fit_ivap([0.2, 0.4], label=[0, 1], rows=rows)
