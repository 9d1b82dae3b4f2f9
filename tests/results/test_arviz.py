"""Every ArviZ function that a statistician reaches for works on a result as it stands."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from tests.synthetic import make_result

az = pytest.importorskip("arviz")


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    return make_result(("vit", "gbm"))


def test_summary_has_a_row_for_each_classifier(tree: xr.DataTree) -> None:
    table = az.summary(tree, var_names=["ece", "tce"], ci_prob=0.9, ci_kind="eti")
    assert list(table.index) == ["ece[vit]", "ece[gbm]", "tce[vit]", "tce[gbm]"]


def test_rhat_sees_the_chain_that_sits_elsewhere() -> None:
    rhat = az.rhat(make_result(("vit", "gbm"), converged=False), var_names=["tce"])["tce"]
    assert float(rhat.sel(classifier="vit")) > 1.2
    assert float(rhat.sel(classifier="gbm")) < 1.02


def test_ess_of_independent_draws_is_their_number(tree: xr.DataTree) -> None:
    ess = az.ess(tree, var_names=["tce"])["tce"]
    np.testing.assert_allclose(ess.values, 2000, rtol=0.25)


def test_hdi_has_bounds_named_as_ours(tree: xr.DataTree) -> None:
    hdi = az.hdi(tree, var_names=["ece"], prob=0.9)["ece"]
    assert list(hdi["ci_bound"].values) == ["lower", "upper"]


def test_power_scaling_reads_prior_and_likelihood(tree: xr.DataTree) -> None:
    table = az.psense_summary(tree, var_names=["tce"])
    assert np.isfinite(table["prior"].astype(float)).all()
    assert np.isfinite(table["likelihood"].astype(float)).all()


def test_loo_reads_the_cells(tree: xr.DataTree) -> None:
    assert az.loo(tree).n_data_points == 2 * tree["observed_data"].sizes["cell"]


def test_trace_plot(tree: xr.DataTree) -> None:
    plot = az.plot_trace_dist(tree, var_names=["ece"], backend="matplotlib")
    assert isinstance(plot, az.PlotCollection)
