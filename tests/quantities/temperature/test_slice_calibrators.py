"""Calibrators made of others."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    parametrize_with_checks,
)

from bayescal.core.errors import InputError
from bayescal.quantities.temperature.calibrators import (
    ClassWiseTemperatureScaling,
    PlattScaling,
    TemperatureScaling,
    VectorScaling,
)
from bayescal.quantities.temperature.slice_calibrators import HeldOutCalibration, SliceCalibration
from tests.quantities.temperature.made import rows


@pytest.mark.parametrize(
    "base",
    [TemperatureScaling(), TemperatureScaling(loss="ece"), VectorScaling(), PlattScaling()],
    ids=repr,
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


def test_bundles_name_the_labels_of_held_out_rows():
    x, y = load_iris(return_X_y=True)
    bundled = SliceCalibration(bundles=[[1, 2]])
    fitted = HeldOutCalibration(GaussianNB(), bundled, random_state=0).fit(x, y + 1)
    assert fitted.calibrator_.bundle_of_.tolist() == [0, 0, 2]
    # Rows without the label 3 would number the columns: [1, 2] would be the labels 2 and 3.
    trained = HeldOutCalibration(FrozenEstimator(GaussianNB().fit(x, y + 1)), bundled)
    with pytest.raises(InputError, match=r"y must hold every class .* got 1, 2 of 1, 2, 3. Pass"):
        trained.fit(x[y < 2], y[y < 2] + 1)


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


def test_a_slice_without_weight_is_one_that_fit_has_not_seen():
    logits, label = rows(90, 3)
    slices = np.arange(90) % 3
    fitted = SliceCalibration().fit(logits, label, slices, (slices < 2).astype(float))
    with pytest.warns(UserWarning, match="fit had no slices 2: their rows take the calibrator of"):
        fitted.predict_proba(logits[:4], [0, 1, 2, 2])


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


@pytest.mark.parametrize("bundles", [[[0, 1], [1, 2]], [[5]]])
def test_bundles_of_unknown_or_repeated_classes_are_refused(bundles):
    with pytest.raises(InputError, match="bundles must name classes of y, each once"):
        SliceCalibration(bundles=bundles).fit(*rows(30, 3))


def test_a_slice_at_an_end_of_its_range_is_not_warned_of():
    # Two of its four rows are right, as a guess is; all rows with reversed labels are said.
    label, right = np.array([0, 0, 1, 1] * 5), np.array([1, 0, 1, 0] + [1] * 16, bool)
    logits = 2.0 * np.eye(2)[np.where(right, label, 1 - label)]
    fitted = SliceCalibration().fit(logits, label, np.arange(20) < 4)
    assert fitted.calibrators_[True].alpha_ == pytest.approx(0.01, rel=1e-6)
    with pytest.warns(UserWarning, match="is 0.01, an end of its range") as said:
        SliceCalibration().fit(-logits, label)
    assert [warning.filename for warning in said] == [__file__]


def test_an_empty_bundle_is_refused():
    with pytest.raises(InputError, match="a bundle must name a class or more; got none"):
        SliceCalibration(bundles=[[]]).fit(*rows(30, 3))


def test_a_base_of_another_kind_is_refused():
    with pytest.raises(InputError, match="base must be a calibrator of logits; got LogisticReg"):
        SliceCalibration(LogisticRegression()).fit(*rows(30, 3))


def test_a_base_on_another_scale_than_the_rows_is_refused():
    base, (logits, label) = TemperatureScaling(scale="probabilities"), rows(30, 3)
    with pytest.raises(InputError, match="scale must be that of base, 'probabilities'; got 'log"):
        SliceCalibration(base).fit(logits, label)
    with pytest.raises(InputError, match="calibrator must be a calibrator of logits; got Temp"):
        HeldOutCalibration(calibrator=base).fit(logits, label)


def made(n_classes=3, n=400):
    """Rows whose predicted classes need other numbers."""
    logits, _ = rows(n, n_classes)
    alpha = np.linspace(0.3, 1.5, n_classes)[logits.argmax(axis=1)]
    return rows(n, n_classes, alpha=alpha)


def parameters(calibrator):
    if isinstance(calibrator, TemperatureScaling):
        return np.atleast_1d(calibrator.alpha_)
    return np.append(calibrator.coef_, calibrator.intercept_)


def distances(fitted):
    shared = parameters(fitted.shared_)
    return [np.linalg.norm(parameters(one) - shared) for one in fitted.calibrators_.values()]


@pytest.mark.parametrize("gamma", [0, 0.1, 0.3])
def test_temperatures_are_those_of_class_wise_temperature_scaling(gamma):
    logits, label = made()
    weight = np.random.default_rng(0).uniform(0.1, 2, len(label))
    found = SliceCalibration(gamma=gamma).fit(logits, label, sample_weight=weight)
    expected = ClassWiseTemperatureScaling(gamma).fit(logits, label, weight)
    alphas = [found.calibrators_[k].alpha_ for k in range(3)]
    np.testing.assert_allclose(alphas, expected.alpha_, rtol=1e-9)
    assert found.shared_.alpha_ == pytest.approx(expected.shared_alpha_, rel=1e-9)


@pytest.mark.parametrize("base", [PlattScaling(), VectorScaling()], ids=repr)
def test_the_ends_of_gamma_are_one_calibrator_and_one_a_slice(base):
    logits, label = made()
    none, wide = (SliceCalibration(base, gamma=gamma).fit(logits, label) for gamma in (0, 50))
    pooled, apart = base.fit(logits, label), SliceCalibration(base).fit(logits, label)
    np.testing.assert_allclose(none.predict_proba(logits), pooled.predict_proba(logits), atol=1e-6)
    # SLSQP stops where the loss changes by less than 1e-13: probabilities are near to its root.
    np.testing.assert_allclose(wide.predict_proba(logits), apart.predict_proba(logits), atol=1e-4)


def test_lines_near_a_shared_one_are_those_of_another_solver():
    # Penalties that grow without bound lead to the minimum under the constraint.
    logits, label = made()
    gamma = 0.3
    fitted = SliceCalibration(PlattScaling(), gamma=gamma).fit(logits, label)
    held = [logits.argmax(axis=1) == k for k in range(3)]
    losses = [PlattScaling().objective(logits[h], label[h], np.ones(h.sum())) for h in held]
    mass = np.mean(held, axis=1)

    def loss(lines):
        return sum(m * f(line)[0] for m, f, line in zip(mass, losses, lines, strict=True))

    def penalised(flat, cost):
        lines = flat.reshape(4, 2)
        beyond = np.maximum(((lines[1:] - lines[0]) ** 2).sum(axis=1) - gamma**2, 0)
        return loss(lines[1:]) + cost * (beyond**2).sum()

    point = np.tile([1.0, 0.0], 4)
    for cost in 10.0 ** np.arange(0, 7):
        point = minimize(penalised, point, args=(cost,), method="BFGS").x
    found = loss([parameters(fitted.calibrators_[k]) for k in range(3)])
    assert found == pytest.approx(loss(point.reshape(4, 2)[1:]), abs=1e-5)
    assert max(distances(fitted)) == pytest.approx(gamma, rel=1e-5)


def test_vectors_stay_near_and_the_loss_falls_with_gamma():
    logits, label = made(4)
    rows_of = np.arange(len(label))
    losses = []
    for gamma in (0, 0.1, 0.3, 1.0):
        fitted = SliceCalibration(VectorScaling(), gamma=gamma).fit(logits, label)
        # Shifts are stored less their mean, which brings them nearer, if anything.
        assert max(distances(fitted)) <= gamma * (1 + 1e-5) + 1e-9
        losses.append(-np.log(fitted.predict_proba(logits)[rows_of, label]).mean())
    assert (np.diff(losses) < 0).all()


@pytest.mark.parametrize("base", [PlattScaling(), VectorScaling()], ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_small_gamma_holds_as_well(base, seed):
    logits, label = rows(100, 3)
    logits, slices = 10 * logits, np.random.default_rng(seed).integers(0, 3, 100)
    near = SliceCalibration(base, gamma=1e-6).fit(logits, label, slices=slices)
    pooled = clone(base).fit(logits, label)
    assert max(distances(near)) <= 1e-6 * (1 + 1e-5)
    # Numbers that move by 1e-6 move logits, of 100 at most, by 1e-4, and their mean by far less.
    found = log_loss(label, near.predict_proba(logits, slices=slices))
    assert found == pytest.approx(log_loss(label, pooled.predict_proba(logits)), abs=1e-5)


def test_levels_of_columns_change_nothing_where_gamma_hardly_binds():
    # Shifts make up for any level; apart, vector scaling is fitted slice by slice.
    logits, label = made()
    slices = np.arange(len(label)) % 2
    level = np.array([0.0, 200.0, -100.0])
    apart = SliceCalibration(VectorScaling()).fit(logits, label, slices=slices)
    near = SliceCalibration(VectorScaling(), gamma=1e4).fit(logits + level, label, slices=slices)
    found = near.predict_proba(logits + level, slices=slices)
    # SLSQP stops where the loss changes by less than 1e-13: probabilities are near to its root.
    np.testing.assert_allclose(found, apart.predict_proba(logits, slices=slices), atol=1e-4)


@pytest.mark.parametrize(
    ("base", "gamma", "message"),
    [
        (TemperatureScaling(loss="ece"), 0.1, "gamma must be infinity for TemperatureScaling"),
        (ClassWiseTemperatureScaling(), 0.1, "gamma must be infinity for ClassWise"),
        (TemperatureScaling(), -1, r"gamma must be a number in \[0, inf\]"),
        (TemperatureScaling(), np.nan, r"gamma must be a number in \[0, inf\]"),
    ],
)
def test_what_has_no_convex_loss_has_no_gamma(base, gamma, message):
    with pytest.raises(InputError, match=message):
        SliceCalibration(base, gamma=gamma).fit(*made())


def test_more_parameters_than_can_be_solved_for_are_refused():
    logits, label = rows(600, 20)
    with pytest.raises(InputError, match=r"840 parameters, more than 600\. Bundle classes"):
        SliceCalibration(VectorScaling(), gamma=1).fit(logits, label)


# Repeated rows are cut into other folds than weighted ones: scikit-learn says so of its own
# CalibratedClassifierCV.
CUT_ANEW = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are cut into folds at random"
    for kind in ("dense", "sparse")
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the number that multiplies")
@parametrize_with_checks(
    [HeldOutCalibration(calibrator=SliceCalibration())],
    expected_failed_checks=lambda estimator: CUT_ANEW,
)
def test_scikit_learn_finds_nothing_to_say(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("calibrator", [TemperatureScaling(), SliceCalibration()], ids=repr)
def test_it_is_the_calibrator_on_probabilities_of_the_other_folds(calibrator, weighted):
    x, y = make_classification(600, n_classes=3, n_informative=5, random_state=0)
    names = np.array(["a", "b", "c"])[y]
    weight = np.random.default_rng(0).uniform(0, 2, 600) if weighted else None
    params = None if weight is None else {"sample_weight": weight}
    fitted = HeldOutCalibration(GaussianNB(), calibrator, random_state=0).fit(x, names, weight)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    held = cross_val_predict(
        GaussianNB(), x, names, cv=folds, method="predict_proba", params=params
    )
    own = clone(calibrator).set_params(scale="probabilities").fit(held, y, sample_weight=weight)
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


@pytest.mark.filterwarnings("error")
def test_probabilities_of_0_count_as_half_of_the_least_other_one():
    x, y = load_wine(return_X_y=True)
    neighbors = KNeighborsClassifier(10)
    x, x_test, y, y_test = train_test_split(x, y, random_state=0, test_size=0.5)
    fitted = HeldOutCalibration(neighbors, random_state=0).fit(x, y)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    crossed = cross_val_predict(neighbors, x, y, cv=folds, method="predict_proba")
    # Of ten neighbours .1 is the least share above 0.
    new = neighbors.fit(x, y).predict_proba(x_test)
    held, new = (np.log(np.maximum(prob, 0.05)) for prob in (crossed, new))
    expected = ClassWiseTemperatureScaling(0.1).fit(held, y).predict_proba(new)
    found = fitted.predict_proba(x_test)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    # Whatever a calibrator adds to noise, it should not be worse than equal probabilities.
    assert log_loss(y_test, found) < np.log(3)
