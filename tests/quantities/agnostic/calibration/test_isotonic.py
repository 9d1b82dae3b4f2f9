"""Isotonic calibration: Claims 5 and 6, scikit-learn, and brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from bayescal.quantities.agnostic.calibration import isotonic_calibration, minimise_measure
from bayescal.quantities.agnostic.intervals import interval_measure

rows = st.lists(st.tuples(st.integers(0, 10), st.booleans()), min_size=1, max_size=40)


def arrays(found):
    score, label = zip(*found, strict=True)
    return np.array(score) / 10, np.array(label)


@pytest.mark.slow
@given(rows)
def test_claim_6_the_measure_becomes_0(found):
    score, label = arrays(found)
    link = isotonic_calibration(score, label=label)
    assert interval_measure(link(score), label=label).c <= 1e-12


def test_the_measure_becomes_0_on_many_rows():
    rng = np.random.default_rng(20)
    score = rng.random(200_000)
    label = rng.random(200_000) < score**2
    assert interval_measure(isotonic_calibration(score, label=label)(score), label=label).c <= 1e-12


def cost(score, label, p):
    return ((1 - p) * (label & (score <= p)) + p * (~label & (score > p))).sum()


@pytest.mark.slow
@given(rows, st.floats(0.01, 0.99))
def test_claim_6_no_asymmetric_loss_grows(found, p):
    score, label = arrays(found)
    after = isotonic_calibration(score, label=label)(score)
    assert cost(after, label, p) <= cost(score, label, p) + 1e-9


@pytest.mark.slow
@given(rows, st.integers(0, 2**32))
def test_claim_5_no_nondecreasing_function_has_a_smaller_objective(found, seed):
    score, label = arrays(found)
    order = np.argsort(score)
    score, label = score[order], label[order]
    ends = np.append(score[1:] != score[:-1], True)

    def objective(value):
        sums = np.append(0, np.cumsum(label - value)[ends])
        return np.ptp(sums) / len(label)

    least = objective(isotonic_calibration(score, label=label)(score))
    rng = np.random.default_rng(seed)
    for _ in range(20):
        steps = np.sort(rng.random(11))[np.rint(10 * score).astype(int)]
        assert least <= objective(steps) + 1e-12


@pytest.mark.slow
def test_claim_5_the_linear_programme_does_no_better():
    rng = np.random.default_rng(21)
    for _ in range(20):
        score = rng.random(40).round(1)
        label = rng.random(40) < score**2
        order = np.argsort(score)
        ends = np.append(score[order][1:] != score[order][:-1], True)
        surplus = (label - isotonic_calibration(score, label=label)(score))[order]
        least = np.ptp(np.append(0, np.cumsum(surplus)[ends])) / 40
        assert minimise_measure(score, label=label).objective == pytest.approx(least, abs=1e-7)


def test_scikit_learn():
    rng = np.random.default_rng(22)
    score = rng.random(500).round(2)
    label = rng.random(500) < score**2
    expected = IsotonicRegression().fit(score, label).predict(score)
    np.testing.assert_allclose(
        isotonic_calibration(score, label=label)(score), expected, atol=1e-12
    )


def test_algorithm_1_as_a_convex_hull():
    rng = np.random.default_rng(23)
    label = rng.random(12) < 0.5
    sums = np.append(0, np.cumsum(label))
    hull = [
        min(
            sums[a] + (i - a) / (b - a) * (sums[b] - sums[a]) if b > a else sums[a]
            for a in range(i + 1)
            for b in range(i, 13)
        )
        for i in range(13)
    ]
    score = np.arange(12) / 12
    np.testing.assert_allclose(
        isotonic_calibration(score, label=label)(score), np.diff(hull), atol=1e-12
    )


def test_constant_scores_and_one_label_class():
    assert isotonic_calibration([0.3] * 4, label=[0, 1, 1, 1])([0.1, 0.9]).tolist() == [0.75, 0.75]
    assert isotonic_calibration([0.3, 0.6], label=[1, 1])([0.3, 0.6]).tolist() == [1.0, 1.0]
