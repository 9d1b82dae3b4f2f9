"""Means over classes in words."""

from __future__ import annotations

from markupsafe import Markup

from bayescal.report.names import named
from bayescal.report.numbers import decimals, error, in_words, percent
from bayescal.report.view import View
from bayescal.results.marginal import Marginal, marginals
from bayescal.results.schema import Case

MOST_MEANS = 8


def means_over_classes(view: View) -> list[Markup]:
    """Say the mean over classes of the calibration error, classifier by classifier."""
    if view.target is None:
        return []
    found = marginals(view.tree, view.target, view.prob)
    return [_sentence(case, mean) for case, mean in found] if len(found) <= MOST_MEANS else []


def _sentence(case: Case, found: Marginal) -> Markup:
    digits = decimals(found.lower, found.upper)
    plug_in = in_words(error(found.plug_in, digits))
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
        plug_in=plug_in,
    )
