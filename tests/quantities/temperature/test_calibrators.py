"""Calibrators of logits."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.optimize import Bounds, LinearConstraint, minimize
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss as weighted_log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayescal as bc
from bayescal.core.binning import Binning
from bayescal.core.errors import InputError
from bayescal.quantities.temperature.calibrators import (
    ClassWiseTemperatureScaling,
    LogitCalibrator,
    PlattScaling,
    TemperatureScaling,
    VectorScaling,
)
from bayescal.quantities.temperature.estimator import binned_error, top_class
from bayescal.quantities.temperature.logits import class_wise, labeled_rows
from bayescal.quantities.temperature.slice_calibrators import SliceCalibration
from tests.quantities.temperature.made import labels, rows

CALIBRATORS = [
    TemperatureScaling(),
    TemperatureScaling(loss="ece"),
    ClassWiseTemperatureScaling(),
    ClassWiseTemperatureScaling(gamma=0.05),
    VectorScaling(),
    PlattScaling(),
    SliceCalibration(),
    SliceCalibration(VectorScaling()),
]


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_whole_weights_are_repeated_rows(calibrator):
    logits, label = rows(300, 3)
    weight = np.random.default_rng(0).integers(0, 4, 300)
    found = calibrator.fit(logits, label, sample_weight=weight).predict_proba(logits)
    repeated = calibrator.fit(logits.repeat(weight, axis=0), label.repeat(weight))
    # L-BFGS stops at a gradient of 1e-9.
    np.testing.assert_allclose(found, repeated.predict_proba(logits), atol=1e-5)
    plain = calibrator.fit(logits, label).predict_proba(logits)
    assert np.abs(found - plain).max() > 1e-3


def test_whole_weights_are_repeated_rows_where_a_score_parts_the_classes():
    logits = np.array([-1.4, -1.2, -0.9, -0.4, -0.2, 0.3, 1.1, 1.2, 1.4, 1.7])
    label, weight = (logits > 1.15).astype(int), np.array([18, 24, 37, 6, 29, 24, 15, 3, 23, 6])
    weighted = VectorScaling().fit(logits, label, sample_weight=weight)
    repeated = VectorScaling().fit(logits.repeat(weight), label.repeat(weight))
    found = weighted.predict_proba(logits), repeated.predict_proba(logits)
    np.testing.assert_allclose(*found, atol=1e-6)


def test_weighted_vector_scaling_has_the_least_weighted_log_loss():
    logits, label = rows(300, 3)
    weight = np.random.default_rng(0).uniform(0.1, 10, 300)

    def loss(point):
        prob = softmax(point[:3] * logits + point[3:], axis=1)
        return weighted_log_loss(label, prob, sample_weight=weight)

    best = minimize(loss, np.repeat([1.0, 0.0], 3), method="BFGS").fun
    fitted = VectorScaling().fit(logits, label, weight)
    point = np.append(fitted.coef_, fitted.intercept_)
    assert loss(point) == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0] * 29, "sample_weight and X must have the same length"),
        ([-1.0] + [1.0] * 29, "sample_weight must be 0 or a number .* at row 0"),
        ([0.0] * 30, "sample_weight must be above 0 in at least one row"),
        ([np.nan] + [1.0] * 29, "sample_weight must be 0 or a number .* at row 0"),
    ],
)
@pytest.mark.parametrize("calibrator", [TemperatureScaling(), SliceCalibration()], ids=repr)
def test_weights_that_are_none_are_refused(calibrator, weight, message):
    with pytest.raises(InputError, match=message):
        calibrator.fit(*rows(30, 3), sample_weight=weight)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("calibrator", CALIBRATORS[:1] + CALIBRATORS[4:5], ids=repr)
def test_columns_that_name_classes_may_come_in_any_order(calibrator, frame):
    logits, label = rows(200, 3, seed=4)
    names = np.array(["cat", "dog", "fox"])[label]
    table = frame({name: logits[:, k] for k, name in enumerate(["cat", "dog", "fox"])})
    expected = calibrator.fit(logits, names).predict_proba(logits)
    swapped = table[["fox", "cat", "dog"]]
    for first, second in ((swapped, table), (table, swapped), (table, logits)):
        # L-BFGS stops at a gradient of 1e-9; sums of columns that lie otherwise in memory differ.
        found = calibrator.fit(first, names).predict_proba(second)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    with pytest.raises(InputError, match="X must have the columns of fit, 'cat', 'dog', 'fox'"):
        calibrator.predict_proba(frame({"a": logits[:, 0], "b": logits[:, 1], "c": logits[:, 2]}))


@pytest.mark.parametrize("calibrator", CALIBRATORS[:1] + CALIBRATORS[4:5], ids=repr)
def test_names_of_an_earlier_fit_order_no_columns(calibrator):
    logits, label = rows(200, 3, seed=4)
    table = pd.DataFrame(logits, columns=["c", "b", "a"])
    again = clone(calibrator).fit(table, label).fit(logits, label)
    assert not hasattr(again, "feature_names_in_")
    expected = clone(calibrator).fit(logits, label).predict_proba(table[["a", "b", "c"]])
    assert np.array_equal(again.predict_proba(table[["a", "b", "c"]]), expected)


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_of_two_equal_classes_the_second_is_predicted(calibrator):
    # Section 2 of the paper: the predicted class is 1 where f(X) >= 0.5.
    logits, label = rows(200, 2)
    kept = isinstance(calibrator, TemperatureScaling | ClassWiseTemperatureScaling)
    if kept:
        assert calibrator.fit(logits, label).predict([[0.0, 0.0], [1.0, 1.0]]).tolist() == [1, 1]
    both = ClassWiseTemperatureScaling().fit(np.vstack([logits, [[0, 0]]]), np.append(label, 1))
    alone = logits[:, 1] >= logits[:, 0]
    own = TemperatureScaling().fit(np.vstack([logits[alone], [[0, 0]]]), np.append(label[alone], 1))
    assert both.alpha_[1] == pytest.approx(own.alpha_, rel=1e-6)


def test_a_calibrator_of_ones_own_is_a_base():
    class Halved(bc.temperature.LogitCalibrator):
        def __init__(self, scale="logits"):
            self.scale = scale

        def fit_logits(self, logits, label, weight):
            self.factor_ = 0.5

        def transform_logits(self, logits):
            return self.factor_ * logits

    assert bc.temperature.LogitCalibrator is LogitCalibrator
    logits, label = rows(50, 3)
    found = SliceCalibration(Halved()).fit(logits, label).predict_proba(logits)
    np.testing.assert_allclose(found, softmax(logits / 2, axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_number_is_that_of_scikit_learn(n_classes):
    x, y = load_iris(return_X_y=True)
    x, y = x[y < n_classes, 1:2], y[y < n_classes]
    trained = LogisticRegression(C=0.1).fit(x[::2], y[::2])
    theirs = CalibratedClassifierCV(FrozenEstimator(trained), method="temperature")
    theirs.fit(x[1::2], y[1::2])
    beta = theirs.calibrated_classifiers_[0].calibrators[0].beta_
    # Of two classes scikit-learn takes the logits as (-x, x), which is 2 x apart.
    ours = TemperatureScaling().fit(trained.decision_function(x[1::2]), y[1::2])
    assert ours.alpha_ == pytest.approx(beta * (2 if n_classes == 2 else 1), abs=1e-6)
    np.testing.assert_allclose(
        ours.predict_proba(trained.decision_function(x)), theirs.predict_proba(x), atol=1e-6
    )


def test_probabilities_are_taken_as_their_logarithms():
    logits, label = rows()
    prob = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    by_logits = TemperatureScaling().fit(logits, label)
    by_prob = TemperatureScaling(scale="probabilities").fit(prob, label)
    assert by_prob.alpha_ == pytest.approx(by_logits.alpha_, abs=1e-9)
    np.testing.assert_allclose(
        by_prob.predict_proba(prob), by_logits.predict_proba(logits), atol=1e-9
    )


def test_two_classes_as_one_column_or_two():
    logits, label = rows(300, 2)
    apart = logits[:, 1] - logits[:, 0]
    both, one, column = (
        TemperatureScaling().fit(x, label) for x in (logits, apart, apart[:, None])
    )
    assert both.alpha_ == pytest.approx(one.alpha_, abs=1e-9)
    assert one.alpha_ == column.alpha_
    table = pd.DataFrame({"z": apart})
    for fitted, x in ((one, apart), (one, table), (TemperatureScaling().fit(table, label), table)):
        np.testing.assert_allclose(fitted.predict_proba(x), both.predict_proba(logits), atol=1e-9)


def test_the_loss_may_be_the_calibration_error():
    logits, label = rows(400, 3)
    fitted = TemperatureScaling(loss="ece", n_bins=10).fit(logits, label)

    def error(alpha):
        score, predicted = top_class(alpha * logits)
        return binned_error(score, predicted == label, Binning(10, "uniform"))

    random = np.exp(np.random.default_rng(0).uniform(np.log(0.01), np.log(100), 200))
    assert error(fitted.alpha_) <= min(map(error, random)) + 0.005
    assert error(fitted.alpha_) <= error(TemperatureScaling().fit(logits, label).alpha_)


@pytest.mark.filterwarnings("ignore:X must have unequal", "ignore:the number that multiplies")
@given(
    arrays.arrays(
        float, (8, 3), elements=st.floats(-30, 30, allow_subnormal=False).map(lambda v: round(v, 6))
    ),
    st.lists(st.integers(0, 2), min_size=8, max_size=8).filter(lambda y: len(set(y)) > 1),
    st.sampled_from([0.0, 0.3, np.inf]),
)
def test_predictions_are_kept(logits, label, gamma):
    for calibrator in (TemperatureScaling(), ClassWiseTemperatureScaling(gamma)):
        fitted = calibrator.fit(logits, label)
        assert np.array_equal(fitted.predict(logits), logits.argmax(axis=1))
        prob = fitted.predict_proba(logits)
        at = prob[np.arange(8), logits.argmax(axis=1)]
        assert (at == prob.max(axis=1)).all()


def test_labels_name_the_columns_in_sorted_order():
    logits, label = rows(100, 3)
    named = TemperatureScaling().fit(logits, np.array(["ant", "bee", "cow"])[label])
    assert named.classes_.tolist() == ["ant", "bee", "cow"]
    assert named.predict(logits[:1])[0] == ["ant", "bee", "cow"][logits[0].argmax()]
    assert named.alpha_ == TemperatureScaling().fit(logits, label).alpha_


def test_true_and_false_are_labels_not_columns():
    logits, label = rows(100, 2)
    table = pd.DataFrame(logits, columns=["False", "True"])
    for x in (logits, table[["True", "False"]]):
        fitted = TemperatureScaling().fit(x, label == 1)
        assert fitted.predict(logits).dtype == bool
        assert fitted.alpha_ == pytest.approx(TemperatureScaling().fit(logits, label).alpha_)


def test_labels_that_name_some_of_the_columns_are_no_numbers_of_columns():
    logits, label = rows(100, 3)
    some, table = label < 2, pd.DataFrame(logits, columns=[1, 2, 3])
    with pytest.raises(InputError, match=r"y must hold every class .* '1', '2', '3'; got 1, 2 al"):
        TemperatureScaling().fit(table[some], label[some] + 1)


def test_fewer_rows_than_classes_and_a_class_without_labels():
    logits, label = rows(5, 10)
    label = np.where(label == 9, 0, label)
    fitted = TemperatureScaling().fit(logits, label)
    assert fitted.classes_.tolist() == list(range(10))
    assert np.isfinite(fitted.predict_proba(logits)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"x": [[1.0, np.inf], [0.0, 1.0]]},
            "finite logits; got inf at row 0.* the largest finite",
        ),
        (
            {"x": [[1.0, -np.inf], [0.0, 1.0]]},
            r"finite logits; got -inf at row 0. Drop the row\.$",
        ),
        ({"x": [[1.0, 0.0], [0.0, np.nan]]}, r"finite logits; got NaN at row 1. Drop the row\.$"),
        ({"x": [[[1.0]], [[0.0]]]}, r"shape \(obs,\) or \(obs, class\)"),
        ({"x": np.empty((0, 2)), "y": []}, "at least one row"),
        ({"y": [1, 1]}, "y must hold two classes or more; got 1 alone"),
        ({"y": [0, 2, 5], "x": 2 * np.eye(3)[:, :2]}, "2 columns of X"),
        ({"y": [0, 7], "x": 2 * np.eye(3)[:2]}, "got 2 labels, and 7 at row 1"),
        ({"y": [0, None]}, "missing at row 1"),
        ({"y": [0, 1, 0]}, "same length"),
        ({"loss": "brier"}, "loss must be one of"),
        ({"alpha_min": 2.0, "alpha_max": 1.0}, r"alpha_max must be a number in \(2\.0, inf\)"),
        ({"scale": "odds"}, "scale must be one of"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(change, message):
    given = {"x": [[2.0, 0.0], [0.0, 1.0]], "y": [0, 1], **change}
    x, y = given.pop("x"), given.pop("y")
    with pytest.raises(InputError, match=message):
        TemperatureScaling(**given).fit(x, y)


def test_probabilities_given_as_logits_are_warned_of():
    prob = [[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]]
    with pytest.warns(UserWarning, match="look like probabilities.* Pass their logarithms") as said:
        TemperatureScaling().fit(prob, [0, 1, 1]).predict_proba(prob)
    # Of one line in the package only the first would be shown.
    assert [warning.filename for warning in said] == [__file__] * 2


# scikit-learn's checks take any features for logits; each class has a column of these.
_COLUMNS = ("classifiers_classes", "estimators_fit_returns_self", "estimators_overwrite_params")
EXPECTED = dict.fromkeys((*_COLUMNS, "readonly_memmap_input"), "three labels for two columns") | {
    "classifiers_train": "columns that are no logits of the labels, or fewer than these",
    "classifiers_regression_target": "own words: y must hold words, whole numbers or true/false",
    "dtype_object": "own words, and no TypeError: X must be numbers",
    "estimators_empty_data_messages": "own words: X must have shape (obs,) or (obs, class)",
}


def expected(one):
    return {f"check_{name}": reason for name, reason in EXPECTED.items()}


SCALERS = TemperatureScaling, ClassWiseTemperatureScaling, VectorScaling, PlattScaling


# Of features that are no logits the best number is the least.
@pytest.mark.filterwarnings("ignore:the number that multiplies")
@parametrize_with_checks(
    [one() for one in (*SCALERS, SliceCalibration)], expected_failed_checks=expected
)
def test_scikit_learn_finds_nothing_else_to_say(estimator, check):
    if isinstance(estimator, VectorScaling) and "equivalence_on_dense" in check.func.__name__:
        # The loss is flat on the way to the bounds: where L-BFGS stops depends on the processor.
        pytest.skip("more parameters than rows separate the classes")
    check(estimator)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x[:, :2], "X has 2 features, but TemperatureScaling is expecting 3"),
        (lambda x: x[:, 0], r"shape \(obs, 3\), as in fit; got \(50,\). Reshape your data"),
        (csr_array, "X must be dense; got a sparse csr_array"),
    ],
)
def test_other_columns_than_in_fit_are_refused(change, message):
    logits, label = rows(50, 3)
    fitted = TemperatureScaling().fit(logits, label)
    with pytest.raises(InputError, match=message):
        fitted.predict_proba(change(logits))


def test_vector_scaling_finds_the_truth_of_many_rows():
    rng = np.random.default_rng(0)
    coef, shift = np.array([0.4, 1.0, 1.6]), np.array([0.5, -0.5, 0.0])
    logits = rng.normal(0, 2, (40_000, 3))
    fitted = VectorScaling().fit(logits, labels(coef * logits + shift, rng))
    # Standard errors are about .01.
    np.testing.assert_allclose(fitted.coef_, coef, atol=0.05)
    np.testing.assert_allclose(fitted.intercept_, shift - shift.mean(), atol=0.05)


@pytest.mark.parametrize("calibrator", CALIBRATORS[:4], ids=repr)
def test_equal_logits_determine_no_number_and_it_is_said(calibrator):
    # Their log loss is log 3 at every number; it was 100, or .01 by calibration error.
    logits, y = np.full((20, 3), 0.1), np.arange(20) % 3
    with pytest.warns(UserWarning, match="must have unequal logits in some row") as caught:
        fitted = clone(calibrator).fit(logits, y)
    assert caught[0].filename == __file__
    assert np.all(fitted.alpha_ == 1)
    np.testing.assert_allclose(fitted.predict_proba(logits), 1 / 3, rtol=1e-15)


def test_a_class_of_equal_logits_alone_takes_the_shared_number():
    logits = np.array([[0.0, 2.0], [2.0, 0.0], [2.0, 0.0], [2.0, 0.0]]) * [[0], [1], [1], [1]]
    fitted = ClassWiseTemperatureScaling().fit(logits, [1, 0, 0, 1])
    # Three rows of the first class, two of them right: log 2 over a gap of 2.
    np.testing.assert_allclose(fitted.alpha_, np.log(2) / 2, rtol=1e-6)


@pytest.mark.parametrize(("loss", "falls"), [("nll", "log loss"), ("ece", "calibration error")])
def test_a_number_at_an_end_of_its_range_is_said(loss, falls):
    logits, label = rows(300, 3)
    for scale, end in ((1e6, 0.01), (1e-6, 100)):
        said = f"is {end}, an end of its range: the {falls}"
        with pytest.warns(UserWarning, match=said) as caught:
            fitted = TemperatureScaling(loss).fit(scale * logits, label)
        assert (pytest.approx(fitted.alpha_), caught[0].filename) == (end, __file__)
    every_right = TemperatureScaling().fit(logits, logits.argmax(axis=1))
    assert every_right.alpha_ == 100


@pytest.mark.parametrize("calibrator", [PlattScaling(), SliceCalibration(PlattScaling())])
def test_platt_scaling_at_an_end_of_its_range_is_said_too(calibrator):
    logits, label = rows(300, 3)
    # A million times the logits take a millionth of the number.
    assert 1e6 * 0.01 > PlattScaling().fit(logits, label).coef_ > 0.01
    with pytest.warns(UserWarning, match="is 0.01, an end of its range"):
        calibrator.fit(1e6 * logits, label)


@pytest.mark.parametrize("unit", [1, 1e6])
@pytest.mark.parametrize("far", [0, 1e6, [0, 1e6, -3e5]])
def test_vector_scaling_of_large_logits_is_that_of_their_scale(far, unit):
    """Numbers and shifts take up what multiplies logits, and what is added to a column."""
    logits, label = rows(400, 3)
    one, other = VectorScaling().fit(logits, label), VectorScaling().fit(unit * logits + far, label)
    # Log losses agree to the optimiser's 1e-14, so that numbers do to its root.
    found = other.predict_proba(unit * logits + far)
    np.testing.assert_allclose(found, one.predict_proba(logits), atol=1e-6)


def test_vector_scaling_that_ends_at_its_limit_says_so():
    """Three of four are right, so that a gap of .001 is to be multiplied by log(3) / .001."""
    logits, label = 1e-3 * np.eye(2)[[0, 0, 0, 0, 1, 1, 1, 1]], [0, 0, 0, 1, 1, 1, 1, 0]
    with pytest.warns(UserWarning, match="multiplies logits is 100, an end of its range"):
        VectorScaling().fit(logits, label)


def test_separable_classes_stop_at_the_bounds():
    logits = 2 * np.eye(3)[[0, 1, 2, 0, 1, 2]]
    fitted = VectorScaling().fit(logits, [0, 1, 2, 0, 1, 2])
    assert np.isfinite(fitted.predict_proba(logits)).all()
    assert (np.abs(fitted.coef_) <= 100).all()


def test_platt_scaling_is_logistic_regression_of_being_right():
    logits, label = rows(500, 4)
    prob = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    top = prob.max(axis=1)
    score = np.log(top / (1 - top))[:, None]
    right = prob.argmax(axis=1) == label
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(score, right)
    fitted = PlattScaling().fit(logits, label)
    assert fitted.coef_ == pytest.approx(theirs.coef_[0, 0], abs=1e-4)
    assert fitted.intercept_ == pytest.approx(theirs.intercept_[0], abs=1e-4)
    found = fitted.predict_proba(logits)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    at = found[np.arange(500), prob.argmax(axis=1)]
    np.testing.assert_allclose(at, theirs.predict_proba(score)[:, 1], atol=1e-4)
    # The other classes keep their proportions.
    rest, other = found.copy(), prob.copy()
    for each in (rest, other):
        each[np.arange(500), prob.argmax(axis=1)] = 0
        each /= each.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rest, other, atol=1e-12)


LOW, HIGH = 0.05, 5.0


def problem(seed):
    """Rows of up to five classes that differ, some never predicted or always right."""
    rng = np.random.default_rng(seed)
    n_classes, n = int(rng.integers(2, 6)), int(rng.integers(6, 60))
    alpha = rng.lognormal(-0.3, 1.0, n_classes)
    logits = rng.normal(0, rng.uniform(0.5, 3), (n, n_classes))
    if n_classes > 3:
        logits[:, 0] -= 30
    noisy = alpha[logits.argmax(axis=1)][:, None] * logits + rng.gumbel(size=logits.shape)
    return logits, noisy.argmax(axis=1), float(rng.choice([0.02, 0.1, 0.3, 1.0]))


def by_general_optimiser(held, gamma):
    """Mean loss by a solver of constrained problems, over alpha_0, alpha_1, ... at once."""
    size, n = held.n_slices, held.n
    apart = np.column_stack([-np.ones(size), np.eye(size)])
    found = minimize(
        lambda point: held.sums(point[1:])[0].sum() / n,
        np.full(size + 1, 1.0),
        jac=lambda point: np.append(0.0, held.sums(point[1:])[1] / n),
        method="SLSQP",
        bounds=Bounds(LOW, HIGH),
        constraints=LinearConstraint(apart, -gamma, gamma),
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return found.fun


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_the_objective_is_that_of_a_general_constrained_optimiser(block):
    for seed in range(20 * block, 20 * block + 20):
        logits, label, gamma = problem(seed)
        held = labeled_rows(logits, label, logits.argmax(axis=1), logits.shape[1])
        found = class_wise(held, gamma, LOW, HIGH)
        assert (np.abs(found.alpha - found.shared) <= gamma + 1e-12).all()
        assert (found.alpha >= LOW).all()
        assert (found.alpha <= HIGH).all()
        value = held.sums(found.alpha)[0].sum() / held.n
        # The solver stops up to its own tolerance above the minimum, never below it.
        assert value <= by_general_optimiser(held, gamma) + 1e-9, seed
        assert value >= by_general_optimiser(held, gamma) - 1e-6, seed


def test_gamma_0_is_temperature_scaling_and_infinity_each_class_apart():
    logits, label = rows(300, 3)
    one = ClassWiseTemperatureScaling(gamma=0).fit(logits, label)
    alpha = TemperatureScaling().fit(logits, label).alpha_
    assert one.alpha_.tolist() == [alpha] * 3
    apart = ClassWiseTemperatureScaling().fit(logits, label)
    for k in range(3):
        held = logits.argmax(axis=1) == k
        own = TemperatureScaling().fit(logits[held], label[held]).alpha_
        assert apart.alpha_[k] == pytest.approx(own, rel=1e-9)
    assert apart.shared_alpha_ == alpha


def test_a_class_never_predicted_takes_the_shared_number():
    logits, label = rows(100, 3)
    logits[:, 2] -= 100
    fitted = ClassWiseTemperatureScaling(gamma=0.1).fit(logits, label % 2)
    assert fitted.alpha_[2] == fitted.shared_alpha_


def test_a_class_always_right_is_bounded():
    logits = np.array([[2.0, 0.0]] * 5 + [[0.0, 1.0]] * 4)
    fitted = ClassWiseTemperatureScaling().fit(logits, [0] * 5 + [1, 1, 1, 0])
    assert fitted.alpha_[0] == 100
    assert fitted.alpha_[1] == pytest.approx(np.log(3))
    assert np.isfinite(fitted.predict_proba(logits)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_of_probability_0_are_said(dtype):
    # One such row of 200 outweighs what all others say: their sharpness falls to a tenth.
    rng = np.random.default_rng(0)
    score = rng.uniform(0.05, 0.95, 200)
    label = (rng.random(200) < score).astype(int)
    prob = np.stack([1 - score, score], axis=1).astype(dtype)
    assert TemperatureScaling(scale="probabilities").fit(prob, label).alpha_ > 0.5
    prob[7] = 1 - np.eye(2)[label[7]]
    with pytest.warns(UserWarning, match="above 0|end of its range") as said:
        fitted = TemperatureScaling(scale="probabilities").fit(prob, label)
    assert "probability above 0; it is 0 at row 7 (1 such rows)" in str(said[0].message)
    # This row outweighs what the others say.
    assert fitted.alpha_ < 0.5
