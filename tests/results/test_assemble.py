"""From arrays of cases to a result, and refits under several priors side by side."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.quantity import CaseArrays, Variable
from bayescal.results import access, schema
from bayescal.results.assemble import assemble, combine
from tests.synthetic import make_result

_SHAPE = (2, 5)


def _fit(value: float, bins: int = 3, **coords: str) -> CaseArrays:
    return CaseArrays(
        coords=coords,
        posterior={"ece": np.full(_SHAPE, value), "gap": np.full((*_SHAPE, bins), value)},
        point_estimate={"ece": value, "positives": np.arange(bins) + value},
        observed_data={"positives": np.arange(7)},
    )


def _assemble(*fits: CaseArrays, **options: Any) -> xr.DataTree:
    dims = {"gap": ("bin",), "positives": ("bin",), "observed_data/positives": ("cell",)}
    return assemble(fits, **{"variables": of_dims(dims), "attrs": {}, **options})


def of_dims(dims: Mapping[str, tuple[str, ...]]) -> list[Variable]:
    return [Variable(name, name, own) for name, own in dims.items()]


def test_one_case_has_no_case_dimension() -> None:
    tree = _assemble(_fit(0.1, classifier="vit"))
    assert tree["posterior"]["ece"].dims == ("chain", "draw")
    assert tree["posterior"]["gap"].dims == ("chain", "draw", "bin")
    assert json.loads(tree.attrs["classifiers"]) == ["vit"]


def test_cases_stack_after_chain_and_draw_and_before_own_dims() -> None:
    tree = _assemble(_fit(0.1, classifier="vit"), _fit(0.2, classifier="gbm"))
    assert tree["posterior"]["gap"].dims == ("chain", "draw", "classifier", "bin")
    assert tree["point_estimate"]["positives"].dims == ("classifier", "bin")
    assert float(tree["point_estimate"]["ece"].sel(classifier="gbm")) == 0.2


def test_each_case_lands_at_its_own_coordinates() -> None:
    values = {("vit", "cat"): 0.1, ("gbm", "dog"): 0.4, ("vit", "dog"): 0.2, ("gbm", "cat"): 0.3}
    fits = [_fit(v, **{"classifier": m, "class": c}) for (m, c), v in values.items()]
    ece = _assemble(*fits)["posterior"]["ece"]
    for (model, label), value in values.items():
        assert (ece.sel(**{"classifier": model, "class": label}) == value).all()


def test_one_classifier_with_classes_has_the_class_dimension_only() -> None:
    fits = [_fit(0.1, **{"classifier": "vit", "class": label}) for label in ("cat", "dog")]
    assert _assemble(*fits)["posterior"]["ece"].dims == ("chain", "draw", "class")


def test_one_name_may_have_other_dims_in_another_group() -> None:
    tree = _assemble(_fit(0.1, classifier="vit"))
    assert tree["observed_data"]["positives"].dims == ("cell",)
    assert tree["point_estimate"]["positives"].dims == ("bin",)


def test_dims_without_names_are_numbered() -> None:
    tree = _assemble(_fit(0.1, classifier="vit"))
    np.testing.assert_array_equal(tree["posterior"]["bin"], [0, 1, 2])


def test_a_fit_of_several_groups_at_once_carries_the_group_dimension() -> None:
    fits = [
        CaseArrays(coords={"classifier": name}, posterior={"ece": np.zeros((*_SHAPE, 3))})
        for name in ("vit", "gbm")
    ]
    options = {"variables": of_dims({"ece": ("group",)}), "coords": {"group": ["a", "b", "c"]}}
    tree = _assemble(*fits, **options)
    assert tree["posterior"]["ece"].dims == ("chain", "draw", "classifier", "group")
    assert list(tree["posterior"]["group"].values) == ["a", "b", "c"]
    assert json.loads(tree.attrs["groups"]) == ["a", "b", "c"]


def test_empty_groups_are_left_out() -> None:
    assert "log_prior" not in _assemble(_fit(0.1, classifier="vit")).children


def test_attributes_are_what_netcdf_can_hold() -> None:
    attrs = {"converged": True, "priors": {"a": [1, 2]}, "n_obs": np.int64(7), "title": "ECE"}
    tree = _assemble(_fit(0.1, classifier="vit"), attrs=attrs)
    assert tree.attrs["converged"] == "true"
    assert tree.attrs["priors"] == '{"a": [1, 2]}'
    assert type(tree.attrs["n_obs"]) is int
    assert tree.attrs["title"] == "ECE"


def test_bounds_say_what_they_assume() -> None:
    attrs = {"total_bias": {"kind": "upper bound", "assumption": "Lipschitz"}}
    case = replace(_fit(0.1, classifier="vit"), bounds={"total_bias": 0.2}, bounds_attrs=attrs)
    tree = _assemble(case)
    assert tree["bounds"]["total_bias"].attrs == attrs["total_bias"]


VIT = _fit(0.1, classifier="vit")
PLACES = (("vit", "cat"), ("vit", "dog"), ("gbm", "cat"))
HOLE = [_fit(0.1, **{"classifier": model, "class": label}) for model, label in PLACES]
BARE = CaseArrays(coords={"classifier": "gbm"}, posterior={"ece": np.zeros(_SHAPE)})


@pytest.mark.parametrize(
    ("fits", "message"),
    [
        ((), "at least one case"),
        (HOLE, "4 cases; got 3"),
        ((VIT, VIT), "'vit'} twice"),
        ((VIT, HOLE[2]), "every case must have the coords"),
        ((VIT, BARE), "posterior/gap is missing for"),
        (
            (VIT, _fit(0.1, bins=4, classifier="gbm")),
            r"posterior/gap must have one shape.*2, 5, 3.*2, 5, 4",
        ),
    ],
)
def test_cases_that_are_no_grid_are_refused(fits: Sequence[CaseArrays], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _assemble(*fits)


def test_dims_that_are_not_listed_are_named() -> None:
    with pytest.raises(InputError, match=r"posterior/gap must have 2 dimensions; got shape"):
        _assemble(VIT, variables=of_dims({"positives": ("bin",)}))


def test_cells_without_rows_in_every_case_are_dropped() -> None:
    def fit(name: str, count: list[int]) -> CaseArrays:
        cells = len(count)
        return CaseArrays(
            coords={"classifier": name},
            posterior={"ece": np.zeros(_SHAPE)},
            log_likelihood={"events": np.arange(cells) + np.zeros((*_SHAPE, cells))},
            observed_data={"events": np.arange(cells)},
            constant_data={"cell_count": np.array(count)},
        )

    dims = {"events": ("cell",), "cell_count": ("cell",)}
    one = assemble([fit("vit", [3, 2, 0, 0])], variables=of_dims(dims), attrs={})
    assert one["log_likelihood"]["events"].values[0, 0].tolist() == [0, 1]
    assert one["observed_data"]["cell"].values.tolist() == [0, 1]
    both = assemble(
        [fit("vit", [3, 2, 0, 0]), fit("gbm", [3, 2, 5, 0])], variables=of_dims(dims), attrs={}
    )
    assert both["constant_data"]["cell_count"].values.tolist() == [[3, 2, 0], [3, 2, 5]]


def test_a_case_of_fewer_cells_is_padded() -> None:
    cases = [
        CaseArrays(
            coords={"classifier": name},
            posterior={"ece": np.zeros(_SHAPE)},
            constant_data={"cell_count": np.ones(cells), "cell_score": np.full(cells, 0.3)},
        )
        for name, cells in (("vit", 3), ("gbm", 5))
    ]
    dims = {"cell_count": ("cell",), "cell_score": ("cell",)}
    tree = _assemble(*cases, variables=of_dims(dims))
    count = tree["constant_data"]["cell_count"].values
    np.testing.assert_array_equal(count, [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])


def test_cells_that_some_cases_lack_are_merged_with_their_neighbours() -> None:
    """Sums by hand: of five, three and four cells there are three blocks in each case."""
    rng = np.random.default_rng(1)
    counts = {"vit": [1, 2, 3, 4, 5], "gbm": [6, 0, 7, 8, 0], "knn": [1, 1, 0, 1, 1]}
    blocks = {"vit": ([0], [1, 2], [3, 4]), "gbm": ([0], [2], [3]), "knn": ([0], [1], [3, 4])}
    density = {name: rng.normal(size=(*_SHAPE, 5)) for name in counts}
    fits = [
        CaseArrays(
            coords={"classifier": name},
            posterior={"ece": np.zeros(_SHAPE), "proper": np.zeros(_SHAPE, bool)},
            log_likelihood={"events": density[name]},
            posterior_predictive={"events": np.ones((*_SHAPE, 5), np.int32)},
            observed_data={"events": np.arange(5)},
            constant_data={"cell_count": np.array(count)},
        )
        for name, count in counts.items()
    ]
    dims = {"events": ("cell",), "cell_count": ("cell",)}
    tree = assemble(fits, variables=of_dims(dims), attrs={})
    found = tree["log_likelihood"]["events"]
    assert found.dims == ("chain", "draw", "classifier", "block")
    for name, cells in blocks.items():
        expected = np.stack([density[name][..., own].sum(-1) for own in cells], -1)
        np.testing.assert_allclose(found.sel(classifier=name), expected)
        events = tree["observed_data"]["events"].sel(classifier=name)
        assert events.values.tolist() == [sum(own) for own in cells]
        drawn = tree["posterior_predictive"]["events"].sel(classifier=name)
        assert drawn.values[0, 0].tolist() == [len(own) for own in cells]
    assert tree["constant_data"]["cell_events"].values.tolist() == [[0, 1, 2, 3, 4]] * 3
    # ArviZ subtracts draws, which truth values refuse.
    assert tree["posterior"]["proper"].dtype == np.int8
    assert (
        "block" not in assemble(fits[:1], variables=of_dims(dims), attrs={})["log_likelihood"].dims
    )


@pytest.fixture(scope="module")
def trees():
    return {name: make_result(("a", "b"), seed=seed) for seed, name in enumerate(("one", "two"))}


@pytest.fixture(scope="module")
def grid(trees):
    return combine(trees)


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
    gathered = access.along(grid, "prior")
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
    assert "to the power 0.35." in bc.interval(grid, "ece").attrs["ci_text"]
    weight = grid["model_average"]["weight"]
    assert weight.sel(prior="smooth").isnull().all()
    np.testing.assert_array_equal(
        weight.sel(prior="average"), fits["average"]["model_average"]["weight"]
    )
    curve = bc.summary(grid).set_index("prior")["curve"]
    assert curve["average"] == "rough"
    assert curve.isna()["smooth"]


def test_one_fit_is_refused(trees):
    with pytest.raises(bc.InputError, match="this result has one prior"):
        access.prior_names(trees["one"])
