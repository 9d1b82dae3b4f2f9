"""What may be assumed, and how it is put into words."""

import json

import numpy as np
import pytest

from bayescal.core.errors import InputError
from bayescal.quantities.ssme.model import label_model
from bayescal.quantities.ssme.priors import (
    TILT_SCALES,
    GaussianMixture,
    Priors,
    StudentTMixture,
    Tilt,
)
from tests.quantities.ssme.made import problem


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


@pytest.mark.parametrize("name", [*TILT_SCALES, "wide_scale", "slope_location"])
def test_a_tilt_beyond_floating_point_is_refused(name):
    """With a scale of 30 slopes overflowed, and metrics before the labels were NaN."""
    with pytest.raises(InputError, match=rf"^{name} must be a number in \[.*, 10\]; got 30"):
        Tilt(**{name: 30.0})
    widest = Tilt(**dict.fromkeys([*TILT_SCALES, "wide_scale", "slope_location"], 10.0))
    own = label_model(problem(n=60), Priors(label=widest))
    draws = own.prior_draws(300, np.random.default_rng(1))
    assert np.isfinite(own.label_probs(draws)).all()
    assert "wider tilt" not in Priors(label=widest).alternatives()


@pytest.mark.parametrize("name", ["location", "scale", "degrees"])
def test_a_mixture_beyond_floating_point_is_refused(name):
    for value in (0.0, float("nan"), float("inf")) if name == "degrees" else (0.0, 30.0):
        with pytest.raises(InputError, match=f"^{name} must be a number in"):
            StudentTMixture(**{name: value})


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
