import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from bayescal.core.classifiers import HeldOut, MostProbable, check_class_rows, warn_unfinished
from bayescal.core.errors import InputError


class Constant(MostProbable):
    """Classifier with the same probabilities for all rows."""

    classes_ = np.array(["a", "b", "c"])

    def predict_proba(self, x):
        return np.tile([0.2, 0.5, 0.3], (len(x), 1))


class Splitter(HeldOut):
    """Classifier that only splits rows."""

    def __init__(self, estimator=None, calibration_size=0.25, random_state=0):
        self.estimator = estimator
        self.calibration_size = calibration_size
        self.random_state = random_state


def test_the_most_probable_class_is_predicted():
    assert Constant().predict([[0], [1]]).tolist() == ["b", "b"]


def test_rows_are_split_as_scikit_learn_splits_them_by_class():
    labels = np.repeat([0, 1, 2], [40, 30, 10])
    train, held_out = Splitter().split(labels)
    expected = train_test_split(np.arange(80), test_size=20, stratify=labels, random_state=0)
    assert np.array_equal(train, expected[0])
    assert np.array_equal(held_out, expected[1])


def test_every_class_is_on_both_sides_of_a_split_of_few_rows():
    for size in (0.01, 0.99):
        parts = Splitter(calibration_size=size).split(np.array([0, 0, 1, 1, 2, 2]))
        assert [sorted(np.array([0, 0, 1, 1, 2, 2])[part]) for part in parts] == [[0, 1, 2]] * 2


@pytest.mark.parametrize("size", [0.0, 1.0, np.nan])
def test_a_share_outside_0_and_1_is_refused(size):
    with pytest.raises(InputError, match=r"calibration_size must be a number in \(0, 1\)"):
        Splitter(calibration_size=size).checked_rows([[0.0]], [0])


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
