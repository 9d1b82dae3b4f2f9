"""Simulated scores whose calibration curve is known."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.credal.simulator import TRUTHS, CurveTruth, truth

GRID = np.linspace(0, 1, 1001)


@pytest.mark.parametrize("name", TRUTHS)
def test_curves_are_probabilities_of_their_kind(name):
    simulated = truth(name)
    p = simulated.probability(GRID)
    assert ((p >= 0) & (p <= 1)).all()
    rises = (np.diff(p) >= 0).all()
    assert rises == (simulated.kind != "non-monotone")
    is_step = len(np.unique(p)) < 10
    assert is_step == (simulated.kind == "step")


@pytest.mark.parametrize("name", TRUTHS)
def test_labels_have_the_curves_rate(name):
    simulated, n = truth(name), 100_000
    score, label = simulated.sample(n, seed=1)
    for low in (0.0, 0.4, 0.9):
        rows = (score >= low) & (score < low + 0.1)
        expected = simulated.probability(score[rows]).mean()
        # Four standard errors of a share of some 10,000 rows.
        assert abs(label[rows].mean() - expected) < 4 * 0.5 / np.sqrt(rows.sum())


def test_samples_hold_both_labels_and_repeat():
    for seed in range(20):
        score, label = truth("late").sample(4, seed)
        assert 0 < label.sum() < 4
        again = truth("late").sample(4, seed)
        np.testing.assert_array_equal(score, again[0])
        np.testing.assert_array_equal(label, again[1])


def test_splits_answer_for_the_scores_given():
    data = truth("power").split(30, [0.25, 0.5], seed=1)
    assert data.n_calibration == 30
    assert data.target.y_prob[0].tolist() == [0.25, 0.5]
    assert truth("power").split(30, 7, seed=1).n_target == 7


def test_bad_arguments_are_told():
    with pytest.raises(bc.InputError, match="n must be a whole number >= 2; got 1"):
        truth("power").sample(1)
    with pytest.raises(bc.InputError, match="truth"):
        truth("linear")


def test_a_curve_of_one_label_alone_is_refused():
    with pytest.raises(InputError, match="curve must let both labels occur; 5 rows of never had"):
        CurveTruth("never", "smooth", np.zeros_like).sample(5, seed=1)


def test_a_number_of_target_rows_may_be_numpys():
    assert truth("power").split(20, np.int64(3), seed=1).n_target == 3
