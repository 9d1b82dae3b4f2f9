"""Brier score, log loss and their parts: scikit-learn on rows, and what they add up to."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from tests.measures.curves import SEEDS, curve, rows, value

ROUNDING = 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_of_rows(seed):
    cells = curve(seed)
    label, score, weight = rows(*cells)
    brier = brier_score_loss(label, score, sample_weight=weight)
    overall = np.average(label, weights=weight)
    constant = brier_score_loss(label, np.full(len(label), overall), sample_weight=weight)
    for name, expected in {
        "brier": brier,
        "brier_uncertainty": constant,
        "scaled_brier": 1 - brier / constant,
        "prevalence": overall,
        "log_loss_uncertainty": log_loss(label, np.full(len(label), overall), sample_weight=weight),
    }.items():
        assert value(name, *cells) == pytest.approx(expected, abs=ROUNDING), name


@pytest.mark.parametrize("seed", SEEDS)
def test_log_loss_of_rows(seed):
    cells = curve(seed, ends=False)
    label, score, weight = rows(*cells)
    expected = log_loss(label, score, sample_weight=weight)
    assert value("log_loss", *cells) == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_a_score_is_miscalibration_less_discrimination_plus_uncertainty(name, seed):
    cells = curve(seed, ends=name == "brier")
    parts = [
        value(f"{name}_{part}", *cells)
        for part in ("miscalibration", "discrimination", "uncertainty")
    ]
    assert min(parts) >= 0
    assert value(name, *cells) == pytest.approx(parts[0] - parts[1] + parts[2], abs=ROUNDING)


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_log_loss_is_infinite_where_a_sure_score_is_wrong(score):
    cells = np.array([0.5, 0.4]), np.sort([score, 0.3]), np.array([0.5, 0.5])
    assert value("log_loss", *cells) == np.inf
    assert value("log_loss_miscalibration", *cells) == np.inf


def test_log_loss_of_sure_scores_that_are_right_is_0():
    cells = np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([0.5, 0.5])
    assert value("log_loss", *cells) == 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_the_miscalibration_of_a_calibrated_curve_is_exactly_0(name, seed):
    _, score, mass = curve(seed)
    assert value(f"{name}_miscalibration", score, score, mass) == 0


def test_masses_that_sum_to_a_little_more_than_1_leave_rates_below_it():
    rate, mass = np.array([1.0, 1.0]), np.array([0.5, 0.5 + 2**-52])
    cells = rate, np.array([0.2, 0.9]), mass
    for name in ("log_loss_discrimination", "log_loss_uncertainty", "brier_uncertainty"):
        assert value(name, *cells) == 0
    assert value("prevalence", *cells) == 1
