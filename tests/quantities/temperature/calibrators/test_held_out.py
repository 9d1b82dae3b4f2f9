import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayescal.core.errors import InputError
from bayescal.quantities.temperature.calibrators.class_wise import ClassWiseTemperatureScaling
from bayescal.quantities.temperature.calibrators.held_out import HeldOutCalibration
from bayescal.quantities.temperature.calibrators.platt import PlattScaling
from bayescal.quantities.temperature.calibrators.slices import SliceCalibration
from bayescal.quantities.temperature.calibrators.temperature import TemperatureScaling
from bayescal.quantities.temperature.calibrators.vector import VectorScaling

CALIBRATORS = [
    TemperatureScaling(),
    TemperatureScaling(loss="ece"),
    ClassWiseTemperatureScaling(gamma=0.5),
    VectorScaling(),
    PlattScaling(),
    SliceCalibration(),
]


@pytest.mark.slow
@parametrize_with_checks([HeldOutCalibration(calibrator=each) for each in CALIBRATORS])
def test_scikit_learn_finds_nothing_to_say(estimator, check):
    check(estimator)


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_calibrators_are_cloned_with_their_parameters(calibrator):
    assert repr(clone(calibrator)) == repr(calibrator)


def test_it_is_the_calibrator_on_rows_held_out():
    x, y = make_classification(600, n_classes=3, n_informative=5, random_state=0)
    names = np.array(["a", "b", "c"])[y]
    fitted = HeldOutCalibration(GaussianNB(), TemperatureScaling(), random_state=0).fit(x, names)
    train, held = train_test_split(np.arange(600), test_size=150, stratify=y, random_state=0)
    trained = GaussianNB().fit(x[train], names[train])
    own = TemperatureScaling(scale="probabilities").fit(trained.predict_proba(x[held]), y[held])
    assert fitted.calibrator_.alpha_ == pytest.approx(own.alpha_, rel=1e-6)
    assert set(fitted.predict(x)) <= {"a", "b", "c"}


@pytest.mark.parametrize("y", [["a"] * 6, ["a"] * 5 + ["b"]])
def test_classes_without_rows_to_hold_out_are_refused(y):
    with pytest.raises(InputError, match="at least 2 rows each"):
        HeldOutCalibration().fit(np.arange(6.0)[:, None], y)
