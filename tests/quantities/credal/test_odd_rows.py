"""Rows that are odd but allowed: bounds stay valid; and target rows that are refused."""

import numpy as np
import pytest
from scipy.stats import beta

import bayescal as bc
from bayescal.core.errors import InputError

BINS = bc.credal.Priors(bc.credal.ImpreciseDirichlet(bins=1))


def fit(label, score, target, priors=BINS, classes=None):
    calibration = bc.Scores(y_true=label, y_prob=score, classes=classes)
    data = bc.CalibrationSplit(calibration=calibration, target=target)
    return bc.fit(bc.credal, data, priors=priors, seed=1, method="direct")


def test_calibration_rows_of_one_class_leave_bounds_wide_and_on_its_side():
    score = np.linspace(0.05, 0.95, 10)
    result = fit([1] * 10, score, [0.1, 0.9], classes=[0, 1])
    found = bc.credal.bounds_for(result)
    assert (found.upper == 1).all()
    # Clopper and Pearson's lower end with every one of 10 rows of the label.
    np.testing.assert_allclose(found.lower, beta.ppf(0.05, 10, 1), atol=0.02)
    assert (found.p1 == 1).all()
    assert "every calibration row is of class 1" in result.attrs["status"]


def test_a_class_of_the_target_rows_without_calibration_rows_stays_possible():
    rng = np.random.default_rng(1)
    score = rng.dirichlet(np.ones(3), 40)
    result = fit(rng.integers(0, 2, 40), score, score[:5], classes=[0, 1, 2])
    found = bc.credal.bounds_for(result)
    assert (found.lower[:, 2] == 0).all()
    np.testing.assert_allclose(found.upper[:, 2], beta.ppf(0.95, 1, 40), atol=0.02)
    assert (found.p0[:, 2] == 0).all()
    assert "no calibration row is of class 2" in result.attrs["status"]


def test_rows_given_twice_have_the_same_bounds():
    rng = np.random.default_rng(2)
    score = rng.random(60)
    label = rng.random(60) < score
    target = np.concatenate([score[:20], score[:20]])
    found = bc.credal.bounds_for(fit(label.astype(int), score, target))
    for values in found[:-1]:
        np.testing.assert_array_equal(values[:20], values[20:])


def test_target_rows_that_are_none():
    calibration = bc.Scores(y_true=[0, 1, 0, 1], y_prob=[0.1, 0.4, 0.6, 0.9])
    with pytest.raises(InputError, match="target must have at least one row"):
        bc.CalibrationSplit(calibration=calibration, target=[])
    with pytest.raises(InputError, match="got NaN at row 2"):
        bc.CalibrationSplit(calibration=calibration, target=[0.2, 0.3, np.nan, 0.5])
    with pytest.raises(InputError, match="calibration must hold labelled rows; got none"):
        bc.CalibrationSplit(
            calibration=bc.Scores(y_true=[None, None], y_prob=[0.1, 0.2], classes=[0, 1]),
            target=[0.5],
        )


def test_a_target_of_other_classes_is_refused():
    three = bc.Scores(y_true=[0, 1, 2], y_prob=np.eye(3))
    with pytest.raises(InputError, match=r"the same classes; got .*0.*1.*2.* and 'a', 'b', 'c'"):
        bc.CalibrationSplit(
            calibration=three,
            target=bc.Scores(y_true=["a", "b", "c"], y_prob=np.eye(3), classes=["a", "b", "c"]),
        )
