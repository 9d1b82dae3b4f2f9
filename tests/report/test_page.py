"""The whole page: its form, its safety, its sections, and the file it is written to."""

import base64
import itertools
import re
from pathlib import Path

import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.errors import InputError, OutputError
from bayescal.report import render, report
from bayescal.report.page import SECTIONS, page, windows_report
from bayescal.results.change import Series, Window
from tests.report.pages import HOSTILE, Page, sections, words
from tests.results.test_change import windows
from tests.synthetic import make_result
from tests.synthetic_credal import failed, make_credal_result
from tests.synthetic_ssme import make_panel_result

pytestmark = pytest.mark.pictures

DECLARED = [section.id for section in SECTIONS if section.declared]


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of which no figure is looked at."""
    monkeypatch.setattr(render, "to_svg", lambda figure: "")


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    return make_result(("vit", "gbm"), draws=100, prior=True)


@pytest.fixture(scope="module")
def html(tree: xr.DataTree) -> str:
    return str(page(tree, title="Calibration of two"))


@pytest.fixture(scope="module")
def parsed(html: str) -> Page:
    return Page(html)


@pytest.fixture(scope="module")
def hostile() -> Page:
    """One report of every form of answer, with names that would break a careless page."""
    result = make_result(HOSTILE[:2], draws=50)
    result.attrs["title"] = HOSTILE[0]
    result.attrs["prior_text"] = HOSTILE[0]
    result.attrs["priors"] = '{"</pre><script>alert(4)</script>": 1}'
    result.attrs["status"] = f"{HOSTILE[0]} is odd"
    panel = make_panel_result(HOSTILE[2:4], groups=("<i>x</i>", HOSTILE[4]), draws=60)
    rows = make_credal_result(HOSTILE[:1], (*HOSTILE[:2], HOSTILE[3]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "to_svg", lambda figure: "")
        return Page(str(page([result, panel, rows], title=HOSTILE[0])))


@pytest.mark.slow
def test_is_a_document_in_english_that_fits_a_phone(parsed: Page) -> None:
    assert parsed.declaration.lower() == "doctype html"
    assert parsed.all("html")[0].attrs["lang"] == "en"
    assert any(e.attrs.get("name") == "viewport" for e in parsed.all("meta"))
    assert parsed.all("title")[0].text == "Calibration of two"


def test_sections_come_in_order_each_with_its_anchor(parsed: Page) -> None:
    found = [element.attrs["id"] for element in parsed.all("section")]
    order = [section.id for section in SECTIONS]
    assert len(set(order)) == len(order)
    # There are no groups, no components of the curve and no further measures here.
    left_out = ("measures", "groups", "curve", "models", "decisions", *DECLARED)
    assert found == [name for name in order if name not in left_out]
    contents = [e.attrs["href"] for e in parsed.all("a") if "nav" in e.path]
    assert contents == [f"#{name}" for name in found]


def test_headings_leave_no_level_out(parsed: Page) -> None:
    levels = [int(e.tag[1]) for e in parsed.elements if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_every_image_says_what_it_shows(parsed: Page) -> None:
    images = parsed.all("img")
    assert len(images) == 2 + 3
    assert all(len(image.attrs["alt"]) > 20 for image in images)
    assert "vit" in images[0].attrs["alt"]


def test_nothing_is_loaded_from_elsewhere(html: str, parsed: Page) -> None:
    addresses = [
        e.attrs[name] for e in parsed.elements for name in ("src", "href") if name in e.attrs
    ]
    outside = [a for a in addresses if not a.startswith(("data:", "#"))]
    assert outside == []
    style = parsed.all("style")[0].text
    assert "url(" not in style
    assert "@import" not in style
    assert "<script" not in html


@pytest.mark.slow
def test_same_result_gives_the_same_bytes(tree: xr.DataTree, html: str) -> None:
    assert str(page(tree, title="Calibration of two")) == html


def test_size_of_a_classifier_allows_twenty(html: str) -> None:
    assert len(html) < 8e6 * 2 / 20


@pytest.mark.slow
def test_hostile_names_are_shown_and_add_no_element_and_no_attribute(hostile: Page) -> None:
    assert hostile.all("script") == []
    assert hostile.all("i") == []
    assert not any(name.startswith("on") for e in hostile.elements for name in e.attrs)
    assert len(set(hostile.ids)) == len(hostile.ids)
    assert all(e.attrs.get("scope") in ("col", "row") for e in hostile.all("th"))
    assert set(HOSTILE[:5]) <= {e.text for e in hostile.all("bdi")}
    assert hostile.all("h1")[0].text == HOSTILE[0]
    assert "</pre><script>alert(4)</script>" in hostile.section("priors").text
    said = words(hostile.section("answer").text)
    assert "2. Semi-supervised evaluation of several classifiers, by group" in said
    assert "3. Venn-Abers predictors and credible bounds of class probabilities" in said


@pytest.mark.parametrize(
    "failed_fit",
    [
        make_result(("vit", "gbm"), draws=50, converged=False),
        make_panel_result(draws=60, converged=False),
        failed(make_credal_result()),
    ],
    ids=["errors", "metrics", "rows"],
)
def test_a_failed_fit_is_said_first_and_loudly(failed_fit: xr.DataTree) -> None:
    found = sections([failed_fit], "answer", "table")
    assert any(e.attrs.get("role") == "alert" for e in found.elements)
    answer = words(found.section("answer").text)
    assert answer.startswith("The fit did not converge: do not use these numbers")
    assert "Unreliable:" in answer
    assert "NOT CONVERGED" in found.section("table").text


@pytest.mark.slow
def test_no_name_turns_the_direction_of_the_page() -> None:
    marks = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    result = make_result((f"a{marks}b",), groups=(f"g{marks}", "h"), draws=50)
    result.attrs |= {name: f"{name} {marks}" for name in ("title", "prior_text", "status")}
    found = page(result, title=f"heading {marks}")
    assert not set(marks) & set(found)
    spelled = "".join(f"\\u{ord(mark):04x}" for mark in marks)
    assert Page(found).all("h1")[0].text == f"heading {spelled}"
    images = [base64.b64decode(svg) for svg in re.findall(r"svg\+xml;base64,([\w+/=]+)", found)]
    assert any(b"\\u202e" in svg for svg in images)
    assert not any(mark.encode() in svg for svg in images for mark in marks)


@pytest.mark.slow
@pytest.mark.usefixtures("unrendered")
def test_a_long_name_is_cut_with_the_whole_of_it_as_tooltip() -> None:
    name = "long_" * 60
    found = Page(str(page(make_result((name,), draws=50))))
    cut = [e for e in found.all("bdi") if e.attrs.get("title") == name]
    assert cut
    assert all(len(e.text) <= 120 for e in cut)


def test_draws_without_mcmc_are_called_so() -> None:
    result = make_result(("vit",), draws=50)
    result.attrs |= {"method": "direct", "sampler": "importance sampling"}
    found = sections([result], "answer", "provenance")
    answer = words(found.section("answer").text)
    assert answer.startswith("Without MCMC")
    assert "; without MCMC)" in answer
    assert "importance sampling" in found.section("provenance").text


@pytest.mark.usefixtures("unrendered")
def test_several_results_share_the_sections() -> None:
    overall = make_result(("vit",), draws=50)
    grouped = make_result(("vit",), groups=("men", "women"), draws=50)
    found = Page(str(page([overall, grouped])))
    headings = [e.text for e in found.all("h3")]
    assert headings[:2] == [
        "1. Expected calibration error",
        "2. Expected calibration error, by group, classifier vit",
    ]
    assert len(set(found.ids)) == len(found.ids)
    assert words(found.section("groups").text).count("worst") == 1
    assert len(found.section("references").text.split("Naeini")) == 2


@pytest.mark.usefixtures("unrendered")
def test_a_bare_result_has_what_it_can_have() -> None:
    bare = make_result(("vit",), draws=50).drop_nodes(["bounds", "model_average"])
    found = Page(str(page(bare)))
    names = [e.attrs["id"] for e in found.all("section")]
    assert "bounds" not in names
    assert "differences" not in names
    assert "posterior probability that" not in found.section("answer").text


def test_is_the_public_name() -> None:
    assert bc.report is report


@pytest.mark.slow
@pytest.mark.usefixtures("unrendered")
def test_writes_the_file_and_nothing_else(tmp_path: Path) -> None:
    path = report(make_result(("vit",), draws=50), tmp_path / "out.html")
    assert path == tmp_path / "out.html"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.html"]
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_replaces_a_report_only_by_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    path.write_text("old")
    with pytest.raises(InputError):
        report([], path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["x.pdf", "report", "x.nc", "x.html.txt"])
def test_refuses_another_ending(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"must end in \.html or \.htm; got '{name}'"):
        report([], tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_refuses_a_place_it_cannot_write_to(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    for path in (tmp_path, tmp_path / "none" / "out.html", blocked / "out.html"):
        # Not a result: the place is found wanting before any work is done.
        with pytest.raises(OutputError, match="cannot be written"):
            report([], path)


@pytest.mark.parametrize("prob", [0.0, 1.0, -0.1, 90.0, float("nan")])
def test_refuses_a_probability_that_is_none(tree: xr.DataTree, prob: float) -> None:
    with pytest.raises(InputError, match=r"prob must be a number in \(0, 1\)"):
        page(tree, prob=prob)


def test_refuses_what_is_not_a_result() -> None:
    with pytest.raises(InputError, match="at least one result"):
        page([])
    with pytest.raises(InputError, match="DataTree"):
        page([xr.Dataset()])  # type: ignore[list-item]  # the wrong type is refused


def test_alarms_of_windows_are_marked(tmp_path: Path) -> None:
    change = bc.change(windows(0.10, 0.11, 0.2))
    shown = [
        Window(row.Index, row.n, row.mean, row.lower, row.upper, 0.0, True)
        for row in change.table.itertuples()
    ]
    series = [Series("north", shown, change), Series("south", shown[:1])]
    path = tmp_path / "windows.html"
    windows_report(series, list(change.table.index), {}, path, title="", prob=0.9, provenance={})
    found = Page(path.read_text())
    # A window without a fit, such as one without labels, is passed over.
    assert "from the window before that has a fit" in words(found.section("windows").text)
    (alarm,) = (element.text for element in found.all("span") if "alarm" in element.text)
    assert alarm == "> 0.999 alarm"
    # Of the windows of the second series, of which there is one, none is compared.
    cells = [element.text for element in found.all("td")]
    assert (cells.count("baseline"), cells.count("–")) == (1, 3)
    assert change.text in words(found.section("answer").text)
