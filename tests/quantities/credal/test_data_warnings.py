"""Warnings about the calibration labels."""

import numpy as np
import pytest

import bayescal as bc
from tests.quantities.credal.made import binary


def warnings(label, score, rate=None):
    data = bc.CalibrationSplit(calibration=bc.Scores(y_true=label, y_prob=score), target=[0.5])
    priors = bc.credal.Priors(rate) if rate else bc.credal.Priors()
    return bc.credal.plan(data, priors).cases[0].warnings


def test_ordinary_rows_raise_no_warning():
    assert not bc.credal.plan(binary(), bc.credal.Priors()).cases[0].warnings


def test_falling_labels_are_reported_unless_the_prior_allows_them():
    score = np.linspace(0.01, 0.99, 60)
    label = np.arange(60) % 2 * (score < 0.6)
    (note,) = warnings(label, score)
    assert "rarer as its score rises" in note
    assert not warnings(label, score, bc.credal.ImpreciseDirichlet())


def test_scores_that_look_reversed_are_reported_under_every_prior():
    score = np.linspace(0.01, 0.99, 60)
    label = (score < 0.5).astype(int)
    sign, note = warnings(label, score)
    assert "rarer as its score rises" in note
    (same,) = warnings(label, score, bc.credal.ImpreciseDirichlet())
    assert same == sign
    assert "the scores look reversed" in sign


def test_a_class_never_seen_is_reported():
    scores = bc.Scores(y_true=[0, 1] * 10, y_prob=np.full((20, 3), 1 / 3), classes=[0, 1, 2])
    data = bc.CalibrationSplit(calibration=scores, target=np.full((1, 3), 1 / 3))
    (note,) = bc.credal.plan(data, bc.credal.Priors()).cases[0].warnings
    assert "no calibration row is of class 2" in note


@pytest.mark.parametrize("seed", range(20))
def test_flat_labels_are_hardly_ever_taken_for_falling(seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, 100)
    assert not warnings(label, rng.random(100))
