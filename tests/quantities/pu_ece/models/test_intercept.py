"""The intercept that gives a curve its mean: by bisection, and in the graph with derivatives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import expit

from bayescal.quantities.pu_ece.models.intercept import intercept_in_graph, solve_intercept


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), mean=st.floats(1e-6, 1 - 1e-6), cells=st.integers(1, 40))
def test_the_mean_is_the_one_given(seed, mean, cells) -> None:
    rng = np.random.default_rng(seed)
    base, weight = rng.normal(0, 6, cells), rng.dirichlet(np.ones(cells))
    rise = rng.uniform(0.3, 0.9, cells)
    intercept = solve_intercept(base, rise, weight, np.asarray(mean))
    assert weight @ expit(base + intercept * rise) == pytest.approx(
        mean, abs=1e-7
    )  # a bisection may be the last step
    root = brentq(lambda at: weight @ expit(base + at * rise) - mean, -200, 200, xtol=1e-12)
    assert float(intercept) == pytest.approx(root, abs=1e-5)


def test_many_at_once() -> None:
    rng = np.random.default_rng(1)
    base, weight, rise = rng.normal(0, 2, (3, 4, 9)), np.full(9, 1 / 9), np.full(9, 0.7)
    mean = rng.uniform(0.01, 0.99, (3, 4))
    intercept = solve_intercept(base, rise, weight, mean)
    np.testing.assert_allclose(expit(base + intercept[..., None] * rise) @ weight, mean, atol=1e-12)


@pytest.mark.slow
def test_the_graph_solves_and_differentiates() -> None:
    import pytensor
    import pytensor.tensor as pt

    rng = np.random.default_rng(2)
    base, weight, rise = rng.normal(0, 2, 20), rng.dirichlet(np.ones(20)), np.full(20, 0.7)
    symbols = pt.dvector(), pt.dscalar()
    exact = float(solve_intercept(base, rise, weight, np.asarray(0.3)))
    # NUTS starts from a linear prediction, which is off by some tenths.
    intercept = intercept_in_graph(symbols[0], rise, weight, symbols[1], pt.constant(exact + 0.5))
    compute = pytensor.function(
        list(symbols), [intercept, *pytensor.grad(intercept, list(symbols))]
    )
    value, by_base, by_mean = compute(base, 0.3)
    assert value == pytest.approx(exact, abs=1e-9)
    rate = expit(base + exact * rise)
    slope = weight @ (rate * (1 - rate) * rise)
    assert by_mean == pytest.approx(1 / slope, rel=1e-6)
    np.testing.assert_allclose(by_base, -weight * rate * (1 - rate) / slope, rtol=1e-6)
