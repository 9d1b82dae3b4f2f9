"""Refits under several priors: the same as fits, once compiled, and in step with power scaling."""

import json

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.workflow import sampling

CURVE, BINS = bc.ece.SmoothCurve, bc.ece.IndependentBins
PRIORS = {
    "default": bc.ece.Priors(),
    "tight": bc.ece.Priors(CURVE(scale=0.2)),
    "jeffreys": bc.ece.Priors(BINS(bc.Beta(0.5, 0.5))),
}

FIT = {"seed": 20, "method": "direct", "draws": 400}


def scores(n, seed=1):
    return bc.datasets.ece.truth("over").scores(n, seed=seed)


def compare(priors=PRIORS, n=300, **options):
    return bc.prior_sensitivity(bc.ece, scores(n), priors, **{**FIT, "n_bins": 6, **options})


@pytest.fixture(scope="module")
def grid():
    return compare()


@pytest.mark.slow
def test_each_prior_is_the_fit_with_the_same_seed(grid):
    for name, priors in PRIORS.items():
        alone = bc.fit(bc.ece, scores(300), priors=priors, n_bins=6, **FIT)
        for group in ("posterior", "point_estimate", "diagnostics"):
            for var, values in grid[group].dataset.data_vars.items():
                xr.testing.assert_equal(
                    values.sel(prior=name, drop=True), alone[group].dataset[var]
                )
        assert json.loads(grid.attrs["priors"])[name] == json.loads(priors.to_json())
        assert json.loads(grid.attrs["prior_texts"])[name] == priors.describe()


def test_the_conclusion_is_written_into_the_result(grid):
    (found,) = bc.conclusions(grid)
    assert grid.attrs["conclusion"] == found.text
    assert grid.attrs["robust"] == ("true" if found.robust else "false")
    assert grid.attrs["conclusion_var"] == "tce"
    assert grid.attrs["seed"] == 20
    assert "threshold" not in grid.attrs


@pytest.mark.slow
def test_threshold_quantity_and_probability_are_passed_on():
    two = {name: PRIORS[name] for name in ("default", "tight")}
    grid = compare(two, threshold=0.02, var="ece", prob=0.8)
    (found,) = bc.conclusions(grid, "ece", 0.8, 0.02)
    assert grid.attrs["conclusion"] == found.text
    assert (grid.attrs["conclusion_var"], grid.attrs["threshold"]) == ("ece", 0.02)


@pytest.mark.mcmc
@pytest.mark.parametrize(("n", "scale", "dominates"), [(30, 0.1, True), (20_000, 0.7, False)])
def test_refits_and_power_scaling_agree(n, scale, dominates):
    """A normal prior to the power a has the scale / sqrt(a): refits and scaling agree."""
    power = 1.25
    scales = {"base": scale, "strong": scale / np.sqrt(power), "weak": scale * np.sqrt(power)}
    priors = {name: bc.ece.Priors(CURVE(scale=s), calibrated=0) for name, s in scales.items()}
    grid = compare(priors, n, n_bins=15, draws=4000)
    tce = grid["posterior"]["tce"]
    mean, sd = tce.mean(("chain", "draw")), float(tce.sel(prior="base").std())
    refit = float(mean.sel(prior="strong") - mean.sel(prior="weak")) / sd / (2 * np.log2(power))
    base = bc.fit(bc.ece, scores(n), priors=priors["base"], seed=20, method="direct", draws=4000)
    (row,) = bc.power_scale(base, "tce").to_dict("records")
    assert row["prior_shift"] == pytest.approx(refit, abs=0.06)
    if dominates:
        assert row["prior_sensitivity"] > 0.1
        assert np.sign(row["prior_shift"]) == np.sign(refit) == -1
        assert abs(refit) > 0.3
    else:
        assert row["prior_sensitivity"] < 0.05
        assert row["diagnosis"] == "the data decide"
        assert abs(refit) < 0.06


@pytest.mark.slow
def test_bins_and_power_scaling_agree():
    """Beta(a, a) to the power p is Beta(1 + p (a - 1), 1 + p (a - 1))."""
    power, strength = 1.25, 19
    parts = {"base": strength, "strong": strength * power, "weak": strength / power}
    priors = {
        name: bc.ece.Priors(BINS(bc.Beta(1 + part, 1 + part)), calibrated=0)
        for name, part in parts.items()
    }
    tce = compare(priors, 60, n_bins=15, draws=4000)["posterior"]["tce"]
    mean, sd = tce.mean(("chain", "draw")), float(tce.sel(prior="base").std())
    refit = float(mean.sel(prior="strong") - mean.sel(prior="weak")) / sd / (2 * np.log2(power))
    base = bc.fit(bc.ece, scores(60), priors=priors["base"], seed=20, method="direct", draws=4000)
    assert bc.power_scale(base, "tce")["prior_shift"].item() == pytest.approx(refit, abs=0.06)
    assert refit > 0.3


@pytest.mark.mcmc
def test_priors_of_one_kind_share_one_compiled_model():
    nuts = {"draws": 1000, "tune": 300, "chains": 2, "method": "nuts"}
    bc.fit(bc.ece, scores(300), seed=20, n_bins=6, **nuts)
    before = set(sampling._COMPILED)
    two = {"wide": bc.ece.Priors(CURVE(scale=2.0)), "sceptical": bc.ece.Priors(calibrated=0.1)}
    grid = compare(two, **nuts)
    assert set(sampling._COMPILED) == before
    assert grid["sample_stats"].sizes["prior"] == 2


def test_what_did_not_converge_is_said_once():
    with pytest.warns(bc.ConvergenceWarning) as caught:
        grid = compare(draws=20)
    assert len(caught) == 1
    assert grid.attrs["converged"] == "false"
    assert grid.attrs["conclusion"].startswith("Unreliable")


@pytest.mark.mcmc
def test_progress_counts_the_fits_of_all_priors():
    steps = []
    pair = bc.Scores.stack(
        {"p": scores(300).y_prob[0], "q": scores(300).y_prob[0] ** 0.9}, y_true=scores(300).y_true
    )
    two = {name: PRIORS[name] for name in ("default", "tight")}
    bc.prior_sensitivity(
        bc.ece, pair, two, seed=1, method="direct", progress=lambda *step: steps.append(step)
    )
    assert steps[0] == ("default, p", 0, 4)
    assert steps[3] == ("tight, p", 2, 4)
    assert steps[-1] == ("", 4, 4)
    done = [step[1] for step in steps]
    assert done == sorted(done)


@pytest.mark.slow
def test_finished_fits_outlast_an_interruption(tmp_path, grid):
    def stop(label: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(checkpoint=tmp_path, progress=stop)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("cases/*.npz")}
    assert len(kept) == 2
    again = compare(checkpoint=tmp_path)
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    assert len(list(tmp_path.glob("cases/*.npz"))) == 3
    for group in ("posterior", "model_average"):
        xr.testing.assert_equal(again[group].dataset, grid[group].dataset)


@pytest.mark.slow
def test_without_a_seed_all_priors_share_one_that_is_kept():
    grid = compare(seed=None)
    again = compare(seed=grid.attrs["seed"])
    xr.testing.assert_equal(grid["posterior"].dataset, again["posterior"].dataset)


@pytest.mark.mcmc
def test_without_priors_there_is_a_grid_around_the_default():
    grid = compare(None)
    names = list(grid["posterior"]["prior"].values)
    assert names == list(bc.ece.Priors().alternatives())
    assert names[0] == "default"
    own = compare(bc.ece.Priors(BINS(), calibrated=0.2))
    assert json.loads(own.attrs["priors"])["default"]["calibrated"] == 0.2
    named = bc.prior_sensitivity("ece", scores(300), n_bins=6, **FIT)
    xr.testing.assert_equal(named["posterior"].dataset, grid["posterior"].dataset)


@pytest.mark.parametrize(
    ("priors", "words"),
    [
        ({"one": bc.ece.Priors()}, "two priors or more; got 1"),
        ([bc.ece.Priors()], "must be ece.Priors; got list"),
        ({"one": bc.ece.Priors(), "": bc.ece.Priors()}, "must have a name; got ''"),
        ({"one": bc.ece.Priors(), "two": bc.Beta(1, 1)}, "must be ece.Priors; got Beta"),
    ],
)
def test_what_is_no_set_of_priors_is_refused(priors, words):
    with pytest.raises(bc.InputError, match=words):
        compare(priors)


@pytest.mark.mcmc
def test_positive_and_unlabelled_rows_under_several_class_priors():
    data = bc.datasets.pu_ece.truth("near").scores((300, 2000), 1)
    curve = bc.pu_ece.SmoothCurve()
    known = {f"{pi:g}": bc.pu_ece.Priors(pi, curve) for pi in (0.5, 0.55)}
    grid = bc.prior_sensitivity(bc.pu_ece, data, known, **FIT)
    assert grid.attrs["robust"] == "false"
    assert grid["sensitivity"]["class_prior"].dims[0] == "prior"
    assert float(grid["point_estimate"]["ece"].std()) > 0
