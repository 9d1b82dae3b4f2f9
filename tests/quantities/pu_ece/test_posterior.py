"""Rows that the posterior predicts."""

import arviz as az
import numpy as np
import xarray as xr
from matplotlib import pyplot as plt

import bayescal as bc
from bayescal.quantities.pu_ece.simulator import truth


def check_replicated(tree: xr.DataTree) -> None:
    replicated = tree["posterior_predictive"]["events"]
    observed = tree["observed_data"]["events"]
    assert replicated.dims == ("chain", "draw", "cell")
    assert replicated.dtype == np.int32
    assert replicated.sizes["cell"] == observed.sizes["cell"]
    assert (replicated >= 0).all()
    assert (replicated <= tree["constant_data"]["cell_count"]).all()
    az.plot_ppc_dist(tree, num_samples=20, kind="ecdf")
    plt.close("all")


def test_replicated_positives_are_counts_that_arviz_compares() -> None:
    data = truth("less").scores((300, 2000), seed=1)
    priors = bc.pu_ece.Priors(bc.Beta(50, 50))
    check_replicated(
        bc.fit(bc.pu_ece, data, priors=priors, n_bins=6, seed=20, method="direct", draws=100)
    )
