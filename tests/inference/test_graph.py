"""Whitened coefficients are standard normal, wherever the sampler's coordinates lie."""

import os
import subprocess
import sys

import numpy as np
import pymc as pm
import pytest
from scipy.stats import multivariate_normal

from bayescal.inference.graph import whitened_normal
from tests.interpreted import PLAIN

SIZE = 4
RNG = np.random.default_rng(8)
MEAN = RNG.normal(size=SIZE)
SCALE = RNG.uniform(0.5, 2, size=SIZE)
ROOT = np.triu(RNG.normal(size=(SIZE, SIZE))) + 2 * np.diag([1.0, -1.0, 0.3, 2.0])
EVENTS = np.array([3, 0, 7, 2])


def model(kind):
    with pm.Model(coords={"basis": np.arange(SIZE), "cell": np.arange(4)}) as built:
        if kind == "whitened":
            mean, scale, root = (
                pm.Data(name, value)
                for name, value in {"mean": MEAN, "scale": SCALE, "root": ROOT}.items()
            )
            coef = whitened_normal("coef", mean, root, "basis", scale=scale)
        else:
            coef = pm.Normal("coef", 0, 1, dims="basis")
        pm.Poisson("events", pm.math.exp(coef), observed=EVENTS, dims="cell")
    return built


@pytest.fixture(scope="module")
def whitened():
    return model("whitened")


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(9).normal(size=(5, SIZE))


def test_density_in_the_samplers_coordinates_has_their_volume(whitened, points):
    ours = whitened.compile_logp(mode=PLAIN)
    theirs = model("normal").compile_logp(mode=PLAIN)
    _, volume = np.linalg.slogdet(SCALE[:, None] * ROOT)
    for point in points:
        expected = theirs({"coef": MEAN + SCALE * (ROOT @ point)}) + volume
        assert ours({"coef_whitened__": point}) == pytest.approx(expected, rel=1e-12)


def test_gradient_follows_the_root(whitened, points):
    ours = whitened.compile_dlogp(mode=PLAIN)
    theirs = model("normal").compile_dlogp(mode=PLAIN)
    for point in points:
        expected = ROOT.T @ (SCALE * theirs({"coef": MEAN + SCALE * (ROOT @ point)}))
        np.testing.assert_allclose(ours({"coef_whitened__": point}), expected, rtol=1e-9)


def test_a_gaussian_posterior_is_standard_normal_in_these_coordinates():
    """If mean and root are the posterior's, the density is that of N(0, I) but for a constant."""
    precision = np.eye(SIZE) + np.diag([9.0, 25.0, 1.0, 400.0])
    observed = np.array([2.0, -1.0, 0.5, 3.0])
    covariance = np.linalg.inv(precision)
    mean = covariance @ np.diag([9.0, 25.0, 1.0, 400.0]) @ observed
    with pm.Model(coords={"basis": np.arange(SIZE)}) as built:
        root = np.linalg.inv(np.linalg.cholesky(precision)).T
        coef = whitened_normal("coef", pm.Data("mean", mean), pm.Data("root", root), "basis")
        pm.Normal("x", coef, [1 / 3, 1 / 5, 1.0, 1 / 20], observed=observed, dims="basis")
    density = built.compile_logp(mode=PLAIN)
    at = np.random.default_rng(3).normal(size=(6, SIZE))
    found = np.array([density({"coef_whitened__": point}) for point in at])
    expected = multivariate_normal(np.zeros(SIZE)).logpdf(at)
    np.testing.assert_allclose(found - expected, (found - expected)[0], rtol=1e-10)


def test_forward_undoes_backward(whitened):
    (coef,) = whitened.free_RVs
    transform = whitened.rvs_to_transforms[coef]
    inputs = coef.owner.inputs
    value = np.array([0.3, -2.0, 1.5, 0.1])
    there = transform.backward(value, *inputs)
    np.testing.assert_allclose(there.eval(mode=PLAIN), MEAN + SCALE * (ROOT @ value), rtol=1e-12)
    back = transform.forward(there, *inputs)
    np.testing.assert_allclose(back.eval(mode=PLAIN), value, rtol=1e-10)


def test_prior_draws_do_not_see_the_posterior(whitened):
    (coef,) = whitened.free_RVs
    draws = pm.draw(coef, 4000, random_seed=5, mode=PLAIN)
    assert draws.shape == (4000, SIZE)
    np.testing.assert_allclose(draws.mean(axis=0), 0, atol=4 / np.sqrt(4000))
    np.testing.assert_allclose(np.cov(draws.T), np.eye(SIZE), atol=6 / np.sqrt(4000))


def test_a_home_that_cannot_be_written_is_refused_with_the_remedy(tmp_path) -> None:
    (tmp_path / ".pytensor").touch()  # where PyTensor's directory would be
    done = subprocess.run(
        [sys.executable, "-c", "import bayescal.inference.sampler"],
        env=os.environ | {"HOME": str(tmp_path), "PYTENSOR_FLAGS": ""},
        capture_output=True,
        text=True,
    )
    said = done.stderr.splitlines()[-1]
    assert said.startswith("bayescal.core.errors.OutputError: PyTensor cannot keep")
    assert "PYTENSOR_FLAGS to base_compiledir=DIRECTORY" in said
