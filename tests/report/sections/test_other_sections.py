"""Table, groups, diagnostics, priors, bounds, provenance, papers and glossary."""

from collections.abc import Sequence

import pytest
import xarray as xr
from markupsafe import Markup

from bayescal.plots.kinds import errors as plots
from bayescal.report.errors import groups
from bayescal.report.page import sections_of
from bayescal.report.sections import (
    bounds,
    diagnostics,
    glossary,
    linked,
    priors,
    provenance,
    references,
)
from bayescal.report.sections import plots as figures
from bayescal.report.sections import results as table
from bayescal.report.view import View
from bayescal.results.summary import summary
from tests.report.pages import Page, words
from tests.synthetic import make_result
from tests.synthetic_credal import make_credal_result
from tests.synthetic_ssme import make_panel_result


def parsed(body: Markup | None) -> Page:
    assert body is not None
    return Page(f"<div>{body}</div>")


def text(body: Markup | None) -> str:
    return words(parsed(body).elements[0].text)


def cells(page: Page, row: str) -> Sequence[str]:
    """What stands beside the row's heading."""
    at = next(i for i, e in enumerate(page.elements) if e.tag == "th" and e.text == row)
    beside = []
    for element in page.elements[at + 1 :]:
        if element.tag in ("tr", "th"):
            break
        if element.tag == "td":
            beside.append(words(element.text))
    return beside


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    return make_result(("a", "b"), groups=("men", "women"), draws=50)


def test_ids_of_sections_differ() -> None:
    trees = (make_result(draws=20), make_panel_result(draws=20), make_credal_result())
    found = sections_of([View(tree, 0.9) for tree in trees])
    assert len({section.id for section in found}) == len(found) > 10


def test_the_table_is_the_summary(tree: xr.DataTree) -> None:
    page = parsed(table(View(tree, 0.8)))
    frame = summary(tree, 0.8)
    for label, row in frame.iterrows():
        shown = cells(page, str(label))
        assert shown[0] == f"{row['n']:,.0f}"
        assert float(shown[1]) == pytest.approx(row["ece_point"], abs=5e-5)
        assert f"{row['ece_upper']:.4f}" in shown[4]
    titles = [e.text for e in page.all("th") if e.attrs["scope"] == "col"]
    assert "ECE, 80% interval" in titles
    assert len(titles) == len(set(titles))


def test_columns_of_a_later_quantity_are_shown_under_their_names() -> None:
    """A result without ECE has fewer columns, not an error."""
    tree = make_result(("a",), draws=20).drop_nodes("model_average")
    assert "P(calibrated)" not in text(table(View(tree, 0.9)))


def test_groups_from_the_worst_to_the_best(tree: xr.DataTree) -> None:
    page = parsed(groups(View(tree, 0.9)))
    frame = summary(tree).set_index(["classifier", "group"])["tce_mean"]
    for caption in page.all("caption"):
        owner, said = caption.text.split(":")
        worst = frame.loc[owner].idxmax()
        assert f"worst calibrated in {worst}," in said
    assert groups(View(make_result(("a",), draws=20), 0.9)) is None


def test_diagnostics_mark_what_breaks_its_rule() -> None:
    tree = make_result(("a", "b"), draws=50, converged=False)
    page = parsed(diagnostics(View(tree, 0.9)))
    assert cells(page, "a")[:3] == ["1.530 ✗", "7 ✗", "31 ✗"]
    assert cells(page, "b")[:3] == ["1.002", "1,834", "0"]
    assert "Not converged: a." in text(diagnostics(View(tree, 0.9)))
    assert "Sample longer" in text(diagnostics(View(tree, 0.9)))


def test_diagnostics_say_when_all_is_well() -> None:
    well = make_result(("a",), draws=20)
    assert text(diagnostics(View(well, 0.9))).startswith("All checks passed. The chains agree")
    well.attrs["method"] = "direct"
    well["diagnostics"]["rhat_max"] = well["diagnostics"]["rhat_max"] * float("nan")
    assert "chains" not in text(diagnostics(View(well, 0.9)))
    assert "R-hat" not in text(diagnostics(View(well, 0.9)))


def test_priors_in_words_and_as_json(tree: xr.DataTree) -> None:
    said = text(priors(View(tree, 0.9)))
    assert said.startswith("Intercept and slope of the recalibration are normal")
    assert '"slope": "Normal(0, 0.6)"' in said


def test_bounds_state_kind_and_assumption(tree: xr.DataTree) -> None:
    page = parsed(bounds(View(tree, 0.9)))
    value, meaning = cells(page, "total bias")
    assert value == "0.1225"
    assert meaning == "upper bound on |E[ECE] - TCE|Assumes: the calibration curve is Lipschitz"
    assert cells(page, "optimal number of bins")[0] == "12"


def test_bounds_of_many_cases_are_shown_by_their_range() -> None:
    tree = make_result(tuple("abcdefg"), draws=20)
    values = tree["bounds"]["total_bias"]
    tree["bounds"]["total_bias"] = values.copy(data=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.7])
    page = parsed(bounds(View(tree, 0.9)))
    assert cells(page, "total bias")[0] == "0.1000 to 1.7000"
    assert "No calibration error is above 1" in page.elements[0].text
    few = text(bounds(View(make_result(("a", "b"), draws=20), 0.9)))
    assert "No calibration error is above 1" not in few


def test_bounds_of_few_cases_stand_side_by_side() -> None:
    tree = make_result(("a", "b"), draws=20)
    values = tree["bounds"]["total_bias"]
    tree["bounds"]["total_bias"] = values.copy(data=[0.1, 0.2])
    page = parsed(bounds(View(tree, 0.9)))
    assert cells(page, "total bias")[:2] == ["0.1000", "0.2000"]
    assert [e.text for e in page.all("th")][:4] == ["Bound", "a", "b", "Kind and assumption"]


def test_provenance_reproduces_the_run(tree: xr.DataTree) -> None:
    said = text(provenance(View(tree, 0.9)))
    for fact in (
        "Data 2,000 labelled rows",
        "Groups men, women",
        "Binning 15 equal-mass bins, right-closed",
        "Sampler nutpie NUTS 0.16, 4 × 50 draws",
        "Seed 0",
        "Data hash sha256:0123456789abcdef",
    ):
        assert fact in said
    tree.attrs["n_labeled"] = 1900
    assert "Data 1,900 labelled rows, 100 without" in text(provenance(View(tree, 0.9)))


def test_papers_are_listed_once_with_all_that_was_used() -> None:
    first, second = make_result(("a",), draws=20), make_result(("a",), draws=20)
    second.attrs["references"] = second.attrs["references"].replace("metrics", "curves")
    said = text(references([View(first, 0.9), View(second, 0.9)]))
    assert said.count("Naeini") == 1
    assert said.endswith("Used: section 'Calibration metrics'; section 'Calibration curves'.")


def test_links_are_of_the_web_only() -> None:
    assert "<a" not in linked("javascript:alert(1) and <a href='x'>")
    page = parsed(linked('See (https://doi.org/10.1/"><script>alert(1)</script>).'))
    assert page.all("script") == []
    assert page.all("a")[0].attrs["href"] == "https://doi.org/10.1/"


def test_the_glossary_explains_what_is_shown(tree: xr.DataTree) -> None:
    single = View(make_result(("a",), draws=20), 0.95)
    assert "95% credible interval" in text(glossary([single]))
    assert "Paired difference" not in text(glossary([single]))
    assert "Paired difference" in text(glossary([single, View(tree, 0.9)]))


@pytest.mark.slow
def test_too_many_diagrams_are_cut_to_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "MOST_DIAGRAMS", 2)
    monkeypatch.setattr(plots, "MOST_PANELS", 2)
    tree = make_result(("a", "b", "c"), draws=20)
    page = parsed(figures(View(tree, 0.9)))
    worst = summary(tree)["tce_mean"].nlargest(2).index
    shown = [e.attrs["alt"].split(".")[0] for e in page.all("img")]
    assert shown[:2] == [f"Reliability diagram of {name}" for name in worst]
    assert len(shown) == 3
    assert "draws the other 1" in text(figures(View(tree, 0.9)))
