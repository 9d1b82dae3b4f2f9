"""The density as a C function: the same draws as when it is called from Python."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import nutpie
import pymc as pm
import pytensor.tensor as pt
import pytest
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.raise_op import Assert

from bayescal.inference.sampler import compile_model

pytestmark = pytest.mark.mcmc

SETTINGS = {"draws": 40, "tune": 60, "chains": 2, "seed": 5}


def build():
    """Data of every number of dimensions that models have, of both types."""
    with pm.Model() as model:
        design = pm.Data("design", np.ones((4, 2)))
        spread = pm.Data("spread", np.array(1.0))
        slope = pm.Normal("slope", 0, spread, shape=2)
        scale = pm.Exponential("scale", 1)
        # Not a product of matrices, whose BLAS Numba compiles for half a minute.
        rate = scale * pm.math.exp((design * slope).sum(axis=1))
        pm.Poisson("events", rate, observed=pm.Data("count", np.zeros(4, dtype=int)))
    return model


DATA = {
    "design": np.array([[1.0, 0.3], [1.0, -0.2], [1.0, 2.0], [1.0, -1.0]]),
    "spread": np.array(0.7),
    "count": np.array([2, 0, 5, 1]),
}


@pytest.fixture(scope="module")
def compiled():
    return compile_model(build())


def called_from_python(compiled):
    return dataclasses.replace(compiled, native=None)


def assert_same_draws(one, other):
    for ours, theirs in ((one.posterior, other.posterior), (one.sample_stats, other.sample_stats)):
        assert set(ours) == set(theirs)
        for name, values in ours.items():
            np.testing.assert_array_equal(values, theirs[name])


@pytest.mark.parametrize("data", [{}, DATA], ids=["of the model", "other"])
def test_the_same_draws_as_called_from_python(compiled, data):
    assert compiled.native is not None
    found = compiled.sample(data, **SETTINGS)
    assert_same_draws(found, called_from_python(compiled).sample(data, **SETTINGS))


def test_draws_do_not_depend_on_the_number_of_cores(compiled, monkeypatch):
    found = []
    for cores in (1, 2):
        monkeypatch.setattr("bayescal.inference.sampler.processors", lambda cores=cores: cores)
        found.append(compiled.sample(DATA, **SETTINGS))
    assert_same_draws(*found)


def test_points_of_infinite_density_are_stepped_back_from():
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Potential("wall", pt.switch(x > 0.5, -np.inf, 0.0))
    compiled = compile_model(model)
    assert compiled.native is not None
    found = compiled.sample({}, **SETTINGS)
    assert found.posterior["x"].max() <= 0.5
    assert found.sample_stats["diverging"].any()
    assert_same_draws(found, called_from_python(compiled).sample({}, **SETTINGS))


def test_another_nutpie_is_called_from_python(monkeypatch):
    monkeypatch.setattr(nutpie, "__version__", "0.17.0")
    assert compile_model(build()).native is None


def test_where_numba_fails_the_density_is_called_from_python(compiled, monkeypatch):
    def gone(*_):
        raise AttributeError("no such function in this version")

    monkeypatch.setattr("numba.core.cgutils.raw_memcpy", gone)
    other = compile_model(build())
    assert other.native is None
    assert_same_draws(other.sample(DATA, **SETTINGS), compiled.sample(DATA, **SETTINGS))


def test_where_nutpie_fails_the_density_is_called_from_python(compiled, monkeypatch):
    expected = compiled.sample(DATA, **SETTINGS)
    monkeypatch.delattr("nutpie._lib.PyMcModel")
    assert_same_draws(compiled.sample(DATA, **SETTINGS), expected)


class _Square(Op):
    """A step that only Python can take."""

    __props__ = ()

    def make_node(self, x):
        x = pt.as_tensor(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.asarray(inputs[0] ** 2)

    def grad(self, inputs, slopes):
        return [2 * inputs[0] * slopes[0]]


@pytest.mark.filterwarnings("ignore:Numba will use object mode:UserWarning")
def test_a_step_that_only_python_can_take():
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        pm.Potential("squared", -_Square()(x).sum())
    compiled = compile_model(model)
    found = compiled.sample({}, **SETTINGS)
    assert_same_draws(found, called_from_python(compiled).sample({}, **SETTINGS))


def test_a_density_that_fails_at_some_points_is_an_error_and_no_panic():
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Potential("checked", Assert("x must be small")(0 * x, abs(x) < 2))
    compiled = compile_model(model)
    with pytest.raises(RuntimeError, match="the model's density failed at a point"):
        compiled.sample({}, draws=300, tune=100, chains=2, seed=1)


def test_an_error_in_the_density_is_told():
    with pm.Model() as model:
        limit = pm.Data("limit", np.array(1.0))
        x = pm.Normal("x")
        pm.Potential("checked", Assert("the limit must be positive")(x, limit > 0))
    compiled = compile_model(model)
    assert compiled.native is not None
    with pytest.raises(RuntimeError, match="the limit must be positive"):
        compiled.sample({"limit": np.array(-1.0)}, **SETTINGS)


_ANEW = """
import numpy as np, pymc as pm, pytensor.tensor as pt
from bayescal.inference.sampler import compile_model
x = np.linspace(-2, 2, 23)
with pm.Model() as model:
    s, a = pm.HalfNormal("s", 1), pm.Normal("a", 0, 1)
    u = pt.exp(-x * s) / (1 + pt.exp(-x * a))
    v = (u / (1 + u)).sum()
    spread = 0.1 + s * v
    value = -(v - 3) ** 2 / (2 * spread) - pt.log(spread) / 2 - pt.log(s + a**2 + 1)
    pm.Potential("p", value + pt.sqrt(1 + s * a**2) / (1 + v))
compiled = compile_model(model)
found = compiled.sample(compiled.data, draws=300, tune=100, chains=2, seed=5)
print(compiled.native is not None, found.posterior["a"].sum().hex())
"""


def test_code_compiled_in_this_process_draws_as_that_of_the_cache_does(tmp_path):
    """The last digits of gradients differed, and with them all draws of the first fit."""
    home = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", _ANEW]
    first, later = (
        subprocess.run(command, env=home, check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    )
    assert first.startswith("True ")
    assert first == later
