"""One result read case by case, and sections of several results."""

import numpy as np
import pytest
from markupsafe import Markup

from bayescal.report.render import View, for_each
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
    assert view.number_of("diagnostics", "none", case) is None
    assert view.number_of("nowhere", "none", case) is None
    assert view.failed == []
    assert view.text("none") == ""
    assert view.structure("none") is None
    assert view.names("none") == []


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
        ({"groups": ("x", "y")}, "3. Expected calibration error, by group, classifier a"),
        ({"classes": ("x", "y")}, "3. Expected calibration error, class-wise, classifier a"),
    ],
)
def test_the_heading_tells_results_apart(kwargs: dict[str, tuple[str, ...]], heading: str) -> None:
    assert View(make_result(("a",), draws=20, **kwargs), 0.9, number=3).heading == heading


def views(*names: str) -> list[View]:
    return [View(make_result((name,), draws=20), 0.9, n) for n, name in enumerate(names, 1)]


def test_each_part_stands_under_the_heading_of_its_result() -> None:
    body = str(for_each(lambda view: Markup("<p>part {}</p>").format(view.number))(views("a", "b")))
    order = [body.index(text) for text in ("1. Exp", "part 1", "2. Exp", "part 2")]
    assert order == sorted(order)


def test_what_is_the_same_for_all_is_said_once() -> None:
    body = str(for_each(lambda _: Markup("<p>the same</p>"))(views("a", "b")))
    assert body.count("the same") == 1
    assert body.count("<h3") == 1
    assert body.index("1. Exp") < body.index("2. Exp") < body.index("the same")


def test_a_single_result_needs_no_heading() -> None:
    assert "<h3" not in str(for_each(lambda _: Markup("<p>part</p>"))(views("a")))


def test_results_with_nothing_to_say_are_left_out() -> None:
    render = for_each(lambda view: Markup("<p>part</p>") if view.number == 2 else None)
    body = str(render(views("a", "b")))
    assert "1. Exp" not in body
    assert "2. Exp" in body
    assert for_each(lambda _: None)(views("a", "b")) is None
