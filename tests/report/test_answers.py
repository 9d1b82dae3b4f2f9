"""The answer in words and on one scale, and the numbers beside it."""

import dataclasses
import json
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayescal.measures.errors import IfCalibrated
from bayescal.report.answers import (
    MARGIN,
    MOST_MEANS,
    MOST_ROWS,
    MOST_SENTENCES,
    WIDTH,
    CaseAnswer,
    among,
    answers,
    best_sentence,
    best_two,
    calibrated_sentence,
    difference_sentence,
    error_sentence,
    means_over_classes,
    plug_in_sentence,
    scale,
)
from bayescal.report.render import View, render
from bayescal.report.sections import answer
from bayescal.results.compare import Difference, best, difference
from bayescal.results.intervals import interval, marginal
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
        f"The calibration error of vit is {view.tree['posterior']['tce'].mean().item():.3f} "
        f"(90% credible interval {low:.3f} to {high:.3f}). The plug-in ECE is "
    )


def test_the_interval_follows_prob() -> None:
    view = View(make_result(("vit",), draws=200), 0.5)
    low, high = interval(view.tree, "tce", 0.5).values
    assert f"(50% credible interval {low:.{view.digits}f} to {high:.{view.digits}f})" in text(view)


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


def test_the_largest_mean_is_that_of_no_other_where_the_best_has_it() -> None:
    """Most draws of the best are 0, and a few so large that its mean is the largest."""
    tree = make_result(("a", "b"), draws=200)
    tce = tree["posterior"]["tce"]
    tce.loc[{"classifier": "a"}] = np.where(np.arange(200) < 150, 0.0, 0.4)
    tce.loc[{"classifier": "b"}] = 0.05
    said = text(View(tree, 0.9))
    assert said.startswith("a is the best calibrated with probability 0.75. The calibration error")
    assert "of a is 0.100 (" in said
    assert "); the next smaller mean, of b: 0.050 (" in said


def test_groups_are_summarised_by_their_extremes() -> None:
    view = View(make_result(("a",), groups=("x", "y", "z"), draws=100), 0.9)
    found = answers(view)
    assert best_two(view) is None
    assert text(view).startswith(
        "Of 3 groups, the largest mean of the calibration error is that of group "
        f"{found[-1].name}: "
    )


def test_what_the_cases_are() -> None:
    assert among(View(make_result(("a", "b"), draws=20), 0.9)) == "Of 2 classifiers"
    mixed = make_result(("a", "b"), classes=("x", "y", "z"), draws=20)
    assert among(View(mixed, 0.9)) == "Of 6 cases (2 classifiers, 3 classes)"


def test_many_cases_are_cut_to_the_worst() -> None:
    classes = tuple(f"class {i}" for i in range(MOST_ROWS + 5))
    view = View(make_result(("a",), classes=classes, draws=10, n=200), 0.9)
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


def test_a_model_without_tce_is_answered_by_its_ece() -> None:
    tree = make_result(("a",), draws=50)
    tree["posterior"] = tree["posterior"].to_dataset().drop_vars("tce")
    view = View(tree, 0.9)
    assert view.main.name == "ece"
    assert answers(view)[0].point == tree["posterior"]["ece"].mean().item()


CLASSES = ("cat", "dog", "owl")


def test_one_sentence_has_the_numbers() -> None:
    tree = make_result(("vit",), classes=CLASSES, draws=200)
    found = marginal(tree, "tce", 0.8)
    (said,) = means_over_classes(View(tree, 0.8))
    assert said.striptags() == (
        f"The calibration error of vit, averaged over its classes, is {found.mean:.3f} "
        f"(80% credible interval {found.lower:.3f} to {found.upper:.3f}; "
        f"the plug‑in ECE so averaged is {found.plug_in:.3f})."
    )


def test_names_are_escaped_and_groups_named() -> None:
    tree = make_result(("<b>",), classes=CLASSES, groups=("x", "y"), draws=100)
    said = means_over_classes(View(tree, 0.9))
    assert len(said) == 2
    assert "of <b> in group x, averaged" in said[0].striptags()
    assert "&lt;b&gt;" in said[0]


def test_there_is_none_without_classes_or_with_too_many() -> None:
    assert means_over_classes(View(make_result(("a", "b"), draws=100), 0.9)) == []
    names = tuple(f"c{k}" for k in range(MOST_MEANS + 1))
    many = make_result(names, classes=CLASSES, draws=50)
    assert means_over_classes(View(many, 0.9)) == []


def test_where_the_mean_is_the_estimand_it_comes_first() -> None:
    tree = make_result(("vit",), classes=CLASSES, draws=100)
    (said,) = means_over_classes(View(tree, 0.9))
    places = []
    for kind in ("class-wise", "marginal"):
        tree.attrs["multiclass"] = kind
        lead = str(answer(View(tree, 0.9))).split('class="lead">')[1]
        places.append(lead.index(str(said)))
    assert places[1] == 0 < places[0]


EXPECTED = IfCalibrated("vit", 0.021, 0.013, 0.0304, 0.0012, 0.044, 0.9)
VIT = CaseAnswer("vit", 0.031, 0.018, 0.047, 0.9, plug_in=0.044, p_calibrated=0.02)


def strip(one: CaseAnswer) -> str:
    return render("errors_strip.svg.j2", answer=one, scale=scale([one]), width=WIDTH)


def gap(first: str, second: str, mean: float, lower: float, upper: float) -> Difference:
    return Difference(
        var="tce",
        first=first,
        second=second,
        mean=mean,
        lower=lower,
        upper=upper,
        prob=0.9,
        prob_first_larger=0.5,
        prob_equal=0.0,
        correlation=0.0,
        draws=np.zeros(1),
    )


def test_error() -> None:
    assert error_sentence(VIT).striptags() == (
        "The calibration error of vit is 0.031 (90% credible interval 0.018 to 0.047)."
    )
    assert "0.047; without MCMC)" in error_sentence(VIT, direct=True)


def test_a_tiny_error_is_not_none() -> None:
    tiny = dataclasses.replace(VIT, point=0.0001, low=0.0)
    assert "is below 0.001 (90% credible interval 0 to 0.047)." in error_sentence(tiny).striptags()


def test_the_name_is_escaped() -> None:
    odd = dataclasses.replace(VIT, name="<b>&")
    assert "<bdi>&lt;b&gt;&amp;</bdi>" in error_sentence(odd)
    assert "&lt;b&gt;" in best_sentence(["<b>"], 0.9)
    assert "&lt;b&gt;" in difference_sentence(gap("<b>", "c", 0.1, 0.0, 0.2))


def test_what_the_plug_in_would_be_under_calibration() -> None:
    said = plug_in_sentence(dataclasses.replace(VIT, if_calibrated=EXPECTED))
    assert said.startswith(
        "The plug-in ECE is 0.044 (if it were calibrated, 0.013 to 0.030 with probability 90%; "
        "p = 0.001)"
    )
    view = View(make_result(("a",), draws=20), 0.9)
    row = summary(view.tree, 0.9).iloc[0]
    assert answers(view)[0].if_calibrated.p_value == row["p_value_calibrated"]


@pytest.mark.parametrize(
    ("plug_in", "words"),
    [(0.044, "is 0.044."), (0.05, "above the interval"), (0.01, "below the interval")],
)
def test_plug_in(plug_in: float, words: str) -> None:
    assert words in plug_in_sentence(dataclasses.replace(VIT, plug_in=plug_in))


def test_noise_explains_no_more_of_the_plug_in_than_it_adds() -> None:
    # Scores of 0 and 1, all on the wrong side: every gap is 1, and no bin has noise.
    found = EXPECTED._replace(mean=0.0, lower=0.0, upper=0.0)
    high = dataclasses.replace(VIT, point=0.993, low=0.985, high=0.998, plug_in=1.0)
    said = plug_in_sentence(dataclasses.replace(high, if_calibrated=found))
    assert "noise" not in said
    assert said.endswith("above the interval: the prior is for smaller errors.")
    noisy = dataclasses.replace(VIT, plug_in=0.05, if_calibrated=EXPECTED)
    assert "sampling noise" in plug_in_sentence(noisy)


@pytest.mark.parametrize(
    ("p_calibrated", "words"),
    [
        (0.0499, "is 0.05: it is probably miscalibrated"),
        (0.9501, "is 0.95: the data do not distinguish"),
        (1e-9, "is below 0.001: it is miscalibrated."),
        (0.0449, "is 0.04: it is miscalibrated."),
        (0.05, "probably miscalibrated, but"),
        (0.494, "is 0.49: it is probably miscalibrated, but"),
        (0.497, "is 0.50: the data do not distinguish it from a calibrated one"),
        (0.95, "do not distinguish it from a calibrated one"),
        (0.96, "support calibration"),
        (1.0, "is above 0.999: the data support calibration."),
    ],
)
def test_probability_of_calibration(p_calibrated: float, words: str) -> None:
    assert words in calibrated_sentence(dataclasses.replace(VIT, p_calibrated=p_calibrated))


def test_a_clear_p_value_is_not_called_inconclusive() -> None:
    # Evidence counts to the power .35: a shift with a p-value of .001 may leave .1.
    said = calibrated_sentence(dataclasses.replace(VIT, p_calibrated=0.1, if_calibrated=EXPECTED))
    assert said.endswith(
        "is 0.10: a number that moves slowly by design; p shows more clearly that "
        "it is miscalibrated."
    )
    vague = dataclasses.replace(
        VIT, p_calibrated=0.1, if_calibrated=EXPECTED._replace(p_value=0.01)
    )
    assert "not conclusive" in calibrated_sentence(vague)
    even = dataclasses.replace(VIT, p_calibrated=0.73, if_calibrated=EXPECTED)
    assert calibrated_sentence(even).endswith("slowly by design; p speaks against it.")


def test_what_is_missing_is_not_spoken_of() -> None:
    bare = dataclasses.replace(VIT, plug_in=None, p_calibrated=None)
    assert plug_in_sentence(bare) == calibrated_sentence(bare) == ""


def test_a_weak_leader_is_called_one() -> None:
    # At .503 the other of two may have .497: both are written 0.50.
    for prob in (0.49, 0.503):
        assert (
            best_sentence(["a"], prob).striptags().startswith("No classifier is clearly the best")
        )
    assert (
        best_sentence(["a"], 0.51).striptags() == "a is the best calibrated with probability 0.51."
    )


def test_a_tie_has_no_best() -> None:
    said = best_sentence(["a", "b"], 0.5).striptags()
    assert said == "a and b tie: each is the best calibrated with probability 0.50."
    assert best_sentence(list("abcde"), 0.2).striptags().startswith("5 classifiers tie:")


def test_difference_is_stated_from_the_side_of_the_first() -> None:
    smaller = difference_sentence(gap("a", "b", -0.02, -0.03, -0.01)).striptags()
    larger = difference_sentence(gap("b", "a", 0.02, 0.01, 0.03)).striptags()
    assert smaller == (
        "The error of a is smaller than that of b by 0.020 (90% interval 0.010 to 0.030)."
    )
    assert larger == smaller.replace("a is smaller", "b is larger").replace("of b by", "of a by")


def test_a_difference_that_may_be_none_is_no_difference() -> None:
    text = difference_sentence(gap("a", "b", 0.001, -0.002, 0.004)).striptags()
    assert text == (
        "The difference between the errors of a and b is not resolved: "
        "0.0010 (90% interval −0.0020 to 0.0040)."
    )


def row_of(low: float, point: float, high: float, plug_in: float | None = None) -> CaseAnswer:
    return CaseAnswer("a", point, low, high, 0.9, plug_in)


@given(st.floats(1e-6, 1))
def test_the_scale_has_round_ticks_and_holds_the_largest(high: float) -> None:
    found = scale([row_of(0, high / 2, high)])
    assert found.top >= high * (1 - 1e-9)
    assert 3 <= len(found.ticks) <= 7
    assert found.ticks[0] == 0
    labels = [found.label(tick) for tick in found.ticks]
    assert len(set(labels)) == len(labels)
    assert all(
        float(label) == pytest.approx(tick) for label, tick in zip(labels, found.ticks, strict=True)
    )


def test_errors_that_differ_by_decades_have_a_logarithmic_scale_with_0_apart() -> None:
    rows = [row_of(0, 0.0004, 0.02), row_of(0.001, 0.002, 0.004), row_of(0.1, 0.2, 0.3)]
    found = scale(rows)
    assert found.ticks[0] == 0
    labels = [found.label(tick) for tick in found.ticks]
    assert [float(label) for label in labels] == pytest.approx(found.ticks)
    assert len(labels) <= 7
    places = [float(found.at(error)) for error in (0.001, 0.01, 0.1)]
    assert places[2] - places[1] == pytest.approx(places[1] - places[0], abs=0.1)  # as rounded
    assert found.at(0) == f"{MARGIN:.1f}"
    assert float(found.at(found.least)) > MARGIN + 20
    assert found.at(found.top) == f"{WIDTH - MARGIN:.1f}"
    assert scale(rows[1:2]).least == 0


@given(st.lists(st.floats(0, 1), min_size=2, max_size=4))
@example([1.0, 6e-5])
@example([1.0, 0.0])
def test_every_error_has_a_place_in_order(points: list[float]) -> None:
    found = scale([row_of(0, point, min(1, 2 * point)) for point in points])
    places = [float(found.at(point)) for point in sorted(points)]
    assert places == sorted(places)
    assert places[0] >= MARGIN
    assert places[-1] <= WIDTH - MARGIN


def test_the_plug_in_counts_for_the_scale() -> None:
    assert scale([row_of(0, 0.01, 0.02, plug_in=0.09)]).top >= 0.09


def test_no_error_at_all_has_a_scale() -> None:
    assert scale([row_of(0, 0, 0)]).top > 0


def test_marks_stand_where_the_numbers_are() -> None:
    one = row_of(0.025, 0.05, 0.1, plug_in=0.075)
    drawing = strip(one)
    inner = WIDTH - 2 * MARGIN
    assert f'cx="{MARGIN + 0.5 * inner:.1f}"' in drawing
    assert f"M{MARGIN + 0.75 * inner:.1f} " in drawing
    band = re.search(r'<line x1="([\d.]+)" x2="([\d.]+)" y1="13"', drawing)
    assert band is not None
    assert [float(x) for x in band.groups()] == [MARGIN + 0.25 * inner, MARGIN + inner]


def test_no_plug_in_no_mark() -> None:
    one = row_of(0.025, 0.05, 0.1)
    assert "<path" not in strip(one)


def test_a_warning_of_one_classifier_stands_in_its_row_and_nowhere_else() -> None:
    tree = make_result(("a", "b"), draws=50)
    tree.attrs["status"] = "a: few rows. all: it is late."
    both = [{"classifier": name} for name in "ab"]
    tree.attrs["warnings"] = json.dumps([["few rows.", both[:1]], ["it is late.", both]])
    found = Page(str(answer(View(tree, 0.9))))
    (box,) = (e for e in found.all("div") if "warn" in e.attrs.get("class", "").split())
    assert "few rows" not in box.text
    assert "it is late" in box.text
    heads = [e.text for e in found.all("th") if e.attrs.get("scope") == "row"]
    assert sorted(heads) == ["afew rows.", "b"]
