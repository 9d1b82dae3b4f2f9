"""Upper bounds, bands and differences of a result."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.functionals import prob_above, rule_difference, upper_bound
from tests.quantities.agnostic.made import COSTS, RULE, rows

RULES = {"bayes": bc.agnostic.bayes_rule(COSTS), "made": RULE}


@pytest.fixture(scope="module")
def result():
    return bc.fit(bc.agnostic, rows(), decision=RULES, method="direct", draws=300, seed=20)


@pytest.fixture(scope="module")
def panel():
    score = rows(n_unlabeled=0).y_prob[0]
    scores = bc.Scores.stack(
        {"a": score, "b": score**2}, y_true=rows(n_unlabeled=0).y_true.tolist()
    )
    return bc.fit(bc.agnostic, scores, method="direct", draws=300, seed=20)


def test_the_upper_bound_is_the_end_of_an_interval(result):
    assert upper_bound(result, 0.9) == float(bc.interval(result, "c", 0.8)[1])
    # The end is that given miscalibration, so that no more than a tenth of all draws is above it.
    right = float(result["model_average"]["p_calibrated"])
    above = prob_above(result, upper_bound(result, 0.9))
    assert above == pytest.approx(0.1 * (1 - right), abs=0.02)
    drawn, weight = result["descriptions"]["c"], result["model_average"]["weight"]
    # Both are of as many draws as there are, of the same curves.
    error = 4 * 0.5 / np.sqrt(result["posterior"]["c"].size)
    expected = float(((drawn > 0.01).mean(("chain", "draw")) * weight).sum())
    assert prob_above(result, 0.01) == pytest.approx(expected, abs=error)
    mean = float((drawn.mean(("chain", "draw")) * weight).sum())
    spread = float(result["posterior"]["c"].std())
    found = bc.summary(result).query("metric == 'c'")["mean"].item()
    assert found == pytest.approx(float(result["posterior"]["c"].mean()))
    assert found == pytest.approx(mean, abs=2 * error * spread)
    assert prob_above(result, -1.0) == pytest.approx(1.0)


def test_near_calibration_the_upper_bound_is_that_of_a_miscalibrated_classifier():
    scores = bc.datasets.agnostic.truth("calibrated").scores(300, seed=3)
    found = bc.fit(bc.agnostic, scores, method="direct", draws=500, seed=20)
    p_calibrated = float(found["model_average"]["p_calibrated"])
    assert p_calibrated > 0.5
    assert prob_above(found, 1e-9) == pytest.approx(1 - p_calibrated, abs=0.01)
    assert float(bc.interval(found, "c", 0.9)[0]) == 0.0
    assert upper_bound(found, 0.95) > 0.0


@pytest.mark.parametrize("unlabeled", [False, True])
def test_rules_are_compared_draw_by_draw(result, unlabeled):
    found = rule_difference(result, "bayes", "made", unlabeled=unlabeled)
    prefix = "unlabeled_" if unlabeled else ""
    one, two = (
        result["posterior"][f"{prefix}cost_{name}"].values.ravel() for name in ("bayes", "made")
    )
    assert found.mean == pytest.approx((one - two).mean())
    assert found.lower <= found.mean <= found.upper
    assert found.prob_first_larger == (one > two).mean()
    other = rule_difference(result, "made", "bayes", unlabeled=unlabeled)
    assert other.mean == pytest.approx(-found.mean)


def test_a_rule_of_one_price_correlates_with_none():
    rules = {
        "price": bc.DecisionRule({"ask": (3e6, 3e6)}, {"ask": (0, 1)}),
        "halves": bc.DecisionRule(
            {"ask": (3e6, 3e6), "drop": (0, 3e6)}, {"ask": (0, 0.5), "drop": (0.5, 1)}
        ),
    }
    scores = bc.datasets.agnostic.truth("over").scores(200, seed=3)
    found = bc.fit(bc.agnostic, scores, decision=rules, method="direct", draws=500, seed=20)
    assert np.isnan(rule_difference(found, "price", "halves").correlation)


def test_several_classifiers_are_named(panel):
    assert upper_bound(panel, classifier="a") != upper_bound(panel, classifier="b")
    with pytest.raises(InputError, match="classifier must be one of the result's; got none"):
        upper_bound(panel)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tree: upper_bound(tree, 0.5), "prob must be a number in"),
        (lambda tree: rule_difference(tree, "x", "y", classifier="a"), "cost_x"),
        (lambda tree: prob_above(tree, 0.1, classifier="z"), "z"),
    ],
)
def test_bad_input(panel, call, message):
    with pytest.raises(InputError, match=message):
        call(panel)
