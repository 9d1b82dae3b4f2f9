"""The figures that a fit is judged by."""

import numpy as np
import pytest

from bayescal.inference.diagnostics import check


def stats(chains=4, draws=500, diverging=0):
    rng = np.random.default_rng(0)
    flags = np.zeros((chains, draws), bool)
    flags.flat[:diverging] = True
    return {"diverging": flags, "energy": rng.standard_normal((chains, draws))}


def independent(*shape):
    return np.random.default_rng(20).standard_normal((4, 500, *shape))


def test_independent_draws_converge():
    health = check({"a": independent(), "b": independent(3)}, stats())
    assert health.converged
    assert health.rhat_max == pytest.approx(1, abs=0.01)
    assert health.ess_min > 1000
    assert health.ebfmi_min == pytest.approx(2, abs=0.3)


def test_worst_element_of_any_quantity_counts():
    stuck = independent(3)
    stuck[0, :, 1] += 5
    health = check({"a": independent(), "b": stuck}, stats())
    assert health.rhat_max > 1.5
    assert health.ess_min < 20
    assert not health.converged


def test_divergences_are_counted():
    health = check({"a": independent()}, stats(diverging=3))
    assert health.divergences == 3
    assert not health.converged


def test_a_quantity_that_never_varies_is_left_out():
    assert check({"a": np.ones((4, 500))}, stats())[:2] == (1.0, 2000.0)
    assert check({"a": np.ones((4, 500)), "b": independent()}, stats()).ess_min != 2000
