import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import approx_fprime, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.classifier import (
    LOSSES,
    PUClassifier,
    imbalanced_nnpu_risk,
    nnpu_risk,
    risk_parts,
    upu_risk,
)
from bayescal.quantities.pu_ece.simulator import digits

values = arrays(np.float64, st.integers(1, 8), elements=st.floats(-5, 5))
priors = st.floats(0.05, 0.95)
losses = st.sampled_from(sorted(LOSSES))


def by_definition(positive, unlabeled, pi, loss):
    """The three risks of section 2.3, one row at a time."""
    value = {
        "logistic": lambda margin: np.log(1 + np.exp(-margin)),
        "sigmoid": lambda margin: 1 / (1 + np.exp(margin)),
    }[loss]
    as_positive = sum(value(f) for f in positive) / len(positive)
    as_negative = sum(value(-f) for f in positive) / len(positive)
    unlabeled_negative = sum(value(-f) for f in unlabeled) / len(unlabeled)
    return pi * as_positive, unlabeled_negative - pi * as_negative


@given(values, values, priors, losses)
def test_risks_are_those_of_the_definition(positive, unlabeled, pi, loss):
    of_positive, of_negative = by_definition(positive, unlabeled, pi, loss)
    found = upu_risk(positive, unlabeled, class_prior=pi, loss=loss)
    assert found == pytest.approx(of_positive + of_negative, abs=1e-12)
    found = nnpu_risk(positive, unlabeled, class_prior=pi, loss=loss)
    assert found == pytest.approx(of_positive + max(0, of_negative), abs=1e-12)
    found = nnpu_risk(positive, unlabeled, class_prior=pi, loss=loss, correction="abs")
    assert found == pytest.approx(of_positive + abs(of_negative), abs=1e-12)

    def leaky(x):
        return x if x > 0 else -0.3 * x

    found = nnpu_risk(positive, unlabeled, class_prior=pi, loss=loss, correction=leaky)
    assert found == pytest.approx(of_positive + leaky(of_negative), abs=1e-12)


@given(values, values, priors, priors, losses, st.sampled_from(["max", "abs"]))
def test_the_imbalanced_risk_is_that_of_the_definition(p, u, pi, target, loss, correction):
    of_positive, of_negative = by_definition(p, u, pi, loss)
    negatives = (1 - target) / (1 - pi) * of_negative
    kept = abs(negatives) if correction == "abs" else max(0, negatives)
    found = imbalanced_nnpu_risk(
        p, u, class_prior=pi, target_prior=target, loss=loss, correction=correction
    )
    assert found == pytest.approx(target * of_positive / pi + kept, abs=1e-11)
    same = imbalanced_nnpu_risk(
        p, u, class_prior=pi, target_prior=pi, loss=loss, correction=correction
    )
    assert same == pytest.approx(
        nnpu_risk(p, u, class_prior=pi, loss=loss, correction=correction), abs=1e-12
    )


def test_a_correction_must_be_known_and_not_below_zero():
    with pytest.raises(InputError, match="correction must be one of 'max', 'abs'"):
        nnpu_risk([1.0], [1.0], class_prior=0.5, correction="relu")
    negative = [4.0, 5.0], [-4.0, -3.0]
    with pytest.raises(InputError, match=r"correction must return a number >= 0; got -2.2"):
        nnpu_risk(*negative, class_prior=0.5, correction=lambda x: x)
    with pytest.raises(InputError, match=r"target_prior must be a number in \(0, 1\); got 1"):
        imbalanced_nnpu_risk([1.0], [1.0], class_prior=0.5, target_prior=1)


@pytest.mark.slow
@given(values, values, priors, losses)
def test_slopes_are_those_of_finite_differences(positive, unlabeled, pi, loss):
    joined, cut = np.concatenate([positive, unlabeled]), len(positive)
    for part in (0, 1):

        def value(f, part=part):
            return risk_parts(f[:cut], f[cut:], pi, loss, 0.5)[part].value

        exact = np.concatenate(risk_parts(positive, unlabeled, pi, loss, 0.5)[part].slopes)
        np.testing.assert_allclose(exact, approx_fprime(joined, value, 1e-6), atol=1e-5)


@pytest.mark.parametrize(
    ("positive", "unlabeled", "options", "message"),
    [
        ([], [1.0], {"class_prior": 0.5}, "positive must hold one decision value a row"),
        ([1.0], [[1.0]], {"class_prior": 0.5}, "unlabeled must hold one decision value a row"),
        ([1.0], [0.0, np.nan], {"class_prior": 0.5}, "got NaN at row 1"),
    ],
)
def test_what_is_no_decision_value_is_refused(positive, unlabeled, options, message):
    for risk in (upu_risk, nnpu_risk, imbalanced_nnpu_risk):
        with pytest.raises(InputError, match=message):
            risk(positive, unlabeled, **options)


@pytest.mark.slow
@parametrize_with_checks([PUClassifier(hidden=2, alpha=0.01, random_state=0)])
def test_scikit_learn_finds_nothing_to_say(estimator, check):
    check(estimator)


def normal_rows(n_positive, n_unlabeled, seed, pi=0.5):
    rng = np.random.default_rng(seed)
    side = np.where(rng.random(n_unlabeled) < pi, 1.0, -1.0)
    rows = np.concatenate([rng.normal(1, 1, n_positive), rng.normal(side, 1)])
    return rows[:, None], np.repeat([1, 0], [n_positive, n_unlabeled])


@pytest.mark.parametrize("non_negative", [True, False])
@pytest.mark.parametrize("pi", [0.2, 0.5])
def test_the_logit_of_two_normals_is_found(pi, non_negative):
    x, s = normal_rows(20_000, 50_000, 1, pi)
    fitted = PUClassifier(pi, alpha=0.0, non_negative=non_negative).fit(x, s)
    slope, intercept = fitted.weights_
    # Truth: 2 x + logit(pi); no error is known in closed form, the noise at 20,000 is about .03.
    assert slope[0] == pytest.approx(2, abs=0.1)
    assert intercept[0] == pytest.approx(np.log(pi / (1 - pi)), abs=0.1)


def test_weighted_to_halves_it_finds_the_logit_of_a_balanced_population():
    x, s = normal_rows(20_000, 50_000, 1, 0.1)
    slope, intercept = PUClassifier(0.1, alpha=0.0, target_prior=0.5).fit(x, s).weights_
    assert slope[0] == pytest.approx(2, abs=0.1)
    assert intercept[0] == pytest.approx(0, abs=0.1)


def test_the_unbiased_risk_is_minimised_as_logistic_regression_does_with_all_labels():
    # With the unlabelled rows made of the positives and negatives in the shares of pi, uPU is the
    # log loss of the labelled rows.
    rng = np.random.default_rng(2)
    positive, negative = rng.normal(0.5, 1, (60, 3)), rng.normal(-0.5, 1, (90, 3))
    labelled = np.concatenate([positive, negative])
    y = np.repeat([1, 0], [60, 90])
    alpha = 0.01
    expected = LogisticRegression(C=1 / (150 * alpha), tol=1e-10, max_iter=10_000).fit(labelled, y)
    rows = np.concatenate([positive, labelled])
    s = np.repeat([1, 0], [60, 150])
    found = PUClassifier(0.4, alpha=alpha, non_negative=False).fit(rows, s)
    np.testing.assert_allclose(found.weights_[0], expected.coef_[0], atol=1e-3)
    np.testing.assert_allclose(found.weights_[1], expected.intercept_, atol=1e-3)


@pytest.mark.parametrize("seed", range(2))
def test_the_least_non_negative_risk_of_a_linear_classifier_is_reached(seed):
    data = digits(seed)
    alpha, pi = 0.01, data.class_prior
    positive, unlabeled = (data.train[data.selected == k] for k in (1, 0))
    fitted = PUClassifier(pi, alpha=alpha).fit(data.train, data.selected)
    reached = fitted.risk_ + alpha / 2 * (fitted.weights_[0] ** 2).sum()

    def lagrangian(weights, multiplier):
        at = (rows @ weights[:-1] + weights[-1] for rows in (positive, unlabeled))
        of_positive, of_negative = risk_parts(*at, pi, "logistic", pi)
        slope_p = of_positive.slopes[0] + multiplier * of_negative.slopes[0]
        slope_u = multiplier * of_negative.slopes[1]
        gradient = positive.T @ slope_p + unlabeled.T @ slope_u + alpha * weights[:-1]
        value = of_positive.value + multiplier * of_negative.value
        value += alpha / 2 * (weights[:-1] ** 2).sum()
        return value, np.append(gradient, slope_p.sum() + slope_u.sum())

    # Weak duality: the least value at any multiplier in [0, 1] is below the least risk.
    floor = max(
        minimize(lagrangian, np.zeros(65), (m,), jac=True, method="L-BFGS-B").fun
        for m in np.linspace(0.6, 0.9, 11)
    )
    assert floor <= reached + 1e-6
    assert reached - floor < 5e-4


@pytest.mark.parametrize("hidden", [0, 5])
@pytest.mark.parametrize("loss", ["logistic", "sigmoid"])
def test_the_risk_told_is_that_of_the_training_rows(hidden, loss):
    x, s = normal_rows(80, 300, 3)
    for non_negative, risk in ((True, nnpu_risk), (False, upu_risk)):
        fitted = PUClassifier(
            0.5, hidden=hidden, loss=loss, non_negative=non_negative, alpha=0.01, random_state=1
        ).fit(x, s)
        at = fitted.decision_function(x)
        expected = risk(at[s == 1], at[s == 0], class_prior=0.5, loss=loss)
        assert fitted.risk_ == pytest.approx(expected, abs=1e-12)
    fitted = PUClassifier(0.2, hidden, loss, alpha=0.01, random_state=1, target_prior=0.4).fit(x, s)
    at = fitted.decision_function(x)
    expected = imbalanced_nnpu_risk(
        at[s == 1], at[s == 0], class_prior=0.2, target_prior=0.4, loss=loss
    )
    assert fitted.risk_ == pytest.approx(expected, abs=1e-12)


def test_overfitted_the_unbiased_risk_is_below_zero_and_the_other_is_not():
    rng = np.random.default_rng(9)
    # As many features as rows: everything can be told apart by heart.
    x, s = rng.normal(size=(60, 60)), np.repeat([1, 0], [20, 40])
    unbiased = PUClassifier(0.5, alpha=0.01, non_negative=False).fit(x, s)
    safe = PUClassifier(0.5, alpha=0.01).fit(x, s)
    assert unbiased.risk_ < 0 <= safe.risk_


def least_by_hand(x, s, pi, alpha, correction):
    """Least risk of one feature's linear classifier, by Nelder-Mead from many starts."""

    def total(weights):
        at = x[:, 0] * weights[0] + weights[1]
        risk = nnpu_risk(at[s == 1], at[s == 0], class_prior=pi, correction=correction)
        return risk + alpha / 2 * weights[0] ** 2

    starts = [(slope, shift) for slope in (-2, 0, 2) for shift in (-3, 0, 3)]
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000}
    return min(minimize(total, at, method="Nelder-Mead", options=options).fun for at in starts)


def leaky(negative):
    """The correction of slope -.3 below 0 of reference [2] of `nnpu_risk`."""
    return max(negative, -0.3 * negative)


@pytest.mark.parametrize("correction", ["max", "abs", leaky, lambda x: x if x > 0 else x**2])
@pytest.mark.parametrize("pi", [0.4, 0.9])
def test_the_least_risk_of_each_correction_is_reached(correction, pi):
    # With pi = .9 where half are positive, the negatives' part wants to fall below 0.
    x, s = normal_rows(30, 60, 11)
    alpha = 0.01
    fitted = PUClassifier(pi, alpha=alpha, correction=correction).fit(x, s)
    at = fitted.decision_function(x)
    told = nnpu_risk(at[s == 1], at[s == 0], class_prior=pi, correction=correction)
    assert fitted.risk_ == pytest.approx(told, abs=1e-12)
    reached = fitted.risk_ + alpha / 2 * fitted.weights_[0][0] ** 2
    # The classifier stops within 1e-4.
    assert reached == pytest.approx(least_by_hand(x, s, pi, alpha, correction), abs=3e-4)


def test_a_hidden_layer_learns_what_no_line_separates():
    rng = np.random.default_rng(4)
    ring = rng.normal(size=(600, 2))
    ring = 3 * ring / np.linalg.norm(ring, axis=1)[:, None] + rng.normal(0, 0.3, (600, 2))
    core = rng.normal(0, 0.6, (300, 2))
    x, s = np.concatenate([ring, core]), np.repeat([1, 0, 0], [300, 300, 300])
    y = np.repeat([1, 1, 0], [300, 300, 300])
    linear = PUClassifier(0.5).fit(x, s)
    layered = PUClassifier(0.5, hidden=6, alpha=0.01, random_state=0).fit(x, s)
    unlabeled = s == 0
    assert accuracy_score(y[unlabeled], linear.predict(x[unlabeled])) < 0.8
    assert accuracy_score(y[unlabeled], layered.predict(x[unlabeled])) > 0.95


def test_any_two_labels_do_the_last_one_positive():
    x, s = normal_rows(50, 200, 5)
    words = np.where(s == 1, "positive", "other")
    plain, named = PUClassifier(0.5).fit(x, s), PUClassifier(0.5).fit(x, words)
    assert named.classes_.tolist() == ["other", "positive"]
    assert np.array_equal(plain.predict_proba(x), named.predict_proba(x))
    assert np.array_equal(named.predict(x) == "positive", plain.predict(x) == 1)


def test_too_few_iterations_are_told():
    x, s = normal_rows(50, 200, 7)
    with pytest.warns(ConvergenceWarning, match="still falling after 1 iterations"):
        PUClassifier(0.5, max_iter=1).fit(x, s)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"class_prior": 1.0}, "class_prior must be a number in"),
        ({"target_prior": 0.0}, "target_prior must be a number in"),
        ({"correction": lambda x: x}, "correction must return a number >= 0; got -1"),
        ({"hidden": -1}, "hidden must be a whole number >= 0; got -1"),
    ],
)
def test_parameters_outside_their_range_are_refused(parameters, message):
    x, s = normal_rows(5, 5, 8)
    with pytest.raises(InputError, match=message):
        PUClassifier(**parameters).fit(x, s)


@pytest.mark.parametrize(
    ("labels", "message"),
    [([1, 1, 1], "got 1 class"), ([0, 1, 2], "Only binary classification is supported")],
)
def test_labels_other_than_two_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        PUClassifier().fit([[0.0], [1.0], [2.0]], labels)
