"""Pairs of classifiers."""

import pytest

from bayescal.report.errors import MOST_ROWS, differences
from bayescal.report.view import View
from bayescal.results.difference import difference
from tests.report.pages import Page
from tests.synthetic import make_result


def rows(view: View) -> list[list[str]]:
    body = differences(view)
    assert body is not None
    page = Page(f"<div>{body}</div>")
    table = [e for e in page.elements if e.tag in ("tr", "td", "th")]
    found: list[list[str]] = []
    for element in table:
        if element.tag == "tr":
            found.append([])
        else:
            found[-1].append(element.text)
    return found[1:]


def test_every_pair_once_with_the_numbers_of_difference() -> None:
    tree = make_result(("a", "b"), draws=200)
    (row,) = rows(View(tree, 0.9))
    pair = difference(tree, "b", "a")
    assert pair.mean < 0
    assert row[:2] == ["b", "a"]
    assert row[2] == f"{pair.mean:.3f}".replace("-", "−")
    assert row[3] == f"{pair.lower:.3f} to {pair.upper:.3f}".replace("-", "−")
    assert row[-1] == "0.60"


@pytest.mark.slow
def test_settled_pairs_come_first_and_bold() -> None:
    view = View(make_result(("a", "b", "c", "d"), draws=100), 0.9)
    bold = [bool(row.count("<strong>")) for row in str(differences(view)).split("<tr>")[2:]]
    assert len(bold) == 6
    assert bold == sorted(bold, reverse=True)
    assert any(bold)


def test_pairs_stay_within_their_group() -> None:
    view = View(make_result(("a", "b"), groups=("x", "y", "z"), draws=50), 0.9)
    assert sorted(row[0] for row in rows(view)) == ["x", "y", "z"]


@pytest.mark.slow
def test_too_many_pairs_are_cut_and_the_rest_counted() -> None:
    names = tuple(f"m{i}" for i in range(13))
    body = str(differences(View(make_result(names, draws=10), 0.9)))
    assert body.count("<tr>") == MOST_ROWS + 1
    assert "12 further pairs" in body


def test_nothing_without_pairing() -> None:
    assert differences(View(make_result(("a",), draws=20), 0.9)) is None
    unpaired = make_result(("a", "b"), draws=20).drop_nodes("error_correlation")
    assert differences(View(unpaired, 0.9)) is None
