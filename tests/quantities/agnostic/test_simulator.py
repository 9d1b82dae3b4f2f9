"""Simulated truths against rows drawn from them, and integrals."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta
from sklearn.metrics import roc_auc_score

from bayescal.quantities.agnostic.decisions import actual_cost
from bayescal.quantities.agnostic.estimator import interval_measure
from bayescal.quantities.agnostic.simulator import TRUTHS, truth
from tests.quantities.agnostic.made import RULE


@pytest.mark.parametrize("name", TRUTHS)
def test_many_rows_come_close(name):
    found = truth(name)
    scores = found.scores(200_000, seed=1)
    score, label = scores.y_prob[0], scores.y_true
    # A mean of 2e5 rows of range 2 or less is off by .01 with probability 1e-8.
    assert interval_measure(score, label=label).c == pytest.approx(found.c, abs=0.01)
    assert roc_auc_score(label, score) == pytest.approx(found.auc, abs=0.01)
    assert actual_cost(RULE, score, label=label) == pytest.approx(found.cost(RULE), abs=0.03)


def test_the_measure_of_one_sign_is_an_integral():
    found = truth("shifted")
    gap = lambda s: (found.probability(s) - s) * beta.pdf(s, 1, 3)  # noqa: E731  # as short as the formula
    assert found.c == pytest.approx(quad(gap, 0, 1)[0], abs=1e-6)


def test_rows_without_labels_come_last():
    scores = truth("over").scores(5, seed=1, n_unlabeled=3)
    assert (scores.n_labeled, scores.n_obs) == (5, 8)
    assert (scores.y_true[5:] < 0).all()
    assert np.array_equal(scores.y_prob, truth("over").scores(5, 1, 3).y_prob)
