"""One result, read case by case."""

import numpy as np
import pytest

from bayescal.report.view import View
from bayescal.results import access
from bayescal.results.intervals import interval
from tests.synthetic import make_result


def test_intervals_are_those_of_results() -> None:
    tree = make_result(("a", "b"), groups=("x", "y"), draws=50)
    view = View(tree, 0.8)
    expected = interval(tree, "tce", 0.8)
    for case in view.cases:
        assert view.interval("tce", case) == tuple(access.at(expected, case).values)


def test_what_is_not_there_is_none() -> None:
    view = View(make_result(("a",), draws=20), 0.9)
    (case,) = view.cases
    assert view.interval("accuracy", case) is None
    assert view.number_of("diagnostics", "none", case) is None
    assert view.number_of("nowhere", "none", case) is None
    assert view.cases_where("none", True) == []
    assert view.text("none") == ""
    assert view.structure("none") is None


def test_nan_is_none_and_a_vector_is_no_number() -> None:
    tree = make_result(("a",), draws=20)
    tree["model_average"]["p_calibrated"] = np.nan
    view = View(tree, 0.9)
    (case,) = view.cases
    assert view.number_of("model_average", "p_calibrated", case) is None
    assert view.number_of("point_estimate", "count", case) is None


@pytest.mark.parametrize(
    ("kwargs", "heading"),
    [
        ({}, "3. Expected calibration error"),
        ({"groups": ("x", "y")}, "3. Expected calibration error, by group"),
        ({"classes": ("x", "y")}, "3. Expected calibration error, class-wise"),
    ],
)
def test_the_heading_tells_results_apart(kwargs: dict[str, tuple[str, ...]], heading: str) -> None:
    assert View(make_result(("a",), draws=20, **kwargs), 0.9, number=3).heading == heading


def test_attributes_that_are_not_json_are_text() -> None:
    tree = make_result(("a",), draws=20)
    tree.attrs["priors"] = "flat"
    assert View(tree, 0.9).structure("priors") == "flat"
    assert View(tree, 0.9).names("priors") == []
