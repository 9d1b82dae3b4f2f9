import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.imputed_labels import predicted_labels, pseudo_labeled
from tests.quantities.ssme.baselines.made import simulated, stacked


def test_predictions_are_scikit_learns():
    scores, y = simulated(n_labeled=30)
    features = scores.y_prob.T
    model = LogisticRegression().fit(features[:30], y[:30])
    found = predicted_labels(panel_of(scores))
    np.testing.assert_allclose(found, model.predict_proba(features), atol=1e-4)  # its tolerance


def test_several_classes_use_every_column():
    scores, y = simulated(n_labeled=60, n_classes=4)
    features = np.concatenate(list(scores.y_prob), axis=1)
    model = LogisticRegression().fit(features[:60], y[:60])
    found = predicted_labels(panel_of(scores))
    np.testing.assert_allclose(found, model.predict_proba(features), atol=1e-3)


def test_hard_labels_of_a_perfect_classifier_find_it_perfect():
    y = np.array([0, 1] * 50)
    probs = np.stack([np.where(y == 1, 0.1, 0.9), np.where(y == 1, 0.9, 0.1)], axis=1)
    scores = stacked([probs], [0, 1, 0, 1, *[None] * 96])
    hard = pseudo_labeled(scores, reading="hard")
    assert hard.accuracy[0] == hard.auc[0] == 1
    # The penalty leaves predictions near the share of each class: what is read of them matters.
    assert pseudo_labeled(scores, reading="soft").accuracy[0] < 0.9


def test_drawn_and_soft_accuracy_agree():
    scores, _ = simulated()
    soft = pseudo_labeled(scores, reading="soft").accuracy
    # Accuracy is linear in the labels; 500 draws of 260 labels leave a standard error of .0014.
    np.testing.assert_allclose(pseudo_labeled(scores).accuracy, soft, atol=0.006)


def test_a_class_without_a_label_has_probability_zero():
    scores, y = simulated(n_classes=3)
    y_true = [int(k) if i < 40 and k < 2 else None for i, k in enumerate(y)]
    prob = predicted_labels(panel_of(stacked(scores.y_prob, y_true)))
    assert (prob[:, 2] == 0).all()
    np.testing.assert_allclose(prob.sum(axis=1), 1)


def test_labels_of_one_class_are_refused():
    with pytest.raises(InputError, match="Pseudo-Labeled needs"):
        pseudo_labeled(stacked(np.full((1, 3, 2), 0.5), [1, 1, None]))
