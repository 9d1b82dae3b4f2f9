"""The mean score as the truth."""

import numpy as np

from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.imputed_labels import ensemble, ensemble_by_group
from tests.quantities.ssme.made import binary, multiclass


def test_accuracy_is_the_mean_of_what_the_prediction_is_believed():
    scores, truth = binary()
    found = ensemble(scores)
    panel = panel_of(scores)
    for m, prob in enumerate(panel.probs):
        predicted = prob.argmax(axis=1)
        mean = panel.probs.mean(axis=0)
        believed = [
            float(predicted[i] == truth[i]) if i < 20 else mean[i, predicted[i]] for i in range(200)
        ]
        assert np.isclose(found.accuracy[m], np.mean(believed), rtol=0, atol=1e-12)


def test_groups_add_up():
    group = np.array(["u", "v"])[np.arange(200) % 2]
    scores, _ = binary(group=group)
    by_group = ensemble_by_group(scores)
    assert by_group.auc.shape == (3, 2)
    # Groups of equal size.
    np.testing.assert_allclose(by_group.brier.mean(axis=1), ensemble(scores).brier, atol=1e-12)


def test_without_groups_there_is_one():
    scores, _ = multiclass()
    np.testing.assert_array_equal(ensemble_by_group(scores).auc[:, 0], ensemble(scores).auc)
