"""Made-up results hold nothing that real ones do not: groups, variables, dims, dtypes, attributes.

`credal` is not here: its results in tests are real fits.
"""

import gzip
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from tests.synthetic import make_result
from tests.synthetic_ssme import make_panel_result

NUTS = Path(__file__).parents[1] / "golden" / "v1_ssme.nc.gz"
# Whole under NUTS, too, but counted where draws are independent.
COUNTED = {("diagnostics", "ess_min")}


def real_errors(prior: object) -> xr.DataTree:
    """Two classifiers on the same rows."""
    score = np.linspace(0, 1, 200)
    scores = bc.Scores.stack(
        {"a": score, "b": score**2}, y_true=np.random.default_rng(0).random(200) < score
    )
    priors = bc.ece.Priors(prior)
    return bc.fit(bc.ece, scores, priors=priors, seed=20, method="direct", draws=100)


def real_metrics() -> xr.DataTree:
    """Three classifiers with few labels; there is no posterior without NUTS."""
    scores = bc.datasets.ssme.truth("mixed").scores(10, 30, seed=1)
    return bc.fit(bc.ssme, scores, seed=20, draws=4, tune=4, chains=2)


@pytest.mark.mcmc
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("made", "real"),
    [
        (lambda: make_result(prior=True, draws=20), lambda: real_errors(bc.ece.SmoothCurve())),
        (
            lambda: make_result(prior=True, draws=20, shape=(1, 2, 1)),
            lambda: real_errors(bc.ece.CurveAverage()),
        ),
        (lambda: make_panel_result(draws=20), real_metrics),
    ],
    ids=["errors", "average", "metrics"],
)
def test_made_up_results_have_the_schema_of_real_ones(made, real, tmp_path) -> None:
    tree, fitted = made(), real()
    if "sample_stats" not in fitted.children:
        # Of the sampler, and so of every quantity alike.
        path = tmp_path / "nuts.nc"
        path.write_bytes(gzip.decompress(NUTS.read_bytes()))
        stats = bc.load(path)["sample_stats"].to_dataset()
        fitted["sample_stats"] = xr.DataTree(stats)
    assert set(tree.attrs) <= set(fitted.attrs)
    assert tree.attrs["result_kind"] == fitted.attrs["result_kind"]
    for group, child in tree.children.items():
        assert group in fitted.children
        for name, values in child.data_vars.items():
            place = f"{group}/{name}"
            assert name in fitted[group].data_vars, place
            held = fitted[group].dataset[name]
            if group == "sample_stats":
                held = held.squeeze()
                values = values.isel(dict.fromkeys(values.dims[2:], 0))
            assert values.dims == held.dims, place
            if (group, name) not in COUNTED:
                assert values.dtype.kind == held.dtype.kind, place
