"""The small network: its gradient against differences, its least losses against closed forms."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bayescal.core.errors import InputError
from bayescal.core.network import check_settings, first_weights, forward, objective, penalty, train


def squares(target, share=1.0):
    """Half the weighted squared distance of each table's outputs from a target."""

    def loss(*outputs):
        gaps = [output - target for output in outputs]
        return share * sum((gap**2).sum() for gap in gaps) / 2, [share * gap for gap in gaps]

    return loss


@pytest.mark.parametrize("outputs", [(), (3,)])
@pytest.mark.parametrize("hidden", [0, 4])
def test_the_gradient_is_the_derivative(hidden, outputs):
    rng = np.random.RandomState(1)
    tables = [rng.normal(size=(n, 2)) for n in (5, 8)]
    weights = [part + 0.1 for part in first_weights(2, hidden, outputs, rng)]
    loss, alpha = squares(0.7), 0.3
    ends = np.cumsum([part.size for part in weights])[:-1]

    def value(flat):
        parts = np.split(flat, ends)
        shaped = [p.reshape(w.shape) for p, w in zip(parts, weights, strict=True)]
        return objective(loss, tables, shaped, alpha)[0]

    at = np.concatenate([part.ravel() for part in weights])
    found = objective(loss, tables, weights, alpha)[1]
    # Forward differences are off by about the square root of the rounding error.
    np.testing.assert_allclose(found, approx_fprime(at, value, 1e-7), atol=1e-4)


def test_a_linear_model_of_squares_is_ridge_regression():
    rng = np.random.default_rng(2)
    x, y, alpha = rng.normal(size=(50, 3)), rng.normal(size=50), 0.5
    found = train(squares(y), [x], first_weights(3, 0, (), None), alpha, 500)
    centred = x - x.mean(axis=0)
    expected = np.linalg.solve(centred.T @ centred + alpha * np.eye(3), centred.T @ y)
    np.testing.assert_allclose(found.weights[0], expected, atol=1e-4)
    assert not found.unfinished
    gap = forward(found.weights, x) - y
    assert found.objective == pytest.approx((gap**2).sum() / 2 + penalty(found.weights, alpha))


def test_intercepts_are_not_penalised():
    assert penalty([np.ones(2), np.full(1, 9.0)], 1.0) == 1


def test_too_few_iterations_are_reported():
    rng = np.random.RandomState(3)
    x = rng.normal(size=(40, 2))
    assert train(squares(x[:, 0] ** 2), [x], first_weights(2, 5, (), rng), 0.0, 1).unfinished


@pytest.mark.parametrize("settings", [(0, 1, 0.0, 5), (1, 1, -1.0, 5), (1, 1, 0.0, 0)])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(InputError, match="must be a"):
        check_settings(*settings)
