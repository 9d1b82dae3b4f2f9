import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import bayescal as bc
from bayescal.core.classifiers import MostProbable, check_class_rows, warn_unfinished
from bayescal.core.errors import InputError

CALIBRATED = [bc.VennAbersCalibrator, bc.temperature.HeldOutCalibration]


class Constant(MostProbable):
    """Classifier with the same probabilities for all rows."""

    classes_ = np.array(["a", "b", "c"])

    def predict_proba(self, x):
        return np.tile([0.2, 0.5, 0.3], (len(x), 1))


def test_the_most_probable_class_is_predicted():
    assert Constant().predict([[0], [1]]).tolist() == ["b", "b"]


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 0, 1]])
def test_classes_with_too_few_rows_are_refused(labels):
    with pytest.raises(InputError, match=r"at least 2 rows each; got .* Add some"):
        check_class_rows(np.array(labels), 2, "Add some.")


def test_the_number_of_classes_is_given_back():
    assert check_class_rows(np.array(["x", "y", "x", "y"]), 2, "") == 2


def test_unfinished_training_is_said_where_the_user_calls():
    def fit():
        warn_unfinished("the loss", 7, stacklevel=2)

    with pytest.warns(ConvergenceWarning, match="the loss was still falling after 7") as caught:
        fit()
    assert caught[0].filename == __file__


@pytest.mark.parametrize("calibrated", CALIBRATED)
def test_a_classifier_without_probabilities_is_refused_by_name(calibrated):
    x, y = make_classification(60, random_state=0)
    with pytest.raises(InputError, match=r"predict_proba; LinearSVC has none\. Wrap it"):
        calibrated(LinearSVC()).fit(x, y)


@pytest.mark.parametrize("calibrated", CALIBRATED)
def test_other_labels_than_those_of_a_trained_classifier_are_refused(calibrated):
    # They were taken for the first class.
    x, y = make_classification(60, random_state=0)
    trained = FrozenEstimator(GaussianNB().fit(x, y))
    for labels, strange in ((np.array(["no", "yes"])[y], "'no'"), (np.where(x[:, 0] > 0, y, 2), 2)):
        with pytest.raises(InputError, match=f"was trained on, 0, 1; got {strange}"):
            calibrated(trained).fit(x, labels)


@pytest.mark.parametrize("calibrated", CALIBRATED)
def test_a_class_of_a_trained_classifier_may_have_no_row(calibrated):
    x, y = make_classification(90, n_informative=4, n_classes=3, random_state=0)
    trained, some = FrozenEstimator(GaussianNB().fit(x, y)), y < 2
    fitted = calibrated(trained).fit(x[some], y[some])
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.predict_proba(x).shape == (90, 3)
