import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.temperature.calibrators import (
    ClassWiseTemperatureScaling,
    PlattScaling,
    TemperatureScaling,
    VectorScaling,
)
from bayescal.quantities.temperature.slice_calibrators import SliceCalibration
from tests.quantities.temperature.made import rows


def test_temperature_scaling_a_predicted_class_is_the_class_wise_one():
    logits, label = rows(300, 3)
    sliced = SliceCalibration().fit(logits, label)
    class_wise = ClassWiseTemperatureScaling().fit(logits, label)
    np.testing.assert_allclose(
        sliced.predict_proba(logits), class_wise.predict_proba(logits), atol=1e-9
    )


@pytest.mark.parametrize(
    "base", [TemperatureScaling(loss="ece"), VectorScaling(), PlattScaling()], ids=repr
)
def test_any_calibrator_is_fitted_to_each_predicted_class(base):
    logits, label = rows(400, 3)
    sliced = SliceCalibration(base).fit(logits, label)
    prob = sliced.predict_proba(logits)
    for k in range(3):
        held = logits.argmax(axis=1) == k
        own = type(base)(**base.get_params()).fit(logits[held], label[held])
        np.testing.assert_allclose(prob[held], own.predict_proba(logits[held]), atol=1e-9)


def test_bundles_share_a_calibrator():
    logits, label = rows(300, 4)
    names = np.array(list("abcd"))[label]
    sliced = SliceCalibration(bundles=[["d", "b"]]).fit(logits, names)
    assert sorted(sliced.calibrators_) == [0, 1, 2]
    held = np.isin(logits.argmax(axis=1), [1, 3])
    own = TemperatureScaling().fit(logits[held], names[held])
    assert sliced.calibrators_[1].alpha_ == own.alpha_


def test_slices_of_the_users_own():
    logits, label = rows(300, 3)
    slices = np.arange(300) % 2
    sliced = SliceCalibration().fit(logits, label, slices)
    own = TemperatureScaling().fit(logits[::2], label[::2])
    prob = sliced.predict_proba(logits, slices)
    np.testing.assert_allclose(prob[::2], own.predict_proba(logits[::2]))
    pooled = TemperatureScaling().fit(logits, label).predict_proba(logits)
    with pytest.warns(UserWarning, match="fit had no slices 7: their rows take the calibrator of"):
        found = sliced.predict_proba(logits, np.full(300, 7))
    np.testing.assert_allclose(found, pooled)


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_missing_slice_is_refused(missing):
    logits, label = rows(30, 3)
    slices = [0.0, 1.0] * 15
    fitted = SliceCalibration().fit(logits, label, slices)
    slices[4] = missing
    for call in (fitted.predict_proba, fitted.predict):
        with pytest.raises(InputError, match=r"slices must be known in every row; .* at row 4"):
            call(logits, slices)
    with pytest.raises(InputError, match=r"slices must be known in every row; .* at row 4"):
        fitted.fit(logits, label, slices)


def test_slices_of_two_dimensions_are_refused():
    with pytest.raises(InputError, match=r"slices must have one dimension \(obs,\)"):
        SliceCalibration().fit(*rows(30, 3), np.zeros((30, 2)))


def test_weighted_slices_are_repeated_rows():
    logits, label = rows(300, 3)
    slices, weight = np.arange(300) % 2, np.random.default_rng(0).integers(0, 4, 300)
    found = SliceCalibration().fit(logits, label, slices, weight)
    again = SliceCalibration().fit(
        logits.repeat(weight, axis=0), label.repeat(weight), slices.repeat(weight)
    )
    for k in (0, 1):
        alphas = found.calibrators_[k].alpha_, again.calibrators_[k].alpha_
        assert alphas[0] == pytest.approx(alphas[1], rel=1e-9)


def test_small_slices_take_the_calibrator_of_all_rows():
    logits, label = rows(100, 3)
    sliced = SliceCalibration(min_rows=1000).fit(logits, label)
    assert sliced.calibrators_ == {}
    pooled = TemperatureScaling().fit(logits, label)
    np.testing.assert_allclose(sliced.predict_proba(logits), pooled.predict_proba(logits))
    assert np.array_equal(sliced.predict(logits), logits.argmax(axis=1))


def test_slices_are_given_twice_or_never():
    logits, label = rows(30, 3)
    with pytest.raises(InputError, match="fit had none"):
        SliceCalibration().fit(logits, label).predict_proba(logits, [0] * 30)
    with pytest.raises(InputError, match="slices and X must have the same length"):
        SliceCalibration().fit(logits, label, [0] * 29)


def test_bundles_that_are_no_lists_are_refused():
    with pytest.raises(InputError, match="a bundle must be list"):
        SliceCalibration(bundles=[0, 1]).fit(*rows(30, 3))


@pytest.mark.parametrize("bundles", [[[0, 1], [1, 2]], [[5]]])
def test_bundles_of_unknown_or_repeated_classes_are_refused(bundles):
    with pytest.raises(InputError, match="bundles must name classes of y, each once"):
        SliceCalibration(bundles=bundles).fit(*rows(30, 3))


def test_a_base_of_another_kind_is_refused():
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(InputError, match="base must be a calibrator of logits; got LogisticReg"):
        SliceCalibration(LogisticRegression()).fit(*rows(30, 3))
