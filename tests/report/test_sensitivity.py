"""The section on prior sensitivity."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayescal as bc
from bayescal.report.curves import uneven
from bayescal.report.page import page
from bayescal.report.render import View, for_each
from bayescal.report.sensitivity import MOST_ROWS, _sentence, sensitivity
from bayescal.results.assemble import combine
from bayescal.results.robustness import BOTH, DATA
from tests.report.pages import HOSTILE, Page, words
from tests.synthetic import make_result


def shown(*trees):
    views = [View(tree, 0.9, number) for number, tree in enumerate(trees, start=1)]
    body = for_each(sensitivity)(views)
    return None if body is None else Page(f"<section id='s'>{body}</section>")


def text(page):
    return words(page.section("s").text)


def grid(**options):
    return combine({name: make_result(("a",), **options) for name in ("default", "wide")})


def test_every_fit_gets_a_table_of_power_scaling():
    tree = make_result(("a",))
    found = shown(tree)
    table = bc.power_scale(tree, "tce")
    cells = [words(row.text) for row in found.all("tr")[1:]]
    # One prior, that of the coefficients.
    assert len(cells) == len(table) == 1
    for line, (_, row) in zip(cells, table.iterrows(), strict=True):
        # A third digit: .047 is below the threshold of .05, at which it is said to matter.
        assert f"{row['prior_sensitivity']:.3f}" in line
        assert line.endswith(row["diagnosis"])


def test_of_several_cases_the_priors_are_scaled_together():
    found = shown(make_result(("a", "b", "c")))
    assert len(found.all("tr")) == 1 + 3


@pytest.mark.slow
def test_many_cases_are_cut_to_the_most_sensitive():
    tree = make_result(("a",), classes=[f"c{i}" for i in range(MOST_ROWS + 3)], draws=30)
    found = shown(tree)
    assert len(found.all("tr")) == 1 + MOST_ROWS
    assert "bayescal.power_scale has the other 3" in text(found)


@pytest.mark.slow
def test_the_sentence_says_whether_and_which_way():
    few = bc.datasets.ece.truth("over").scores(30, seed=1)
    tight = bc.ece.Priors(bc.ece.SmoothCurve(scale=0.1))
    pulled = bc.fit(bc.ece, few, priors=tight, seed=20, method="direct")
    assert "The prior matters." in text(shown(pulled))
    assert "twice its weight would lower the calibration error" in text(shown(pulled))
    many = bc.datasets.ece.truth("over").scores(20_000, seed=1)
    decided = bc.fit(bc.ece, many, seed=20, method="direct")
    assert text(shown(decided)).startswith("The data dominate: ")


def test_the_sentence_says_that_a_name_is_one_of_a_class() -> None:
    frame = pd.DataFrame(
        {"diagnosis": [BOTH, DATA], "prior_shift": [0.2, 0.0], "quantity": "tce"},
        index=["1", "2"],
    )
    view = View(make_result(("a",), classes=("1", "2"), draws=20), 0.9)
    assert _sentence(view, frame).startswith("The prior matters for class 1. ")


def test_the_sentence_names_the_largest_shift_of_those_that_matter():
    tree = make_result(("a", "b"))
    frame = pd.DataFrame(
        {
            "quantity": "tce",
            "prior": "all",
            "prior_sensitivity": [0.3, 0.1],
            "prior_shift": [0.1, -0.4],
            "diagnosis": BOTH,
        },
        index=["a", "b"],
    )
    assert "would lower the calibration error by 0.40 posterior" in _sentence(
        View(tree, 0.9), frame
    )


def test_a_flat_prior_is_answered_with_a_refit():
    flat = bc.ece.Priors(bc.ece.IndependentBins(bc.Beta(1, 1)))
    rows = bc.datasets.ece.truth("over").scores(300, seed=1)
    found = text(shown(bc.fit(bc.ece, rows, priors=flat, seed=20, method="direct")))
    assert found.startswith("The prior is flat:")
    assert "bayescal.prior_sensitivity" in found


def test_a_result_without_densities_has_no_such_section():
    tree = make_result(("a",)).drop_nodes("log_likelihood")
    assert shown(tree) is None
    assert shown(make_result(("a",), draws=10)) is None


def test_refits_are_a_table_a_picture_and_a_sentence():
    tree = grid()
    found = shown(tree)
    (one,) = bc.conclusions(tree)
    assert one.text in text(found)
    assert len(found.all("img")) == 1
    assert [words(cell.text) for cell in found.all("th")[-2:]] == ["default", "wide"]
    assert "Intercept and slope of the recalibration are normal" in text(found)


def test_refits_of_several_cases_have_a_table_each():
    pair = combine({"x": make_result(("a", "b")), "y": make_result(("a", "b"), p_calibrated=0.5)})
    found = shown(pair)
    assert len(found.all("table")) == 2
    lost = [one.case for one in bc.conclusions(pair) if not one.robust]
    assert f"is not robust for {', '.join(lost)}" in text(found)
    alike = combine({"x": make_result(("a", "b")), "y": make_result(("a", "b"))})
    assert "The conclusion is robust to the prior in both cases." in text(shown(alike))


def test_a_refit_that_failed_is_loud():
    found = shown(
        combine({"good": make_result(("a",)), "bad": make_result(("a",), converged=False)})
    )
    assert any(box.attrs.get("role") == "alert" for box in found.all("div"))
    assert "Unreliable" in text(found)
    assert "badnot converged" in text(found)


def test_refits_are_no_answer_of_their_own():
    tree, both = make_result(("a",)), grid()
    found = Page(page([tree, both]))
    assert words(found.section("answer").text).count("calibration error of") == 1
    assert words(found.section("sensitivity").text).count("under several priors") >= 1
    alone = Page(page(both))
    assert "answer" not in alone.ids
    assert {"sensitivity", "provenance"} <= set(alone.ids)


@pytest.mark.slow
def test_names_of_priors_are_only_words():
    found = shown(combine({name: make_result(("a",)) for name in HOSTILE}))
    assert not any(element.tag == "script" for element in found.elements)
    assert not any("onload" in element.attrs for element in found.elements)


@pytest.mark.slow
def test_refits_of_positive_and_unlabelled_rows_are_shown():
    data = bc.datasets.pu_ece.truth("near").scores((100, 500), 1)
    curve = bc.pu_ece.SmoothCurve()
    known = {f"{pi:g}": bc.pu_ece.Priors(pi, curve) for pi in (0.5, 0.55)}
    tree = bc.prior_sensitivity(bc.pu_ece, data, known, seed=20, method="direct")
    assert isinstance(tree, xr.DataTree)
    assert np.isfinite(tree["posterior"]["tce"]).all()
    assert "0.55" in text(shown(tree))


@pytest.mark.parametrize(("first", "said"), [((8, 1, 1), False), ((1, 8, 1), True)])
def test_the_first_prior_says_whether_a_curve_is_smooth(
    first: tuple[int, int, int], said: bool
) -> None:
    """One that is never calibrated needs a shape for every curve, and may say that it is rough."""
    shapes = {"default": first, "never calibrated": (1, 8, 1)}
    refits = {
        name: make_result(("a",), draws=20, p_calibrated=0.1, shape=shape)
        for name, shape in shapes.items()
    }
    assert bool(uneven(View(combine(refits), 0.9))) == said
