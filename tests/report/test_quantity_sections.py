"""Sections that only some quantities have: assumptions, models, classes, costs and curves."""

import re

import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.core.text import MISSING, fixed, probability
from bayescal.report.quantity_sections import assumptions, class_prior
from bayescal.report.render import View
from tests.plots.test_posterior import with_curve
from tests.synthetic_ssme import make_panel_result

COSTS = {"keep": (5, 0), "remove": (0, 3)}


def page_of(tree: xr.DataTree, tmp_path) -> str:
    path = bc.report(tree, tmp_path / "r.html", prob=0.8)
    return path.read_text(encoding="utf-8")


def section(name: str, page: str) -> str:
    """The section of an id; "" where there is none."""
    _, _, rest = page.partition(f'<section id="{name}"')
    return rest.partition("</section>")[0]


def test_a_line_for_each_classifier_and_metric_under_each_assumption():
    tree = make_panel_result(("a", "b"))
    values = np.array([[[0.6, 0.7], [0.7, 0.8], [0.8, 0.9]], np.full((3, 2), np.nan)])
    tree["sensitivity"] = xr.Dataset(
        {
            "accuracy": (("assumption", "summary", "classifier"), values),
            "probability": (("assumption",), [0.25, np.nan]),
        },
        coords={
            "assumption": ["pool right", "wide"],
            "summary": ["lower", "median", "upper"],
            "classifier": ["a", "b"],
        },
    )
    text = str(assumptions(View(tree, 0.9)))
    for shown in ("Pool right", "probability 0.25", "0.700 (0.600 to 0.800)", "0.800 (0.700 to"):
        assert shown in text
    # The labels rule the second assumption out.
    assert text.count(f">{MISSING}<") == 2
    assert "nan" not in text
    assert "what agreement among the classifiers suggests" in text


def test_a_single_classifier_is_not_said_to_agree():
    tree = make_panel_result(("a",))
    held = tree["posterior"]["accuracy"].mean(("chain", "draw"))
    of_wide = held.expand_dims(assumption=["wide"], summary=["lower", "median", "upper"])
    tree["sensitivity"] = xr.Dataset({"accuracy": of_wide, "probability": ("assumption", [0.5])})
    assert "a single classifier has none to agree with" in str(assumptions(View(tree, 0.9)))


def test_the_class_prior_has_its_curve():
    assert 'alt="Calibration error against the class prior' in class_prior(View(with_curve(), 0.9))


@pytest.fixture(scope="module")
def temperature():
    scores = bc.datasets.temperature.truth("binary").scores(150, seed=1)
    return bc.fit(bc.temperature, scores, method="direct", seed=20)


def test_models_have_their_probabilities_and_classes_their_lines(temperature, tmp_path):
    page = page_of(temperature, tmp_path)
    weights = temperature["model_average"]["weight"]
    for name in ("one temperature", "class temperatures", "vector scaling"):
        assert name.capitalize() in section("models", page)
        assert probability(float(weights.sel(description=name))) in section("models", page)
    assert "<strong>" in section("models", page)
    for name in ("0", "1"):
        mean = float(temperature["posterior"]["alpha"].sel(label_class=name).mean())
        assert re.search(rf"{fixed(mean)} \(", section("classes", page))


@pytest.fixture(scope="module")
def agnostic():
    rule = bc.DecisionRule(COSTS, {"keep": (0, 0.4), "remove": (0.4, 1)})
    scores = bc.datasets.agnostic.truth("over").scores(200, seed=20, n_unlabeled=50)
    return bc.fit(bc.agnostic, scores, decision=rule, method="direct", draws=200, seed=20)


def test_measure_cost_and_curve(agnostic, tmp_path):
    text = section("costs", page_of(agnostic, tmp_path))
    point = agnostic["point_estimate"]
    low, high = bc.interval(agnostic, "cost", 0.8).values
    for shown in (
        fixed(float(point["c"])),
        fixed(float(point["upper"])),
        fixed(bc.agnostic.upper_bound(agnostic, 0.95)),
        f"<td>{probability(bc.agnostic.prob_above(agnostic, 0.05)).replace('>', '&gt;')}</td>",
        "keep for scores in [0, 0.4]",
        f"{fixed(float(agnostic['posterior']['cost'].mean()))} ({fixed(low)} to {fixed(high)})",
        fixed(float(point["cost"])),
        "<bdi>ROC curve</bdi>",
    ):
        assert shown in text, shown


def test_without_a_rule_there_are_no_costs_and_classifiers_are_said_to_be_paired(tmp_path):
    score = bc.datasets.agnostic.truth("over").scores(100, seed=20).y_prob[0]
    panel = bc.Scores.stack({"a": score, "b": score**2}, y_true=(score > score.mean()).astype(int))
    page = page_of(bc.fit(bc.agnostic, panel, method="direct", draws=200, seed=20), tmp_path)
    assert "Costs of decisions" not in section("costs", page)
    assert "paired by the rows that they share" in page
    for part in ("answer", "plots"):
        assert "Interval calibration error (c)" in section(part, page)
        assert "KS calibration error (ks)" in section(part, page)


def test_other_results_have_no_such_section(tmp_path):
    page = page_of(make_panel_result(draws=20), tmp_path)
    assert [section(name, page) for name in ("assumptions", "models", "classes", "costs")] == [
        ""
    ] * 4
