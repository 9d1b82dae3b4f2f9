import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.baselines import (
    check_row_mean,
    guessed_values,
    observed_values,
)
from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.metrics import metrics, row_values
from tests.quantities.ssme.baselines.made import simulated


@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "brier"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_means_are_the_metrics(metric, n_classes):
    scores, y = simulated(n_classes=n_classes, n_labeled=300)
    panel = panel_of(scores)
    expected = getattr(metrics(panel.probs, np.eye(n_classes)[y]), metric)
    np.testing.assert_allclose(observed_values(panel, metric).mean(axis=1), expected, rtol=1e-12)


@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "brier"])
def test_guesses_are_expectations(metric):
    panel = panel_of(simulated(n_classes=3)[0])
    values = row_values(panel.probs, metric)
    pool = panel.probs.mean(axis=0)
    for m in range(3):
        own = [values[m, i] @ panel.probs[m, i] for i in range(panel.n_obs)]
        np.testing.assert_allclose(guessed_values(panel, metric, "self")[m], own)
        shared = [values[m, i] @ pool[i] for i in range(panel.n_obs)]
        np.testing.assert_allclose(guessed_values(panel, metric, "ensemble")[m], shared)


def test_own_guess_of_accuracy_is_confidence():
    panel = panel_of(simulated(n_classes=3)[0])
    np.testing.assert_allclose(guessed_values(panel, "accuracy", "self"), panel.probs.max(axis=2))


@pytest.mark.parametrize("metric", ["ece", "mce", "auc", "auprc", "f1"])
def test_other_metrics_are_refused(metric):
    with pytest.raises(InputError, match="'accuracy', 'log_loss', 'brier'; got"):
        check_row_mean(metric)


def test_other_guesses_are_refused():
    with pytest.raises(InputError, match="guess must be one of 'self', 'ensemble'"):
        guessed_values(panel_of(simulated()[0]), "accuracy", "mean")
