"""Replicated counts: their law, their place in a result, and ArviZ's predictive checks of them."""

import arviz as az
import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy.stats import betabinom

import bayescal as bc
from bayescal.quantities.ece.priors import IndependentBins, Priors

SCORES = bc.datasets.ece.truth("over").scores(300, seed=1)
BINS = Priors(IndependentBins())
GROUPED = bc.Scores(
    y_true=SCORES.y_true, y_prob=SCORES.y_prob[0], group=np.repeat(["a", "b"], [100, 200])
)


def check(tree, dims):
    """Replicates are counts, shaped and ordered as those observed, and ArviZ plots them."""
    replicated = tree["posterior_predictive"]["events"]
    observed = tree["observed_data"]["events"]
    assert replicated.dims == ("chain", "draw", *dims)
    assert replicated.dtype == np.int32
    assert replicated.shape[2:] == observed.transpose(*dims).shape
    assert (replicated >= 0).all()
    assert (replicated <= tree["constant_data"]["cell_count"]).all()
    # Where the model fits, the observed total lies among the replicated ones.
    totals = replicated.sum(dims)
    assert totals.min() < observed.sum() < totals.max()
    az.plot_ppc_dist(tree, num_samples=20, kind="ecdf")
    plt.close("all")


@pytest.mark.parametrize("priors", [Priors(), BINS], ids=["curve", "bins"])
def test_arviz_checks_a_result_without_nuts(priors):
    tree = bc.fit(bc.ece, SCORES, priors=priors, n_bins=5, method="direct", seed=20, draws=250)
    check(tree, ("cell",))


def test_arviz_checks_a_result_of_groups():
    tree = bc.fit(bc.ece, GROUPED, n_bins=5, method="direct", seed=20, draws=250)
    check(tree, ("group", "cell"))


def test_flat_bins_are_predicted_by_a_beta_binomial():
    tree = bc.fit(bc.ece, SCORES, priors=BINS, n_bins=5, method="direct", seed=20, draws=5000)
    count, k = (
        tree[group][name].values
        for group, name in (("constant_data", "cell_count"), ("observed_data", "events"))
    )
    law = betabinom(count, 1 + k, 1 + count - k)
    drawn = tree["posterior_predictive"]["events"].values.reshape(-1, 5)
    error = law.std() / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - law.mean()) < 4.5 * error).all()
    np.testing.assert_allclose(drawn.var(axis=0), law.var(), rtol=0.06)
