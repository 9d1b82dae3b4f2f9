import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.optimize import minimize_scalar
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from bayescal.core.bins.binning import Binning
from bayescal.core.errors import InputError
from bayescal.quantities.temperature.calibrators import (
    ClassWiseTemperatureScaling,
    TemperatureScaling,
)
from bayescal.quantities.temperature.errors import binned_error, top_class
from tests.quantities.temperature.made import rows


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_number_is_that_of_scikit_learn(n_classes):
    x, y = load_iris(return_X_y=True)
    x, y = x[y < n_classes, 1:2], y[y < n_classes]
    trained = LogisticRegression(C=0.1).fit(x[::2], y[::2])
    theirs = CalibratedClassifierCV(FrozenEstimator(trained), method="temperature")
    theirs.fit(x[1::2], y[1::2])
    beta = theirs.calibrated_classifiers_[0].calibrators[0].beta_
    # Of two classes scikit-learn takes the logits as (-x, x), which is 2 x apart.
    ours = TemperatureScaling().fit(trained.decision_function(x[1::2]), y[1::2])
    assert ours.alpha_ == pytest.approx(beta * (2 if n_classes == 2 else 1), abs=1e-6)
    np.testing.assert_allclose(
        ours.predict_proba(trained.decision_function(x)), theirs.predict_proba(x), atol=1e-6
    )


def test_probabilities_are_taken_as_their_logarithms():
    logits, label = rows()
    prob = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    by_logits = TemperatureScaling().fit(logits, label)
    by_prob = TemperatureScaling(scale="probabilities").fit(prob, label)
    assert by_prob.alpha_ == pytest.approx(by_logits.alpha_, abs=1e-9)
    np.testing.assert_allclose(
        by_prob.predict_proba(prob), by_logits.predict_proba(logits), atol=1e-9
    )


def test_two_classes_as_one_column_or_two():
    logits, label = rows(300, 2)
    apart = logits[:, 1] - logits[:, 0]
    both, one, column = (
        TemperatureScaling().fit(x, label) for x in (logits, apart, apart[:, None])
    )
    assert both.alpha_ == pytest.approx(one.alpha_, abs=1e-9)
    assert one.alpha_ == column.alpha_
    np.testing.assert_allclose(one.predict_proba(apart), both.predict_proba(logits), atol=1e-9)


def test_the_loss_may_be_the_calibration_error():
    logits, label = rows(400, 3)
    fitted = TemperatureScaling(loss="ece", n_bins=10).fit(logits, label)

    def error(alpha):
        score, predicted = top_class(alpha * logits)
        return binned_error(score, predicted == label, Binning(10, "uniform"))

    random = np.exp(np.random.default_rng(0).uniform(np.log(0.01), np.log(100), 200))
    assert error(fitted.alpha_) <= min(map(error, random)) + 0.005
    assert error(fitted.alpha_) <= error(TemperatureScaling().fit(logits, label).alpha_)


@given(
    arrays.arrays(
        float, (8, 3), elements=st.floats(-30, 30, allow_subnormal=False).map(lambda v: round(v, 6))
    ),
    st.lists(st.integers(0, 2), min_size=8, max_size=8).filter(lambda y: len(set(y)) > 1),
    st.sampled_from([0.0, 0.3, np.inf]),
)
def test_predictions_are_kept(logits, label, gamma):
    for calibrator in (TemperatureScaling(), ClassWiseTemperatureScaling(gamma)):
        fitted = calibrator.fit(logits, label)
        assert np.array_equal(fitted.predict(logits), logits.argmax(axis=1))
        prob = fitted.predict_proba(logits)
        at = prob[np.arange(8), logits.argmax(axis=1)]
        assert (at == prob.max(axis=1)).all()


def test_labels_name_the_columns_in_sorted_order():
    logits, label = rows(100, 3)
    named = TemperatureScaling().fit(logits, np.array(["ant", "bee", "cow"])[label])
    assert named.classes_.tolist() == ["ant", "bee", "cow"]
    assert named.predict(logits[:1])[0] == ["ant", "bee", "cow"][logits[0].argmax()]
    assert named.alpha_ == TemperatureScaling().fit(logits, label).alpha_


def test_fewer_rows_than_classes_and_a_class_without_labels():
    logits, label = rows(5, 10)
    label = np.where(label == 9, 0, label)
    fitted = TemperatureScaling().fit(logits, label)
    assert fitted.classes_.tolist() == list(range(10))
    assert np.isfinite(fitted.predict_proba(logits)).all()


def test_the_number_minimises_the_log_loss():
    logits, label = rows(400, 3, alpha=1.8)
    found = TemperatureScaling().fit(logits, label).alpha_

    def loss(alpha):
        prob = np.exp(alpha * logits)
        prob /= prob.sum(axis=1, keepdims=True)
        return -np.log(prob[np.arange(400), label]).mean()

    best = minimize_scalar(loss, bounds=(0.1, 10), method="bounded", options={"xatol": 1e-10})
    assert found == pytest.approx(best.x, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": [[1.0, np.inf], [0.0, 1.0]]}, "finite logits; got inf at row 0"),
        ({"x": [[1.0, 0.0], [0.0, np.nan]]}, "finite logits; got nan at row 1"),
        ({"x": [[[1.0]], [[0.0]]]}, r"shape \(obs,\) or \(obs, class\)"),
        ({"x": np.empty((0, 2)), "y": []}, "at least one row"),
        ({"y": [1, 1]}, "y must hold two classes or more; got 1 alone"),
        ({"y": [0, 2, 5], "x": 2 * np.eye(3)[:, :2]}, "2 columns of X"),
        ({"y": [0, 7], "x": 2 * np.eye(3)[:2]}, "got 2 labels, and 7 at row 1"),
        ({"y": [0, None]}, "missing at row 1"),
        ({"y": [0, 1, 0]}, "same length"),
        ({"loss": "brier"}, "loss must be one of"),
        ({"alpha_min": 2.0, "alpha_max": 1.0}, r"alpha_max must be a number in \(2\.0, inf\)"),
        ({"scale": "odds"}, "scale must be one of"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(change, message):
    given = {"x": [[2.0, 0.0], [0.0, 1.0]], "y": [0, 1], **change}
    x, y = given.pop("x"), given.pop("y")
    with pytest.raises(InputError, match=message):
        TemperatureScaling(**given).fit(x, y)


def test_probabilities_given_as_logits_are_warned_of():
    prob = [[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]]
    with pytest.warns(UserWarning, match="look like probabilities"):
        TemperatureScaling().fit(prob, [0, 1, 1])


def test_other_columns_than_in_fit_are_refused():
    logits, label = rows(50, 3)
    fitted = TemperatureScaling().fit(logits, label)
    with pytest.raises(InputError, match="X must have 3 columns, as in fit; got 2"):
        fitted.predict_proba(logits[:, :2])
