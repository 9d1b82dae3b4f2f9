"""The answer in words, and the numbers beside it."""

import pytest

from bayescal.report.answers import (
    MOST_ROWS,
    MOST_SENTENCES,
    among,
    answers,
    best_two,
    digits,
    target,
)
from bayescal.report.sections import answer
from bayescal.report.view import View
from bayescal.results.best import best
from bayescal.results.difference import difference
from bayescal.results.intervals import interval
from bayescal.results.summary import summary
from tests.report.pages import Page, words
from tests.synthetic import make_result


def text(view: View) -> str:
    body = answer(view)
    assert body is not None
    return words(Page(f"<div>{body}</div>").elements[0].text)


def test_one_classifier_is_answered_in_one_paragraph() -> None:
    view = View(make_result(("vit",), draws=200), 0.9)
    low, high = interval(view.tree, "tce", 0.9).values
    assert text(view).startswith(
        f"The calibration error of vit is {view.tree['model_average']['tce_mean'].item():.3f} "
        f"(90% credible interval {low:.3f} to {high:.3f}). The plug-in ECE is "
    )


def test_the_interval_follows_prob() -> None:
    view = View(make_result(("vit",), draws=200), 0.5)
    low, high = interval(view.tree, "tce", 0.5).values
    assert f"(50% credible interval {low:.{digits(view)}f} to {high:.{digits(view)}f})" in text(
        view
    )


def test_numbers_are_those_of_the_summary() -> None:
    view = View(make_result(("a", "b", "c"), draws=100), 0.9)
    frame = summary(view.tree, 0.9)
    found = answers(view)
    assert [one.point for one in found] == sorted(frame["tce_mean"])
    for one in found:
        row = frame.loc[one.name]
        assert (one.low, one.high) == (row["tce_lower"], row["tce_upper"])
        assert (one.plug_in, one.p_calibrated) == (row["ece_point"], row["p_calibrated"])


def test_several_classifiers_start_with_the_best() -> None:
    view = View(make_result(("a", "b", "c"), draws=200), 0.9)
    shares = best(view.tree, "tce").prob_best
    chances = {str(one["classifier"].item()): float(one) for one in shares}
    found = best_two(view)
    assert found is not None
    (first,), prob, second = found
    assert (first, prob) == (max(chances, key=chances.__getitem__), max(chances.values()))
    said = text(view)
    assert said.startswith(f"{first} is the best calibrated with probability ")
    gap = difference(view.tree, first, second)
    assert f"{abs(gap.mean):.3f} (90% interval" in said


def test_groups_are_summarised_by_their_extremes() -> None:
    view = View(make_result(("a",), groups=("x", "y", "z"), draws=100), 0.9)
    found = answers(view)
    assert best_two(view) is None
    assert text(view).startswith(
        f"Of 3 groups, the largest calibration error is that of group {found[-1].name}: "
    )


def test_what_the_cases_are() -> None:
    assert among(View(make_result(("a", "b"), draws=20), 0.9)) == "Of 2 classifiers"
    mixed = make_result(("a", "b"), classes=("x", "y", "z"), draws=20)
    assert among(View(mixed, 0.9)) == "Of 6 cases (2 classifiers, 3 classes)"


@pytest.mark.mcmc
def test_many_cases_are_cut_to_the_worst() -> None:
    classes = tuple(f"class {i}" for i in range(MOST_ROWS + 5))
    view = View(make_result(("a",), classes=classes, draws=10), 0.9)
    page = Page(f"<div>{answer(view)}</div>")
    rows = [e for e in page.all("th") if e.attrs["scope"] == "row"]
    assert len(rows) == MOST_ROWS > MOST_SENTENCES
    assert rows[-1].text == answers(view)[-1].name
    assert "the other 5 are in the table below" in page.elements[0].text
    assert page.all("li") == []


def test_a_failed_classifier_is_marked_in_its_row_and_sentence() -> None:
    view = View(make_result(("a", "b"), draws=50, converged=False), 0.9)
    page = Page(f"<div>{answer(view)}</div>")
    marked = [e.text for e in page.all("tr") if "not converged" in e.text]
    assert len(marked) == 1
    assert marked[0].startswith("a")
    assert [e.text.startswith("Not converged. ") for e in page.all("li")] == [False, True]


def test_without_an_error_there_is_no_answer() -> None:
    tree = make_result(("a",), draws=20)
    tree["posterior"] = tree["posterior"].to_dataset().drop_vars(["ece", "tce"])
    assert answer(View(tree, 0.9)) is None


def test_a_model_without_tce_is_answered_by_its_ece() -> None:
    tree = make_result(("a",), draws=50)
    tree["posterior"] = tree["posterior"].to_dataset().drop_vars("tce")
    view = View(tree, 0.9)
    assert target(view) == "ece"
    assert answers(view)[0].point == tree["model_average"]["ece_mean"].item()
