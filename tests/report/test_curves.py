"""Tables of errors, shapes of curves, differences, groups, and further measures."""

import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from markupsafe import escape

import bayescal as bc
from bayescal.core.text import fixed, probability
from bayescal.curves.priors import COMPONENTS
from bayescal.report import report
from bayescal.report.answers import terms
from bayescal.report.curves import MOST_PAIRS, decisions, differences, measures, shapes
from bayescal.report.page import page
from bayescal.report.render import View
from bayescal.results import access
from bayescal.results.compare import difference
from bayescal.results.curves import curve_shape
from bayescal.results.measure import shown_measures, with_measures
from tests.report.pages import HOSTILE, Page
from tests.several import NAMES, result_of
from tests.synthetic import make_result


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    tree = make_result(("a", "b"), draws=50, p_calibrated=0.2, shape=(1, 2, 1))
    tree["model_average"]["weight"].loc[{"classifier": "b"}] = [0.02, 0.9, 0.08, 0.0]
    return tree


def cells(html: str) -> list[str]:
    return [one.text.strip() for one in Page(html).elements if one.tag in ("td", "th")]


def test_of_two_copies_that_are_off_none_is_called_calibrated() -> None:
    score = np.tile([0.05, 0.95], 100)
    scores = bc.Scores.stack({"a": score, "b": score}, y_true=np.repeat([0, 1], 100))
    result = bc.fit(bc.ece, scores, method="direct", seed=1)
    assert bc.summary(result)["p_calibrated"].max() < 0.001
    html = str(differences(View(result, 0.9)))
    assert "P(both calibrated)" not in html
    # First, second, difference, interval, P(first smaller), P(equal), correlation.
    assert cells(f"<div>{html}</div>")[-2] == "> 0.999"


def test_the_table_holds_the_weight_of_every_description(tree: xr.DataTree) -> None:
    html = str(shapes(View(tree, 0.9)))
    found = cells(f"<div>{html}</div>")
    for row in (["a", "0.20", "0.20", "0.40", "0.20"], ["b", "0.02", "0.90", "0.08", "< 0.001"]):
        place = found.index(row[0])
        assert found[place : place + 5] == row
    assert html.count("<strong>") == 2
    assert "<strong>0.40</strong>" in html
    assert "<strong>0.90</strong>" in html


def test_descriptions_without_weight_have_no_column() -> None:
    left_out = make_result(("a",), draws=20, p_calibrated=0.1, shape=(1, 1, 0))
    html = str(shapes(View(left_out, 0.9)))
    assert "Rough" in html
    assert "Segments" not in html


def test_each_curve_is_said_in_words(tree: xr.DataTree) -> None:
    found = cells(f"<div>{shapes(View(tree, 0.9))}</div>")
    for case in access.cases(tree):
        shape = curve_shape(tree, case)
        assert shape is not None
        assert f"{shape.words}." in found


def test_a_result_without_descriptions_has_no_such_section() -> None:
    assert shapes(View(make_result(("a",), draws=20), 0.9)) is None


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
    assert "a: Perhaps the calibration curve is rough" in boxes[1].text
    captions = [one.text for one in page.elements if one.tag == "figcaption"]
    for case in access.cases(tree):
        shape = curve_shape(tree, case)
        assert shape is not None
        assert shape.sentence in captions


def test_the_glossary_of_the_report_explains_the_interval_that_it_shows(tree: xr.DataTree) -> None:
    averaged, alone = (dict(terms(View(one, 0.9))) for one in (tree, make_result(("a",), draws=20)))
    for one in (averaged, alone):
        assert "at least 90%" in one["90% credible interval"]
    component = averaged["Component of the curve"]
    assert "has the power 0.35" in component
    # Every component that the table of the curve may name.
    assert [one for one in COMPONENTS if one not in component] == []
    assert "Component of the curve" not in alone


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


def test_settled_pairs_come_first_and_bold() -> None:
    view = View(make_result(("a", "b", "c", "d"), draws=100), 0.9)
    bold = [bool(row.count("<strong>")) for row in str(differences(view)).split("<tr>")[2:]]
    assert len(bold) == 6
    assert bold == sorted(bold, reverse=True)
    assert any(bold)


def test_pairs_stay_within_their_group() -> None:
    tree = make_result(("a", "b"), groups=("x", "y", "z"), draws=50)
    found = {row[0]: row[1:] for row in rows(View(tree, 0.9))}
    assert sorted(found) == ["x", "y", "z"]
    # A selected group has the pairs that it has among the others.
    assert rows(View(tree.sel(group="y"), 0.9)) == [found["y"]]


@pytest.mark.slow
def test_too_many_pairs_are_cut_and_the_rest_counted() -> None:
    names = tuple(f"m{i}" for i in range(13))
    body = str(differences(View(make_result(names, draws=10), 0.9)))
    assert body.count("<tr>") == MOST_PAIRS + 1
    assert "12 further pairs" in body
    assert "of many pairs some are so by chance" in body


def test_the_pairs_most_apart_are_found_without_the_difference_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view, asked = View(make_result(tuple("abcdefg"), draws=60), 0.9), []

    def counted(*given: Any, **more: Any) -> Any:
        asked.append(given)
        return difference(*given, **more)

    pairs = [difference(view.tree, *two) for two in combinations("abcdefg", 2)]
    resolved = [pair for pair in pairs if max(pair.lower, -pair.upper) > 0]
    assert 2 < len(resolved) < len(pairs)
    expected = sorted((abs(pair.mean) for pair in resolved), reverse=True)
    parts = sys.modules["bayescal.report.curves"]
    monkeypatch.setattr(parts, "difference", counted)
    monkeypatch.setattr(parts, "MOST_PAIRS", 2)
    shown = [difference(view.tree, *row[:2]) for row in rows(view)]
    assert [-pair.mean for pair in shown] == pytest.approx(expected[:2], abs=1e-12)
    assert len(asked) < len(pairs)


def test_nothing_without_pairing() -> None:
    assert differences(View(make_result(("a",), draws=20), 0.9)) is None
    unpaired = make_result(("a", "b"), draws=20).drop_nodes("error_correlation")
    assert differences(View(unpaired, 0.9)) is None


QUICK: dict[str, Any] = {"method": "direct", "seed": 20, "draws": 300}
RNG = np.random.default_rng(4)
P = RNG.random(400)
LABEL = (RNG.random(400) < P).astype(int)
SCORES = {"<a>": P, "b": np.clip(P + RNG.normal(0, 0.2, 400), 0.01, 0.99)}


@pytest.fixture(scope="module")
def result() -> xr.DataTree:
    return bc.fit(bc.ece, bc.Scores.stack(SCORES, y_true=LABEL), **QUICK)


def test_classifiers_are_compared_class_by_class() -> None:
    """These results hold the rows that classifiers share, and no correlation of errors."""
    shares = {name: RNG.dirichlet(np.ones(3), 100) for name in "ab"}
    data = bc.Scores.stack(shares, y_true=np.arange(100) % 3)
    tree = bc.fit(bc.ece, data, multiclass="class-wise", **QUICK)
    pairs = {name: bc.difference(tree, "a", "b", class_=name) for name in "012"}
    found = {row[0]: row[3] for row in rows(View(tree, 0.9))}
    assert found == {
        name: f"{-abs(pair.mean):.3f}".replace("-", "−") for name, pair in pairs.items()
    }


def test_thresholds_of_the_measures_have_a_row_each(result: xr.DataTree) -> None:
    added = with_measures(result, ["net_benefit:.4", "e90", "net_benefit:.2"])
    text = str(decisions(View(added, 0.8)))
    for _, row in bc.decision_curve(result, [0.2, 0.4], 0.8).table.iterrows():
        for shown in (
            fixed(row["mean"]),
            escape(probability(row["p_best"])),
            fixed(row["all_upper"]),
        ):
            assert shown in text
    assert "With probability 0.95 or more, " in text
    assert "<bdi><a>" not in text
    assert "useful at thresholds" in text
    assert text.count("<img") == 1


def test_there_is_no_section_without_a_net_benefit(result: xr.DataTree) -> None:
    assert decisions(View(result, 0.9)) is None
    assert decisions(View(with_measures(result, ["e90", "net_benefit_all:.2"]), 0.9)) is None


def test_groups_have_a_curve_each_up_to_a_number() -> None:
    scores = bc.Scores(y_true=LABEL, y_prob=P, group=np.arange(400) % 8)
    grouped = bc.fit(bc.ece, scores, **QUICK)
    text = str(decisions(View(with_measures(grouped, ["net_benefit:.3"]), 0.9)))
    assert text.count("<img") == 6
    assert "draws the other 2" in text


def test_the_page_has_the_section(result: xr.DataTree, tmp_path: Any) -> None:
    path = bc.report(with_measures(result, ["net_benefit:.3"]), tmp_path / "r.html")
    assert '<section id="decisions"' in path.read_text(encoding="utf-8")


def section(tree: xr.DataTree, *specs: str) -> Page:
    found, shown = shown_measures(tree, specs)
    body = measures(View(found, 0.9, 1, tuple(shown)))
    assert body is not None
    return Page(str(body))


def cells_of(found: Page) -> list[str]:
    return [one.text for one in found.elements if one.tag in ("th", "td")]


def test_without_measures_there_is_no_section() -> None:
    assert measures(View(make_result(("a",), draws=20), 0.9)) is None


def test_what_each_is_and_which_classifier_is_best() -> None:
    tree = result_of("ece", NAMES[:2])
    found = cells_of(section(tree, "brier", "slope"))
    assert found[:6] == ["Measure", "Classifier", "Plug‑in", "Mean", "90% interval", "P(best)"]
    meaning = "Mean squared difference of score and label"
    assert found[6] == f"Brier score{meaning}; lower is better."
    chance = float(bc.best(tree, "brier").prob_best.sel(classifier=NAMES[0]))
    assert found[11] == probability(chance)
    # A slope has no direction.
    assert (found[18][:17], found[23]) == ("Calibration slope", "–")


def note_of(found: Page) -> str:
    return next(one.text for one in found.elements if one.attrs.get("class") == "note")


def test_what_is_of_the_rows_alone_is_said() -> None:
    tree = result_of("ece", NAMES[:2])
    both = note_of(section(tree, "brier", "e90", "auc"))
    assert "curve; those of Brier score, AUC are of the labelled rows" in both
    assert "labelled rows alone" not in note_of(section(tree, "e90", "slope"))


def test_one_classifier_has_no_column_of_names_or_ranks() -> None:
    found = section(make_result(("a",), draws=50), "oe")
    assert cells_of(found)[:4] == ["Measure", "Plug‑in", "Mean", "90% interval"]
    assert "A plug-in is the number of the labelled rows" in note_of(found)


def test_without_labels_there_is_no_plug_in() -> None:
    found = section(result_of("pu_ece", NAMES[:1]), "brier", "e90")
    assert cells_of(found)[:3] == ["Measure", "Mean", "90% interval"]
    assert "label" not in note_of(found)


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
