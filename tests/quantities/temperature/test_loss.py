import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize_scalar

from bayescal.quantities.temperature.logits import (
    ALPHA_MAX,
    ALPHA_MIN,
    labeled_rows,
    least_loss,
)
from tests.quantities.temperature.made import log_loss, rows


def sliced(n=60, n_classes=3, seed=0, **others):
    logits, label = rows(n, n_classes, seed, **others)
    of = np.arange(n) % 2
    return logits, label, of, labeled_rows(logits, label, of, 2)


def test_sums_are_log_losses_of_the_slices_and_their_derivatives():
    logits, label, of, held = sliced()
    alpha = np.array([0.4, 1.7])
    found = held.sums(alpha)
    for k in (0, 1):
        mine, its = logits[of == k], label[of == k]

        def total(a, mine=mine, its=its):
            return log_loss(a * mine, its) * len(its)

        def slope(a, total=total):
            return approx_fprime(a, lambda point: total(point[0]), 1e-6)[0]

        assert found.value[k] == pytest.approx(total(alpha[k]), rel=1e-12)
        # Forward differences of a step 1e-6 are off by half the curvature times the step.
        assert found.slope[k] == pytest.approx(slope(alpha[k : k + 1]), abs=1e-4)
        more = held.sums(alpha + 1e-5).slope[k]
        assert found.curvature[k] == pytest.approx((more - found.slope[k]) / 1e-5, rel=1e-3)


def test_sums_do_not_depend_on_blocks():
    logits, label = rows(30_000, 3)
    held = labeled_rows(logits, label, np.zeros(30_000, int), 1)
    assert held.sums(np.array([0.7])).value[0] == pytest.approx(
        log_loss(0.7 * logits, label) * 30_000, rel=1e-12
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_least_loss_is_that_of_a_general_minimiser(seed):
    logits, label, of, held = sliced(seed=seed, alpha=0.1 * 1.6**seed)
    found = least_loss(held)
    value = held.sums(found).value
    for k in (0, 1):
        mine, its = logits[of == k], label[of == k]
        best = minimize_scalar(
            lambda t, mine=mine, its=its: log_loss(np.exp(t) * mine, its) * len(its),
            bounds=(np.log(ALPHA_MIN), np.log(ALPHA_MAX)),
            method="bounded",
            options={"xatol": 1e-12},
        )
        assert value[k] <= best.fun + 1e-9


def test_many_rows_have_the_same_least_loss_as_their_slope_says():
    logits, label = rows(200_000, 3)
    held = labeled_rows(logits, label, np.zeros(200_000, int), 1)
    found = least_loss(held)
    sums = held.sums(found)
    # The distance to the root, to first order.
    assert abs(sums.slope[0] / sums.curvature[0]) < 1e-9


def test_labels_that_are_all_largest_or_never_give_the_bounds():
    logits = np.array([[2.0, 1.0], [3.0, 0.0], [1.0, 2.0], [0.0, 1.0]])
    held = labeled_rows(logits, np.array([0, 0, 0, 0]), np.array([0, 0, 1, 1]), 3)
    found = least_loss(held)
    assert found[:2].tolist() == [ALPHA_MAX, ALPHA_MIN]
    assert found[2] == 1.0


def test_a_minimum_beyond_a_bound_is_the_bound():
    logits, label = rows(500, 3, alpha=0.6)
    held = labeled_rows(logits, label, np.zeros(500, int), 1)
    assert least_loss(held, 0.9, 2.0)[0] == 0.9
    assert least_loss(held, 0.1, 0.2)[0] == 0.2
