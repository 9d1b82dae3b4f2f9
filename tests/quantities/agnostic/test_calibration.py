"""Calibration methods."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.calibration import (
    LOSSES,
    isotonic_calibration,
    least_loss_calibrated,
    minimise_measure,
)
from bayescal.quantities.agnostic.estimator import interval_measure

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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_measure_becomes_0_of_scores_of_many_digits(dtype):
    score, level = np.random.default_rng(7).random((2, 400)).astype(dtype)
    after = isotonic_calibration(score, label=level < score)(score)
    assert interval_measure(after, label=level < score).c <= 1e-12


def cost(score, label, p):
    return ((1 - p) * (label & (score <= p)) + p * (~label & (score > p))).sum()


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


def test_constant_scores_and_one_label_class():
    assert isotonic_calibration([0.3] * 4, label=[0, 1, 1, 1])([0.1, 0.9]).tolist() == [0.75, 0.75]
    assert isotonic_calibration([0.3, 0.6], label=[1, 1])([0.3, 0.6]).tolist() == [1.0, 1.0]


def objective(value, label):
    return np.ptp(np.append(0, np.cumsum(value - label))) / len(label)


@pytest.fixture
def problem():
    rng = np.random.default_rng(20)
    score = np.sort(rng.random(60))
    return score, rng.random(60) < score**2


def test_straight_lines_against_a_grid(problem):
    score, label = problem
    basis = np.column_stack([np.ones(60), score])
    found = minimise_measure(score, label=label, basis=basis)
    grid = np.linspace(0, 1, 101)
    values = (low + (high - low) * score for low in grid for high in grid if high >= low)
    least = min(objective(value, label) for value in values)
    assert found.objective <= least + 1e-9
    # The grid is fine to 0.005 in either end, so that it comes as close.
    assert found.objective >= least - 0.005
    assert objective(found.link(score), label) == pytest.approx(found.objective, abs=1e-9)


def test_the_link_attains_the_objective_and_rises(problem):
    score, label = problem
    found = minimise_measure(score, label=label)
    value = found.link(score)
    assert objective(value, label) == pytest.approx(found.objective, abs=1e-7)
    assert (np.diff(value) >= -1e-9).all()


def test_any_function_reaches_0(problem):
    score, label = problem
    assert minimise_measure(score, label=label, nondecreasing=False).objective < 1e-9


def test_tied_scores_are_pooled():
    found = minimise_measure([0.5, 0.5, 0.5], label=[0, 1, 1])
    assert found.objective < 1e-9
    assert found.link(0.5) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        ([1.0, 2.0], "shape"),
        ([[1.0]], "same length"),
        ([[1.0], [np.nan]], "finite"),
        ([[5.0], [-5.0]], None),
    ],
)
def test_bad_bases(basis, message):
    if message is None:
        # Falling from a positive to a negative value: only 0 lies in [0, 1].
        assert minimise_measure([0.2, 0.4], label=[0, 1], basis=basis).link(0.4) == 0
        return
    with pytest.raises(InputError, match=message):
        minimise_measure([0.2, 0.4], label=[0, 1], basis=basis)


def test_scores_that_differ_by_rounding_are_tied_in_a_basis_too():
    basis, label = [[1.0, 0.1], [1.0, 0.1], [1.0, 0.3], [1.0, 0.4]], [0, 1, 0, 1]
    found, tied = (
        minimise_measure([0.1, second, 0.3, 0.4], label=label, basis=basis).objective
        for second in (0.1 + 1e-15, 0.1)
    )
    assert found == tied


def test_a_basis_that_tears_ties_apart():
    with pytest.raises(InputError, match=r"rows of score 0.2 differ, at row 1"):
        minimise_measure([0.2, 0.2], label=[0, 1], basis=[[1.0], [2.0]])


def row_loss(name, rate, label):
    """Loss of one row, from its definition."""
    sign = 1 if label else -1
    if name == "squared":
        return (label - rate) ** 2
    if rate in (0, 1):
        return 0.0
    if name == "log":
        return -np.log(rate if label else 1 - rate)
    return max(0.0, 1 - sign * np.log(rate / (1 - rate)))


def over_all_partitions(name, label):
    least = np.inf
    for cuts in product((False, True), repeat=len(label) - 1):
        parts = np.split(label, np.flatnonzero(cuts) + 1)
        rates = [part.mean() for part in parts]
        if (np.diff(rates) >= 0).all():
            total = sum(
                row_loss(name, rate, bool(value))
                for part, rate in zip(parts, rates, strict=True)
                for value in part
            )
            least = min(least, total / len(label))
    return least


@pytest.mark.parametrize("name", LOSSES)
def test_all_partitions(name):
    rng = np.random.default_rng(20)
    for _ in range(25):
        n = int(rng.integers(1, 10))
        score, label = np.arange(n) / 10, rng.integers(2, size=n)
        found = least_loss_calibrated(score, label=label, loss=name)
        assert found.loss == pytest.approx(over_all_partitions(name, label), abs=1e-12)
        value = found.link(score)
        assert np.mean(
            [row_loss(name, *row) for row in zip(value, label, strict=True)]
        ) == pytest.approx(found.loss, abs=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_it_is_calibrated(name):
    rng = np.random.default_rng(21)
    score = rng.random(300).round(2)
    label = rng.random(300) < score**2
    found = least_loss_calibrated(score, label=label, loss=name)
    assert interval_measure(found.link(score), label=label).c <= 1e-12
    assert (np.diff(found.link.value) >= 0).all()


@pytest.mark.parametrize("name", ["log", "squared"])
def test_proper_losses_give_isotonic_regression(name):
    rng = np.random.default_rng(22)
    score = rng.random(200).round(2)
    label = rng.random(200) < score
    found = least_loss_calibrated(score, label=label, loss=name).link
    np.testing.assert_allclose(
        found.value, isotonic_calibration(score, label=label).value, atol=1e-12
    )


def test_the_hinge_loss_may_join_what_isotonic_regression_keeps_apart():
    # Rates .7 and .8, on either side of the kink of the hinge loss at .731.
    score = np.repeat([0.4, 0.6], 10)
    label = np.r_[np.repeat([0, 1], [3, 7]), np.repeat([0, 1], [2, 8])]
    found = least_loss_calibrated(score, label=label, loss="hinge")
    assert found.link.value.tolist() == [0.75, 0.75]
    assert isotonic_calibration(score, label=label).value.tolist() == [0.7, 0.8]


def test_a_loss_of_ones_own():
    # A fixed cost of every row that is not sure: joining changes nothing but the sure ones.
    found = least_loss_calibrated(
        [0.1, 0.2, 0.3], label=[0, 1, 1], loss=lambda rate: (rate < 1) * (rate > 0)
    )
    assert found.loss == 0


def test_bad_input():
    with pytest.raises(InputError, match="loss must be one of"):
        least_loss_calibrated([0.1], label=[0], loss="absolute")
    with pytest.raises(InputError, match="2000 distinct values at most"):
        least_loss_calibrated(np.arange(2001) / 2001, label=np.zeros(2001))
