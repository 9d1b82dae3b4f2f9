"""Priors: what they refuse, say, and are documented to mean."""

import dataclasses
import json
import math

import pytest
from scipy.special import expit
from scipy.stats import norm

from bayescal.core.errors import InputError
from bayescal.core.priors import Beta, LogNormal
from bayescal.quantities.ece.priors import (
    CurveAverage,
    HierarchicalBins,
    IndependentBins,
    Priors,
    SmoothCurve,
)

FAMILIES = [SmoothCurve(), IndependentBins(Beta(0.5, 0.5)), HierarchicalBins(LogNormal(2, 1))]


def test_the_default_is_an_average_and_even_odds():
    assert Priors() == Priors(label_rate=CurveAverage(), calibrated=0.5)


@pytest.mark.parametrize("value", [Priors(), *FAMILIES])
def test_priors_are_values(value):
    assert hash(value) == hash(dataclasses.replace(value))
    name = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, None)


@pytest.mark.parametrize("calibrated", [1.0, -0.1, 1.5, math.nan])
def test_the_probability_of_calibration_must_leave_room_for_the_data(calibrated):
    with pytest.raises(InputError, match=r"calibrated must be a number in \[0, 1\)"):
        Priors(calibrated=calibrated)


@pytest.mark.parametrize("name", ["certain", "steep"])
@pytest.mark.parametrize("value", [1.0, -0.1, math.nan])
def test_some_segments_must_be_able_to_shift_and_some_lines_not_be_steep(name, value):
    with pytest.raises(InputError, match=rf"{name} must be a number in \[0, 1\)"):
        CurveAverage(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [("linear", -0.1, r"\[0, inf\)"), ("label_noise", 0.0, r"\(0, inf\)")],
)
def test_labels_may_be_wrong_but_not_by_nothing(name, value, rule):
    with pytest.raises(InputError, match=rf"{name} must be a number in {rule}"):
        CurveAverage(**{name: value})


@pytest.mark.parametrize("steepness", [1.0, 0.5, math.inf])
def test_steep_lines_are_steeper(steepness):
    with pytest.raises(InputError, match=r"steepness must be a number in \(1, inf\)"):
        CurveAverage(steepness=steepness)


@pytest.mark.parametrize("rate", [Beta(1, 1), None, IndependentBins])
def test_other_priors_of_label_rates_are_refused(rate):
    with pytest.raises(InputError, match=r"label_rate must be CurveAverage or .* or ece\.Ind"):
        Priors(label_rate=rate)


def test_json_holds_every_parameter():
    told = json.loads(Priors(HierarchicalBins(LogNormal(2, 1)), calibrated=0.2).to_json())
    assert told["label_rate"] == {"HierarchicalBins": {"concentration": {"mu": 2.0, "sigma": 1.0}}}
    assert told["calibrated"] == 0.2
    told = json.loads(Priors(IndependentBins(Beta(0.5, 2))).to_json())
    assert told["label_rate"] == {"IndependentBins": {"rate": {"alpha": 0.5, "beta": 2.0}}}
    told = json.loads(Priors(SmoothCurve(0.3, (1.0, 2.0))).to_json())
    assert told["label_rate"] == {"SmoothCurve": {"scale": 0.3, "lengthscales": [1.0, 2.0]}}


def test_averages_of_older_results_have_what_was_there_then():
    """Neither certain segments nor steep lines, nor the linear description."""
    text = json.loads(Priors(calibrated=0.3).to_json())
    for name in ("certain", "steep", "steepness", "linear", "label_noise"):
        del text["label_rate"]["CurveAverage"][name]
    older = CurveAverage(certain=0, steep=0, linear=0)
    assert Priors.from_json(json.dumps(text)) == Priors(older, 0.3)


def test_different_priors_have_different_json():
    told = {Priors(family, calibrated).to_json() for family in FAMILIES for calibrated in (0, 0.5)}
    assert len(told) == 6


@pytest.mark.parametrize(
    ("priors", "words"),
    [
        (
            Priors(),
            [
                "average",
                "4 times as far with probability 0.2, weight 0.43",
                "scale 1.5",
                "or of rate",
            ],
        ),
        (Priors(SmoothCurve()), ["smooth curve", "0.7", "length scales 0.25, 1", "is 0.5"]),
        (Priors(FAMILIES[1], 0.25), ["independent", "Beta(0.5, 0.5)", "calibration is 0.25"]),
        (Priors(FAMILIES[2], 0), ["mean scores", "kappa", "calibration is 0"]),
    ],
)
def test_words_name_the_parameters(priors, words):
    for word in words:
        assert word in priors.describe()


def test_the_default_concentration_is_what_its_documentation_says():
    prior = HierarchicalBins().concentration
    assert prior.quantile(0.5) == pytest.approx(30, abs=0.5)
    assert [prior.quantile(q) for q in (0.05, 0.95)] == pytest.approx([2.5, 350], rel=0.02)


def test_a_wider_curve_has_more_wrong_labels():
    assert CurveAverage().rescaled(2).label_noise == 2 * CurveAverage().label_noise


@pytest.mark.parametrize(
    ("priors", "names"),
    [
        (Priors(), ["default", "tighter curve", "wider curve", "never calibrated"]),
        (Priors(SmoothCurve()), ["default", "tighter curve", "wider curve", "never calibrated"]),
        (Priors(calibrated=0), ["default", "tighter curve", "wider curve", "even odds"]),
        (Priors(FAMILIES[1]), ["default", "average of curves", "never calibrated"]),
    ],
)
def test_alternatives_change_one_assumption_at_a_time(priors, names):
    found = priors.alternatives()
    assert list(found) == names
    assert found["default"] is priors
    for name, other in found.items():
        changed = [
            field.name
            for field in dataclasses.fields(Priors)
            if getattr(other, field.name) != getattr(priors, field.name)
        ]
        assert len(changed) == (name != "default")


def test_the_curves_of_alternatives_mean_what_their_documentation_says():
    found = Priors(SmoothCurve()).alternatives()
    for name, expected in (("tighter curve", (0.31, 0.69)), ("wider curve", (0.04, 0.96))):
        # In logits the intercept and the process add up at a score of 0.5.
        ends = norm.ppf([0.05, 0.95], scale=math.sqrt(2) * found[name].label_rate.scale)
        assert expit(ends) == pytest.approx(expected, abs=0.005)
