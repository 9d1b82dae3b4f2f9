"""Refits put together: nothing lost that they share, nothing mixed that they do not."""

import json

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.results import access, schema
from bayescal.results.assemble import combine
from tests.synthetic import make_result


@pytest.fixture(scope="module")
def trees():
    return {name: make_result(("a", "b"), seed=seed) for seed, name in enumerate(("one", "two"))}


@pytest.fixture(scope="module")
def grid(trees):
    return combine(trees)


@pytest.mark.slow
def test_under_each_prior_the_grid_holds_what_the_fit_held(trees, grid):
    for name, tree in trees.items():
        for group in ("posterior", "point_estimate", "diagnostics", "model_average", "bounds"):
            for var, values in tree[group].dataset.data_vars.items():
                held = grid[group].dataset[var]
                assert held.dims.count("prior") == 1
                xr.testing.assert_identical(held.sel(prior=name, drop=True), values)


def test_samplers_that_differ_by_prior_are_named_once_each(trees):
    names = {"one": "conjugate", "two": "importance sampling", "three": "conjugate"}
    found = {name: trees["one"].copy() for name in names}
    for name, sampler in names.items():
        found[name].attrs["sampler"] = sampler
    assert access.sampler(combine(found)) == "conjugate, importance sampling"
    assert access.sampler(found["two"]) == "importance sampling"


def test_log_densities_and_correlation_are_left_out_whole(grid):
    assert {"log_prior", "log_likelihood", "error_correlation"}.isdisjoint(grid.children)


def test_variables_of_different_shapes_are_left_out():
    few, many = make_result(("a",), n_bins=5), make_result(("a",), n_bins=10)
    grid = combine({"few": few, "many": many})
    assert "ece" in grid["posterior"]
    assert "label_rate" not in grid["posterior"]
    assert "bin_edges" not in grid["point_estimate"]


def test_it_is_a_result_with_a_case_a_prior(grid):
    schema.check_result(grid)
    found = access.cases(grid)
    assert [case.label for case in found] == ["a / one", "a / two", "b / one", "b / two"]
    assert found[1].title == "a, prior two"
    gathered = access.group_over_priors(found)
    assert [[case.prior for case in cases] for cases in gathered] == [["one", "two"]] * 2
    assert access.prior_names(grid) == ["one", "two"]


def test_summary_and_interval_are_those_of_the_fits(trees, grid):
    table = bc.summary(grid)
    for name, tree in trees.items():
        alone = bc.summary(tree)
        mine = table[table["prior"] == name].drop(columns="prior")
        np.testing.assert_array_equal(mine.to_numpy(), alone.to_numpy())
        xr.testing.assert_equal(
            bc.interval(grid, "tce").sel(prior=name, drop=True), bc.interval(tree, "tce")
        )


def test_what_fits_say_differently_is_told_by_prior(trees, grid):
    attrs = grid.attrs
    assert attrs["kind"] == "prior sensitivity"
    assert json.loads(attrs["seed"]) == {"one": 0, "two": 1}
    assert attrs["quantity"] == "ece"
    assert json.loads(attrs["priors"])["one"] == json.loads(trees["one"].attrs["priors"])
    assert json.loads(attrs["prior_texts"])["two"] == trees["two"].attrs["prior_text"]
    assert json.loads(attrs["statuses"]) == {"one": "ok", "two": "ok"}
    assert attrs["status"] == "ok"
    assert attrs["converged"] == "true"


@pytest.mark.slow
def test_it_survives_a_file(grid, tmp_path):
    again = bc.load(bc.save(grid, tmp_path / "grid.nc"))
    assert access.is_prior_grid(again)
    assert again.attrs == grid.attrs
    for group in grid.children:
        xr.testing.assert_equal(again[group].dataset, grid[group].dataset)


def test_a_fit_that_failed_is_named_with_its_prior():
    grid = combine({"good": make_result(), "bad": make_result(converged=False)})
    assert grid.attrs["converged"] == "false"
    assert grid.attrs["status"].startswith("Under bad: a: R-hat")
    table = bc.summary(grid)
    assert list(table.loc[table["status"] != "ok"].index) == ["a / bad"]


def test_what_all_say_is_said_once():
    tree = make_result(converged=False)
    status = combine({"one": tree, "two": tree}).attrs["status"]
    assert status == tree.attrs["status"]


@pytest.mark.parametrize("order", [("average", "smooth"), ("smooth", "average")])
def test_priors_without_descriptions_stand_beside_one_with_them(order):
    fits = {
        "average": make_result(("a",), p_calibrated=0.2, shape=(1, 2, 1), seed=1),
        "smooth": make_result(("a",), p_calibrated=0.2, seed=2),
    }
    grid = combine({name: fits[name] for name in order})
    for name, tree in fits.items():
        for var in ("ece", "tce", "mce"):
            own = bc.interval(tree, var)
            np.testing.assert_array_equal(bc.interval(grid, var).sel(prior=name), own)
            assert own.attrs["ci_text"] in bc.interval(grid, var).attrs["ci_text"]
    weight = grid["model_average"]["weight"]
    assert weight.sel(prior="smooth").isnull().all()
    np.testing.assert_array_equal(
        weight.sel(prior="average"), fits["average"]["model_average"]["weight"]
    )
    curve = bc.summary(grid).set_index("prior")["curve"]
    assert curve["average"] == "rough"
    assert curve.isna()["smooth"]


def test_one_fit_or_other_data_are_refused(trees):
    with pytest.raises(bc.InputError, match="two priors or more; got 1"):
        combine({"one": trees["one"]})
    with pytest.raises(bc.InputError, match="classifiers differ"):
        combine({"one": trees["one"], "two": make_result(("a", "c"))})
    with pytest.raises(bc.InputError, match="this result has one prior"):
        access.prior_names(trees["one"])
