"""Whitened deviations are independent normals, wherever the sampler's coordinates lie."""

import numpy as np
import pymc as pm
import pytest

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.inference.graph import logit_binomial, whitened_deviations, whitened_normal
from bayescal.quantities.ece.pooled_curves import arrow_gaussian
from tests.interpreted import PLAIN
from tests.quantities.ece.test_pooled_curves import SCALE, moments, regression

GROUPS, BASIS = 3, 4
PROBLEM = regression(GROUPS, basis=BASIS)
ARROW = arrow_gaussian(PROBLEM, SCALE)


def model(kind):
    coords = {"group": np.arange(GROUPS), "basis": np.arange(BASIS), "cell": np.arange(8)}
    with pm.Model(coords=coords) as built:
        scale = pm.Data("scale", SCALE)
        if kind == "whitened":
            centre, root = pm.Data("centre", ARROW.centre), pm.Data("root", ARROW.root)
            common = whitened_normal("common", centre, root, "basis")
            deviation = whitened_deviations(
                scale,
                common,
                centre,
                pm.Data("group_centre", ARROW.group_centre),
                pm.Data("group_root", ARROW.group_root),
                pm.Data("link", ARROW.link),
            )
        else:
            common = pm.Normal("common", 0, 1, dims="basis")
            deviation = pm.Normal("deviation", 0, scale, dims=("group", "basis"))
        logit = PROBLEM.offset + (PROBLEM.design * (common + deviation)[:, None, :]).sum(axis=-1)
        logit_binomial(
            "events",
            PROBLEM.count,
            logit,
            log_binomial_coefficient(PROBLEM.count, PROBLEM.positives),
            observed=PROBLEM.positives,
            dims=("group", "cell"),
        )
    return built


@pytest.fixture(scope="module")
def whitened():
    return model("whitened")


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(9)
    return [(rng.normal(size=BASIS), rng.normal(size=(GROUPS, BASIS))) for _ in range(5)]


def values(z, own):
    """What the sampler's coordinates stand for."""
    common = ARROW.centre + ARROW.root @ z
    shift = np.einsum("gij,j->gi", ARROW.link, common - ARROW.centre)
    deviation = ARROW.group_centre - shift + np.einsum("gij,gj->gi", ARROW.group_root, own)
    return {"common": common, "deviation": deviation}


def unconstrained(z, own):
    return {"common_whitened__": z, "deviation_whitened__": own}


def test_density_in_the_samplers_coordinates_has_their_volume(whitened, points):
    ours = whitened.compile_logp(mode=PLAIN)
    theirs = model("normal").compile_logp(mode=PLAIN)
    _, volume = np.linalg.slogdet(moments(ARROW)[1])
    for point in points:
        expected = theirs(values(*point)) + volume / 2
        assert ours(unconstrained(*point)) == pytest.approx(expected, rel=1e-10)


def test_gradient_is_that_of_the_density(whitened, points):
    gradient = whitened.compile_dlogp(mode=PLAIN)
    density = whitened.compile_logp(mode=PLAIN)
    z, own = points[0]
    found = gradient(unconstrained(z, own))
    step = 1e-5
    for place in range(len(found)):
        shift = step * np.eye(len(found))[place]
        there, back = (
            density(
                unconstrained(
                    z + sign * shift[:BASIS], own + sign * shift[BASIS:].reshape(own.shape)
                )
            )
            for sign in (1, -1)
        )
        assert found[place] == pytest.approx((there - back) / (2 * step), abs=1e-5)


def test_near_the_posterior_it_is_close_to_standard_normal(whitened):
    """What whitening is for: the density over that of N(0, I) varies little."""
    density = whitened.compile_logp(mode=PLAIN)
    rng = np.random.default_rng(5)
    ratios = []
    for _ in range(40):
        z, own = rng.normal(size=BASIS), rng.normal(size=(GROUPS, BASIS))
        ratios.append(density(unconstrained(z, own)) + ((z**2).sum() + (own**2).sum()) / 2)
    assert np.std(ratios) < 0.5


def test_forward_undoes_backward(whitened, points):
    deviation = whitened["deviation"]
    transform = whitened.rvs_to_transforms[deviation]
    z, own = points[1]
    expected = values(z, own)
    data = (ARROW.centre, ARROW.group_centre, ARROW.group_root, ARROW.link)
    inputs = [pm.pytensorf.floatX(x) for x in (SCALE, expected["common"], *data)]
    import pytensor.tensor as pt

    inputs = [pt.as_tensor(value) for value in inputs]
    there = transform.backward(pt.as_tensor(own), *inputs)
    np.testing.assert_allclose(there.eval(mode=PLAIN), expected["deviation"], rtol=1e-10)
    back = transform.forward(there, *inputs)
    np.testing.assert_allclose(back.eval(mode=PLAIN), own, rtol=1e-8)
    volume = transform.log_jac_det(pt.as_tensor(own), *inputs).eval(mode=PLAIN)
    expected_volume = sum(np.linalg.slogdet(root)[1] for root in ARROW.group_root)
    assert volume == pytest.approx(expected_volume, rel=1e-10)


def test_prior_draws_do_not_see_the_posterior(whitened):
    draws = pm.draw(whitened["deviation"], 4000, random_seed=5, mode=PLAIN)
    assert draws.shape == (4000, GROUPS, BASIS)
    standard = draws / SCALE
    np.testing.assert_allclose(standard.mean(axis=0), 0, atol=4 / np.sqrt(4000))
    np.testing.assert_allclose(
        np.cov(standard.reshape(4000, -1).T), np.eye(GROUPS * BASIS), atol=6 / np.sqrt(4000)
    )
