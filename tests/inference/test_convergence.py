"""R-hat and effective sample sizes: as ArviZ computes them, quantity by quantity."""

import arviz as az
import numpy as np
import pytest

from bayescal.inference.diagnostics import ess_bulk, ess_tail, rhat


def autoregressive(rho, *, quantities=6, chains=4, draws=500, seed=20):
    """Chains whose neighbours have correlation rho."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((quantities, chains, draws))
    for t in range(1, draws):
        values[..., t] = rho * values[..., t - 1] + np.sqrt(1 - rho**2) * values[..., t]
    return values


SAMPLES = {
    "independent": autoregressive(0.0),
    "slow": autoregressive(0.95),
    "alternating": autoregressive(-0.7),
    "odd number of draws": autoregressive(0.3, draws=501),
    "few draws": autoregressive(0.0, draws=4),
    "seven draws": autoregressive(0.2, draws=7),
    "two chains": autoregressive(0.5, chains=2),
    "ties": np.round(autoregressive(0.5), 1),
    "two values": (autoregressive(0.5) > 1.5).astype(float),
    "one chain elsewhere": autoregressive(0.0) + 2 * (np.arange(4) == 1)[:, None],
    "one chain wider": autoregressive(0.0) * (1 + 3 * (np.arange(4) == 1))[:, None],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_as_arviz(name):
    draws = SAMPLES[name]
    np.testing.assert_allclose(rhat(draws), [az.rhat(row) for row in draws], rtol=1e-10)
    np.testing.assert_allclose(
        ess_bulk(draws), [az.ess(row, method="bulk") for row in draws], rtol=1e-8
    )
    np.testing.assert_allclose(
        ess_tail(draws), [az.ess(row, method="tail", prob=(0.05, 0.95)) for row in draws], rtol=1e-8
    )


def test_one_chain_has_no_rhat():
    assert np.isnan(rhat(autoregressive(0.0, chains=1))).all()


def test_effective_size_of_a_chain_with_known_correlation():
    """The mean of an AR(1) chain is worth (1 - rho) / (1 + rho) independent draws a draw."""
    found = ess_bulk(autoregressive(0.5, quantities=20, draws=5000)).mean()
    assert found == pytest.approx(20_000 / 3, rel=0.05)
