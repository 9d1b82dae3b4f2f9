"""Log loss of multiplied logits, and its table."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize_scalar

from bayescal.quantities.temperature.logits import (
    ALPHA_MAX,
    ALPHA_MIN,
    HIGH,
    LOW,
    derivatives,
    labeled_rows,
    least_loss,
    look_up,
    peak,
    quintic,
    tabulated,
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

        assert found[0][k] == pytest.approx(total(alpha[k]), rel=1e-12)
        # Forward differences of a step 1e-6 are off by half the curvature times the step.
        assert found[1][k] == pytest.approx(slope(alpha[k : k + 1]), abs=1e-4)
        more = held.sums(alpha + 1e-5)[1][k]
        assert found[2][k] == pytest.approx((more - found[1][k]) / 1e-5, rel=1e-3)


def test_sums_do_not_depend_on_blocks():
    logits, label = rows(30_000, 3)
    held = labeled_rows(logits, label, np.zeros(30_000, int), 1)
    assert held.sums(np.array([0.7]))[0][0] == pytest.approx(
        log_loss(0.7 * logits, label) * 30_000, rel=1e-12
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_least_loss_is_that_of_a_general_minimiser(seed):
    logits, label, of, held = sliced(seed=seed, alpha=0.1 * 1.6**seed)
    found = least_loss(held)
    value = held.sums(found)[0]
    for k in (0, 1):
        mine, its = logits[of == k], label[of == k]
        best = minimize_scalar(
            lambda t, mine=mine, its=its: log_loss(np.exp(t) * mine, its) * len(its),
            bounds=(np.log(ALPHA_MIN), np.log(ALPHA_MAX)),
            method="bounded",
            options={"xatol": 1e-12},
        )
        assert value[k] <= best.fun + 1e-9


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


def table(n, n_classes, spread, seed=0):
    logits, label = rows(n, n_classes, seed, spread=spread)
    held = labeled_rows(logits, label, logits.argmax(axis=1), n_classes)
    return held, tabulated(held)


@pytest.mark.parametrize(
    ("n", "n_classes", "spread"), [(200, 5, 2), (30, 2, 0.3), (1000, 20, 10), (5000, 3, 40)]
)
def test_the_table_is_the_likelihood_to_a_millionth(n, n_classes, spread):
    held, found = table(n, n_classes, spread)
    for log_alpha in np.random.default_rng(1).uniform(LOW, HIGH, 100):
        full = -held.sums(np.full(n_classes, np.exp(log_alpha)))[0]
        got = look_up(found, np.full(n_classes, log_alpha))
        np.testing.assert_allclose(got, full, rtol=1e-6, atol=1e-12)


def test_it_is_flat_beyond_its_ends_and_takes_any_leading_shape():
    _, found = table(100, 3, 2)
    ends = look_up(found, np.array([[LOW - 1] * 3, [LOW] * 3]))
    assert np.array_equal(*ends)
    assert look_up(found, np.zeros((2, 4, 3))).shape == (2, 4, 3)


def test_derivatives_are_those_of_the_likelihood():
    _, found = table(300, 3, 2)
    place, step = np.full(3, 0.123), 1e-4
    first, second = derivatives(found, place)
    below, here, above = (look_up(found, place + k * step) for k in (-1, 0, 1))
    np.testing.assert_allclose(first, (above - below) / (2 * step), rtol=1e-4, atol=1e-3)
    # Second differences of step 1e-4 carry rounding of 1e-5 at values of 100.
    np.testing.assert_allclose(second, (above - 2 * here + below) / step**2, rtol=1e-2, atol=1e-2)


def test_interpolation_is_exact_for_polynomials_of_degree_five():
    coefficients = np.random.default_rng(0).normal(size=6)
    polynomial = np.polynomial.Polynomial(coefficients)
    ends = [
        tuple(polynomial.deriv(k)(x) if k else polynomial(x) for k in range(3)) for x in (0.0, 1.0)
    ]
    x = np.linspace(0, 1, 11)
    np.testing.assert_allclose(quintic(x, *ends), polynomial(x), atol=1e-12)


def test_its_peaks_are_the_numbers_of_least_loss():
    held, found = table(2000, 4, 3)
    np.testing.assert_allclose(np.exp(peak(found)), least_loss(held), rtol=1e-3)
    # All labels are the largest logits: the likelihood rises to the end of the table.
    logits, _ = rows(50, 3)
    sure = labeled_rows(0.01 * logits, logits.argmax(axis=1), np.zeros(50, int), 1)
    assert peak(tabulated(sure)) == pytest.approx(HIGH)


def test_tables_of_parts_add_up():
    logits, label = rows(300, 3)
    whole, one, two = (
        tabulated(labeled_rows(logits[at], label[at], logits[at].argmax(axis=1), 3))
        for at in (slice(None), slice(0, 90), slice(90, None))
    )
    np.testing.assert_allclose(one + two, whole, rtol=1e-12, atol=1e-9)
