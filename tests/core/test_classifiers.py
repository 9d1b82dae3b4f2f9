"""Networks are trained as their gradients say; all classifiers keep the same rules."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import bayescal as bc
from bayescal.core.classifiers import (
    MostProbable,
    check_class_rows,
    first_weights,
    forward,
    objective,
    penalty,
    train,
    warn_unfinished,
)
from bayescal.core.errors import InputError

CALIBRATED = [bc.VennAbersCalibrator, bc.temperature.HeldOutCalibration]


class Constant(MostProbable):
    """Classifier with the same probabilities for all rows."""

    classes_ = np.array(["a", "b", "c"])

    def predict_proba(self, x):
        return np.tile([0.2, 0.5, 0.3], (len(x), 1))


def test_the_most_probable_class_is_predicted():
    assert Constant().predict([[0], [1]]).tolist() == ["b", "b"]


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 0, 1], []])
def test_classes_with_too_few_rows_are_refused(labels):
    with pytest.raises(
        InputError, match=r"rows each; got \d class(es)?, the rarest with \d\. Add some"
    ):
        check_class_rows(np.array(labels), 2, "Add some.")
    for calibrated in CALIBRATED:
        with pytest.raises(InputError, match="at least 2 rows each"):
            calibrated().fit(np.zeros((len(labels), 1)), labels)


def test_unfinished_training_is_said_where_the_user_calls():
    def fit():
        warn_unfinished("the loss", 7)

    with pytest.warns(ConvergenceWarning, match="the loss was still falling after 7") as caught:
        fit()
    assert caught[0].filename == __file__


@pytest.mark.parametrize("calibrated", CALIBRATED)
def test_a_classifier_without_probabilities_is_refused_by_name(calibrated):
    x, y = make_classification(60, random_state=0)
    with pytest.raises(InputError, match=r"predict_proba; LinearSVC has none\. Wrap it"):
        calibrated(LinearSVC()).fit(x, y)


@pytest.mark.parametrize("calibrated", CALIBRATED)
def test_weights_need_a_classifier_that_takes_them(calibrated):
    x, y = make_classification(60, random_state=0)
    with pytest.raises(InputError, match="fit of KNeighborsClassifier takes no sample_weight"):
        calibrated(KNeighborsClassifier()).fit(x, y, np.ones(60))


@pytest.mark.parametrize("calibrated", CALIBRATED)
def test_other_labels_than_those_of_a_trained_classifier_are_refused(calibrated):
    # They were taken for the first class.
    x, y = make_classification(60, random_state=0)
    trained = FrozenEstimator(GaussianNB().fit(x, y))
    for labels, strange in ((np.array(["no", "yes"])[y], "'no'"), (np.where(x[:, 0] > 0, y, 2), 2)):
        with pytest.raises(InputError, match=f"was trained on, 0, 1; got {strange}"):
            calibrated(trained).fit(x, labels)


UNUSABLE = {
    "none": ([0, None], "must be known in every row; it is missing at row 1. Drop the row"),
    "nan": (["a", np.nan], "must be known in every row; it is missing at row 1. Drop the row"),
    "pandas": (pd.Series([0, pd.NA], dtype="Int64"), "it is missing at row 1. Drop"),
    "masked": (np.ma.array([0, 1], mask=[False, True]), "it is missing at row 1. Drop"),
    "two kinds": ([0, "a"], "words or numbers, not both; got 0 and, at row 1, 'a'. Write"),
    "real": ([0, 0.5], "y must hold words, whole .* got 0.5 at row 1. Check"),
    "one-hot": (np.eye(2), r"got shape \(60, 2\). For one-hot rows pass"),
    "short": ([0], "X and y must have the same length; got 60 and 30 rows"),
}


@pytest.mark.parametrize("calibrated", [*CALIBRATED, bc.temperature.TemperatureScaling])
@pytest.mark.parametrize(("labels", "message"), UNUSABLE.values(), ids=UNUSABLE)
def test_labels_that_cannot_be_used_are_refused(calibrated, labels, message):
    x, _ = make_classification(60, n_features=2, n_redundant=0, random_state=0)
    many = pd.concat if isinstance(labels, pd.Series) else np.ma.concatenate
    column = labels * 30 if isinstance(labels, list) else many([labels] * 30)
    with pytest.raises(InputError, match=message):
        calibrated().fit(x, column)


@pytest.mark.parametrize("calibrated", CALIBRATED)
def test_a_seed_or_features_that_scikit_learn_refuses_are_refused_in_one_line(calibrated):
    x, y = make_classification(60, random_state=0)
    for seed in ("a", -1, 1.5):
        with pytest.raises(InputError, match=f"^random_state must be .* got {seed!r}. Pass 0"):
            calibrated(random_state=seed).fit(x, y)
    x[3, 2] = np.nan
    with pytest.raises(InputError, match=r"refuses X or y: Input X contains NaN\. Mend the rows"):
        calibrated(random_state=0).fit(x, y)
    assert calibrated(HistGradientBoostingClassifier(), random_state=0).fit(x, y).predict(x).any()


@pytest.mark.parametrize("calibrated", CALIBRATED)
def test_numbers_in_an_array_of_objects_are_labels(calibrated):
    x, y = make_classification(60, random_state=0)
    fitted = calibrated(random_state=0).fit(x, y.astype(object))
    assert np.array_equal(fitted.predict(x), calibrated(random_state=0).fit(x, y).predict(x))


@pytest.mark.parametrize("calibrated", CALIBRATED)
def test_a_class_of_a_trained_classifier_may_have_no_row(calibrated):
    x, y = make_classification(90, n_informative=4, n_classes=3, random_state=0)
    trained, some = FrozenEstimator(GaussianNB().fit(x, y)), y < 2
    fitted = calibrated(trained).fit(x[some], y[some])
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.predict_proba(x).shape == (90, 3)


def squares(target, share=1.0):
    """Half the weighted squared distance of each table's outputs from a target."""

    def loss(*outputs):
        gaps = [output - target for output in outputs]
        return share * sum((gap**2).sum() for gap in gaps) / 2, [share * gap for gap in gaps]

    return loss


@pytest.mark.parametrize("outputs", [(), (3,)])
@pytest.mark.parametrize("hidden", [0, 4])
def test_the_gradient_is_the_derivative(hidden, outputs):
    rng = np.random.RandomState(1)
    tables = [rng.normal(size=(n, 2)) for n in (5, 8)]
    weights = [part + 0.1 for part in first_weights(2, hidden, outputs, rng)]
    loss, alpha = squares(0.7), 0.3
    ends = np.cumsum([part.size for part in weights])[:-1]

    def value(flat):
        parts = np.split(flat, ends)
        shaped = [p.reshape(w.shape) for p, w in zip(parts, weights, strict=True)]
        return objective(loss, tables, shaped, alpha)[0]

    at = np.concatenate([part.ravel() for part in weights])
    found = objective(loss, tables, weights, alpha)[1]
    # Forward differences are off by about the square root of the rounding error.
    np.testing.assert_allclose(found, approx_fprime(at, value, 1e-7), atol=1e-4)


def test_a_linear_model_of_squares_is_ridge_regression():
    rng = np.random.default_rng(2)
    x, y, alpha = rng.normal(size=(50, 3)), rng.normal(size=50), 0.5
    found = train(squares(y), [x], first_weights(3, 0, (), None), alpha, 500)
    centred = x - x.mean(axis=0)
    expected = np.linalg.solve(centred.T @ centred + alpha * np.eye(3), centred.T @ y)
    np.testing.assert_allclose(found.weights[0], expected, atol=1e-4)
    assert not found.unfinished
    gap = forward(found.weights, x) - y
    assert found.objective == pytest.approx((gap**2).sum() / 2 + penalty(found.weights, alpha))


@pytest.mark.parametrize("calibrated", CALIBRATED)
def test_a_class_in_place_of_a_classifier_is_refused(calibrated):
    with pytest.raises(InputError, match="estimator must be a classifier; got"):
        calibrated(GaussianNB).fit(np.arange(8.0)[:, None], [0, 1] * 4)


@pytest.mark.parametrize("made", CALIBRATED)
def test_names_of_an_earlier_fit_are_gone(made):
    x, y = make_classification(60, random_state=0)
    table = pd.DataFrame(x).rename(columns="x{}".format)
    classifier = made(GaussianNB(), random_state=0).fit(table, y).fit(x, y)
    assert not hasattr(classifier, "feature_names_in_")
