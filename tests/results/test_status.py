"""Warnings, each with the cases that it is of."""

from __future__ import annotations

import json

import pytest

import bayescal as bc
from bayescal.results.access import cases, find_case, gather, in_words, status
from bayescal.results.assemble import combine
from tests.synthetic import make_result


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
    assert said[("x", "g")] == said[("x", "h")] == "a, x: one."
    assert said[("y", "g")] == "ok"


def test_one_sentence_names_its_cases_once_and_not_all_of_many():
    many = [({"classifier": name}, "one.") for name in "abcdef"]
    assert in_words(gather(many[:4])) == "a, b, c, d: one."
    assert in_words(gather(many)) == "a, b, c and 3 more: one."


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
