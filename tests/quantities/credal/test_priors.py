"""Priors of label rates: their ranges, their words, their alternatives."""

import json

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
