"""Priors of label rates: their ranges, their words, their alternatives."""

from dataclasses import replace

import pytest

import bayescal as bc
from bayescal.curves.priors import SmoothCurve
from bayescal.quantities.credal.priors import (
    AveragedCurve,
    ImpreciseDirichlet,
    IncrementIsotonic,
    MonotoneCurve,
    Priors,
    priors_from_json,
)

NUMBERS = [
    (AveragedCurve, ("roughness", "rough_length", "intercept", "spread", "s")),
    (MonotoneCurve, ("intercept", "spread", "s")),
    (IncrementIsotonic, ("concentration", "s")),
    (ImpreciseDirichlet, ("s",)),
]


@pytest.mark.parametrize(("kind", "names"), NUMBERS)
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_numbers_must_be_positive(kind, names, value):
    for name in names:
        with pytest.raises(bc.InputError, match=name):
            kind(**{name: value})


@pytest.mark.parametrize(("kind", "few"), [(IncrementIsotonic, 1), (ImpreciseDirichlet, 0)])
def test_bins_are_a_whole_number_in_range(kind, few):
    for bins in (few, 201, 2.5, True):
        with pytest.raises(bc.InputError, match="bins must be "):
            kind(bins=bins)


def test_a_label_rate_is_one_of_four():
    with pytest.raises(bc.InputError, match="got str"):
        Priors("monotone")


@pytest.mark.parametrize(
    "rate",
    [
        AveragedCurve(rising=0, curve=SmoothCurve(0.5, (0.3,))),
        MonotoneCurve(spread=3),
        IncrementIsotonic(bins=7),
        ImpreciseDirichlet(s=2),
    ],
)
def test_json_holds_every_number_and_words_name_s(rate):
    assert priors_from_json(Priors(rate).to_json()) == Priors(rate)
    assert f"rest on {rate.s:g} pseudo-observation" in Priors(rate).describe()


@pytest.mark.parametrize("rate", [AveragedCurve(), MonotoneCurve(s=2), ImpreciseDirichlet()])
def test_alternatives_are_these_priors_the_other_kinds_and_more_pseudo_observations(rate):
    priors = Priors(rate)
    found = priors.alternatives()
    assert next(iter(found.items())) == ("default", priors)
    kinds = [type(one.label_rate) for one in found.values()]
    assert set(kinds) == {AveragedCurve, MonotoneCurve, IncrementIsotonic, ImpreciseDirichlet}
    assert len(found) == len(set(found.values())) == 5
    assert found[f"{2 * rate.s:g} pseudo-observations"] == Priors(replace(rate, s=2 * rate.s))
    assert [one.label_rate.s for one in found.values()] == [rate.s] * 4 + [2 * rate.s]


@pytest.mark.parametrize("weights", [{"smooth": -1}, {"rising": float("nan")}])
def test_weights_are_not_negative(weights):
    with pytest.raises(bc.InputError, match=r"(smooth|rising) must be a number in \[0, inf\)"):
        AveragedCurve(**weights)


def test_some_steps_are_not_certain():
    with pytest.raises(bc.InputError, match=r"certain must be a number in \[0, 1\)"):
        AveragedCurve(certain=1)


def test_an_average_has_a_smooth_or_a_rough_curve():
    with pytest.raises(bc.InputError, match=r"MonotoneCurve\(\) for a rising curve alone"):
        AveragedCurve(smooth=0, rough=0)


def test_weights_are_relative():
    assert AveragedCurve(smooth=2, rough=0, rising=2, steps=0).weights == {
        "smooth": 0.5,
        "rising": 0.5,
    }
