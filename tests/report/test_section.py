"""Sections of several results."""

from markupsafe import Markup

from bayescal.report.view import View, for_each
from tests.synthetic import make_result


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
