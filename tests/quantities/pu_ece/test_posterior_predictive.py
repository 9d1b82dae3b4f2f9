"""Replicated counts of positives: their law, and ArviZ's predictive checks of them."""

import arviz as az
import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy.special import expit

import bayescal as bc
from bayescal.quantities.pu_ece.models.smooth_curve import Curve
from bayescal.quantities.pu_ece.priors import SmoothCurve
from bayescal.quantities.pu_ece.simulator import truth
from tests.quantities.pu_ece.made import problem


def check(tree):
    replicated = tree["posterior_predictive"]["events"]
    observed = tree["observed_data"]["events"]
    assert replicated.dims == ("chain", "draw", "cell")
    assert replicated.dtype == np.int32
    assert replicated.sizes["cell"] == observed.sizes["cell"]
    assert (replicated >= 0).all()
    assert (replicated <= tree["constant_data"]["cell_count"]).all()
    az.plot_ppc_dist(tree, num_samples=20, kind="ecdf")
    plt.close("all")


@pytest.mark.slow
def test_arviz_checks_a_result_without_nuts() -> None:
    data = truth("less").scores((300, 2000), seed=1)
    priors = bc.pu_ece.Priors(bc.Beta(50, 50))
    check(bc.fit(bc.pu_ece, data, priors=priors, n_bins=6, seed=4, method="direct", draws=250))


@pytest.mark.mcmc
def test_arviz_checks_results_of_nuts(curve_fit, mixture_fit) -> None:
    check(curve_fit)
    check(mixture_fit)
    # The mixture's positives are as many as were sampled.
    assert (mixture_fit["posterior_predictive"]["events"].sum("cell") == 300).all()


@pytest.mark.slow
def test_positives_of_the_curve_are_binomial_given_a_draw() -> None:
    made = problem()
    found = Curve.of(made, SmoothCurve(lengthscales=(1.0,)), bc.Beta(20, 30))
    one = found.prior_draws(1, np.random.default_rng(1))["coef"]
    draws = {"coef": np.repeat(one[None], 20_000, axis=1)}
    drawn = found.draw_positives(draws, np.random.default_rng(2))[0]
    rate = expit(found.logit_positive({"coef": one}))[0]
    spread = np.sqrt(made.total * rate * (1 - rate))
    assert (np.abs(drawn.mean(axis=0) - made.total * rate) <= 4.5 * spread / 141).all()
    np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.1, atol=0.02)
