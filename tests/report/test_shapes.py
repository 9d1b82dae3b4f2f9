"""What the calibration curve looks like, in the report."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from bayescal.report.errors import SECTIONS, shapes, terms
from bayescal.report.html import report
from bayescal.report.view import View
from bayescal.results import access
from bayescal.results.curve_shape import curve_shape
from tests.report.pages import Page
from tests.synthetic import make_result


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    tree = make_result(("a", "b"), draws=50, p_calibrated=0.2, shape=(1, 2, 1))
    tree["model_average"]["weight"].loc[{"classifier": "b"}] = [0.02, 0.9, 0.08, 0.0]
    return tree


def cells(html: str) -> list[str]:
    return [one.text.strip() for one in Page(html).elements if one.tag in ("td", "th")]


def test_the_table_holds_the_weight_of_every_description(tree: xr.DataTree) -> None:
    html = str(shapes(View(tree, 0.9)))
    found = cells(f"<div>{html}</div>")
    for row in (["a", "0.20", "0.20", "0.40", "0.20"], ["b", "0.02", "0.90", "0.08", "< 0.001"]):
        place = found.index(row[0])
        assert found[place : place + 5] == row
    assert html.count("<strong>") == 2
    assert "<strong>0.40</strong>" in html
    assert "<strong>0.90</strong>" in html


def test_each_curve_is_said_in_words(tree: xr.DataTree) -> None:
    found = cells(f"<div>{shapes(View(tree, 0.9))}</div>")
    for case in access.cases(tree):
        shape = curve_shape(tree, case)
        assert shape is not None
        assert f"{shape.words}." in found


def test_a_result_without_descriptions_has_no_such_section() -> None:
    assert shapes(View(make_result(("a",), draws=20), 0.9)) is None
    assert "curve" in [section.id for section in SECTIONS]


def test_a_case_without_a_curve_is_left_out(tree: xr.DataTree) -> None:
    """All scores of the classifier a are 0 or 1."""
    ends = tree.copy(deep=True)
    score = ends["constant_data"]["cell_score"]
    score.loc[{"classifier": "a"}] = np.resize([0.0, 1.0], score.sizes["cell"])
    found = cells(f"<div>{shapes(View(ends, 0.9))}</div>")
    assert "b" in found
    assert "a" not in found


def test_the_page_has_the_section_the_note_and_the_warning_of_the_status(
    tree: xr.DataTree, tmp_path
) -> None:
    warned = tree.copy(deep=True)
    warned.attrs["status"] = "a: the plug-in estimate and the posterior contradict each other."
    path = report(warned, tmp_path / "page.html")
    html = path.read_text(encoding="utf-8")
    page = Page(html)
    assert "What the curve looks like" in [one.text for one in page.elements if one.tag == "h2"]
    boxes = [one for one in page.elements if one.attrs.get("class", "").startswith("box ")]
    assert [one.attrs["class"] for one in boxes] == ["box warn", "box note"]
    assert "contradict each other" in boxes[0].text
    assert "a: The calibration curve is rough" in boxes[1].text
    captions = [one.text for one in page.elements if one.tag == "figcaption"]
    for case in access.cases(tree):
        shape = curve_shape(tree, case)
        assert shape is not None
        assert shape.sentence in captions


def test_the_glossary_of_the_report_explains_the_interval_that_it_shows(tree: xr.DataTree) -> None:
    averaged, alone = (dict(terms(View(one, 0.9))) for one in (tree, make_result(("a",), draws=20)))
    assert "unlikely descriptions" in averaged["{prob} credible interval"]
    assert "at least {prob}" in alone["{prob} credible interval"]
    assert "Description of the curve" in averaged
    assert "Description of the curve" not in alone
