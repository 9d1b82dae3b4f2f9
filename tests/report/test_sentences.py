"""Each reading of the numbers, in words."""

import dataclasses

import numpy as np
import pytest

from bayescal.report.answers import (
    CaseAnswer,
    best_sentence,
    calibrated_sentence,
    difference_sentence,
    error_sentence,
    plug_in_sentence,
)
from bayescal.results.difference import Difference

VIT = CaseAnswer("vit", 0.031, 0.018, 0.047, 0.9, plug_in=0.044, p_calibrated=0.02)


def gap(first: str, second: str, mean: float, lower: float, upper: float) -> Difference:
    return Difference(
        var="tce",
        first=first,
        second=second,
        mean=mean,
        lower=lower,
        upper=upper,
        prob=0.9,
        prob_first_larger=0.5,
        prob_equal=0.0,
        correlation=0.0,
        draws=np.zeros(1),
    )


def test_error() -> None:
    assert error_sentence(VIT).striptags() == (
        "The calibration error of vit is 0.031 (90% credible interval 0.018 to 0.047)."
    )
    assert "0.047; without MCMC)" in error_sentence(VIT, direct=True)


def test_a_tiny_error_is_not_none() -> None:
    tiny = dataclasses.replace(VIT, point=0.0001, low=0.0)
    assert "is below 0.001 (90% credible interval 0 to 0.047)." in error_sentence(tiny).striptags()


def test_the_name_is_escaped() -> None:
    odd = dataclasses.replace(VIT, name="<b>&")
    assert "<bdi>&lt;b&gt;&amp;</bdi>" in error_sentence(odd)
    assert "&lt;b&gt;" in best_sentence(["<b>"], 0.9)
    assert "&lt;b&gt;" in difference_sentence(gap("<b>", "c", 0.1, 0.0, 0.2))


@pytest.mark.parametrize(
    ("plug_in", "words"),
    [(0.044, "is 0.044."), (0.05, "above the interval"), (0.01, "below the interval")],
)
def test_plug_in(plug_in: float, words: str) -> None:
    assert words in plug_in_sentence(dataclasses.replace(VIT, plug_in=plug_in))


@pytest.mark.parametrize(
    ("p_calibrated", "words"),
    [
        (1e-9, "is below 0.001: it is miscalibrated."),
        (0.0499, "it is miscalibrated."),
        (0.05, "probably miscalibrated, but"),
        (0.4999, "probably miscalibrated, but"),
        (0.5, "do not distinguish it from a calibrated one"),
        (0.95, "do not distinguish it from a calibrated one"),
        (0.96, "support calibration"),
        (1.0, "is above 0.999: the data support calibration."),
    ],
)
def test_probability_of_calibration(p_calibrated: float, words: str) -> None:
    assert words in calibrated_sentence(dataclasses.replace(VIT, p_calibrated=p_calibrated))


def test_what_is_missing_is_not_spoken_of() -> None:
    bare = dataclasses.replace(VIT, plug_in=None, p_calibrated=None)
    assert plug_in_sentence(bare) == calibrated_sentence(bare) == ""


def test_a_weak_leader_is_called_one() -> None:
    assert best_sentence(["a"], 0.49).striptags().startswith("No classifier is clearly the best")
    assert (
        best_sentence(["a"], 0.5).striptags() == "a is the best calibrated with probability 0.50."
    )


def test_a_tie_has_no_best() -> None:
    said = best_sentence(["a", "b"], 0.5).striptags()
    assert said == "a and b tie: each is the best calibrated with probability 0.50."
    assert best_sentence(list("abcde"), 0.2).striptags().startswith("5 classifiers tie:")


def test_difference_is_stated_from_the_side_of_the_first() -> None:
    smaller = difference_sentence(gap("a", "b", -0.02, -0.03, -0.01)).striptags()
    larger = difference_sentence(gap("b", "a", 0.02, 0.01, 0.03)).striptags()
    assert smaller == (
        "The error of a is smaller than that of b by 0.020 (90% interval 0.010 to 0.030)."
    )
    assert larger == smaller.replace("a is smaller", "b is larger").replace("of b by", "of a by")


def test_a_difference_that_may_be_none_is_no_difference() -> None:
    text = difference_sentence(gap("a", "b", 0.001, -0.002, 0.004)).striptags()
    assert text == (
        "The difference between the errors of a and b is not resolved: "
        "0.0010 (90% interval −0.0020 to 0.0040)."
    )
