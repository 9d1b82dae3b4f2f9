"""AUC and average precision of one score against scikit-learn and against pairs of rows."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from bayescal.quantities.ssme.metrics import counted, rank, ranking_metrics

# Sums of a hundred numbers in another order.
ROUNDING = {"rtol": 0, "atol": 1e-12}


def made(n=100, decimals=None, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.random(n) if decimals is None else rng.random(n).round(decimals)
    return score, (rng.random((6, n)) < score).astype(float), rng.exponential(size=(6, n))


def test_rows_by_falling_score_tied_ones_together():
    found = rank(np.array([0.3, 0.9, 0.3, 0.1, 0.9]))
    assert found.order.tolist() == [1, 4, 0, 2, 3]
    assert found.starts.tolist() == [0, 2, 4]


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_draw_equals_scikit_learn(decimals, weighted):
    score, label, weight = made(decimals=decimals)
    weight = weight if weighted else np.ones((1, 100))
    auc, precision = ranking_metrics(rank(score), counted(label * weight, weight))
    for d, y in enumerate(label):
        w = weight[d if weighted else 0]
        np.testing.assert_allclose(auc[d], roc_auc_score(y, score, sample_weight=w), **ROUNDING)
        expected = average_precision_score(y, score, sample_weight=w)
        np.testing.assert_allclose(precision[d], expected, **ROUNDING)


def test_soft_labels_by_pairs():
    """AUC is the chance that a positive outranks a negative, half of it for ties."""
    score, _, weight = made(n=30, decimals=1)
    q = np.random.default_rng(1).random((6, 30))
    auc, _ = ranking_metrics(rank(score), counted(q * weight, weight))
    wins = (score[:, np.newaxis] > score) + 0.5 * (score[:, np.newaxis] == score)
    for d in range(6):
        up, down = q[d] * weight[d], (1 - q[d]) * weight[d]
        expected = up @ wins @ down / (up.sum() * down.sum())
        np.testing.assert_allclose(auc[d], expected, **ROUNDING)


def test_scores_that_are_all_the_same():
    label = np.array([[1.0, 0.0, 0.0, 0.0]])
    auc, precision = ranking_metrics(rank(np.full(4, 0.3)), counted(label, np.ones((1, 4))))
    assert (auc[0], precision[0]) == (0.5, 0.25)


def test_labels_of_one_class_leave_metrics_undefined():
    score, _, _ = made(n=10)
    label = np.stack([np.zeros(10), np.ones(10)])
    auc, precision = ranking_metrics(rank(score), counted(label, np.ones((1, 10))))
    assert np.isnan(auc).all()
    assert np.isnan(precision[0])
    assert precision[1] == 1


def test_rows_of_no_weight_do_not_count():
    score, label, weight = made(n=50)
    weight[:, score.argmax()] = 0
    kept = np.arange(50) != score.argmax()
    found = ranking_metrics(rank(score), counted(label * weight, weight))
    alone = ranking_metrics(rank(score[kept]), counted(label * weight, weight)[:, kept])
    np.testing.assert_allclose(found, alone, **ROUNDING)
