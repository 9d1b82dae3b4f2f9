"""The estimate of scores: dims, classes, and rows without a label."""

import numpy as np
import pytest

from bayescal.core.scores import Scores
from bayescal.quantities.agnostic.estimator import Estimate, estimate, interval_measure


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(20)
    prob = rng.dirichlet([1, 1, 1], 60)
    label = [int(rng.choice(3, p=row)) for row in prob]
    return prob, np.array(label)


def test_rows_without_a_label_are_left_out():
    found = estimate(Scores(y_true=[0, None, 1], y_prob=[0.25, 0.9, 0.5]))
    assert found.c == interval_measure([0.25, 0.5], label=[0, 1]).c
    assert np.ndim(found.c) == 0


def test_several_classifiers_are_a_dim():
    panel = Scores.stack({"a": [0.25, 0.5], "b": [0.5, 0.25]}, y_true=[0, 1])
    found = estimate(panel)
    assert isinstance(found, Estimate)
    for place, score in enumerate(([0.25, 0.5], [0.5, 0.25])):
        expected = interval_measure(score, label=[0, 1])
        for name in Estimate._fields:
            assert getattr(found, name)[place] == getattr(expected, name)


def test_classes_one_by_one_and_their_supremum(three_classes):
    prob, label = three_classes
    scores = Scores(y_true=label, y_prob=prob)
    expected = [interval_measure(scores.y_prob[0][:, k], label=label == k) for k in range(3)]
    by_class = estimate(scores, multiclass="class-wise")
    assert by_class.c.tolist() == [one.c for one in expected]
    worst = int(np.argmax(by_class.c))
    supremum = estimate(scores, multiclass="supremum")
    assert (supremum.c, supremum.upper) == (expected[worst].c, expected[worst].upper)


def test_top_label_is_of_being_right(three_classes):
    prob, label = three_classes
    found = estimate(Scores(y_true=label, y_prob=prob))
    right = prob.argmax(axis=1) == label
    assert found.c == pytest.approx(interval_measure(prob.max(axis=1), label=right).c, abs=1e-12)


def test_weights_are_those_of_the_labelled_rows():
    scores = Scores(y_true=[0, 1, 1], y_prob=[0.25, 0.5, 0.75], sample_weight=[2, 1, 1])
    assert estimate(scores).c == interval_measure([0.25, 0.25, 0.5, 0.75], label=[0, 0, 1, 1]).c
