import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.quantities.credal.calibration_split import CalibrationSplit


def labelled(**changes):
    return Scores(**{"y_true": [0, 1, 1], "y_prob": [0.2, 0.4, 0.9], "classifier": "a"} | changes)


def test_target_may_be_scores_or_probabilities():
    target = labelled(y_prob=[0.3, 0.5, 0.7])
    by_scores = CalibrationSplit(calibration=labelled(), target=target)
    by_array = CalibrationSplit(calibration=labelled(), target=[0.3, 0.5, 0.7])
    by_columns = CalibrationSplit(
        calibration=labelled(), target=np.array([[0.7, 0.3], [0.5, 0.5], [0.3, 0.7]])
    )
    for split in (by_scores, by_array, by_columns):
        assert split.target.y_prob.tolist() == [[0.3, 0.5, 0.7]]
        assert split.target.classes == split.calibration.classes
        assert (split.n_calibration, split.n_target, split.n_classes) == (3, 3, 2)
    assert by_array.target.n_labeled == 0


def test_one_classifier_of_several():
    panel = Scores.stack({"a": [0.1, 0.9], "b": [0.3, 0.8]}, y_true=[0, 1])
    split = CalibrationSplit(calibration=panel, target=panel).select("b")
    assert split.calibration.y_prob.tolist() == [[0.3, 0.8]]
    with pytest.raises(InputError, match="did you mean 'b'"):
        CalibrationSplit(calibration=panel, target=panel).select("B")


def test_it_cannot_be_changed():
    split = CalibrationSplit(calibration=labelled(), target=[0.5])
    with pytest.raises(AttributeError):
        split.target = labelled()
    with pytest.raises(ValueError, match="read-only"):
        split.calibration.y_prob[0, 0] = 1


THREE = [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]


@pytest.mark.parametrize(
    ("calibration", "target", "message"),
    [
        ([0.1], [0.2], "calibration must be Scores; got list"),
        (labelled(), labelled(classifier="b"), "must have the same classifiers; got 'a' and 'b'"),
        (labelled(), labelled(y_true=["no", "yes", "yes"], pos_label="yes"), "the same classes"),
        (labelled(), THREE, r"got shape \(2, 3\) for classes"),
        (Scores(y_true=[0, 2], y_prob=THREE), [0.5], r"got shape \(1,\) for classes 0, 1, 2"),
        (Scores.stack({"a": [0.1], "b": [0.2]}, y_true=[1]), [0.5], "where there are several"),
        (labelled(), [0.5, np.nan], "target must not be missing; got NaN at row 1"),
        (labelled(), [1.5], r"target must lie in \[0, 1\]; got 1.5 at row 0"),
        (labelled(), [], "target must have at least one row"),
        (labelled(), 0.5, "target"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(calibration, target, message):
    with pytest.raises(InputError, match=message):
        CalibrationSplit(calibration=calibration, target=target)
