import numpy as np
import pytest
from scipy.optimize import minimize

from bayescal.quantities.temperature.calibrators import PlattScaling, VectorScaling
from tests.quantities.temperature.made import labels, log_loss, rows


def test_vector_scaling_finds_the_truth_of_many_rows():
    rng = np.random.default_rng(0)
    coef, shift = np.array([0.4, 1.0, 1.6]), np.array([0.5, -0.5, 0.0])
    logits = rng.normal(0, 2, (40_000, 3))
    fitted = VectorScaling().fit(logits, labels(coef * logits + shift, rng))
    # Standard errors are about .01.
    np.testing.assert_allclose(fitted.coef_, coef, atol=0.05)
    np.testing.assert_allclose(fitted.intercept_, shift - shift.mean(), atol=0.05)


def test_vector_scaling_has_the_least_log_loss():
    logits, label = rows(200, 3)
    fitted = VectorScaling().fit(logits, label)

    def loss(point):
        return log_loss(point[:3] * logits + np.append(point[3:], 0), label)

    general = minimize(loss, [1, 1, 1, 0, 0], method="BFGS", options={"gtol": 1e-7})
    own = log_loss(fitted.transform_logits(logits), label)
    assert own == pytest.approx(general.fun, abs=1e-7)


def test_vector_scaling_may_change_predictions():
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 1, (2000, 3))
    label = labels(logits + np.array([2, 0, 0]), rng)
    fitted = VectorScaling().fit(logits, label)
    changed = fitted.predict(logits) != logits.argmax(axis=1)
    assert changed.mean() > 0.2
    assert (fitted.predict(logits) == label).mean() > (logits.argmax(axis=1) == label).mean()


def test_separable_classes_stop_at_the_bounds():
    logits = 2 * np.eye(3)[[0, 1, 2, 0, 1, 2]]
    fitted = VectorScaling().fit(logits, [0, 1, 2, 0, 1, 2])
    assert np.isfinite(fitted.predict_proba(logits)).all()
    assert (np.abs(fitted.coef_) <= 100).all()


def test_platt_scaling_is_logistic_regression_of_being_right():
    from sklearn.linear_model import LogisticRegression

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
