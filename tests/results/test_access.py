"""How a result, and a selection of one, is read; what is said of its cases."""

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.text import Text

import bayescal as bc
from bayescal import plots
from bayescal.core.errors import InputError
from bayescal.results import access
from bayescal.results.access import cases, find_case, gather, in_words, status
from bayescal.results.assemble import combine
from tests.several import KEYS, NAMES, result_of
from tests.synthetic import make_result


def test_nothing_asked_is_the_first_case() -> None:
    assert find_case(make_result(("vit", "gbm"), classes=("cat", "dog"))).label == "vit / cat"


def test_names_narrow_the_choice() -> None:
    tree = make_result(("vit", "gbm"), classes=("cat", "dog"))
    assert find_case(tree, class_="dog").label == "vit / dog"
    assert find_case(tree, "gbm", "dog").label == "gbm / dog"


def test_a_lone_classifier_is_found_by_its_name() -> None:
    assert find_case(make_result(("vit",)), "vit").classifier == "vit"


def test_an_unknown_name_lists_the_choices() -> None:
    with pytest.raises(InputError, match=r"got 'resnet'\. Choose from 'vit', 'gbm'"):
        find_case(make_result(("vit", "gbm")), "resnet")


def test_a_dimension_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(InputError, match="This result has no group dimension"):
        find_case(make_result(("vit",)), group="women")


SWAPPED = ["sharp", "plain"]
RANKED = ("ece", "ssme", "agnostic", "temperature")
ALL = [
    pytest.param(key, marks=[pytest.mark.mcmc] if key == "ssme" else [pytest.mark.slow])
    for key in KEYS
]
pytestmark = pytest.mark.slow


# A result of each role, and one of several classes.
SHAPES = ("ece by group", "ece of three classes", "credal", "ssme")
ROLES = [p for p in ALL if p.values[0] in SHAPES]


def taking_turns(*chosen: Any) -> list[Any]:
    return [pytest.param(*p.values, c, marks=p.marks) for p, c in zip(ROLES, cycle(chosen))]


@cache
def summary_of(key: str) -> pd.DataFrame:
    return bc.summary(result_of(key))


@cache
def power_scale_of(key: str) -> pd.DataFrame:
    return bc.power_scale(result_of(key))


def rows_of(table: pd.DataFrame, name: str) -> pd.DataFrame:
    return table[table["classifier"] == name].reset_index(drop=True)


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(
        found.reset_index(drop=True), expected.reset_index(drop=True), check_like=False
    )


@pytest.mark.parametrize("key", ALL)
def test_a_table_of_some_classifiers_is_their_part_of_the_table_in_their_order(key: str) -> None:
    tree, whole = result_of(key), summary_of(key)
    for one in ("rounded", ["rounded"]):
        same(bc.summary(tree.sel(classifier=one)), rows_of(whole, "rounded"))
    expected = pd.concat([rows_of(whole, name) for name in SWAPPED])
    same(bc.summary(tree.sel(classifier=SWAPPED)), expected)


@pytest.mark.parametrize("key", ALL)
def test_intervals(key: str) -> None:
    tree = result_of(key)
    for var in [one.name for one in access.answers(tree)]:
        whole = bc.interval(tree, var)
        one = bc.interval(tree.sel(classifier="rounded"), var)
        np.testing.assert_array_equal(one, whole.sel(classifier="rounded"))
        several = bc.interval(tree.sel(classifier=SWAPPED), var)
        xr.testing.assert_equal(several, whole.sel(classifier=SWAPPED))


# One or two classifiers by turns: what is stored as one is a page of two, and the other way round.
@pytest.mark.parametrize(("key", "names"), taking_turns("rounded", SWAPPED))
def test_a_stored_selection_is_the_selection(key: str, names: Any, tmp_path: Any) -> None:
    chosen = result_of(key).sel(classifier=names)
    again = bc.load(bc.save(chosen, tmp_path / "one.nc"))
    same(bc.summary(again), bc.summary(chosen))


@pytest.mark.parametrize("key", ROLES)
def test_power_scaling(key: str) -> None:
    tree, whole = result_of(key), power_scale_of(key)
    same(bc.power_scale(tree.sel(classifier="rounded")), rows_of(whole, "rounded"))
    expected = pd.concat([rows_of(whole, name) for name in SWAPPED])
    same(bc.power_scale(tree.sel(classifier=SWAPPED)), expected)


@pytest.mark.parametrize("key", [p for p in ALL if p.values[0] in RANKED])
def test_differences_and_ranks_do_not_depend_on_who_else_is_there_or_in_which_order(
    key: str,
) -> None:
    tree = result_of(key)
    whole = bc.difference(tree, "plain", "sharp")
    swapped = bc.difference(tree.sel(classifier=SWAPPED), "plain", "sharp")
    np.testing.assert_array_equal(swapped.draws, whole.draws)
    assert (swapped.lower, swapped.upper) == (whole.lower, whole.upper)
    shares = bc.best(tree).prob_rank
    order = list(reversed(NAMES))
    again = bc.best(tree.sel(classifier=order)).prob_rank
    assert list(again["classifier"].values) == order
    np.testing.assert_allclose(again.sel(classifier=list(NAMES)), shares, atol=1e-12)


@pytest.mark.parametrize("key", RANKED)
def test_one_classifier_cannot_be_ranked(key: str) -> None:
    with pytest.raises(InputError):
        bc.best(result_of(key).sel(classifier="rounded"))


def drawings(tree: xr.DataTree) -> Iterator[Figure]:
    """Every public plot that a result has the numbers for."""
    for name in plots.__all__:
        with suppress(InputError):
            yield getattr(plots, name)(tree)


def texts(figure: Figure) -> str:
    figure.draw_without_rendering()
    return " ".join(one.get_text() for one in figure.findobj(Text))


@pytest.mark.parametrize("key", ROLES)
def test_plots_name_only_what_is_selected(key: str) -> None:
    chosen = result_of(key).sel(classifier="rounded")
    drawn = [texts(figure) for figure in drawings(chosen)]
    assert drawn
    assert all(other not in said for said in drawn for other in ("plain", "sharp"))


@pytest.mark.parametrize(("key", "names"), taking_turns(SWAPPED, "rounded"))
def test_reports_name_only_what_is_selected(key: str, names: Any, tmp_path: Any) -> None:
    page = bc.report(result_of(key).sel(classifier=names), tmp_path / "one.html")
    said = page.read_text(encoding="utf-8")
    for name in set(NAMES) - {*np.atleast_1d(names)}:
        assert f"<bdi>{name}</bdi>" not in said
        assert f"{name}:" not in said


def test_a_group_and_a_class_keep_their_names() -> None:
    for key, dim, name in (("ece by group", "group", "b"), ("ece of three classes", "class", "2")):
        tree, whole = result_of(key), summary_of(key)
        for chosen in (tree.sel({dim: name}), tree.sel({dim: [name]})):
            same(bc.summary(chosen), whole[whole[dim] == name])
            figure = plots.plot_reliability(chosen, "plain")
            assert name in texts(figure)
        both = tree.sel({dim: name}).sel(classifier="sharp")
        same(bc.summary(both), rows_of(whole[whole[dim] == name], "sharp"))
        assert access.cases(both)[0].title == f"sharp, {dim} {name}"


def test_some_groups_under_one_prior_cannot_be_scaled_by_themselves() -> None:
    tree = result_of("ece by group")
    with pytest.raises(InputError, match="needs the rows of all of them"):
        bc.power_scale(tree.sel(group="a"))
    assert len(bc.power_scale(tree.sel(group=["b", "a"]))) == len(power_scale_of("ece by group"))


@pytest.mark.parametrize("key", ROLES)
def test_some_draws_are_read_as_draws(key: str) -> None:
    tree = result_of(key)
    var = access.main(tree).name
    draws = tree["posterior"][var]
    some = tree.isel(draw=slice(0, 50))
    expected = some["posterior"][var].mean(["chain", "draw"])
    assert np.isfinite(expected).all()
    for chosen in (some, tree.isel(chain=slice(0, 1)), tree.isel(chain=0), tree.isel(draw=3)):
        assert len(bc.summary(chosen)) == len(summary_of(key))
        assert bc.interval(chosen, var).shape == (*draws.shape[2:], 2)
    np.testing.assert_array_equal(
        bc.interval(tree.isel(chain=0), var), bc.interval(tree.isel(chain=[0]), var)
    )


def test_functions_of_a_quantity_read_the_selection() -> None:
    agnostic = result_of("agnostic")
    one = agnostic.sel(classifier="sharp")
    of_sharp = bc.agnostic.prob_above(agnostic, 0.05, classifier="sharp")
    assert bc.agnostic.prob_above(one, 0.05) == of_sharp
    assert bc.agnostic.upper_bound(one) == bc.agnostic.upper_bound(agnostic, classifier="sharp")
    band = bc.agnostic.roc_band(agnostic, classifier="sharp")
    xr.testing.assert_equal(bc.agnostic.roc_band(one), band)
    temperature, rows = result_of("temperature"), [[0.7, 0.2, 0.1]]
    np.testing.assert_array_equal(
        bc.temperature.calibrate(temperature.sel(classifier="sharp"), rows),
        bc.temperature.calibrate(temperature, rows, classifier="sharp"),
    )


@pytest.mark.parametrize("key", ["credal", "credal of three classes"])
def test_bounds_of_rows(key: str) -> None:
    tree = result_of(key)
    whole = bc.credal.bounds_for(tree)
    for place, name in enumerate(NAMES):
        one = bc.credal.bounds_for(tree.sel(classifier=name))
        np.testing.assert_array_equal(one.lower, whole.lower[place])
        np.testing.assert_array_equal(one.upper, whole.upper[place])
        same(bc.row_table(tree.sel(classifier=[name])), rows_of(bc.row_table(tree), name))
        sets = bc.credal.credible_sets(tree.sel(classifier=name))
        np.testing.assert_array_equal(sets.lower, bc.credal.credible_sets(tree).lower[place])


def test_a_selection_without_a_name_is_refused() -> None:
    with pytest.raises(InputError, match="Select without drop=True"):
        bc.summary(result_of("ece").sel(classifier="plain", drop=True))


def test_conclusions_under_several_priors(tmp_path: Any) -> None:
    from tests.several import data_of

    quantity, data, _ = data_of("ece")
    priors = {"one": bc.ece.Priors(bc.ece.IndependentBins()), "two": bc.ece.Priors()}
    with pytest.warns(bc.ConvergenceWarning):
        grid = bc.prior_sensitivity(
            quantity, data, priors, seed=20, method="direct", draws=75, n_bins=5
        )
    whole = {one.case: one for one in bc.conclusions(grid)}
    (one,) = bc.conclusions(grid.sel(classifier="rounded"))
    assert one.rows == whole["rounded"].rows
    named = [found.case for found in bc.conclusions(grid.sel(classifier=SWAPPED))]
    assert named == SWAPPED
    under_two = bc.summary(grid.sel(prior="two"))
    table = bc.summary(grid)
    same(under_two, table[table["prior"] == "two"])
    assert len(bc.summary(grid.sel(classifier="sharp"))) == 2
    with pytest.raises(InputError, match="needs fits under several"):
        bc.conclusions(grid.sel(prior=["two"]))
    page = bc.report(grid.sel(prior="two"), tmp_path / "two.html").read_text(encoding="utf-8")
    assert "CurveAverage" in page
    assert "IndependentBins" not in page


def warned(*found, **options):
    tree = make_result(("a", "b"), **options)
    tree.attrs["warnings"] = json.dumps(gather(found))
    tree.attrs["status"] = in_words(gather(found))
    return tree


A, B, BOTH = ({"classifier": "a"}, "one."), ({"classifier": "b"}, "two."), ({}, "three.")


def test_nothing_wrong_is_ok():
    assert in_words([]) == "ok"
    assert status(warned()) == "ok"


def test_a_case_has_its_own_warnings_and_those_of_all():
    tree = warned(A, B, BOTH)
    assert status(tree) == tree.attrs["status"] == "a: one. b: two. all classifiers: three."
    assert status(tree, [find_case(tree, "a")]) == "a: one. all classifiers: three."
    assert status(tree.sel(classifier="b")) == "b: two. all classifiers: three."
    assert status(tree.sel(classifier=["b"])) == "b: two. all classifiers: three."


def test_a_warning_of_a_class_is_of_its_groups():
    tree = make_result(("a",), classes=("x", "y"), groups=("g", "h"))
    tree.attrs["warnings"] = json.dumps([["one.", [{"classifier": "a", "class": "x"}]]])
    said = {(case.class_, case.group): status(tree, [case]) for case in cases(tree)}
    assert said[("x", "g")] == said[("x", "h")] == "a / x: one."
    assert said[("y", "g")] == "ok"


def test_one_sentence_names_its_cases_once_and_not_all_of_many():
    many = [({"classifier": name}, "one.") for name in "abcdef"]
    assert in_words(gather(many[:4])) == "a, b, c, d: one."
    assert in_words(gather(many)) == "a, b, c and 3 more: one."


def test_of_many_sentences_the_first_are_said() -> None:
    said = in_words(gather(({"classifier": name}, f"{name} fails.") for name in "abcdefgh"))
    assert said.startswith("a: a fails. b: b fails.")
    assert said.endswith("f: f fails. 2 more warnings: see the status of each case.")


def test_priors_are_named_unless_it_is_all_of_them():
    grid = combine({"wide": warned(A), "tight": warned(A, B), "odd": warned()})
    assert (
        status(grid) == grid.attrs["status"] == "Under wide: a: one. Under tight: a: one. b: two."
    )
    assert status(grid.sel(prior="tight")) == "a: one. b: two."
    assert status(grid.sel(prior="odd")) == "ok"
    assert status(grid.sel(prior=["wide", "tight"], classifier="a")) == "a: one."


def test_results_of_earlier_versions_have_one_text():
    tree = make_result(("a", "b"), converged=False)
    assert status(tree) == tree.attrs["status"]
    assert status(tree, [find_case(tree, "b")]) == "ok"


@pytest.mark.slow
def test_the_report_of_one_classifier_has_no_warning_of_another(tmp_path):
    tree = warned(A)
    for name, there in (("a", True), ("b", False)):
        page = bc.report(tree.sel(classifier=name), tmp_path / "one.html").read_text("utf-8")
        assert ("a: one." in page) is there


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (None, "nutpie NUTS 0.16"),
        ([0, 4000, 2000, 0], "nutpie NUTS 0.16 (smooth, rough; direct draws: segments)"),
        (
            [[0, 4000, 0, 0], [0, 0, 0, 0]],
            "nutpie NUTS 0.16 (smooth; direct draws: smooth, segments)",
        ),
        ([0, 0, 0, 0], "nutpie NUTS 0.16"),
    ],
)
def test_what_nuts_did_not_draw_is_named(number: Any, expected: str) -> None:
    """A description without weight, as one that the prior leaves out, is not."""
    tree = xr.DataTree()
    tree.attrs["sampler"] = "nutpie NUTS"
    if number is not None:
        dims = ("classifier", "description")[-np.ndim(number) :]
        weight = [0.5, 0.3, 0.1 if dims == ("description",) else 0.0, 0.1]
        values = {
            "nuts_draws": (dims, number),
            "weight": (dims, np.broadcast_to(weight, np.shape(number))),
        }
        names = ["calibrated", "smooth", "rough", "segments"]
        tree["model_average"] = xr.Dataset(values, coords={"description": names})
    assert access.sampler_in_words(tree, "0.16") == expected
