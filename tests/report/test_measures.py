"""Further measures in the report: who has them, what is said of each, names from others."""

from pathlib import Path

import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.text import probability
from bayescal.report.curves import measures
from bayescal.report.page import page
from bayescal.report.render import View
from bayescal.results.measure import shown_measures
from tests.report.pages import HOSTILE, Page
from tests.several import NAMES, result_of
from tests.synthetic import make_result


def section(tree: xr.DataTree, *specs: str) -> Page:
    found, shown = shown_measures(tree, specs)
    body = measures(View(found, 0.9, 1, tuple(shown)))
    assert body is not None
    return Page(str(body))


def cells(found: Page) -> list[str]:
    return [one.text for one in found.elements if one.tag in ("th", "td")]


def test_without_measures_there_is_no_section() -> None:
    assert measures(View(make_result(("a",), draws=20), 0.9)) is None


def test_what_each_is_and_which_classifier_is_best() -> None:
    tree = result_of("ece", NAMES[:2])
    found = cells(section(tree, "brier", "slope"))
    assert found[:6] == ["Measure", "Classifier", "Plug‑in", "Mean", "90% interval", "P(best)"]
    meaning = "Mean squared difference of score and label"
    assert found[6] == f"Brier score{meaning}; lower is better."
    chance = float(bc.best(tree, "brier").prob_best.sel(classifier=NAMES[0]))
    assert found[11] == probability(chance)
    # A slope has no direction.
    assert (found[18][:17], found[23]) == ("Calibration slope", "–")


def test_what_is_of_the_rows_alone_is_said() -> None:
    tree = result_of("ece", NAMES[:2])

    def note(*specs: str) -> str:
        elements = section(tree, *specs).elements
        return next(one.text for one in elements if one.attrs.get("class") == "note")

    assert "curve; those of Brier score, AUC are of the labelled rows" in note(
        "brier", "e90", "auc"
    )
    assert "labelled rows alone" not in note("e90", "slope")


def test_one_classifier_has_no_column_of_names_or_ranks() -> None:
    assert cells(section(make_result(("a",), draws=50), "e90"))[:4] == [
        "Measure", "Plug‑in", "Mean", "90% interval",
    ]  # fmt: skip


def test_names_are_escaped() -> None:
    found = section(make_result(HOSTILE[:2], draws=20), "e90")
    assert not [one for one in found.elements if one.tag == "script"]


def test_results_without_a_curve_go_without() -> None:
    curve, bare = make_result(("a",), draws=50), make_result(("b",), draws=50)
    del bare["curve"]
    assert "Further measures" in page([curve, bare], measures=["e90"])
    with pytest.raises(bc.InputError, match="holds none"):
        page([bare], measures=["e90"])


def test_a_wrong_name_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(bc.InputError, match="did you mean 'e90'"):
        bc.report(make_result(("a",), draws=20), tmp_path / "a.html", measures=["e99"])
    assert not list(tmp_path.iterdir())
