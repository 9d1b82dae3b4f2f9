"""Calibration errors in words: numbers in, one sentence out, names escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bayescal.report.render import named, several_named
from bayescal.results.access import ResultSlice
from bayescal.results.difference import Difference
from bayescal.results.marginal import Marginal
from bayescal.results.text import decimals, error, fixed, in_words, percent, probability

UNLIKELY = 0.05
LIKELY = 0.5
"""Posterior probability of calibration below which miscalibration is called clear, or likely."""


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """One case: model-averaged mean and interval of its error, plug-in ECE, P(calibrated).

    `kind` stands before the name in a sentence: "class ", "group " or nothing.
    """

    name: str
    point: float
    low: float
    high: float
    prob: float
    plug_in: float | None = None
    p_calibrated: float | None = None
    digits: int = 3
    failed: bool = False
    kind: str = ""

    @property
    def spoken(self) -> Markup:
        """The name as a sentence has it."""
        return self.kind + named(self.name)

    @property
    def point_text(self) -> str:
        """The point as a table shows it."""
        return error(self.point, self.digits)

    @property
    def range_text(self) -> str:
        """The interval, "0.018 to 0.047"."""
        return f"{error(self.low, self.digits)} to {error(self.high, self.digits)}"


def error_sentence(answer: CaseAnswer, *, direct: bool = False) -> Markup:
    """Say how large the calibration error is."""
    how = "; without MCMC" if direct else ""
    return Markup(
        "The calibration error of {name} is <b>{point}</b> ({prob} credible interval {range}{how})."
    ).format(
        name=answer.spoken,
        point=in_words(answer.point_text),
        prob=percent(answer.prob),
        range=answer.range_text,
        how=how,
    )


def plug_in_sentence(answer: CaseAnswer) -> str:
    """Set the plug-in estimate beside the posterior."""
    if answer.plug_in is None:
        return ""
    text = f"The plug-in ECE is {in_words(error(answer.plug_in, answer.digits))}"
    if answer.plug_in > answer.high:
        return f"{text}, above the interval: it counts sampling noise within each bin as error."
    if answer.plug_in < answer.low:
        return f"{text}, below the interval: errors within a bin cancel in it."
    return f"{text}."


def calibrated_sentence(answer: CaseAnswer) -> str:
    """Say how probable it is that the case is calibrated, and what that means."""
    if answer.p_calibrated is None:
        return ""
    if answer.p_calibrated < UNLIKELY:
        reading = "it is miscalibrated"
    elif answer.p_calibrated < LIKELY:
        reading = "it is probably miscalibrated, but the data are not conclusive"
    elif answer.p_calibrated <= 1.0 - UNLIKELY:
        reading = "the data do not distinguish it from a calibrated one"
    else:
        reading = "the data support calibration"
    stated = in_words(probability(answer.p_calibrated))
    return f"The posterior probability that it is calibrated is {stated}: {reading}."


def best_sentence(names: Sequence[str], prob: float) -> Markup:
    """Name the best calibrated classifier, or those that tie, and the probability."""
    text = "{} is the best calibrated with probability {}."
    if len(names) > 1:
        text = "{} tie: each is the best calibrated with probability {}."
    elif prob < LIKELY:
        text = "No classifier is clearly the best calibrated; {} leads with probability {}."
    return Markup(text).format(several_named(names), in_words(probability(prob)))


def best_error_sentence(best: CaseAnswer, worst: CaseAnswer) -> Markup:
    """Say how large the errors of the best and of the worst classifier are."""
    return Markup(
        "The calibration error of {} is <b>{}</b> ({}); the largest is that of {}: <b>{}</b> ({})."
    ).format(
        best.spoken,
        in_words(best.point_text),
        best.range_text,
        worst.spoken,
        in_words(worst.point_text),
        worst.range_text,
    )


def extremes_sentence(among: str, smallest: CaseAnswer, largest: CaseAnswer) -> Markup:
    """Say which cases have the smallest and the largest error."""
    return Markup(
        "{}, the largest calibration error is that of {}: <b>{}</b> ({}); "
        "the smallest is that of {}: <b>{}</b> ({})."
    ).format(
        among,
        *(largest.spoken, in_words(largest.point_text), largest.range_text),
        *(smallest.spoken, in_words(smallest.point_text), smallest.range_text),
    )


def mean_sentence(case: ResultSlice, found: Marginal) -> Markup:
    """Say how large the mean over classes is."""
    digits = decimals(found.lower, found.upper)
    return Markup(
        "The calibration error of {name}{group}, averaged over its classes, is <b>{mean}</b> "
        "({prob} credible interval {low} to {high}; the plug‑in ECE so averaged is {plug_in})."
    ).format(
        name=named(case.classifier),
        group="" if case.group is None else Markup(" in group {}").format(named(case.group)),
        mean=in_words(error(found.mean, digits)),
        prob=percent(found.prob),
        low=error(found.lower, digits),
        high=error(found.upper, digits),
        plug_in=in_words(error(found.plug_in, digits)),
    )


def difference_sentence(gap: Difference) -> Markup:
    """Say by how much the calibration errors of two classifiers differ, if that is resolved."""
    point, low, high = gap.mean, gap.lower, gap.upper
    text = (
        "The difference between the errors of {first} and {second} is not resolved: {point} "
        "({prob} interval {low} to {high})."
    )
    if not low <= 0.0 <= high:
        text = "The error of {first} is {word} than that of {second} by {point} "
        text += "({prob} interval {low} to {high})."
    if high < 0.0:
        point, low, high = -point, -high, -low
    digits = decimals(low, high)
    return Markup(text).format(
        first=named(gap.first),
        second=named(gap.second),
        word="smaller" if gap.upper < 0.0 else "larger",
        point=fixed(point, digits),
        prob=percent(gap.prob),
        low=fixed(low, digits),
        high=fixed(high, digits),
    )
