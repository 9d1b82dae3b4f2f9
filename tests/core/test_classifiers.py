import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bayescal.core.classifiers import MostProbable, check_class_rows, warn_unfinished
from bayescal.core.errors import InputError


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
