import numpy as np
import pytest

from bayescal.quantities.temperature.logits import (
    HIGH,
    LOW,
    derivatives,
    labeled_rows,
    least_loss,
    log_likelihood_table,
    look_up,
    peak,
    quintic,
    tabulated,
)
from tests.quantities.temperature.made import rows


def table(n, n_classes, spread, seed=0):
    logits, label = rows(n, n_classes, seed, spread=spread)
    held = labeled_rows(logits, label, logits.argmax(axis=1), n_classes)
    return held, log_likelihood_table(held)


@pytest.mark.parametrize(
    ("n", "n_classes", "spread"), [(200, 5, 2), (30, 2, 0.3), (1000, 20, 10), (5000, 3, 40)]
)
def test_the_table_is_the_likelihood_to_a_millionth(n, n_classes, spread):
    held, found = table(n, n_classes, spread)
    for log_alpha in np.random.default_rng(1).uniform(LOW, HIGH, 100):
        full = -held.sums(np.full(n_classes, np.exp(log_alpha))).value
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
    assert peak(log_likelihood_table(sure)) == pytest.approx(HIGH)


def test_tables_of_parts_add_up():
    logits, label = rows(300, 3)
    whole, one, two = (
        tabulated(labeled_rows(logits[at], label[at], logits[at].argmax(axis=1), 3))
        for at in (slice(None), slice(0, 90), slice(90, None))
    )
    np.testing.assert_array_equal(one.plus(two).rows, whole.rows)
    np.testing.assert_allclose(one.plus(two).table, whole.table, rtol=1e-12, atol=1e-9)
