import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.credal.self_learning.data import SelfLearningRows

GOOD = {
    "features": [[0.0], [1.0]],
    "labels": [0, 1],
    "unlabeled": [[0.5]],
    "target": [[0.5]],
}


def test_rows_are_copied_and_cannot_be_changed():
    x = np.array([[0.0], [1.0]])
    rows = SelfLearningRows(**GOOD | {"features": x})
    x[0] = 9
    assert rows.x_labeled[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        rows.x_labeled[0] = 9


def test_words_may_come_as_objects():
    words = np.array(["no", "yes"], object)
    assert SelfLearningRows(**GOOD | {"labels": words}).classes.tolist() == ["no", "yes"]
    with pytest.raises(InputError, match="whole numbers or words"):
        SelfLearningRows(**GOOD | {"labels": np.array(["no", None], object)})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"labels": [0]}, "labels"),
        ({"labels": [0, 0]}, "at least two classes; got 0"),
        ({"labels": [0.5, 1.5]}, "whole numbers or words"),
        ({"unlabeled": [[0.5, 1.0]]}, "unlabeled must have the 1 features"),
        ({"unlabeled": np.zeros((0, 1))}, "unlabeled must have at least one row"),
        ({"target": [[np.nan]]}, "target must be finite; got nan at row 0, column 0"),
        ({"target": [[np.inf]]}, "target must be finite; got inf"),
        ({"features": [["x"], ["y"]]}, "table of numbers"),
        ({"features": [0.0, 1.0]}, r"shape \(obs, feature\)"),
        ({"calibration_labels": [0]}, "given together"),
        ({"calibration_features": [[0.0]], "calibration_labels": [2]}, "got 2 at row 0"),
        ({"calibration_features": [[0.0]], "calibration_labels": [0, 1]}, "calibration_"),
        ({"calibration_features": [[0.0, 1.0]], "calibration_labels": [0]}, "1 features"),
    ],
)
def test_rows_that_do_not_agree_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        SelfLearningRows(**GOOD | wrong)


def test_calibration_rows_are_asked_for_where_there_are_none():
    with pytest.raises(InputError, match="held back to calibrate"):
        SelfLearningRows(**GOOD).calibration()
