"""Densities that a flow is trained to, against scipy's."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from bayescal.quantities.ssme.flow import FixedBase, JointBase, normals_of
from tests.conftest import oracle

RNG = np.random.default_rng(4)
POINTS = RNG.normal(size=(40, 3)) @ RNG.normal(size=(3, 3))
PROB = RNG.dirichlet(np.ones(2), 40)
ROWS = np.arange(5)


@pytest.fixture(autouse=True, scope="module")
def jax():
    oracle("jax")


def up_to_a_constant(found, expected):
    away = np.asarray(found) - expected
    # Single precision; the constants of normals are left out.
    np.testing.assert_allclose(away, away[0], atol=1e-4)


@pytest.mark.mcmc
def test_a_fixed_base_is_the_mixture_or_the_class_that_is_known():
    prior, possible = np.array([0.3, 0.7]), np.ones((40, 2))
    possible[:2] = np.eye(2)
    base = FixedBase(normals_of(POINTS, PROB, diagonal=False), prior, possible)
    density = [
        multivariate_normal(
            np.average(POINTS, axis=0, weights=q), np.cov(POINTS.T, aweights=q, bias=True)
        ).pdf(POINTS[ROWS])
        for q in PROB.T
    ]
    mixture = (possible[ROWS] * prior * np.transpose(density)).sum(axis=1)
    up_to_a_constant(base.log_density({}, POINTS[ROWS], ROWS), np.log(mixture))


@pytest.mark.mcmc
def test_a_joint_base_weighs_log_densities():
    base = JointBase(RNG.normal(size=(2, 3)), PROB)
    trained = {"mean": base.mean, "log_scale": RNG.normal(size=(2, 3))}
    logs = norm(base.mean, np.exp(trained["log_scale"])).logpdf(POINTS[ROWS, np.newaxis]).sum(2)
    up_to_a_constant(base.log_density(trained, POINTS[ROWS], ROWS), (PROB[ROWS] * logs).sum(1))
    assert base.start()["log_scale"].shape == (2, 3)
