"""What the report says of several classifiers in one posterior, and what it does not say."""

from __future__ import annotations

import re

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.text import in_words, probability
from bayescal.report.page import page
from bayescal.results.assemble import combine
from tests.report.pages import Page, sections, words
from tests.synthetic_ssme import METRICS, make_panel_result

SMOOTH = bc.ece.CurveAverage(rough=0, segments=0, linear=0)


def answer(tree: xr.DataTree) -> str:
    return words(sections([tree], "answer").section("answer").text)


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    return make_panel_result(("vit", "gbm", "tree"))


@pytest.fixture(scope="module")
def parsed(tree: xr.DataTree) -> Page:
    return Page(str(page(tree)))


def test_who_is_best_comes_first_in_words(tree: xr.DataTree, parsed: Page) -> None:
    said = words(parsed.section("answer").text)
    chance = in_words(probability(float(bc.best(tree).prob_best.sel(classifier="vit"))))
    assert "Data: 40 labelled rows, 1,000 without." in said
    assert f"By accuracy, vit is best with probability {chance}." in said
    mean = float(tree["posterior"]["accuracy"].sel(classifier="vit").mean())
    assert f"The accuracy of vit is {mean:.3f} (" in said
    assert "that of gbm" in said


def test_what_is_assumed_is_said(parsed: Page) -> None:
    said = words(parsed.section("answer").text)
    assert "random sample of all rows" in said
    assert "depends on that model" in said
    forced = make_panel_result(draws=50)
    forced.attrs["labeling"] = "one-per-class"
    assert "one row of each class" in answer(forced)


def test_what_unlabelled_rows_and_comparisons_rest_on(tree: xr.DataTree) -> None:
    tree = tree.copy()
    of_all, of_one = "all classifiers' scores.*same rows in every draw", "its score.*one by one"
    for pairing, said in {"": of_all, "independent": r"\d Class", "shared rows": of_one}.items():
        tree.attrs |= {"pairing": pairing, "labeling": "", "n_labeled": 40, "n_obs": 100}
        if pairing == "shared rows":
            tree["curve"], both = xr.DataTree(), ("classifier", "classifier_other")
            at = dict.fromkeys(both, tree["posterior"]["classifier"].values)
            held = dict.fromkeys(METRICS, xr.DataArray(np.eye(3), at, both))
            tree["error_correlation"] = xr.DataTree(xr.Dataset(held))
        assert re.search(said, answer(tree))


def test_one_prior_of_several_is_read_as_one_fit(tree: xr.DataTree) -> None:
    refits = combine({"one": tree, "two": tree})
    assert answer(refits.sel(prior=["one"])) == answer(refits.sel(prior="one"))


def test_the_table_has_every_metric_beside_other_estimates(parsed: Page) -> None:
    said = words(parsed.section("table").text)
    assert all(title in said for title in ("Point estimate", "Ensemble", "Labelled rows"))
    assert said.count("vit") == len(METRICS)


def test_pictures_say_what_they_show(parsed: Page) -> None:
    images = parsed.all("img")
    assert len(images) == 4
    assert all(len(image.attrs["alt"]) > 20 for image in images)


def test_nothing_is_said_that_holds_of_calibration_fits_alone(parsed: Page) -> None:
    said = words(" ".join(e.text for e in parsed.all("main")))
    assert "lug-in ECE" not in said
    assert "lug‑in ECE" not in said
    assert "P(calibrated)" not in said
    assert "given miscalibration" not in said
    found = [element.attrs["id"] for element in parsed.all("section")]
    assert "differences" not in found
    assert "groups" not in found
    assert {"answer", "diagnostics", "priors", "sensitivity", "bounds", "provenance"} <= set(found)


def test_the_fit_has_one_row_of_diagnostics(parsed: Page) -> None:
    assert words(parsed.section("diagnostics").text).count("all classifiers") == 1


def test_a_lead_that_is_not_clear_is_called_so() -> None:
    tree = make_panel_result(("a", "b", "c"), draws=100)
    held = tree["posterior"]["accuracy"]
    noise = np.random.default_rng(0).normal(0.8, 0.05, held.shape)
    tree["posterior"]["accuracy"] = held.copy(data=noise)
    said = answer(tree)
    assert "no classifier is clearly best" in said
    assert "is not resolved" in said


def test_the_difference_of_a_tie_is_not_called_unresolved() -> None:
    tree = make_panel_result(("a", "b"), draws=100)
    held = tree["posterior"]["accuracy"]
    tree["posterior"]["accuracy"] = held.copy(data=held.sel(classifier=["a", "a"]).values)
    said = answer(tree)
    assert "a and b tie: each is best with probability 0.50." in said
    assert "That of b is the same." in said
    cells = [words(one.text) for one in sections([tree], "answer").all("td")]
    # Both are the best, under one probability, and none is the second.
    assert cells[:5] == ["a and b", "0.50", cells[2], "–", "–"]
    assert "not resolved" not in said


def test_metrics_that_differ_by_the_same_in_every_draw_are_not_the_same() -> None:
    tree = make_panel_result(("a", "b"), draws=60)
    held = tree["posterior"]["accuracy"]
    held.loc[{"classifier": "a"}] = 0.75
    held.loc[{"classifier": "b"}] = 0.5
    assert "It differs from that of b by +0.250 (90% interval 0.250 to 0.250)" in answer(tree)


def test_groups_one_classifier_and_missing_labels() -> None:
    grouped = make_panel_result(("a", "b"), groups=("north", "south"), draws=60)
    said = answer(grouped)
    assert "By accuracy in group north" in said
    assert "By accuracy in group south" in said
    alone = make_panel_result(
        ("only",), draws=60, labeled=False, status="all classifiers: no row is labelled."
    )
    page = sections([alone], "answer", "table")
    said = words(page.section("answer").text)
    assert "Read this first" in said
    assert "no row is labelled" in said
    assert "only: accuracy 0." in said
    assert "NO LABELS" in page.section("table").text


@pytest.mark.parametrize("names", [("vit",), ("vit", "gbm")])
def test_values_and_ranks_of_several_classes_name_these(names: tuple[str, ...]) -> None:
    prob = np.random.default_rng(0).dirichlet(np.ones(7), size=60)
    data = bc.Scores.stack(dict.fromkeys(names, prob), y_true=prob.argmax(axis=1))
    kind = {"multiclass": "class-wise", "method": "direct", "draws": 250, "seed": 1}
    result = bc.fit(bc.agnostic, data, priors=bc.agnostic.Priors(SMOOTH), **kind)
    said = answer(result)
    tie = "By AUC of class {} on the labelled rows, vit and gbm tie"
    head = "vit of class {}: AUC" if len(names) == 1 else tie
    assert [head.format(k) in said for k in range(6)] == [True] * 6
    assert head.format(6) not in said
    assert "The first 6 classes; all 7 are in the table below." in said
    assert ("Class" in said) == (len(names) == 2)
    assert str(bc.show(result)).startswith("Data: 60 labelled rows.")


def test_undefined_metrics_are_left_out() -> None:
    tree = make_panel_result(draws=60)
    tree["posterior"]["auc"] = tree["posterior"]["auc"] * np.nan
    said = answer(tree)
    assert "AUC (highest)" not in said
    assert "AUPRC (highest)" in said
