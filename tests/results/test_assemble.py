from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xarray as xr

from bayescal.core.errors import InputError
from bayescal.core.quantity import CaseArrays
from bayescal.core.variables import Variable
from bayescal.results.assemble import assemble

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


def test_nothing_to_assemble() -> None:
    with pytest.raises(InputError, match="at least one case"):
        _assemble()


def test_a_hole_in_the_grid_is_refused() -> None:
    places = (("vit", "cat"), ("vit", "dog"), ("gbm", "cat"))
    fits = [_fit(0.1, **{"classifier": model, "class": label}) for model, label in places]
    with pytest.raises(InputError, match="4 cases; got 3"):
        _assemble(*fits)


def test_the_same_case_twice_is_refused() -> None:
    with pytest.raises(InputError, match="'vit'} twice"):
        _assemble(_fit(0.1, classifier="vit"), _fit(0.2, classifier="vit"))


def test_cases_with_and_without_class_do_not_mix() -> None:
    with pytest.raises(InputError, match="every case must have the coords"):
        _assemble(_fit(0.1, classifier="vit"), _fit(0.2, **{"classifier": "gbm", "class": "cat"}))


def test_a_variable_that_one_case_lacks_is_named() -> None:
    bare = CaseArrays(coords={"classifier": "gbm"}, posterior={"ece": np.zeros(_SHAPE)})
    with pytest.raises(InputError, match="posterior/gap is missing for"):
        _assemble(_fit(0.1, classifier="vit"), bare)


def test_shapes_that_differ_between_cases_are_named() -> None:
    with pytest.raises(InputError, match=r"posterior/gap must have one shape.*2, 5, 3.*2, 5, 4"):
        _assemble(_fit(0.1, classifier="vit"), _fit(0.1, bins=4, classifier="gbm"))


def test_dims_that_are_not_listed_are_named() -> None:
    with pytest.raises(InputError, match=r"posterior/gap must have 2 dimensions; got shape"):
        _assemble(_fit(0.1, classifier="vit"), variables=of_dims({"positives": ("bin",)}))


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


def test_cells_that_some_cases_lack_are_merged_with_their_neighbours() -> None:
    """Sums by hand: of five, three and four cells there are three blocks in each case."""
    rng = np.random.default_rng(1)
    counts = {"vit": [1, 2, 3, 4, 5], "gbm": [6, 0, 7, 8, 0], "knn": [1, 1, 0, 1, 1]}
    blocks = {
        "vit": ([0], [1, 2], [3, 4]),
        "gbm": ([0], [2], [3]),
        "knn": ([0], [1], [3, 4]),
    }
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
