"""AUC, average precision and rates at a threshold: scikit-learn on rows."""

import numpy as np
import pytest
from sklearn import metrics

import bayescal as bc
from bayescal.measures import scores
from tests.measures.curves import SEEDS, curve, rows, value

# scikit-learn adds up weights of both labels apart.
ROUNDING = 1e-9
RANKS = {"auc": metrics.roc_auc_score, "auprc": metrics.average_precision_score}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", RANKS)
def test_ranks_of_rows(name, seed):
    cells = curve(seed)
    label, score, weight = rows(*cells)
    expected = RANKS[name](label, score, sample_weight=weight)
    assert value(name, *cells) == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize("name", RANKS)
def test_cells_without_mass_above_all_others_change_nothing(name):
    # Drawn masses of light rows round to 0.
    rate, score, mass = curve(3)
    more = [np.append(part, one) for part, one in ((rate, 0.5), (score / 2, 0.9), (mass, 0.0))]
    assert value(name, *more) == pytest.approx(value(name, rate, score, mass), abs=ROUNDING)


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
        assert found == pytest.approx(expected, abs=ROUNDING, nan_ok=True), name


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
