"""Sections of every result: alerts, table, diagnostics, priors, bounds, provenance, glossary."""

from collections.abc import Sequence

import numpy as np
import pytest
import xarray as xr
from markupsafe import Markup

from bayescal.core.plausibility import contradiction
from bayescal.plots import gallery as plots
from bayescal.report import sections
from bayescal.report.curves import groups
from bayescal.report.render import View
from bayescal.report.sections import plots as figures
from bayescal.report.sections import results as table
from bayescal.results.summary import summary
from tests.report.pages import Page, words
from tests.synthetic import make_result
from tests.synthetic_ssme import make_panel_result


def test_nothing_to_say() -> None:
    assert sections.alerts(View(make_result(("a",), draws=20), 0.9)) == []


def test_the_loudest_comes_first_and_has_the_status_with_its_remedy_alone() -> None:
    tree = make_result(("a", "b"), draws=20, converged=False, p_calibrated=0.1, shape=(0, 1, 0))
    tree.attrs["method"] = "direct"
    found = sections.alerts(View(tree, 0.9))
    assert [alert.kind for alert in found] == ["bad", "note", "quick"]
    texts = [alert.text for alert in found]
    assert texts[0] == tree.attrs["status"]
    assert tree.attrs["status"] not in texts[1:]


def test_a_remark_is_shown_although_the_fit_converged() -> None:
    tree = make_result(("a",), draws=20)
    tree.attrs["status"] = "All labels are of one class."
    (alert,) = sections.alerts(View(tree, 0.9))
    assert (alert.kind, alert.text) == ("warn", "All labels are of one class.")


def test_one_case_that_failed_is_enough() -> None:
    """The flag of a case is believed even where the summary of all says otherwise."""
    tree = make_result(("a", "b"), draws=20, converged=False)
    tree.attrs["converged"], tree.attrs["status"] = "true", "ok"
    (alert,) = sections.alerts(View(tree, 0.9))
    assert alert.kind == "bad"
    assert alert.text.startswith("<bdi>a</bdi>. See")
    assert "target_accept" in alert.text


def test_a_contradiction_of_estimate_and_posterior_is_a_warning_beside_the_shape() -> None:
    """The note on the shape of the curve must not take the place of the status."""
    tree = make_result(("a",), draws=20, p_calibrated=0.1, shape=(0, 1, 0))
    (sentence,) = contradiction(0.5, np.linspace(0.01, 0.02, 5000))
    tree.attrs["status"] = f"a: {sentence}"
    warning, note = sections.alerts(View(tree, 0.9))
    assert (warning.kind, warning.text) == ("warn", f"a: {sentence}")
    assert note.kind == "note"


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((0, 1, 0), "a: The calibration curve is rough"),
        ((0, 0, 1), "a: The calibration curve jumps near"),
    ],
)
def test_a_curve_that_is_not_smooth_is_told_case_by_case(
    shape: tuple[float, float, float], said: str
) -> None:
    tree = make_result(("a", "b"), draws=20, p_calibrated=0.1, shape=shape)
    tree["model_average"]["weight"].loc[{"classifier": "b"}] = [0.1, 0.9, 0, 0]
    (alert,) = sections.alerts(View(tree, 0.9))
    assert alert.kind == "note"
    assert said in alert.text
    assert "b: " not in alert.text


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        # The most probable description is the rough one, but the curve is as probably even.
        ([0.3, 0.25, 0.45, 0.0], False),
        ([0.25, 0.2, 0.3, 0.25], True),
    ],
)
def test_a_curve_is_called_not_smooth_only_if_that_is_probable(
    weight: list[float], said: bool
) -> None:
    tree = make_result(("a",), draws=20, p_calibrated=0.1, shape=(0, 1, 0))
    tree["model_average"]["weight"][:] = weight
    found = sections.alerts(View(tree, 0.9))
    assert bool(found) is said
    assert all("Perhaps the calibration curve is rough" in one.text for one in found)
    assert all("probably not smooth" in one.title for one in found)


def test_many_curves_that_are_not_smooth_are_counted() -> None:
    names = [f"model {k}" for k in range(7)]
    tree = make_result(names, draws=20, p_calibrated=0.1, shape=(0, 1, 0))
    (alert,) = sections.alerts(View(tree, 0.9))
    assert alert.text.count("is rough") == 4
    assert "The same holds for 3 more cases" in alert.text


@pytest.mark.parametrize("shape", [None, (1.0, 0.0, 0.0)])
def test_a_smooth_curve_needs_no_note(shape: tuple[float, float, float] | None) -> None:
    tree = make_result(("a",), draws=20, p_calibrated=0.1, shape=shape)
    assert sections.alerts(View(tree, 0.9)) == []


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
    draws = tree["posterior"].tce.stack(sample=("chain", "draw"))
    for caption in page.all("caption"):
        owner, said = caption.text.split(":")
        place = draws.sel(classifier=owner).argmax("group").to_numpy()
        shares = np.bincount(place, minlength=draws.sizes["group"]) / len(place)
        worst = str(draws.group.values[shares.argmax()])
        assert (f"worst calibrated in {worst} (probability " in said) == (
            round(shares.max(), 2) > 0.5
        )
    assert groups(View(make_result(("a",), draws=20), 0.9)) is None
    # The highest accuracy is not the worst.
    assert groups(View(make_panel_result(("a", "b"), ("x", "y")), 0.9)) is None


def test_of_two_groups_alike_none_is_called_the_worst() -> None:
    tree = make_result(("a",), groups=("x", "y"), draws=100)
    tce = tree["posterior"]["tce"]
    tce.loc[{"group": "x"}] = 0.2
    # The second is the larger one in 201 of 400 draws, which is written as .50.
    tce.loc[{"group": "y"}] = np.where(np.arange(400) < 201, 0.3, 0.1).reshape(4, 100)
    assert "no group is clearly worst or best" in text(groups(View(tree, 0.9)))


def test_names_that_join_to_one_label_keep_their_rows() -> None:
    alike = (("a / b", "a"), ("c", "b / c"))
    page = parsed(sections.diagnostics(View(make_result(*alike, draws=20), 0.9)))
    assert len(page.all("tr")) == 1 + 4
    page = parsed(groups(View(make_result(*alike, ("x", "y"), draws=20), 0.9)))
    assert len(page.all("table")) == 4


def test_diagnostics_mark_what_breaks_its_rule() -> None:
    tree = make_result(("a", "b"), draws=50, converged=False)
    page = parsed(sections.diagnostics(View(tree, 0.9)))
    assert cells(page, "a")[:3] == ["1.530 ✗", "7 ✗", "31 ✗"]
    assert cells(page, "b")[:3] == ["1.002", "1,834", "0"]
    assert "Not converged: a." in text(sections.diagnostics(View(tree, 0.9)))
    assert "Sample longer" in text(sections.diagnostics(View(tree, 0.9)))
    tree = make_result(("a",), classes=("1", "2"), draws=50, converged=False)
    assert "Not converged: class 1." in text(sections.diagnostics(View(tree, 0.9)))


def test_diagnostics_say_when_all_is_well() -> None:
    well = make_result(("a",), draws=20)
    assert text(sections.diagnostics(View(well, 0.9))).startswith(
        "All checks passed. The chains agree"
    )
    well.attrs["method"] = "direct"
    well["diagnostics"]["rhat_max"] = well["diagnostics"]["rhat_max"] * float("nan")
    assert "chains" not in text(sections.diagnostics(View(well, 0.9)))
    assert "R-hat" not in text(sections.diagnostics(View(well, 0.9)))


def test_priors_in_words_and_as_json(tree: xr.DataTree) -> None:
    said = text(sections.priors(View(tree, 0.9)))
    assert said.startswith("Intercept and slope of the recalibration are normal")
    assert '"slope": "Normal(0, 0.6)"' in said


def test_bounds_state_kind_and_assumption(tree: xr.DataTree) -> None:
    page = parsed(sections.bounds(View(tree, 0.9)))
    value, meaning = cells(page, "total bias")
    assert value == "0.1225"
    assert meaning == "upper bound on |E[ECE] - TCE|Assumes: the calibration curve is Lipschitz"
    assert cells(page, "optimal number of bins")[0] == "12"


def test_bounds_of_many_cases_are_shown_by_their_range() -> None:
    tree = make_result(tuple("abcdefg"), draws=20)
    values = tree["bounds"]["total_bias"]
    tree["bounds"]["total_bias"] = values.copy(data=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.7])
    page = parsed(sections.bounds(View(tree, 0.9)))
    assert cells(page, "total bias")[0] == "0.1000 to 1.7000"
    assert "an upper bound above 1 is vacuous" in page.elements[0].text
    few = text(sections.bounds(View(make_result(("a", "b"), draws=20), 0.9)))
    assert "vacuous" not in few


def test_bounds_of_few_cases_stand_side_by_side() -> None:
    tree = make_result(("a", "b"), draws=20)
    values = tree["bounds"]["total_bias"]
    tree["bounds"]["total_bias"] = values.copy(data=[0.1, 0.2])
    page = parsed(sections.bounds(View(tree, 0.9)))
    assert cells(page, "total bias")[:2] == ["0.1000", "0.2000"]
    assert [e.text for e in page.all("th")][:4] == ["Bound", "a", "b", "Kind and assumption"]


def test_provenance_reproduces_the_run(tree: xr.DataTree) -> None:
    said = text(sections.provenance(View(tree, 0.9)))
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
    assert "Data 1,900 labelled rows, 100 without" in text(sections.provenance(View(tree, 0.9)))


def test_papers_are_listed_once_with_all_that_was_used() -> None:
    first, second = make_result(("a",), draws=20), make_result(("a",), draws=20)
    second.attrs["references"] = second.attrs["references"].replace("metrics", "curves")
    said = text(sections.references([View(first, 0.9), View(second, 0.9)]))
    assert said.count("Naeini") == 1
    assert said.endswith("Used: section 'Calibration metrics'; section 'Calibration curves'.")


def test_links_are_of_the_web_only() -> None:
    assert "<a" not in sections.linked("javascript:alert(1) and <a href='x'>")
    page = parsed(sections.linked('See (https://doi.org/10.1/"><script>alert(1)</script>).'))
    assert page.all("script") == []
    assert page.all("a")[0].attrs["href"] == "https://doi.org/10.1/"


def test_the_glossary_explains_what_is_shown(tree: xr.DataTree) -> None:
    single = View(make_result(("a",), draws=20), 0.95)
    assert "95% credible interval" in text(sections.glossary([single]))
    assert "Paired difference" not in text(sections.glossary([single]))
    assert "Paired difference" in text(sections.glossary([single, View(tree, 0.9)]))


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
