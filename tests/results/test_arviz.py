"""ArviZ works on a result as it stands: every function of a DataTree, or the docs say why not."""

import inspect
import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from bayescal.results import access
from tests.several import result_of
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


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
def test_loo_reads_the_cells(tree: xr.DataTree) -> None:
    assert az.loo(tree).n_data_points == 2 * tree["observed_data"].sizes["cell"]


SCHEMA = Path(__file__).parents[2] / "docs" / "schema.md"

type Call = Callable[[xr.DataTree, str], Any]


def _named(name: str, **more: Any) -> Call:
    return lambda tree, var: getattr(az, name)(tree, var_names=[var], **more)


def _whole(name: str, **more: Any) -> Call:
    return lambda tree, var: getattr(az, name)(tree, **more)


def _observed(tree: xr.DataTree) -> str:
    return str(next(iter(tree["observed_data"].data_vars)))


CALLS: dict[str, Call] = {
    # Of the draws of variables.
    **{
        name: _named(name)
        for name in (
            *("ecdf", "ess", "eti", "hdi", "histogram", "iqr", "kde", "mad", "mcse", "mean"),
            *("median", "mode", "psense", "psense_summary", "qds", "rhat", "std", "summary"),
            *("thin", "var", "extract", "diagnose"),
            *("plot_autocorr", "plot_convergence_dist", "plot_dgof", "plot_dgof_dist", "plot_dist"),
            *("plot_ecdf_pit", "plot_ess", "plot_ess_evolution", "plot_forest", "plot_mcse"),
            *("plot_prior_posterior", "plot_psense_dist", "plot_psense_quantities", "plot_rank"),
            *("plot_rank_dist", "plot_ridge", "plot_trace", "plot_trace_dist"),
            "plot_parallel",
        )
    },
    "ci_in_rope": _named("ci_in_rope", rope=(0.0, 0.05)),
    "rhat_nested": _named("rhat_nested", superchain_ids=[0, 0, 1, 1]),
    # At a value near 0, where few draws leave no gap in the density.
    "bayes_factor": lambda tree, var: az.bayes_factor(tree, var, ref_vals=0.01),
    "plot_bf": lambda tree, var: az.plot_bf(tree, var, ref_val=0.01),
    "kl_divergence": lambda tree, var: az.kl_divergence(tree, tree, var_names=[var]),
    "wasserstein": lambda tree, var: az.wasserstein(tree, tree, var_names=[var], joint=False),
    "plot_pair": _named("plot_pair"),
    "plot_pair_focus": lambda tree, var: az.plot_pair_focus(
        tree, _first(tree)["posterior"][var], var_names=[var]
    ),
    "get_unconstrained_samples": _named("get_unconstrained_samples"),
    "convert_to_datatree": _whole("convert_to_datatree"),
    "convert_to_dataset": _whole("convert_to_dataset", group="posterior"),
    "weight_predictions": lambda tree, var: az.weight_predictions([tree, tree]),
    # Of the sampler.
    "bfmi": _whole("bfmi"),
    "plot_energy": _whole("plot_energy"),
    # Of observations, their log-likelihood and their replications.
    **{
        name: _whole(name)
        for name in (
            *("get_log_likelihood", "loo", "loo_pit", "plot_loo_pit", "plot_loo_interval"),
            *("plot_loo_pava", "plot_ppc_censored", "plot_ppc_dist", "plot_ppc_dist_pit"),
            *("plot_ppc_interval", "plot_ppc_pava", "plot_ppc_pit", "plot_ppc_rootogram"),
            *("plot_ppc_tstat", "loo_influence", "loo_score"),
        )
    },
    "compare": lambda tree, var: az.compare({"one": tree, "other": tree}),
    "loo_i": lambda tree, var: az.loo_i(0, tree),
    "loo_metrics": _whole("loo_metrics"),
    "loo_expectations": _whole("loo_expectations"),
    "loo_subsample": lambda tree, var: az.loo_subsample(tree, observations=2, pointwise=True),
    "loo_approximate_posterior": lambda tree, var: az.loo_approximate_posterior(
        tree, *(xr.zeros_like(tree["posterior"]["chain"] * tree["posterior"]["draw"]) for _ in "pq")
    ),
    "metrics": _whole("metrics"),
    "loo_r2": lambda tree, var: az.loo_r2(tree, _observed(tree)),
    "update_subsample": lambda tree, var: az.update_subsample(
        az.loo_subsample(tree, observations=1, pointwise=True), tree, observations=1
    ),
}
OTHERS = {
    # What takes draws of other libraries, arrays, data sets, or what another function returned.
    *("from_cmdstanpy", "from_dict", "from_emcee", "from_netcdf", "from_numpyro"),
    *("from_numpyro_svi", "citations", "clear_data_home", "get_data_home", "list_datasets"),
    *("load_arviz_data", "get_function", "make_attrs", "ndarray_to_dataarray", "dict_to_dataset"),
    *("generate_dims_coords", "dataset_to_dataarray", "dataset_to_dataframe"),
    *("explode_dataset_dims", "references_to_dataset", "xarray_sel_iter", "xarray_to_ndarray"),
    *("xarray_var_iter", "hexbin", "histogram2d", "kde2d", "add_bands", "add_lines"),
    *("combine_plots", "plot_compare", "plot_khat", "__getattr__"),
}
# Of regressions and survival times, and what fits a model again through a wrapper of it.
OF_OTHER_MODELS = {
    *("bayesian_r2", "residual_r2", "plot_lm", "plot_ppc_pava_residuals", "kaplan_meier"),
    *("generate_survival_curves", "lfo_cv", "loo_kfold", "loo_moment_match", "reloo"),
}
THERE = {name for name in dir(az) if inspect.isfunction(getattr(az, name))}
# Which ArviZ 1.2 has not.
SINCE_1_3 = {"hexbin", "histogram2d", "lfo_cv", "plot_loo_pava"}


def section(heading: str) -> str:
    """A part of the docs on ArviZ, up to the next heading."""
    return SCHEMA.read_text(encoding="utf-8").split(f"### {heading}\n")[1].split("\n#")[0]


def test_no_function_is_left_out() -> None:
    assert {*CALLS, *OTHERS, *OF_OTHER_MODELS} ^ THERE in (set(), SINCE_1_3)
    assert set(re.findall(r"`(\w+)`", section("Of other models"))) == OF_OTHER_MODELS


def excused(heading: str, quantity: str) -> set[str]:
    """Functions that a table of the docs says do not run on results of a quantity."""
    found: set[str] = set()
    for line in section(heading).splitlines():
        if line.startswith("| `"):
            names, quantities = line.split("|")[1:3]
            if "all" in quantities or f"`{quantity}`" in quantities:
                found |= set(re.findall(r"`(\w+)`", names))
    return found & THERE


def _first(tree: xr.DataTree) -> xr.DataTree:
    """One classifier, class, group and row; of counts by cell, one class within a case too."""
    own = ("classifier", "class", "group", "obs")
    observed = tree["observed_data"].dims
    own = (*own, "label_class") if {"cell", "block"} & set(observed) else own
    there = {dim for node in tree.subtree for dim in node.dims}
    return tree.isel({dim: 0 for dim in own if dim in there})


def _few(tree: xr.DataTree) -> xr.DataTree:
    """Two classifiers, or of one of them a row with two classes: there would be many panels.

    Of the parts of a curve the first ones, for functions go through all of them one by one.
    """
    of_rows = {"classifier": [0], "obs": [0], "label_class": [0, 1]}
    few = of_rows if "obs" in tree["posterior"].dims else {"classifier": [0, 1]}
    parts = dict.fromkeys(("bin", "block", "calibration", "cell", "point"), slice(4))
    return tree.isel(few | parts, missing_dims="ignore")


def failing(tree: xr.DataTree, var: str, names: Iterable[str]) -> dict[str, str]:
    """What stops the functions that do not run."""
    import matplotlib.pyplot as plt

    found = {}
    for name in THERE.intersection(names):
        try:
            # Without a backend all is computed and nothing drawn; intervals fail where it draws.
            backend = "matplotlib" if name.endswith("_interval") else "none"
            with warnings.catch_warnings(), az.rc_context({"plot.backend": backend}):
                warnings.simplefilter("ignore")
                CALLS[name](tree, var)
        except Exception as error:  # whatever it is, the docs must say so
            found[name] = f"{type(error).__name__}: {error}"
        finally:
            plt.close("all")
    return found


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(key, marks=pytest.mark.mcmc if key == "ssme" else pytest.mark.slow)
        for key in ("ece", "pu_ece", "ssme", "credal of three classes", "agnostic", "temperature")
    ],
)
def test_what_does_not_run_is_documented(key: str) -> None:
    quantity, whole = key.split()[0], result_of(key)
    tree, var = _few(whole), access.main(whole).name
    never, alone = (excused(part, quantity) for part in ("Not at all", "One case at a time"))
    # Results of the form of those of ece: what runs on them runs there.
    of_several = failing(tree, var, never | alone if quantity in ("pu_ece", "agnostic") else CALLS)
    of_one = failing(_first(tree), var, of_several)
    assert set(of_one) == never, of_one
    assert set(of_several) - set(of_one) == alone, of_several


def test_a_summary_of_all_variables_of_rows() -> None:
    with warnings.catch_warnings():
        # ArviZ divides by the spread of what does not vary.
        warnings.simplefilter("ignore", RuntimeWarning)
        assert len(az.summary(_few(result_of("credal")))) > 0
