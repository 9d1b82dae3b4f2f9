"""What all calibrators of logits do alike."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import softmax
from sklearn.metrics import log_loss

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.temperature.calibrators import (
    ClassWiseTemperatureScaling,
    LogitCalibrator,
    PlattScaling,
    TemperatureScaling,
    VectorScaling,
)
from bayescal.quantities.temperature.slice_calibrators import SliceCalibration
from tests.quantities.temperature.made import rows

CALIBRATORS = [
    TemperatureScaling(),
    TemperatureScaling(loss="ece"),
    ClassWiseTemperatureScaling(),
    ClassWiseTemperatureScaling(gamma=0.05),
    VectorScaling(),
    PlattScaling(),
    SliceCalibration(),
    SliceCalibration(VectorScaling()),
]


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_whole_weights_are_repeated_rows(calibrator):
    logits, label = rows(300, 3)
    weight = np.random.default_rng(0).integers(0, 4, 300)
    found = calibrator.fit(logits, label, sample_weight=weight).predict_proba(logits)
    repeated = calibrator.fit(logits.repeat(weight, axis=0), label.repeat(weight))
    # L-BFGS stops at a gradient of 1e-9.
    np.testing.assert_allclose(found, repeated.predict_proba(logits), atol=1e-5)
    plain = calibrator.fit(logits, label).predict_proba(logits)
    assert np.abs(found - plain).max() > 1e-3


def test_the_weighted_number_has_the_least_weighted_log_loss_of_scikit_learn():
    logits, label = rows(300, 3)
    weight = np.random.default_rng(0).uniform(0.1, 10, 300)

    def loss(alpha):
        return log_loss(label, softmax(alpha * logits, axis=1), sample_weight=weight)

    best = minimize_scalar(loss, bounds=(0.1, 3), method="bounded", options={"xatol": 1e-10})
    fitted = TemperatureScaling().fit(logits, label, weight)
    # At the minimum the loss is flat to the square root of its precision.
    assert fitted.alpha_ == pytest.approx(best.x, rel=1e-6)


def test_weighted_vector_scaling_has_the_least_weighted_log_loss():
    logits, label = rows(300, 3)
    weight = np.random.default_rng(0).uniform(0.1, 10, 300)

    def loss(point):
        prob = softmax(point[:3] * logits + point[3:], axis=1)
        return log_loss(label, prob, sample_weight=weight)

    best = minimize(loss, np.repeat([1.0, 0.0], 3), method="BFGS").fun
    fitted = VectorScaling().fit(logits, label, weight)
    point = np.append(fitted.coef_, fitted.intercept_)
    assert loss(point) == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0] * 29, "sample_weight and X must have the same length"),
        ([-1.0] + [1.0] * 29, "sample_weight must be 0 or a number .* at row 0"),
        ([0.0] * 30, "sample_weight must be above 0 in at least one row"),
        ([np.nan] + [1.0] * 29, "sample_weight must be 0 or a number .* at row 0"),
    ],
)
@pytest.mark.parametrize("calibrator", [TemperatureScaling(), SliceCalibration()], ids=repr)
def test_weights_that_are_none_are_refused(calibrator, weight, message):
    with pytest.raises(InputError, match=message):
        calibrator.fit(*rows(30, 3), sample_weight=weight)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("calibrator", CALIBRATORS[:1] + CALIBRATORS[4:5], ids=repr)
def test_columns_that_name_classes_may_come_in_any_order(calibrator, frame):
    logits, label = rows(200, 3, seed=4)
    names = np.array(["cat", "dog", "fox"])[label]
    table = frame({name: logits[:, k] for k, name in enumerate(["cat", "dog", "fox"])})
    expected = calibrator.fit(logits, names).predict_proba(logits)
    swapped = table[["fox", "cat", "dog"]]
    for first, second in ((swapped, table), (table, swapped), (table, logits)):
        # L-BFGS stops at a gradient of 1e-9; sums of columns that lie otherwise in memory differ.
        found = calibrator.fit(first, names).predict_proba(second)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    with pytest.raises(InputError, match="X must have the columns of fit, 'cat', 'dog', 'fox'"):
        calibrator.predict_proba(frame({"a": logits[:, 0], "b": logits[:, 1], "c": logits[:, 2]}))


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_of_two_equal_classes_the_second_is_predicted(calibrator):
    # Section 2 of the paper: the predicted class is 1 where f(X) >= 0.5.
    logits, label = rows(200, 2)
    kept = isinstance(calibrator, TemperatureScaling | ClassWiseTemperatureScaling)
    if kept:
        assert calibrator.fit(logits, label).predict([[0.0, 0.0], [1.0, 1.0]]).tolist() == [1, 1]
    both = ClassWiseTemperatureScaling().fit(np.vstack([logits, [[0, 0]]]), np.append(label, 1))
    alone = logits[:, 1] >= logits[:, 0]
    own = TemperatureScaling().fit(np.vstack([logits[alone], [[0, 0]]]), np.append(label[alone], 1))
    assert both.alpha_[1] == pytest.approx(own.alpha_, rel=1e-6)


def test_a_calibrator_of_ones_own_is_a_base():
    class Halved(bc.temperature.LogitCalibrator):
        def __init__(self, scale="logits"):
            self.scale = scale

        def fit_logits(self, logits, label, weight):
            self.factor_ = 0.5

        def transform_logits(self, logits):
            return self.factor_ * logits

    assert bc.temperature.LogitCalibrator is LogitCalibrator
    logits, label = rows(50, 3)
    found = SliceCalibration(Halved()).fit(logits, label).predict_proba(logits)
    np.testing.assert_allclose(found, softmax(logits / 2, axis=1))
