"""Convergence figures against ArviZ's and closed forms."""

import arviz as az
import numpy as np
import pytest

from bayescal.inference.diagnostics import check

CHAINS, DRAWS = 4, 500


def autoregressive(correlation, draws=DRAWS, chains=CHAINS, seed=0):
    """Chains of a stationary AR(1) process of unit variance."""
    rng = np.random.default_rng(seed)
    values = np.empty((chains, draws))
    values[:, 0] = rng.normal(size=chains)
    for place in range(1, draws):
        noise = rng.normal(size=chains) * np.sqrt(1 - correlation**2)
        values[:, place] = correlation * values[:, place - 1] + noise
    return values


def stats(diverging=0, energy=None):
    flags = np.zeros((CHAINS, DRAWS), dtype=bool)
    flags.flat[:diverging] = True
    energy = np.random.default_rng(1).normal(size=(CHAINS, DRAWS)) if energy is None else energy
    return {"diverging": flags, "energy": energy}


@pytest.fixture(scope="module")
def posterior():
    """A scalar that mixes well, a vector of which one element mixes badly, and a constant."""
    vector = np.stack([autoregressive(rho, seed=int(100 * rho)) for rho in (0.1, 0.9)], axis=-1)
    scalar = autoregressive(0.0, seed=7) ** 2
    return {"scalar": scalar, "vector": vector, "constant": np.full((CHAINS, DRAWS), 0.3)}


def test_figures_are_arvizs_worst(posterior):
    health = check(list(posterior.values()), [stats()])
    columns = [posterior["scalar"], *np.moveaxis(posterior["vector"], -1, 0)]
    assert health.rhat_max == pytest.approx(max(az.rhat(column) for column in columns), rel=1e-6)
    sizes = [
        min(az.ess(column, method="bulk"), az.ess(column, method="tail", prob=(0.05, 0.95)))
        for column in columns
    ]
    assert health.ess_min == pytest.approx(min(sizes), rel=1e-6)
    assert health.ebfmi_min == pytest.approx(az.bfmi(stats()["energy"]).min(), rel=0.01)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_effective_size_of_an_autoregression(correlation):
    draws = autoregressive(correlation, draws=20_000, chains=2, seed=3)
    health = check([draws], [stats()])
    # Bulk ESS of AR(1): N (1 - rho) / (1 + rho). The tails' indicators are correlated less.
    expected = 40_000 * (1 - correlation) / (1 + correlation)
    assert health.ess_min == pytest.approx(expected, rel=0.1)
    assert health.rhat_max < 1.005


def test_a_chain_that_sits_elsewhere_shows():
    draws = autoregressive(0.0)
    draws[2] += 1
    health = check([draws], [stats()])
    assert health.rhat_max > 1.05
    assert not health.converged


def test_the_worst_element_of_any_quantity_counts():
    vector = np.stack([autoregressive(0.0, seed=seed) for seed in range(3)], axis=-1)
    vector[0, :, 1] += 5
    health = check([autoregressive(0.0), vector], [stats()])
    assert health.rhat_max > 1.5
    assert health.ess_min < 20


def test_chains_of_other_widths_show():
    draws = autoregressive(0.0)
    draws[1] *= 5
    assert check([draws], [stats()]).rhat_max > 1.05


def test_what_never_varies_has_converged():
    health = check([np.full((CHAINS, DRAWS), 0.25)], [stats()])
    assert health.rhat_max == 1
    assert health.ess_min == CHAINS * DRAWS
    assert health.converged


def test_draws_of_two_values_as_often_do_not_hide_others():
    rng = np.random.default_rng(3)
    coin = rng.permuted(np.tile([0.0, 1.0], (CHAINS, DRAWS // 2)), axis=1)
    assert check([coin], [stats()]).rhat_max == pytest.approx(1, abs=0.01)
    apart = rng.normal(size=(CHAINS, DRAWS)) + 3 * np.arange(CHAINS)[:, None]
    alone = check([apart], [stats()]).rhat_max
    assert check([coin, apart], [stats()]).rhat_max == alone > 1.5


def test_divergences_are_counted():
    health = check([autoregressive(0.0)], [stats(diverging=3)])
    assert health.divergences == 3
    assert not health.converged


def test_energy_that_creeps_shows():
    creeping = autoregressive(0.99)
    health = check([autoregressive(0.0)], [stats(energy=creeping)])
    # Of AR(1), the mean squared change over the variance is 2 (1 - rho), more where chains drift.
    assert health.ebfmi_min < 0.1
    assert not health.converged


def test_independent_energies_have_two():
    assert check([autoregressive(0.0)], [stats()]).ebfmi_min == pytest.approx(2, abs=0.25)


def test_a_good_fit_has_converged():
    assert check([autoregressive(0.0), autoregressive(0.2, seed=2)], [stats()]).converged


def test_draws_of_unequal_numbers_are_judged_by_their_own():
    """Each has the figures that it has alone; several samplers have the worst of their figures."""
    few, many = autoregressive(0.5, draws=250, seed=3), autoregressive(0.2, seed=4)
    both = check([few, many], [stats(diverging=2), stats()])
    alone = [check([one], [stats()]) for one in (few, many)]
    assert both.rhat_max == max(one.rhat_max for one in alone)
    assert both.ess_min == min(one.ess_min for one in alone)
    assert both.divergences == 2
