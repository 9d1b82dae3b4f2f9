import numpy as np
from scipy.special import softmax

from bayescal.quantities.temperature.calibrate_rows import confidences, mean_probabilities
from tests.quantities.temperature.made import rows


def test_probabilities_are_means_over_the_draws_of_the_predicted_class():
    logits, _ = rows(50, 3)
    draws = np.random.default_rng(0).normal([-0.5, 0.0, 0.5], [0.1, 0.3, 0.5], (2, 4000, 3))
    alpha = np.exp(draws.reshape(-1, 3))[:, logits.argmax(axis=1)]
    full = np.mean([softmax(each[:, None] * logits, axis=1) for each in alpha[::4]], axis=0)
    found = mean_probabilities(logits, draws)
    # 2000 draws have standard errors up to .005; 16 points leave out part of the tails.
    np.testing.assert_allclose(found, full, atol=0.01)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.array_equal(found.argmax(axis=1), logits.argmax(axis=1))


def test_confidences_are_the_probabilities_of_the_predicted_class():
    logits, _ = rows(50, 3)
    predicted = logits.argmax(axis=1)
    draws = np.random.default_rng(0).normal(0, 0.3, (1, 400, 3))
    found = confidences(logits, predicted, draws)
    at = np.arange(50)
    np.testing.assert_allclose(found.calibrated, mean_probabilities(logits, draws)[at, predicted])
    np.testing.assert_allclose(found.uncalibrated, softmax(logits, axis=1)[at, predicted])
    alpha = np.exp(found.places[3])[predicted]
    np.testing.assert_allclose(found.at[3], softmax(alpha[:, None] * logits, axis=1)[at, predicted])


def test_the_rows_are_left_as_they_are():
    # Columns that lie one behind the other in memory are rows of the transposed array.
    logits = np.asfortranarray(np.random.default_rng(0).normal(size=(50, 3)))
    before = logits.copy()
    confidences(logits, logits.argmax(axis=1), np.zeros((10, 3)))
    np.testing.assert_array_equal(logits, before)
