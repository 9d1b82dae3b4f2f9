"""The answer: what must be known first, the result in words, and every case on one scale."""

from __future__ import annotations

from markupsafe import Markup

from bayescal.report.alerts import alerts
from bayescal.report.answers import among, answers, best_two
from bayescal.report.credal import credal_answer
from bayescal.report.joint import joint_answer
from bayescal.report.means import means_over_classes
from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.sentences import (
    Answer,
    best_error_sentence,
    best_sentence,
    calibrated_sentence,
    difference_sentence,
    error_sentence,
    extremes_sentence,
    plug_in_sentence,
)
from bayescal.report.strip import scale, strip
from bayescal.report.view import View
from bayescal.results.difference import difference

MOST_ROWS = 40
MOST_SENTENCES = 8


def answer(view: View) -> Markup | None:
    """Give the answer of one result."""
    if view.is_joint:
        return joint_answer(view)
    if view.is_credal:
        return credal_answer(view)
    found = answers(view)
    if not found:
        return None
    several = len(found) > 1
    sentences = _sentences(view, found) if several else []
    shown = found[-MOST_ROWS:]
    on = scale(shown)
    lead = _lead_of_several(view, found) if several else _lead_of_one(view, found[0])
    means = means_over_classes(view)
    # Who asked for the mean reads it first; else it follows the classes.
    asked = view.text("multiclass") == "marginal"
    return render(
        "sections/answer.html.j2",
        case_word=view.case_word,
        alerts=alerts(view),
        converged=view.converged,
        lead=[*means, *lead] if asked else [*lead, *means],
        rows=[(one, strip(one, on)) for one in shown],
        scale=on,
        left_out=len(found) - len(shown),
        sentences=sentences,
        # Where there are sentences, they say it themselves.
        below=several and not sentences and any(_below(one) for one in shown),
        prob=view.prob,
    )


def _below(one: Answer) -> bool:
    return one.plug_in is not None and one.plug_in < one.low


def _lead_of_one(view: View, one: Answer) -> list[str]:
    return _words(view, one)


def _lead_of_several(view: View, found: list[Answer]) -> list[str]:
    best = best_two(view)
    if best is None:
        return [extremes_sentence(among(view), found[0], found[-1])]
    first, prob, second = best
    gap = difference(view.tree, first, second, view.target or "tce", view.prob)
    answer_of_first = next(one for one in found if one.name == first)
    worst = found[-1] if found[-1].name != first else found[-2]
    return [
        best_sentence(first, prob),
        best_error_sentence(answer_of_first, worst),
        difference_sentence(first, second, gap.mean, gap.lower, gap.upper, view.prob),
    ]


def _words(view: View, one: Answer) -> list[str]:
    warning = Markup('<span class="off">Not converged.</span>') if one.failed else ""
    error = error_sentence(one, quick=view.quick)
    words = (warning, error, plug_in_sentence(one), calibrated_sentence(one))
    return [text for text in words if text]


def _sentences(view: View, found: list[Answer]) -> list[list[str]]:
    return [_words(view, one) for one in found] if len(found) <= MOST_SENTENCES else []


SECTION = Section("answer", "The answer", "Answer", for_each(answer))
