"""The test of c = 0: exact size, power, and simulated measures against the estimate."""

import math

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.bounds import calibration_test, simulated_measures
from bayescal.quantities.agnostic.intervals import interval_measure


@pytest.mark.slow
def test_its_size_is_exact():
    rng = np.random.default_rng(20)
    score = rng.random(60)
    p_values = [
        calibration_test(score, label=rng.random(60) < score, draws=19, seed=seed).p_value
        for seed in range(2000)
    ]
    for level in (0.05, 0.1, 0.5):
        error = 4 * math.sqrt(level * (1 - level) / 2000)
        assert np.mean(np.array(p_values) <= level + 1e-9) == pytest.approx(level, abs=error)


def test_it_sees_a_miscalibrated_classifier():
    rng = np.random.default_rng(21)
    score = rng.random(500)
    assert calibration_test(score, label=rng.random(500) < score**2, seed=1).p_value == 0.001


def test_few_tied_scores_are_exact_to_count():
    # One row of score 1/2: the measure is 1/2 whatever the label.
    assert calibration_test([0.5], label=[1], draws=99, seed=1).p_value == 1


@pytest.mark.slow
def test_simulated_measures_have_the_mean_of_labels_drawn_one_by_one():
    rng = np.random.default_rng(22)
    score = rng.random(50).round(1)
    found = simulated_measures(score, 4000, rng)
    expected = [interval_measure(score, label=rng.random(50) < score).c for _ in range(4000)]
    error = 4 * math.sqrt(2 * np.var(expected) / 4000)
    assert found.mean() == pytest.approx(np.mean(expected), abs=error)


@pytest.mark.slow
def test_a_calibrated_classifiers_bias_is_that_of_the_documentation():
    rng = np.random.default_rng(23)
    score = rng.random(20_000)
    found = simulated_measures(score, 300, rng).mean()
    # Range of a Brownian motion: 2 sqrt(2 / pi) in mean.
    expected = 2 * math.sqrt(2 / math.pi) * math.sqrt((score * (1 - score)).mean() / 20_000)
    assert found == pytest.approx(expected, rel=0.06)


def test_the_same_seed_gives_the_same_result():
    first, second = (calibration_test([0.3, 0.6], label=[0, 1], seed=4) for _ in range(2))
    assert (first.simulated == second.simulated).all()


def test_no_draws_are_refused():
    with pytest.raises(InputError, match="draws must be"):
        calibration_test([0.5], label=[1], draws=0)
