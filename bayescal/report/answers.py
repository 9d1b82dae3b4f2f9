"""The main result on calibration errors: each case in words and on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bayescal.core.text import decimals, error, fixed, in_words, percent, probability, relation
from bayescal.measures.errors import IfCalibrated
from bayescal.report.render import HIDDEN, Answer, View, named, names, render, several_named
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.compare import Difference, best, difference, leaders
from bayescal.results.intervals import Marginal, average_power, if_calibrated, marginals

UNLIKELY = 0.05
LIKELY = 0.5
"""Posterior probability of calibration below which miscalibration is called clear, or likely."""
CLEAR = 0.01
"""P-value below which the data are conclusive, though the tempered probability is not."""


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """One case: mean and interval of its error, plug-in ECE, P(calibrated), what kind it is."""

    name: str
    point: float
    low: float
    high: float
    prob: float
    plug_in: float | None = None
    if_calibrated: IfCalibrated | None = None
    p_calibrated: float | None = None
    digits: int = 3
    failed: bool = False
    kind: str = ""
    warnings: Sequence[str] = ()

    @property
    def figures(self) -> tuple[Markup, str, str]:
        """Name, point and interval as a sentence has them."""
        return self.kind + named(self.name), in_words(self.point_text), self.range_text

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
    name, point, interval = answer.figures
    how = "; without MCMC" if direct else ""
    return Markup("The calibration error of {} is <b>{}</b> ({} credible interval {}{}).").format(
        name, point, percent(answer.prob), interval, how
    )


def plug_in_sentence(answer: CaseAnswer) -> str:
    """Set the plug-in estimate beside the posterior."""
    if answer.plug_in is None:
        return ""
    text = f"The plug-in ECE is {in_words(error(answer.plug_in, answer.digits))}"
    if (found := answer.if_calibrated) is not None:
        lower, upper = (error(end, answer.digits) for end in (found.lower, found.upper))
        text += (
            f" (if it were calibrated, {lower} to {upper} with probability "
            f"{percent(found.prob)}; p {relation(found.p_value)})"
        )
    if answer.plug_in > answer.high:
        noise = found is None or answer.plug_in - answer.high <= found.upper
        why = "it counts sampling noise within each bin as error"
        return f"{text}, above the interval: {why if noise else 'the prior is for smaller errors'}."
    if answer.plug_in < answer.low:
        return f"{text}, below the interval: errors within a bin cancel in it."
    return f"{text}."


def calibrated_sentence(answer: CaseAnswer) -> str:
    """Say how probable it is that the case is calibrated, and what that means."""
    if answer.p_calibrated is None:
        return ""
    found = answer.if_calibrated
    clear = found is not None and found.p_value < CLEAR
    written = round(answer.p_calibrated, 2)  # so that what reads alike is read alike
    if written < UNLIKELY:
        reading = "it is miscalibrated"
    elif written < LIKELY:
        reading = "it is probably miscalibrated, but the data are not conclusive"
        if clear:
            reading = (
                "a number that moves slowly by design; "
                "p shows more clearly that it is miscalibrated"
            )
    elif written <= 1.0 - UNLIKELY:
        reading = "the data do not distinguish it from a calibrated one"
        if clear:
            reading = "a number that moves slowly by design; p speaks against it"
    else:
        reading = "the data support calibration"
    stated = in_words(probability(answer.p_calibrated))
    return f"The posterior probability that it is calibrated is {stated}: {reading}."


def best_sentence(
    names: Sequence[str], prob: float, best: str = "the best calibrated", none: str = "No"
) -> Markup:
    """Name the best classifier, or those that tie, and the probability."""
    text = f"{{}} is {best} with probability {{}}."
    if len(names) > 1:
        text = f"{{}} tie: each is {best} with probability {{}}."
    elif round(prob, 2) <= LIKELY:
        text = f"{none} classifier is clearly {best}; {{}} leads with probability {{}}."
    return Markup(text).format(several_named(names), in_words(probability(prob)))


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


MOST_ROWS = 40
MOST_SENTENCES = 8
MOST_MEANS = 8
WIDTH = 320
BOUNDS_OF = "the plug-in estimate"
ROWS_WARN = True
MARGIN = 20
GAP = 34  # between the place of 0 and the first decade of a logarithmic scale
MOST_TICKS = 7
DECADES = 20
"""Ratio of the largest error to the smallest beyond which the scale is logarithmic."""

_PLURALS = {schema.CLASSIFIER: "classifiers", schema.CLASS: "classes", schema.GROUP: "groups"}


def answer(view: View) -> Answer:
    """How large the errors are, and which classifier has the least."""
    found = answers(view)
    several = len(found) > 1
    lead = _lead_of_several(view, found) if several else _words(view, found[0])
    means = means_over_classes(view)
    sentences = [_words(view, one) for one in found] if several else []
    sentences = sentences if len(found) <= MOST_SENTENCES else []
    shown = found[-MOST_ROWS:]
    heads = names([one.name for one in shown], [one.failed for one in shown])
    note = Markup('<small class="warned">{}</small>').format
    notes = [Markup("").join(map(note, one.warnings)) for one in shown]
    heads = [head + said for head, said in zip(heads, notes, strict=True)]
    columns = columns_of(view, shown)
    cells = zip(*columns.values(), strict=True)
    body = render(
        "errors.html.j2",
        case_word=view.case_word,
        titles=list(columns),
        rows=list(zip(heads, shown, cells, strict=True)),
        scale=scale(shown),
        width=WIDTH,
        left_out=len(found) - len(shown),
        sentences=sentences,
        # The sentences say it themselves.
        below=several
        and not sentences
        and any(one.plug_in is not None and one.plug_in < one.low for one in shown),
        prob=view.prob,
    )
    # Where the mean over classes is what was estimated, it comes first.
    mean_first = view.text("multiclass") == "marginal"
    return Answer([*means, *lead] if mean_first else [*lead, *means], body)


def columns_of(view: View, found: Sequence[CaseAnswer]) -> dict[str, list[str]]:
    """Titles and cells of the numbers of cases, as every table of errors has them."""
    return {
        view.main_heading: [one.point_text for one in found],
        f"{percent(view.prob)} interval": [one.range_text for one in found],
        "Plug‑in ECE": [error(one.plug_in, one.digits) for one in found],
        "P(calibrated)": [probability(one.p_calibrated) for one in found],
    }


def answers(view: View) -> list[CaseAnswer]:
    """The main result of all cases, from the smallest error to the largest."""
    return sorted((answer_of(view, case) for case in view.cases), key=lambda one: one.point)


def answer_of(view: View, case: ResultSlice) -> CaseAnswer:
    """The main result of one case."""
    var = view.main
    low, high = view.interval(var.name, case)
    return CaseAnswer(
        name=case.label if len(view.cases) > 1 else case.title,
        point=access.posterior_mean(view.tree, var.name, case),
        low=low,
        high=high,
        prob=view.prob,
        plug_in=view.number_of(schema.POINT_ESTIMATE, var.point or "", case),
        if_calibrated=if_calibrated(view.tree, case, view.prob),
        p_calibrated=view.number_of(schema.MODEL_AVERAGE, schema.P_CALIBRATED, case),
        digits=view.digits,
        kind=view.kind,
        failed=not access.case_converged(view.tree, case),
        warnings=view.warnings.get(case, ()),
    )


def best_two(view: View) -> tuple[list[str], float, str] | None:
    """The classifiers most probably best, their probability, and the second."""
    if view.dims_of_cases != (schema.CLASSIFIER,) or not view.paired:
        return None
    held = best(view.tree, view.main.name).prob_best.squeeze()
    chances = {str(one[schema.CLASSIFIER].item()): float(one) for one in held}
    first, second = sorted(chances, key=lambda name: -chances[name])[:2]
    return [first, *(name for name in leaders(chances) if name != first)], chances[first], second


def among(view: View) -> str:
    """Say what the cases of a result are."""
    held = view.tree[schema.POSTERIOR].sizes
    words = [f"{held[dim]} {_PLURALS[dim]}" for dim in view.dims_of_cases]
    return f"Of {words[0] if len(words) == 1 else f'{len(view.cases)} cases ({", ".join(words)})'}"


def means_over_classes(view: View) -> list[Markup]:
    """The mean over classes of the calibration error, classifier by classifier."""
    found = marginals(view.tree, view.main.name, view.prob)
    return [mean_sentence(case, mean) for case, mean in found] if len(found) <= MOST_MEANS else []


def _lead_of_several(view: View, found: list[CaseAnswer]) -> list[Markup]:
    leading = best_two(view)
    if leading is None:
        extremes = (
            "{}, the largest mean of the calibration error is that of {}: <b>{}</b> ({}); "
            "the smallest is that of {}: <b>{}</b> ({})."
        )
        ends = (*found[-1].figures, *found[0].figures)
        return [Markup(extremes).format(among(view), *ends)]
    (first, *tied), prob, second = leading
    gap = difference(view.tree, first, second, view.main.name, view.prob)
    leader = next(one for one in found if one.name == first)
    other, mean = found[-1], "largest"
    if other is leader:
        # A mean may be large where most draws are 0.
        other, mean = found[-2], "next smaller"
    errors = Markup(
        "The calibration error of {} is <b>{}</b> ({}); the {} mean, of {}: <b>{}</b> ({})."
    ).format(*leader.figures, mean, *other.figures)
    return [best_sentence([first, *tied], prob), errors, difference_sentence(gap)]


def _words(view: View, one: CaseAnswer) -> list[str]:
    warning = Markup('<span class="off">Not converged.</span>') if one.failed else ""
    said = error_sentence(one, direct=view.direct)
    words = (warning, said, plug_in_sentence(one), calibrated_sentence(one))
    return [text for text in words if text]


@dataclass(frozen=True, slots=True)
class Scale:
    """From an error to a place up to `top`; logarithmic from `least` on, if that is above 0."""

    top: float
    ticks: tuple[float, ...]
    least: float = 0.0

    def at(self, error: float) -> str:
        """Return the horizontal place of an error."""
        left, share = MARGIN, min(max(error / self.top, 0.0), 1.0)
        if self.least > 0:
            left = MARGIN + GAP if error >= self.least else MARGIN
            share = math.log(max(error, self.least) / self.least) / math.log(self.top / self.least)
        return f"{left + min(share, 1.0) * (WIDTH - MARGIN - left):.1f}"

    def label(self, error: float) -> str:
        """Return the text of a tick."""
        step = error if self.least > 0 else self.top / (len(self.ticks) - 1)
        digits = max(0, -math.floor(math.log10(step) + 1e-9)) if error else 0
        return fixed(error, digits)


def scale(answers: Sequence[CaseAnswer]) -> Scale:
    """Choose a scale from 0 to beyond the largest number shown; a logarithmic one of decades."""
    largest = max(1e-6, *(max(one.high, one.point, one.plug_in or 0.0) for one in answers))
    points = [one.point for one in answers]
    if max(points) > DECADES * min(points):
        return _logarithmic(answers, largest)
    power = 10.0 ** math.floor(math.log10(largest))
    step = next(power * m for m in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if largest / (power * m) <= 6)
    n = math.ceil(largest / step - 1e-9)
    return Scale(n * step, tuple(step * k for k in range(n + 1)))


def _logarithmic(answers: Sequence[CaseAnswer], largest: float) -> Scale:
    """A scale of one to four decades, and before it a place for 0, which intervals may reach."""
    shown = [number for one in answers for number in (one.low, one.point, one.plug_in or 0.0)]
    smallest = max(min(number for number in (*shown, largest / 10) if number > 0), largest / 1e4)
    # One power to spare at either end: the logarithm of a power of ten may be off by a rounding.
    powers = range(math.floor(math.log10(smallest)) - 1, math.ceil(math.log10(largest)) + 2)
    steps = [float(f"{m}e{power}") for power in powers for m in (1, 2, 5)]
    least = max(step for step in steps if step <= smallest)
    top = min(step for step in steps if step >= largest)
    ticks = [step for step in steps if least <= step <= top]
    if len(ticks) > MOST_TICKS:
        ticks = [step for step in ticks if f"{step:e}".startswith("1")]
    return Scale(top, (0.0, *ticks), least)


def titles(view: View) -> dict[str, str]:
    """Headings of the summary's columns: the main error in full."""
    found = {"n": "Rows", schema.EFFECTIVE_N: "Effective rows", "curve": "Curve"}
    # The sentences on each classifier have these.
    found[schema.P_VALUE_CALIBRATED] = HIDDEN
    for one in view.answers:
        name = view.main_heading if one == view.main else one.title
        plug_in = f"Plug‑in {one.title}"
        found |= {one.name: name, f"{one.name}_point": plug_in}
        found[f"{one.name}_if_calibrated"] = HIDDEN
        found[f"{one.name}_if_calibrated_lower"] = HIDDEN
        found |= {f"{one.name}_{what}": f"{name}, {what}" for what in ("mean", "median")}
    return found


def terms(view: View) -> list[tuple[str, str]]:
    """What a calibration error is, and what its interval and its probability of 0 mean."""
    prob, power = percent(view.prob), average_power(view.tree)
    tempered = f" In it the evidence has the power {power}, because none of them need be true."
    found = [
        (
            True,
            "Calibrated",
            "Among the rows with score 0.7, 70% have a positive label, and so for every other "
            "score: the score can be read as a probability.",
        ),
        (
            view.has(schema.POINT_ESTIMATE, view.main.point or ""),
            "Plug-in ECE",
            "The usual estimate: label rates of the sample are taken as if they were known. "
            "Noise counts as error, so it is biased upwards, most with many bins and few rows. "
            "What it would be if the scores were calibrated is simulated, with labels drawn by "
            "the scores; p is the probability of as large an estimate then, or a larger one.",
        ),
        (
            view.described,
            "Component of the curve",
            "The calibration curve may be the diagonal (calibrated), smooth, rough (smooth with "
            "deviations that differ from score to score), linear (as wrong labels make it) or made "
            "of segments, some calibrated and others shifted. The posterior averages them, each "
            f"weighted by its posterior probability.{'' if power in ('', '1') else tempered}",
        ),
        (
            True,
            f"{prob} credible interval",
            "Given the data and the priors, the error lies in it with a probability of at least "
            f"{prob}. Where perfect calibration is not excluded, the interval starts at 0.",
        ),
        (
            view.has(schema.MODEL_AVERAGE, schema.P_CALIBRATED),
            "P(calibrated)",
            "The posterior probability that the calibration error is exactly 0. Before the "
            "data it is one half, unless the priors say otherwise.",
        ),
    ]
    return [(word, text) for applies, word, text in found if applies]
