"""Bounds of any rows from a result, against the table of its own rows and the fits of the paper."""

import numpy as np
import pytest
from scipy.stats import beta

import bayescal as bc
from bayescal.core.errors import InputError
from tests.synthetic_credal import make_credal_grid, make_credal_result, make_split

STEPS = bc.credal.IncrementIsotonic(bins=7)
CLASSES = ("cat", "dog", "eel")


@pytest.fixture(scope="module")
def binary():
    return make_credal_result(target=300)


@pytest.fixture(scope="module")
def three():
    return make_credal_result(classes=CLASSES, prior=STEPS, target=300)


@pytest.mark.parametrize("prob", [0.5, 0.9])
@pytest.mark.parametrize("which", ["binary", "three"])
def test_every_row_has_what_the_table_has_of_those_with_draws(which, prob, request):
    result = request.getfixturevalue(which)
    frame = bc.row_table(result, prob)
    found = bc.credal.bounds_for(result, prob=prob)
    assert len(found.decision) == 300 > result.attrs["n_held"]
    assert found.error == 0
    for name in ("prob", "lower", "upper", "p0", "p1", "merged"):
        values = getattr(found, name).reshape(300, -1)[frame["row"].unique()]
        np.testing.assert_allclose(values.ravel(), frame[name], atol=1e-12)
    # One line a row: all of its classes have the same decision.
    first = frame.drop_duplicates("row")
    names = np.array(["no", "yes"] if which == "binary" else CLASSES)
    assert list(names[found.decision[first["row"]]]) == list(first["decision"])
    assert list(found.admissible[first["row"]].sum(axis=1)) == list(first["n_open"])


def test_new_scores_of_a_saved_result(binary, tmp_path):
    bc.save(binary, tmp_path / "credal.nc")
    kept = bc.load(tmp_path / "credal.nc")
    scores = bc.credal.bounds_for(binary, [0.01, 0.5, 0.99])
    for one, other in zip(scores, bc.credal.bounds_for(kept, [0.01, 0.5, 0.99]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_estimates_are_those_of_the_estimator():
    for classes in (("no", "yes"), CLASSES):
        split = make_split(classes=classes)
        result = make_credal_result(classes=classes)
        found, expected = bc.credal.bounds_for(result), bc.credal.estimate(split)
        np.testing.assert_array_equal(found.p0, expected.p0)
        np.testing.assert_array_equal(found.p1, expected.p1)
        np.testing.assert_array_equal(found.merged, expected.prob)


def test_a_single_bin_has_the_bounds_of_clopper_and_pearson():
    one = bc.credal.ImpreciseDirichlet(bins=1)
    result = make_credal_result(prior=one, draws=2000)
    k = int((make_split().calibration.y_true == 1).sum())
    found = bc.credal.bounds_for(result, [0.2, 0.8])
    # Quantiles of 8,000 draws are within some thousandths of the posterior's.
    np.testing.assert_allclose(found.lower, beta.ppf(0.05, k, 151 - k), atol=0.005)
    np.testing.assert_allclose(found.upper, beta.ppf(0.95, k + 1, 150 - k), atol=0.005)


def test_bins_without_rows_have_no_bounds():
    # Two distinct scores leave most of ten bins without rows; they have those of no labels.
    calibration = bc.Scores(y_true=[0, 1] * 20, y_prob=[0.2, 0.8] * 20)
    data = bc.CalibrationSplit(calibration=calibration, target=[0.2, 0.5, 0.8])
    priors = bc.credal.Priors(bc.credal.ImpreciseDirichlet())
    result = bc.fit(bc.credal, data, priors=priors, seed=1, method="direct", draws=100)
    frame, found = bc.row_table(result), bc.credal.bounds_for(result)
    assert (found.lower[1], found.upper[1]) == (0, 1)
    np.testing.assert_allclose(found.lower, frame["lower"], atol=1e-12)
    np.testing.assert_allclose(found.upper, frame["upper"], atol=1e-12)


def test_several_classifiers_are_stacked():
    result = make_credal_result(("a", "b"))
    found = bc.credal.bounds_for(result, make_split(("a", "b")).target)
    frame = bc.row_table(result)
    assert found.lower.shape == (2, 30)
    for place, name in enumerate(("a", "b")):
        own = frame[frame["classifier"] == name]
        np.testing.assert_allclose(found.upper[place], own["upper"], atol=1e-12)


@pytest.mark.parametrize("rate", [bc.credal.AveragedCurve(), bc.credal.MonotoneCurve()])
def test_a_curve_is_interpolated_with_its_error(rate):
    data = bc.datasets.credal.truth("logistic").split(300, 400, seed=1)
    priors = bc.credal.Priors(rate)
    result = bc.fit(bc.credal, data, priors=priors, seed=20, method="direct")
    scores = np.concatenate([[0, 1], data.target.y_prob[0][:198]])
    found = bc.credal.bounds_for(result, scores)
    assert found.error == 0
    grid = bc.credal.bounds_for(result, np.concatenate([scores, np.linspace(0, 1, 500)]))
    assert 0 < grid.error < 0.02
    for name in ("prob", "lower", "upper"):
        error = np.abs(getattr(grid, name)[:200] - getattr(found, name))
        assert error.max() <= grid.error
    assert (grid.lower <= grid.prob).all()
    assert (grid.prob <= grid.upper).all()


def test_what_does_not_fit_the_result_is_refused(binary, three):
    with pytest.raises(InputError, match="target must not be missing; got NaN at row 1"):
        bc.credal.bounds_for(binary, [0.5, np.nan])
    with pytest.raises(InputError, match=r"target must hold scores of calibration's classes"):
        bc.credal.bounds_for(binary, [[0.2, 0.3, 0.5]])
    with pytest.raises(InputError, match="at least one row"):
        bc.credal.bounds_for(binary, [])
    with pytest.raises(InputError, match="the same classes; got 'cat', 'dog', 'eel'"):
        bc.credal.bounds_for(three, make_split(classes=("ant", "bee", "cow")).target)
    with pytest.raises(InputError, match="the same classifiers; got 'a' and 'b'"):
        bc.credal.bounds_for(binary, make_split(("b",)).target)
    with pytest.raises(InputError, match="prob must be a number in"):
        bc.credal.bounds_for(binary, prob=1.0)
    with pytest.raises(InputError, match="got refits under several"):
        bc.credal.bounds_for(make_credal_grid())
    old = binary.copy(deep=True)
    old["constant_data"] = old["constant_data"].dataset.drop_vars("calibration_score")
    with pytest.raises(InputError, match="must hold its calibration rows"):
        bc.credal.bounds_for(old)
