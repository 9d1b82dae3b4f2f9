import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize

from bayescal.core.errors import InputError
from bayescal.quantities.temperature.calibrators import (
    ClassWiseTemperatureScaling,
    TemperatureScaling,
    class_wise,
)
from bayescal.quantities.temperature.logits import labeled_rows
from tests.quantities.temperature.made import rows

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
        lambda point: held.sums(point[1:]).value.sum() / n,
        np.full(size + 1, 1.0),
        jac=lambda point: np.append(0.0, held.sums(point[1:]).slope / n),
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
        value = held.sums(found.alpha).value.sum() / held.n
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


def test_the_log_loss_falls_as_gamma_grows():
    logits, label, _ = problem(3)
    held = labeled_rows(logits, label, logits.argmax(axis=1), logits.shape[1])
    gammas = (0, 0.01, 0.05, 0.2, 1, np.inf)
    value = [held.sums(class_wise(held, gamma, LOW, HIGH).alpha).value.sum() for gamma in gammas]
    assert (np.diff(value) <= 1e-9).all()


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


def test_a_negative_gamma_is_refused():
    with pytest.raises(InputError, match="gamma must be a number in"):
        ClassWiseTemperatureScaling(gamma=-1).fit(*rows())
