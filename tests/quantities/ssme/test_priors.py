"""What may be assumed, and how it is put into words."""

import json

import pytest

from bayescal.quantities.ssme.priors import (
    TILT_SCALES,
    GaussianMixture,
    Priors,
    StudentTMixture,
    Tilt,
)


def test_the_power_hands_over_to_the_labels():
    powers = [Priors().likelihood_power(n) for n in (20, 100, 500)]
    assert powers == pytest.approx([0.75 * 20 / 30, 0.75 * 100 / 110, 0.75 * 500 / 510])
    assert Priors(power=0.6, discount=0).likelihood_power(7) == pytest.approx(0.6)
    assert Priors(discount=0).likelihood_power(0) == 0.75


def test_trusting_the_pool_leaves_no_wide_part():
    found = Priors.trusting()
    assert found.label.wide_weight == 0
    assert found.likelihood_power(20) == found.likelihood_power(500) == 0.6


@pytest.mark.parametrize("label", [Tilt(weight=0.7), GaussianMixture(), StudentTMixture(degrees=9)])
def test_json_holds_every_number(label):
    found = json.loads(Priors(label=label, power=0.3).to_json())
    assert found["power"] == 0.3
    ((kind, numbers),) = found["label"].items()
    assert type(label)(**numbers) == label
    assert kind == type(label).__name__


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (Tilt(), ["weighted by agreement", "around 0 of scale 0.1, or, with", "power 0.25 * n /"]),
        (Tilt(wide_scale=0.3), ["of scale 0.3 (of one classifier around 0, of scale 0.6)"]),
        (Tilt(opinion_pool="mean", wide_weight=0), ["in plain mean", "of scale 0.1; weights"]),
        (GaussianMixture(3.0, 0.5), ["independent normals", "deviation 3", "0.5. The rows' like"]),
        (StudentTMixture(degrees=7), ["7 degrees of freedom"]),
    ],
)
def test_priors_are_put_into_words(label, words):
    text = Priors(label=label, power=0.25).describe()
    assert all(word in text for word in words)


def test_alternatives_begin_with_the_priors_themselves():
    own = Priors(power=0.4)
    found = own.alternatives()
    assert list(found) == ["default", "trusting", "plain mean", "wider tilt", "power 1"]
    assert found["default"] is own
    assert found["plain mean"] == Priors(Tilt(opinion_pool="mean"), power=0.4)
    assert found["power 1"] == Priors(power=1, discount=0)


def test_a_wide_tilt_has_wider_scales_and_nothing_else():
    own = Tilt(slope_location=-0.3, opinion_pool="mean")
    wide = Priors(own).alternatives()["wider tilt"].label
    assert (wide.slope_location, wide.opinion_pool) == (-0.3, "mean")
    for name in TILT_SCALES:
        assert getattr(wide, name) == pytest.approx(3 * getattr(own, name))


@pytest.mark.parametrize(
    ("own", "names"),
    [
        (Priors(Tilt(opinion_pool="mean")), ["default", "trusting", "wider tilt", "power 1"]),
        (Priors(power=1, discount=0), ["default", "trusting", "plain mean", "wider tilt"]),
        (Priors(GaussianMixture()), ["default", "tilt", "power 1"]),
    ],
)
def test_alternatives_differ_from_the_priors_themselves(own, names):
    assert list(own.alternatives()) == names
