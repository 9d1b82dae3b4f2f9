"""Calibrated probabilities of rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import softmax

import bayescal as bc
from bayescal.quantities.temperature.calibrate_rows import confidences, mean_probabilities
from tests.quantities.temperature.made import rows


@pytest.fixture(scope="module")
def result():
    scores = bc.datasets.temperature.truth("binary").scores(200, seed=1)
    return bc.fit(bc.temperature, scores, method="direct", seed=20, draws=300)


def test_rows_are_on_the_scale_of_the_fit(result):
    prob = np.array([0.3, 0.9])
    logit = np.log(prob / (1 - prob))
    scores = bc.datasets.temperature.truth("binary").scores(200, seed=1)
    again = bc.Scores(y_true=scores.y_true, y_prob=scores.y_prob[0])
    fitted = bc.fit(bc.temperature, again, method="direct", seed=20, draws=300)
    assert (result.attrs["input_scale"], fitted.attrs["input_scale"]) == ("logits", "probabilities")
    # Vector scaling is found to 1e-6.
    for more in ({}, {"scale": "probabilities"}):
        np.testing.assert_allclose(
            bc.temperature.calibrate(fitted, prob, **more),
            bc.temperature.calibrate(result, logit),
            atol=1e-4,
        )
    with pytest.raises(bc.InputError, match=r"rows must hold probabilities.*softmax of the logits"):
        bc.temperature.calibrate(fitted, logit, scale="logits")
    with pytest.raises(bc.InputError, match=r"rows must hold logits.*Pass the logarithms"):
        bc.temperature.calibrate(result, prob, scale="probabilities")
    with pytest.raises(bc.InputError, match=r"rows must lie in \[0, 1\].*pass their softmax"):
        bc.temperature.calibrate(fitted, logit)
    with pytest.raises(bc.InputError, match="scale must be one of"):
        bc.temperature.calibrate(result, prob, scale="percent")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_are_taken_by_the_names_of_the_classes(frame):
    truth = bc.datasets.temperature.truth("heterogeneous")
    names, logits = list("abcdefghij"), truth.logits(300, seed=1)
    label = np.array(names)[truth.scores(300, seed=1).y_true]
    data = bc.Scores(y_true=label, y_prob=logits, from_logits=True, classes=names)
    fitted = bc.fit(bc.temperature, data, method="direct", seed=1, draws=200)
    expected = bc.temperature.calibrate(fitted, logits)
    order = np.random.default_rng(0).permutation(10)
    swapped = frame({names[k]: logits[:, k] for k in order})
    np.testing.assert_array_equal(bc.temperature.calibrate(fitted, swapped), expected)
    given = [names[k] for k in order]
    np.testing.assert_array_equal(
        bc.temperature.calibrate(fitted, logits[:, order], classes=given), expected
    )
    other = frame({f"z_{name}": logits[:, k] for k, name in enumerate(names)})
    with pytest.raises(bc.InputError, match="columns must be the classes of the result, 'a', 'b'"):
        bc.temperature.calibrate(fitted, other)
    np.testing.assert_array_equal(bc.temperature.calibrate(fitted, other, classes=names), expected)


def test_one_of_several_classifiers_is_named():
    logits = np.random.default_rng(0).normal(size=(60, 3))
    data = bc.Scores.stack(
        {"a": logits, "b": 5 * logits}, y_true=logits.argmax(axis=1), from_logits=True
    )
    fitted = bc.fit(bc.temperature, data, method="direct", seed=1, draws=200)
    with pytest.raises(bc.InputError, match="classifier must be one of the result's"):
        bc.temperature.calibrate(fitted, logits)
    a, b = (bc.temperature.calibrate(fitted, logits, classifier=name) for name in "ab")
    assert not np.allclose(a, b)
    with pytest.raises(bc.InputError, match="no classifier 'c'"):
        bc.temperature.calibrate(fitted, logits, classifier="c")


def test_other_columns_and_results_are_refused(result):
    with pytest.raises(bc.InputError, match="logits must have 2 columns"):
        bc.temperature.calibrate(result, [[1.0, 2.0, 3.0]])
    other = bc.fit(
        bc.ece, bc.datasets.ece.truth("over").scores(500, seed=1), method="direct", seed=1
    )
    with pytest.raises(bc.InputError, match="takes a result of temperature; this one is of ece"):
        bc.temperature.calibrate(other, [1.0])


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
