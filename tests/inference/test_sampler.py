"""NUTS against conjugate posteriors, one compiled model for all data."""

import signal

import arviz as az
import numpy as np
import pymc as pm
import pytest
from pytensor.configdefaults import config
from scipy.stats import gamma, norm

from bayescal.core.errors import InputError
from bayescal.inference.sampler import NutsDraws, compile_model

PRIOR_SD = 3.0
NOISE = np.array([0.5, 2.0, 1.0])
DATA = {"x": np.array([4.0, -3.0, 0.2]), "noise": NOISE, "rate": np.array([0.7])}


def build():
    with pm.Model(coords={"unit": np.arange(3)}) as model:
        x = pm.Data("x", np.zeros(3), dims="unit")
        noise = pm.Data("noise", np.ones(3), dims="unit")
        location = pm.Normal("location", 0, PRIOR_SD, dims="unit")
        doubled = pm.Deterministic("doubled", 2 * location, dims="unit")
        pm.Normal("observed", doubled / 2, noise, observed=x, dims="unit")
        scale = pm.Exponential("scale", pm.Data("rate", np.ones(1)), shape=1)
        pm.Poisson("events", scale, observed=np.array([4]))
        pm.Deterministic("ratio", location[0] / scale[0])
        pm.Normal("unseen", location, 1, dims="unit")
    return model


@pytest.fixture(scope="module")
def temporary(tmp_path_factory):
    path = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(path))
        yield path


@pytest.fixture(scope="module")
def compiled(temporary):
    return compile_model(build())


@pytest.fixture(scope="module")
def sampled(compiled):
    return compiled.sample(DATA, seed=20, draws=1000, chains=4)


def within_monte_carlo_error(draws, law, errors=3.5):
    """Mean, 5% and 95% quantile agree with the law's to a few Monte Carlo errors."""
    for value, expected, error in (
        (draws.mean(), law.mean(), az.mcse(draws, method="mean")),
        *(
            (np.quantile(draws, q), law.ppf(q), az.mcse(draws, method="quantile", prob=q))
            for q in (0.05, 0.95)
        ),
    ):
        assert abs(value - expected) < errors * error


@pytest.mark.mcmc
@pytest.mark.parametrize("unit", range(3))
def test_normal_posterior(sampled, unit):
    precision = 1 / NOISE[unit] ** 2 + 1 / PRIOR_SD**2
    law = norm(DATA["x"][unit] / NOISE[unit] ** 2 / precision, precision**-0.5)
    within_monte_carlo_error(sampled.posterior["location"][..., unit], law)


@pytest.mark.mcmc
def test_gamma_posterior_in_its_own_coordinates(sampled):
    within_monte_carlo_error(sampled.posterior["scale"][..., 0], gamma(5, scale=1 / 1.7))


@pytest.mark.mcmc
def test_deterministics_on_the_way_to_the_data_are_computed_from_the_draws(sampled):
    found = sampled.posterior
    np.testing.assert_allclose(found["doubled"], 2 * found["location"], rtol=1e-12)


@pytest.mark.mcmc
@pytest.mark.skipif(not hasattr(config, "generated_src_dir"), reason="PyTensor has no such place")
def test_compiling_leaves_nothing_in_the_temporary_directory(temporary, sampled):
    assert list(temporary.iterdir()) == []


@pytest.mark.mcmc
def test_what_leads_to_no_data_is_left_out(compiled, sampled):
    assert set(sampled.posterior) == {"location", "scale", "doubled"}
    assert compiled.size == 4


@pytest.mark.mcmc
def test_shapes_and_statistics_bear_arvizs_names(compiled):
    found = compiled.sample(DATA, seed=1, draws=20, tune=30, chains=2)
    assert found.posterior["location"].shape == (2, 20, 3)
    assert found.posterior["scale"].shape == (2, 20, 1)
    expected = {"diverging", "energy", "lp", "n_steps", "tree_depth", "step_size"}
    assert set(found.sample_stats) == expected | {"acceptance_rate"}
    assert {values.shape for values in found.sample_stats.values()} == {(2, 20)}
    assert found.sample_stats["diverging"].dtype == bool


@pytest.mark.mcmc
def test_the_same_seed_gives_the_same_draws(compiled):
    draws = [
        compiled.sample(DATA, seed=seed, draws=30, tune=50, chains=2).posterior["location"]
        for seed in (7, 7, 8)
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.isclose(draws[0], draws[2]).any()


@pytest.mark.mcmc
def test_chains_differ(sampled):
    first, second = sampled.posterior["location"][:2]
    assert not np.isclose(first, second).any()


@pytest.mark.mcmc
def test_data_not_given_are_those_of_the_model(compiled):
    draws = compiled.sample({}, seed=3, draws=500, chains=2).posterior["scale"]
    within_monte_carlo_error(draws[..., 0], gamma(5, scale=1 / 2))


@pytest.mark.mcmc
def test_a_shorter_tree_takes_fewer_steps(compiled):
    found = compiled.sample(DATA, seed=3, draws=100, tune=100, chains=1, max_depth=1)
    assert found.sample_stats["n_steps"].max() == 1


@pytest.mark.mcmc
@pytest.mark.parametrize(
    ("data", "found"),
    [({"x": np.zeros(4)}, r"'x' of shape \(4,\)"), ({"y": np.zeros(3)}, r"'y' of shape \(3,\)")],
)
def test_other_shapes_and_unknown_data_are_refused(compiled, data, found):
    with pytest.raises(InputError, match=found):
        compiled.sample(data)


@pytest.mark.mcmc
def test_arrays_in_fortran_order_and_of_other_types_serve(compiled):
    data = {"x": np.array([4, -3, 0], dtype=np.int8), "noise": NOISE.astype(np.float32)}
    draws = compiled.sample(data, seed=1, draws=50, tune=50, chains=1).posterior["location"]
    same = {"x": np.array([4.0, -3.0, 0.0]), "noise": NOISE}
    expected = compiled.sample(same, seed=1, draws=50, tune=50, chains=1).posterior["location"]
    np.testing.assert_array_equal(draws, expected)


@pytest.mark.mcmc
def test_counts_beyond_what_a_model_can_count_are_refused():
    with pm.Model() as model:
        rate = pm.Exponential("rate", 1)
        pm.Poisson("events", rate, observed=pm.Data("events_", np.array([4])))
    counting = compile_model(model)
    with pytest.raises(InputError, match="events_ must not exceed 2147483647; got 3e"):
        counting.sample({"events_": np.array([3 * 10**9])})
    # As of weighted rows, which a model compiled for whole ones would cut off.
    with pytest.raises(InputError, match="events_ must be whole numbers in this model; got float"):
        counting.sample({"events_": np.array([3.5])})


@pytest.mark.mcmc
def test_an_interrupt_stops_the_sampler_and_is_passed_on(compiled):
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            compiled.sample(DATA, seed=1, draws=10_000_000, chains=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert compiled.sample(DATA, seed=1, draws=10, tune=10, chains=1).posterior["scale"].size == 10


def test_thinned_chains_keep_every_divergence():
    draws = np.arange(24.0).reshape(2, 12)
    diverging = np.zeros((2, 12), dtype=bool)
    diverging[0, 4] = True
    found = NutsDraws({"x": draws}, {"lp": draws, "diverging": diverging}).thinned(4)
    expected = [[2, 5, 8, 11], [14, 17, 20, 23]]
    assert found.posterior["x"].tolist() == found.sample_stats["lp"].tolist() == expected
    assert found.sample_stats["diverging"].tolist() == [[False, True, False, False], [False] * 4]
