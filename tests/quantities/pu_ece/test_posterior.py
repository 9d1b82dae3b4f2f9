"""Rows that the posterior predicts."""

import arviz as az
import numpy as np
import pytest
from matplotlib import pyplot as plt


@pytest.mark.mcmc
@pytest.mark.parametrize("name", ["curve_fit", "mixture_fit"])
def test_replicated_positives_are_counts_that_arviz_compares(name, request) -> None:
    tree = request.getfixturevalue(name)
    replicated = tree["posterior_predictive"]["events"]
    observed = tree["observed_data"]["events"]
    assert replicated.dims == ("chain", "draw", "cell")
    assert replicated.dtype == np.int32
    assert replicated.sizes["cell"] == observed.sizes["cell"]
    assert (replicated >= 0).all()
    assert (replicated <= tree["constant_data"]["cell_count"]).all()
    az.plot_ppc_dist(tree, num_samples=20, kind="ecdf")
    plt.close("all")
    if name == "mixture_fit":  # of as many positives as were sampled
        assert (replicated.sum("cell") == 300).all()
