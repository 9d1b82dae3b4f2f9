"""Venn-Abers estimates, and their theory on paper."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.credal.credal_sets import is_proper
from bayescal.quantities.credal.data import CalibrationSplit
from bayescal.quantities.credal.estimator import bounds, estimate
from bayescal.quantities.credal.venn_abers import fit_ivap, merged
from tests.quantities.credal.made import binary, random_classes


def multiclass(n, n_classes, seed):
    score, label = random_classes(n, n_classes, seed, 0.5)
    return bc.Scores(y_true=label, y_prob=score)


def test_binary_scores():
    data = binary(200, 50)
    found, calibration = estimate(data), data.calibration
    fitted = fit_ivap(calibration.y_prob[0], label=calibration.y_true)
    p0, p1 = fitted.predict(data.target.y_prob[0])
    assert np.array_equal(found.p0, p0)
    assert np.array_equal(found.p1, p1)
    assert np.array_equal(found.prob, merged(p0, p1))
    assert np.array_equal(found.prob_lower, p0)
    assert np.array_equal(found.prob_upper, p1)
    assert not found.improper.any()


def test_several_classes_make_proper_reachable_sets():
    data = CalibrationSplit(calibration=multiclass(150, 4, 0), target=multiclass(80, 4, 1))
    found = estimate(data)
    assert found.p0.shape == found.prob.shape == (80, 4)
    np.testing.assert_allclose(found.prob.sum(axis=1), 1, rtol=1e-14)
    assert np.array_equal(found.improper, ~is_proper(found.p0, found.p1))
    assert is_proper(found.prob_lower, found.prob_upper).all()
    kept = ~found.improper
    assert (found.prob_lower[kept] >= found.p0[kept]).all()
    assert (found.prob_upper[kept] <= found.p1[kept]).all()


def test_some_rows_of_many_classes_are_improper():
    data = CalibrationSplit(calibration=multiclass(2000, 10, 0), target=multiclass(500, 10, 1))
    assert 0 < estimate(data).improper.mean() < 1


def test_classifiers_stand_side_by_side():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 100)
    panel = bc.Scores.stack({"a": rng.random(100), "b": rng.random(100)}, y_true=y)
    data = CalibrationSplit(calibration=panel, target=panel)
    found = estimate(data)
    assert found.p0.shape == (2, 100)
    assert found.improper.shape == (2, 100)
    for place, name in enumerate("ab"):
        alone = estimate(data.select(name))
        for both, one in zip(found, alone, strict=True):
            assert np.array_equal(both[place], one)


def test_unlabelled_calibration_rows_are_left_out():
    some = bc.Scores(y_true=[0, None, 1, None], y_prob=[0.2, 0.3, 0.7, 0.9])
    few = bc.Scores(y_true=[0, 1], y_prob=[0.2, 0.7])
    target = [0.1, 0.5, 0.8]
    assert np.array_equal(
        estimate(CalibrationSplit(calibration=some, target=target)),
        estimate(CalibrationSplit(calibration=few, target=target)),
    )


@pytest.mark.slow
def test_the_selected_probability_is_calibrated_on_average():
    # Theorem 1: E[(Y - P) h(P)] = 0 for any h, over calibration sets and rows together; the mean
    # of 3,000 sets is within 4 of its standard errors.
    rng = np.random.default_rng(0)
    selected, label = np.empty(3_000), np.empty(3_000)
    ends = np.empty((3_000, 2))
    for i in range(3_000):
        score = rng.integers(0, 10, 9) / 10
        y = rng.random(9) < score**2
        p0, p1 = fit_ivap(score[:8], label=y[:8]).predict(score[8])
        selected[i], label[i], ends[i] = (p1 if y[8] else p0), y[8], (p0, p1)
    for weight in (np.ones(3_000), selected, selected > 0.5):
        terms = (label - selected) * weight
        assert abs(terms.mean()) < 4 * terms.std() / np.sqrt(3_000)
    # The prevalence lies between the means, by far more than their noise.
    assert ends[:, 0].mean() < 0.285 < ends[:, 1].mean()


def test_merging_costs_what_the_bound_says():
    p0, p1 = np.array([0.1, 0.4]), np.array([0.3, 0.9])
    p = merged(p0, p1)
    found = bounds(p0, p1, n_calibration=10)
    for regret in (np.log((1 - p0) / (1 - p)), np.log(p1 / p)):
        assert regret.mean() == pytest.approx(found.merged_regret.value, rel=1e-14)
    assert found.prevalence_lower.value == 0.25
    assert found.prevalence_upper.value == 0.6


def test_no_interval_is_narrower_than_the_bound():
    rng = np.random.default_rng(1)
    score = rng.random(50)
    p0, p1 = fit_ivap(score, label=rng.random(50) < 0.5).predict(rng.random(500))
    assert (p1 - p0).min() >= bounds(p0, p1, 50).least_width.value - 1e-15


def test_words_say_what_is_bounded_and_what_is_taken_for_granted():
    for bound in bounds([0.1], [0.2], 5):
        assert bound.kind
        assert bound.assumption
    assert "no statement on P(Y = 1 | score)" in bounds([0.1], [0.2], 5).selected_gap.kind


@pytest.mark.parametrize(
    ("p0", "p1", "n", "message"),
    [
        ([0.3], [0.2], 5, "0 <= p0 <= p1 <= 1; got p0 0.3 and p1 0.2 at place 0"),
        ([0.1, np.nan], [0.2, 0.3], 5, "got p0 nan and p1 0.3 at place 1"),
        ([], [], 5, "at least one"),
        ([0.1], [0.2], 0, "n_calibration must be a whole number >= 1; got 0"),
    ],
)
def test_what_no_predictor_gives_is_refused(p0, p1, n, message):
    with pytest.raises(InputError, match=message):
        bounds(p0, p1, n)
