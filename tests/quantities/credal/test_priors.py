"""Priors of label rates: their ranges, their words, their alternatives."""

import json
from dataclasses import replace

import pytest

import bayescal as bc
from bayescal.quantities.credal.priors import (
    ImpreciseDirichlet,
    IncrementIsotonic,
    MonotoneCurve,
    Priors,
)

NUMBERS = [
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
        with pytest.raises(bc.InputError, match="bins must be a whole number"):
            kind(bins=bins)


def test_a_label_rate_is_one_of_three():
    with pytest.raises(bc.InputError, match="got str"):
        Priors("monotone")


@pytest.mark.parametrize(
    "rate", [MonotoneCurve(spread=3), IncrementIsotonic(bins=7), ImpreciseDirichlet(s=2)]
)
def test_json_holds_every_number_and_words_name_s(rate):
    ((kind, numbers),) = json.loads(Priors(rate).to_json())["label_rate"].items()
    assert kind == type(rate).__name__
    assert type(rate)(**numbers) == rate
    assert f"rest on {rate.s:g} pseudo-observation" in Priors(rate).describe()


@pytest.mark.parametrize("rate", [MonotoneCurve(s=2), IncrementIsotonic(), ImpreciseDirichlet()])
def test_alternatives_are_these_priors_the_other_kinds_and_more_pseudo_observations(rate):
    priors = Priors(rate)
    found = priors.alternatives()
    assert next(iter(found.items())) == ("default", priors)
    kinds = [type(one.label_rate) for one in found.values()]
    assert set(kinds) == {MonotoneCurve, IncrementIsotonic, ImpreciseDirichlet}
    assert len(found) == len(set(found.values())) == 4
    assert found[f"{2 * rate.s:g} pseudo-observations"] == Priors(replace(rate, s=2 * rate.s))
    assert [one.label_rate.s for one in found.values()] == [rate.s] * 3 + [2 * rate.s]
