import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayescal.core.errors import InputError
from bayescal.quantities.temperature.calibrators import (
    ClassWiseTemperatureScaling,
    PlattScaling,
    TemperatureScaling,
    VectorScaling,
)
from bayescal.quantities.temperature.slice_calibrators import HeldOutCalibration, SliceCalibration

CALIBRATORS = [
    TemperatureScaling(),
    TemperatureScaling(loss="ece"),
    ClassWiseTemperatureScaling(gamma=0.5),
    VectorScaling(),
    PlattScaling(),
    SliceCalibration(),
]


# Repeated rows are cut into other folds than weighted ones: scikit-learn says so of its own
# CalibratedClassifierCV.
CUT_ANEW = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are cut into folds at random"
    for kind in ("dense", "sparse")
}


@pytest.mark.slow
@parametrize_with_checks(
    [HeldOutCalibration(calibrator=each) for each in CALIBRATORS],
    expected_failed_checks=lambda estimator: CUT_ANEW,
)
def test_scikit_learn_finds_nothing_to_say(estimator, check):
    check(estimator)


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_calibrators_are_cloned_with_their_parameters(calibrator):
    assert repr(clone(calibrator)) == repr(calibrator)


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_calibrator_on_probabilities_of_the_other_folds(weighted):
    x, y = make_classification(600, n_classes=3, n_informative=5, random_state=0)
    names = np.array(["a", "b", "c"])[y]
    weight = np.random.default_rng(0).uniform(0, 2, 600) if weighted else None
    params = None if weight is None else {"sample_weight": weight}
    fitted = HeldOutCalibration(GaussianNB(), TemperatureScaling(), random_state=0)
    fitted.fit(x, names, weight)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    held = cross_val_predict(
        GaussianNB(), x, names, cv=folds, method="predict_proba", params=params
    )
    own = TemperatureScaling(scale="probabilities").fit(held, y, weight)
    assert fitted.calibrator_.alpha_ == pytest.approx(own.alpha_, rel=1e-6)
    every = GaussianNB().fit(x, names, weight).predict_proba(x)
    np.testing.assert_allclose(fitted.predict_proba(x), own.predict_proba(every), atol=1e-6)
    assert set(fitted.predict(x)) <= {"a", "b", "c"}


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_the_default_is_no_worse_than_no_calibration_by_much(load):
    # A single part held out, and a number for each class, gave .396, .355 and .158.
    x, y = load(return_X_y=True)
    found = {"none": [], "calibrated": []}
    for seed in range(3):
        cut = train_test_split(x, y, test_size=0.5, stratify=y, random_state=seed)
        x_train, x_test, y_train, y_test = cut
        plain = make_pipeline(StandardScaler(), LogisticRegression())
        for name, model in (
            ("none", clone(plain)),
            ("calibrated", HeldOutCalibration(plain, random_state=seed)),
        ):
            found[name].append(log_loss(y_test, model.fit(x_train, y_train).predict_proba(x_test)))
    # Twice the standard error of these means is about .02.
    assert np.mean(found["calibrated"]) < np.mean(found["none"]) + 0.02


def test_weights_need_a_classifier_that_takes_them():
    x, y = make_classification(60, random_state=0)
    with pytest.raises(InputError, match="fit of KNeighborsClassifier takes no sample_weight"):
        HeldOutCalibration(KNeighborsClassifier()).fit(x, y, np.ones(60))


@pytest.mark.parametrize("n_folds", [1, 2.5, "a"])
def test_folds_are_a_whole_number(n_folds):
    x, y = make_classification(60, random_state=0)
    with pytest.raises(InputError, match="n_folds must be a whole number >= 2"):
        HeldOutCalibration(n_folds=n_folds).fit(x, y)


@pytest.mark.parametrize("y", [["a"] * 6, ["a"] * 5 + ["b"]])
def test_classes_without_rows_to_hold_out_are_refused(y):
    with pytest.raises(InputError, match="at least 2 rows each"):
        HeldOutCalibration().fit(np.arange(6.0)[:, None], y)
