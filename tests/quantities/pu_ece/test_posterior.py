"""Draws of the posterior, and of rows."""

import arviz as az
import numpy as np
import pytest
from matplotlib import pyplot as plt

import bayescal as bc
from bayescal.quantities.pu_ece.simulator import truth


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
