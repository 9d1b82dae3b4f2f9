"""The section of score intervals, costs and ROC curves."""

import pytest

import bayescal as bc
from bayescal.results.text import fixed, probability
from tests.synthetic_ssme import make_panel_result

COSTS = {"keep": (5, 0), "remove": (0, 3)}


def section(tree, tmp_path):
    bc.report(tree, tmp_path / "r.html", prob=0.8)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    start = page.index('id="costs"')
    return page[start : page.index("</section>", start)]


@pytest.fixture(scope="module")
def result():
    rule = bc.DecisionRule(COSTS, {"keep": (0, 0.4), "remove": (0.4, 1)})
    scores = bc.datasets.agnostic.truth("over").scores(200, seed=20, n_unlabeled=50)
    return bc.fit(bc.agnostic, scores, decision=rule, method="direct", draws=200, seed=20)


def test_measure_cost_and_curve(result, tmp_path):
    text = section(result, tmp_path)
    point = result["point_estimate"]
    low, high = bc.interval(result, "cost", 0.8).values
    for shown in (
        fixed(float(point["c"])),
        fixed(float(point["upper"])),
        fixed(bc.agnostic.upper_bound(result, 0.95)),
        f"<td>{probability(bc.agnostic.prob_above(result, 0.05)).replace('>', '&gt;')}</td>",
        "keep for scores in [0, 0.4]",
        f"{fixed(float(result['posterior']['cost'].mean()))} ({fixed(low)} to {fixed(high)})",
        fixed(float(point["cost"])),
        "<bdi>ROC curve</bdi>",
    ):
        assert shown in text, shown


def test_without_a_rule_there_are_no_costs(tmp_path):
    scores = bc.datasets.agnostic.truth("over").scores(100, seed=20)
    tree = bc.fit(bc.agnostic, scores, method="direct", draws=200, seed=20)
    assert "Costs of decisions" not in section(tree, tmp_path)


def test_other_metrics_have_no_such_section(tmp_path):
    bc.report(make_panel_result(draws=20), tmp_path / "r.html")
    assert 'id="costs"' not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_classifiers_are_said_to_be_paired(tmp_path):
    score = bc.datasets.agnostic.truth("over").scores(100, seed=20).y_prob[0]
    panel = bc.Scores.stack({"a": score, "b": score**2}, y_true=(score > score.mean()).astype(int))
    tree = bc.fit(bc.agnostic, panel, method="direct", draws=200, seed=20)
    bc.report(tree, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "paired by the rows that they share" in text
