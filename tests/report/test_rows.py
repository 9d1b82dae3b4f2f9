"""The report on class probabilities of rows: words, rows, refits, and hostile names."""

import re

import pytest
import xarray as xr

import bayescal as bc
from bayescal.report import rows
from bayescal.report.page import page
from bayescal.report.render import View
from bayescal.results.summary import table
from tests.report.pages import Page, sections, words
from tests.synthetic_credal import make_credal_grid, make_credal_result


def read(*trees: xr.DataTree, prob: float = 0.9) -> Page:
    return Page(str(page(list(trees), prob=prob)))


@pytest.fixture(scope="module")
def binary() -> xr.DataTree:
    return make_credal_result()


@pytest.fixture(scope="module")
def parsed(binary: xr.DataTree) -> Page:
    return read(binary, prob=0.8)


@pytest.fixture(scope="module")
def three() -> Page:
    return read(make_credal_result(classes=("cat", "dog", "eel"), target=100))


def test_how_many_rows_are_decided_comes_first(binary: xr.DataTree, parsed: Page) -> None:
    frame = bc.row_table(binary, 0.8)
    n_open = int((frame["n_open"] > 1).sum())
    said = words(parsed.section("answer").text)
    assert "Data: 150 labelled calibration rows, and all 30 target rows." in said
    assert f"{30 - n_open} are decided" in said
    assert f"{n_open} are open" in said or n_open == 1
    for name in ("no", "yes"):
        alone = ((frame["n_open"] == 1) & (frame["open"] == name)).sum()
        assert f"{alone} for {name}" in said
    width = (frame["upper"] - frame["lower"]).mean()
    assert f"The 80% bounds are {width:.3f} wide on average." in said


def test_where_no_row_is_open_nothing_is_left_undetermined() -> None:
    tree = make_credal_result(target=1)
    rows = bc.row_table(tree)
    said = words(read(tree).section("answer").text)
    assert ("do not determine" in said) == bool((rows["n_open"] > 1).any())
    # Bounds of probability near 0 are points, which leave one class each.
    said = words(read(tree, prob=1e-6).section("answer").text)
    assert "0 are open. The" in said
    assert "do not determine" not in said


def test_decided_rows_add_up_whatever_the_number_of_classes() -> None:
    tree = make_credal_result(
        classes=("cat", "dog", "eel", "fox", "gnu"), calibration=400, target=60
    )
    said = words(read(tree).section("answer").text)
    listed = re.search(r"(\d+) are decided \((.*?)\)", said)
    assert listed is not None
    assert listed[2].endswith(" for others")
    assert sum(map(int, re.findall(r"\d+", listed[2]))) == int(listed[1])


def test_one_target_row_is_said_in_the_singular() -> None:
    tree = make_credal_result(target=1)
    said = words(read(tree).section("answer").text)
    assert "Data: 150 labelled calibration rows, and 1 target row." in said
    assert table(tree, 0.9).notes == ("Widths and decisions are of 1 target row.",)


def test_the_section_says_what_intervals_are_and_are_not(binary: xr.DataTree, parsed: Page) -> None:
    said = words(parsed.section("rows").text)
    assert "with a posterior probability of at least 80%" in said
    assert "with 1 pseudo-observation of" in said
    assert "Not an interval for that probability." in said
    frame = bc.row_table(binary, 0.8)
    assert f"which are no such bounds, are {(frame['p1'] - frame['p0']).mean():.3f}" in said
    assert "Improper" not in said
    least = frame.sort_values("score").iloc[0]
    assert f"{least['lower']:.3f} to {least['upper']:.3f}" in said


@pytest.mark.parametrize(("selected", "number"), [(3, 1), ([3, 0], 2)])
def test_rows_of_a_selection_are_counted(binary: xr.DataTree, selected, number) -> None:
    said = f"{number} of the 30 target rows, which were selected; "
    chosen = binary.isel(obs=selected)
    assert said in words(read(chosen).section("answer").text)
    assert table(chosen, 0.9).notes[0].startswith("Widths and decisions are of " + said)


@pytest.mark.parametrize("selected", [3, [3, 0]])
def test_rows_of_a_selection_keep_their_numbers(binary: xr.DataTree, selected) -> None:
    view = View(chosen := binary.isel(obs=selected), 0.9)
    number = int(binary["constant_data"]["target_row"][3])
    assert rows.variable_name(view, "prob[3]") == f"Probability of row {number}"
    assert f"Probability of row {number}" in words(read(chosen).section("sensitivity").text)


def test_of_several_classes_improper_rows_are_counted(three: Page) -> None:
    said = words(three.section("rows").text)
    assert "the results need not be consistent" in said.lower()
    assert "p0 and p1 are improper" in said
    assert "66 of the 100 target rows, evenly spaced by score" in words(
        three.section("answer").text
    )
    assert "Rows improper" in three.section("table").text


def test_every_other_section_has_its_words(parsed: Page, three: Page) -> None:
    for found in (parsed, three):
        ids = [element.attrs["id"] for element in found.all("section")]
        assert {"answer", "table", "plots", "rows", "diagnostics", "priors", "sensitivity"} < set(
            ids
        )
        assert "differences" not in ids
        bounds = words(found.section("bounds").text)
        assert "Venn-Abers probabilities p0 and p1" in bounds
        assert "nan" not in bounds.lower()
        assert all(len(image.attrs["alt"]) > 20 for image in found.all("img"))
        whole = words(" ".join(e.text for e in found.all("main")))
        for other in ("plug-in ECE", "P(calibrated)", "given miscalibration", "credible interval"):
            assert other not in whole, other


def test_of_many_classes_rows_are_listed_with_that_of_their_decision() -> None:
    tree = make_credal_result(classes=("a", "b", "c", "d", "e"))
    said = words(sections([tree], "rows").section("rows").text)
    frame = bc.row_table(tree)
    # Listed rows are evenly spaced by the score of the last class: the least is among them.
    own = frame[frame["class"] == "e"].sort_values("score")
    lines = frame.loc[own.index[0]]
    line = lines[lines["class"] == lines["decision"].iloc[0]].iloc[0]
    assert f"{line['score']:.3f}{line['lower']:.3f} to {line['upper']:.3f}" in said


def test_classes_have_bounds_from_least_to_largest(three: Page) -> None:
    assert " to 0." in words(three.section("bounds").text)


@pytest.mark.slow
def test_names_of_classes_may_hold_what_joins_names() -> None:
    names = ("p / q", "r", "s]")
    tree = make_credal_result(classes=names, calibration=20)
    view = View(tree, 0.9)
    (said,) = (
        one for one in rows._sentences(view, view.cases[0], _read(view)) if "most open" in one
    )
    assert words(said.striptags()).endswith("3 classes stay open, p / q, r and s].")
    assert rows.variable_name(view, "prob[0, s]]").endswith(", s]")


def _read(view: View) -> rows.Rows:
    return rows.read_rows(view.tree, view.cases[0], view.prob)


def test_refits_are_reported_row_by_row() -> None:
    grid = make_credal_grid(("a", "b"))
    said = words(sections([grid], "sensitivity").section("sensitivity").text)
    for one in bc.conclusions(grid):
        assert one.text in said
    assert "Same classes open" in said
    assert "heavy" in said
