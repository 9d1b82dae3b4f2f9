"""The answer in words: numbers in, one sentence out, names escaped."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from bayescal.report.names import named
from bayescal.report.numbers import decimals, error, fixed, in_words, percent, probability

UNLIKELY = 0.05
LIKELY = 0.5
"""Posterior probability of calibration below which miscalibration is called clear, or likely."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the report says of one case.

    Attributes
    ----------
    name : str
        Name of the case, as the user gave it.
    point : float
        Model-averaged posterior mean of the calibration error, in [0, 1].
    low, high : float
        Credible interval.
    prob : float
        Its probability.
    plug_in : float or None
        The plug-in ECE of the bins.
    p_calibrated : float or None
        Posterior probability that the case is calibrated.
    digits : int
        Decimals to write the errors with.
    failed : bool
        Whether the fit did not converge.
    kind : str
        What is said before the name in a sentence: "class ", "group " or nothing.
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

    @property
    def plug_in_text(self) -> str:
        """The plug-in ECE as a table shows it."""
        return error(self.plug_in, self.digits)


def error_sentence(answer: Answer, *, quick: bool = False) -> Markup:
    """Say how large the calibration error is."""
    how = "; quick, without MCMC" if quick else ""
    return Markup(
        "The calibration error of {name} is <b>{point}</b> ({prob} credible interval {range}{how})."
    ).format(
        name=answer.spoken,
        point=in_words(answer.point_text),
        prob=percent(answer.prob),
        range=answer.range_text,
        how=how,
    )


def plug_in_sentence(answer: Answer) -> str:
    """Set the plug-in estimate beside the posterior."""
    if answer.plug_in is None:
        return ""
    text = f"The plug-in ECE is {in_words(answer.plug_in_text)}"
    if answer.plug_in > answer.high:
        return f"{text}, above the interval: it counts the noise within each bin as error."
    if answer.plug_in < answer.low:
        return f"{text}, below the interval: errors within a bin cancel in it."
    return f"{text}."


def calibrated_sentence(answer: Answer) -> str:
    """Say how probable it is that the case is calibrated, and what that means."""
    if answer.p_calibrated is None:
        return ""
    if answer.p_calibrated < UNLIKELY:
        reading = "it is miscalibrated"
    elif answer.p_calibrated < LIKELY:
        reading = "it is probably miscalibrated, but the data do not settle it"
    elif answer.p_calibrated <= 1.0 - UNLIKELY:
        reading = "the data do not tell it from a calibrated one"
    else:
        reading = "the data speak for calibration"
    stated = in_words(probability(answer.p_calibrated))
    return f"The posterior probability that it is calibrated is {stated}: {reading}."


def best_sentence(name: str, prob: float) -> Markup:
    """Name the best calibrated classifier and the probability that it is."""
    text = "{} is the best calibrated with probability {}."
    if prob < LIKELY:
        text = "No classifier is clearly the best calibrated; {} leads with probability {}."
    return Markup(text).format(named(name), in_words(probability(prob)))


def best_error_sentence(best: Answer, worst: Answer) -> Markup:
    """Say how large the errors of the best and of the worst classifier are."""
    return Markup(
        "Its calibration error is <b>{}</b> ({}); the largest is that of {}: <b>{}</b> ({})."
    ).format(
        in_words(best.point_text),
        best.range_text,
        worst.spoken,
        in_words(worst.point_text),
        worst.range_text,
    )


def extremes_sentence(among: str, smallest: Answer, largest: Answer) -> Markup:
    """Say which cases have the smallest and the largest error."""
    return Markup(
        "{}, the largest calibration error is that of {}: <b>{}</b> ({}); "
        "the smallest is that of {}: <b>{}</b> ({})."
    ).format(
        among,
        *(largest.spoken, in_words(largest.point_text), largest.range_text),
        *(smallest.spoken, in_words(smallest.point_text), smallest.range_text),
    )


def alt_text(answer: Answer) -> str:
    """Say what a picture of one case shows, for those who do not see it."""
    text = (
        f"Calibration error {answer.point_text}, {percent(answer.prob)} interval "
        f"{answer.range_text}"
    )
    return f"{text}." if answer.plug_in is None else f"{text}; plug-in ECE {answer.plug_in_text}."


def difference_sentence(
    first: str, second: str, point: float, low: float, high: float, prob: float
) -> Markup:
    """Say by how much the calibration errors of two classifiers differ."""
    digits = decimals(low, high)
    if low <= 0.0 <= high:
        return Markup(
            "The errors of {} and {} are not told apart: their difference is {} "
            "({} interval {} to {})."
        ).format(
            named(first),
            named(second),
            *(fixed(point, digits), percent(prob), fixed(low, digits), fixed(high, digits)),
        )
    if high < 0.0:
        word, point, low, high = "smaller", -point, -high, -low
    else:
        word = "larger"
    return Markup("The error of {} is {} than that of {} by {} ({} interval {} to {}).").format(
        named(first),
        word,
        named(second),
        *(fixed(point, digits), percent(prob), fixed(low, digits), fixed(high, digits)),
    )
