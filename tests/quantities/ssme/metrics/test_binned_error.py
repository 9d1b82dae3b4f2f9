"""Bins and calibration errors against their definitions, written out row by row."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

import bayescal as bc
from bayescal.quantities.ssme.metrics import (
    CONVENTIONS,
    binned_errors,
    convention_name,
    membership,
    moments,
)


def made(n=200, decimals=None, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.beta(1, 2, n) if decimals is None else rng.beta(1, 2, n).round(decimals)
    return score, (rng.random(n) < score).astype(float)


def test_conventions_are_those_of_the_documentation():
    assert CONVENTIONS["equal-mass"] == ("quantile", 10, False, False)
    assert CONVENTIONS["equal-width"] == ("uniform", 15, True, False)
    assert CONVENTIONS["top-label"] == ("uniform", 15, True, True)


def test_bins_of_equal_width_are_closed_on_the_right():
    score = np.array([0.0, 1 / 15, 1 / 15 + 1e-9, 0.5, 1.0])
    bins = membership(score, CONVENTIONS["equal-width"])
    # Rows 0 and 1 are in the first bin, then one each; empty bins have no column.
    np.testing.assert_array_equal(bins, np.eye(4)[[0, 0, 1, 2, 3]])


def test_bins_of_equal_mass_hold_as_many_rows_each():
    score, _ = made(n=200)
    bins = membership(score, CONVENTIONS["equal-mass"])
    np.testing.assert_array_equal(bins.sum(axis=0), np.full(10, 20))
    place = bins.argmax(axis=1)
    assert (np.diff(place[score.argsort()]) >= 0).all()


def test_ties_share_a_bin():
    score = np.repeat([0.2, 0.4], [30, 10])
    bins = membership(score, CONVENTIONS["equal-mass"])
    assert (bins.sum(axis=1) == 1).all()
    assert len(np.unique(bins[:30], axis=0)) == len(np.unique(bins[30:], axis=0)) == 1


@pytest.mark.parametrize("name", ["equal-mass", "equal-width"])
def test_gaps_of_hard_labels_are_those_of_scikit_learn(name):
    convention = CONVENTIONS[name]
    score, label = made(n=300, seed=4)
    bins = membership(score, convention)
    found = [
        binned_errors(
            moments(score, bins), label[np.newaxis], np.ones((1, 300)), mass_weighted=weighted
        )
        for weighted in (False, True)
    ]
    rate, mean = calibration_curve(
        label, score, n_bins=convention.n_bins, strategy=convention.strategy
    )
    gap = np.abs(rate - mean)
    share = bins.mean(axis=0)
    # Rounding; no score lies on an edge, where the two sides would matter.
    np.testing.assert_allclose(found[0][0], gap.mean(), atol=1e-12)
    np.testing.assert_allclose(found[1][0], share @ gap, atol=1e-12)
    np.testing.assert_allclose([found[0][1], found[1][1]], gap.max(), atol=1e-12)


@pytest.mark.parametrize("mass_weighted", [False, True])
def test_draws_with_weights_by_hand(mass_weighted):
    score, _ = made(n=40, decimals=1, seed=2)
    rng = np.random.default_rng(3)
    q, weight = rng.random((5, 40)), rng.exponential(size=(5, 40))
    bins = membership(score, CONVENTIONS["equal-width"])
    ece, mce = binned_errors(moments(score, bins), q * weight, weight, mass_weighted=mass_weighted)
    for d in range(5):
        gaps, masses = [], []
        for rows in bins.T.astype(bool):
            w = weight[d, rows]
            gaps.append(abs(np.average(score[rows] - q[d, rows], weights=w)))
            masses.append(w.sum())
        expected = np.average(gaps, weights=masses if mass_weighted else None)
        np.testing.assert_allclose(ece[d], expected, atol=1e-12)
        np.testing.assert_allclose(mce[d], max(gaps), atol=1e-12)


def test_a_bin_without_weight_does_not_count():
    score = np.array([0.1, 0.1, 0.9])
    bins = membership(score, CONVENTIONS["equal-width"])
    weight = np.array([[1.0, 1.0, 0.0]])
    ece, mce = binned_errors(
        moments(score, bins), np.array([[1.0, 0.0, 0.0]]), weight, mass_weighted=False
    )
    # One bin is left: half of it positive, at a score of .1.
    np.testing.assert_allclose([ece[0], mce[0]], 0.4, atol=1e-15)


@pytest.mark.parametrize("name", ["equal-mass", "equal-width"])
def test_the_optimal_number_of_bins_is_the_cube_root_of_the_rows(name):
    score = np.random.default_rng(5).random(217)  # above 6^3
    found = membership(score, CONVENTIONS[f"{name}-optimal"])
    by_hand = CONVENTIONS[name]._replace(n_bins=7)
    np.testing.assert_array_equal(found, membership(score, by_hand))


def test_positive_score_conventions_need_two_classes():
    with pytest.raises(bc.InputError, match="needs 2 classes; got 3"):
        convention_name("equal-mass", 3)
