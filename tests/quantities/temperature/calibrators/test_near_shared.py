"""Algorithm 1 of the paper with a finite Gamma."""

import numpy as np
import pytest
from scipy.optimize import minimize

from bayescal.core.errors import InputError
from bayescal.quantities.temperature.calibrators import (
    ClassWiseTemperatureScaling,
    PlattScaling,
    TemperatureScaling,
    VectorScaling,
)
from bayescal.quantities.temperature.slice_calibrators import SliceCalibration
from tests.quantities.temperature.made import rows


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
    losses = [PlattScaling().objective(logits[h], label[h], None) for h in held]
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
