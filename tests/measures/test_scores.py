"""Proper scores, AUC, average precision and rates at a threshold: scikit-learn on rows."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics import brier_score_loss, log_loss

import bayescal as bc
from bayescal.measures import scores
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


def test_cells_without_mass_do_not_count():
    """Their rate may be one that a score of 0, or an overall rate of 0, rules out."""
    cells = np.array([0.0, 0.5]), np.array([0.2, 1.0]), np.array([1.0, 0.0])
    assert value("log_loss", *cells) == pytest.approx(-np.log(0.8), rel=1e-15)
    assert value("log_loss_miscalibration", *cells) == pytest.approx(-np.log(0.8), rel=1e-15)
    assert value("log_loss_discrimination", *cells) == 0


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


# scikit-learn adds up weights of both labels apart.
RATE_ROUNDING = 1e-9
RANKS = {"auc": metrics.roc_auc_score, "auprc": metrics.average_precision_score}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RANKS)
def test_ranks_of_rows(name, seed):
    cells = curve(seed)
    label, score, weight = rows(*cells)
    expected = RANKS[name](label, score, sample_weight=weight)
    assert value(name, *cells) == pytest.approx(expected, abs=RATE_ROUNDING)


@pytest.mark.parametrize("name", RANKS)
def test_cells_without_mass_above_all_others_change_nothing(name):
    # Drawn masses of light rows round to 0.
    rate, score, mass = curve(3)
    more = [np.append(part, one) for part, one in ((rate, 0.5), (score / 2, 0.9), (mass, 0.0))]
    assert value(name, *more) == pytest.approx(value(name, rate, score, mass), abs=RATE_ROUNDING)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("at", ["a score", "between", 0.3])
def test_rates_at_a_threshold(at, seed):
    cells = curve(seed)
    label, score, weight = rows(*cells)
    scores = cells[1]
    middle = len(scores) // 2
    places = {"a score": scores[middle], "between": scores[middle - 1 : middle + 1].mean()}
    threshold = float(np.clip(places.get(at, at), 1e-6, 1 - 1e-6))
    called = (score >= threshold).astype(float)
    given = {"sample_weight": weight, "zero_division": np.nan}
    for name, expected in {
        "accuracy": metrics.accuracy_score(label, called, sample_weight=weight),
        "sensitivity": metrics.recall_score(label, called, **given),
        "specificity": metrics.recall_score(1 - label, 1 - called, **given),
        "ppv": metrics.precision_score(label, called, **given),
        "npv": metrics.precision_score(1 - label, 1 - called, **given),
    }.items():
        with np.errstate(invalid="ignore"):
            found = value(f"{name}:{threshold!r}", *cells)
        assert found == pytest.approx(expected, abs=RATE_ROUNDING, nan_ok=True), name


def test_without_a_row_of_one_label_there_is_no_auc():
    cells = np.zeros(3), np.array([0.1, 0.2, 0.3]), np.full(3, 1 / 3)
    with np.errstate(invalid="ignore"):
        assert np.isnan(value("auc", *cells))


@pytest.mark.parametrize("seed", SEEDS)
def test_splitting_a_cell_changes_nothing_at_a_threshold(seed):
    rate, score, mass = curve(seed)
    at = len(score) // 2
    split = [np.insert(part, at, part[at]) for part in (rate, score, mass)]
    split[2][at : at + 2] /= 2
    for name in ("accuracy:.5", "net_benefit:.25", "brier", "tce", "e90", "slope", "c", "oe"):
        with np.errstate(all="ignore"):
            found, expected = value(name, *split), value(name, rate, score, mass)
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_rounded_score_meets_its_threshold_as_in_numpy(dtype):
    score = (np.arange(1, 100) / 100).astype(dtype)
    for threshold in np.arange(1, 100) / 100:
        called = scores.is_called(score.astype(np.float64), threshold)
        # NumPy compares float32 with a Python number in float32.
        assert np.array_equal(called == 1, score >= float(threshold)), threshold


def test_float32_scores_have_the_rates_of_the_decimals_that_they_are():
    rng = np.random.default_rng(0)
    score = rng.integers(0, 11, 500) / 10
    label = rng.random(500) < score
    tree = bc.fit(bc.ece, bc.Scores(label, score.astype(np.float32)), method="direct", seed=1)
    for threshold in (0.7, 0.9):
        expected = label[score >= threshold].sum() / label.sum()
        found = bc.summary(tree, measures=[f"sensitivity:{threshold}"])
        assert found[f"sensitivity:{threshold}_point"].item() == pytest.approx(expected)


@pytest.mark.parametrize("name", ["auc", "auprc", "accuracy", "prevalence"])
def test_shares_of_perfect_scores_are_not_above_1(name):
    # Masses that are drawn sum to 1 but for rounding, to either side.
    mass = np.random.default_rng(20).dirichlet(np.ones(90), 500)
    rate = (np.arange(90) >= (0 if name == "prevalence" else 60)) * np.ones((500, 1))
    found = value(name, rate, np.linspace(0.01, 0.74, 90), mass)
    assert found.max() <= 1
    np.testing.assert_allclose(found, 1, rtol=1e-12)
