"""The pictures: reliability case by case, posterior, comparison, and what the data added."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from markupsafe import Markup
from matplotlib.figure import Figure

from bayescal.plots import (
    plot_comparison,
    plot_posterior,
    plot_prior_posterior,
    plot_reliability,
)
from bayescal.plots.style import shorten
from bayescal.report.answers import answer_of
from bayescal.report.credal import credal_plots
from bayescal.report.figures import Image, image
from bayescal.report.joint import joint_plots
from bayescal.report.numbers import percent
from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.sentences import alt_text
from bayescal.report.view import View
from bayescal.results import schema

MOST_DIAGRAMS = 24
MOST_PANELS = 40
VAR = "ece"


def plots(view: View) -> Markup | None:
    """Show every picture that the result has the numbers for."""
    if view.is_joint:
        return joint_plots(view)
    if view.is_credal:
        return credal_plots(view)
    shown = _diagrammed(view)
    diagrams = [_diagram(view, case) for case in shown]
    others = _others(view)
    if not diagrams and not others:
        return None
    return render(
        "sections/plots.html.j2",
        diagrams=diagrams,
        left_out=len(view.cases) - len(shown) if diagrams else 0,
        others=others,
        prob=view.prob,
        happens=_happens(view),
    )


def _happens(view: View) -> str:
    """What a score of a reliability diagram is the probability of."""
    if view.text("multiclass") == "top-label":
        return "predicted right"
    if schema.CLASS in view.dims_of_cases:
        return "of the class"
    return "positive"


def _diagrammed(view: View) -> list[schema.Case]:
    """Cases that get a reliability diagram: all, or those with the largest errors."""
    curve = view.has(schema.POSTERIOR, "calibration_curve")
    if not (curve and view.has(schema.CONSTANT_DATA, "curve_score")):
        return []
    cases = list(view.cases)
    if len(cases) <= MOST_DIAGRAMS:
        return cases
    errors = {case: answer.point for case in cases if (answer := answer_of(view, case))}
    return sorted(cases, key=lambda case: -errors.get(case, 0.0))[:MOST_DIAGRAMS]


def _diagram(view: View, case: schema.Case) -> Image:
    answer = answer_of(view, case)
    name = shorten(case.title)
    return image(
        partial(plot_reliability, view.tree, case.classifier, case.class_, case.group, view.prob),
        alt=f"Reliability diagram of {name}. {alt_text(answer)}" if answer else name,
    )


def _others(view: View) -> list[Image]:
    """Pictures of all cases together."""
    if not view.has(schema.POSTERIOR, VAR):
        return []
    few = len(view.cases) <= MOST_PANELS
    images = []
    if few:
        images.append(_posterior(view))
    if len(view.cases) > 1:
        images.append(_comparison(view))
    if few and schema.PRIOR in view.tree.children and view.has(schema.PRIOR, VAR):
        images.append(_prior_posterior(view))
    return images


def _posterior(view: View) -> Image:
    return _of_all(
        lambda: plot_posterior(view.tree, VAR, view.prob),
        "Posterior of the ECE",
        "What the data leave of the ECE: its density if there is an error at all, and at zero the "
        "probability that there is none.",
    )


def _comparison(view: View) -> Image:
    return _of_all(
        lambda: plot_comparison(view.tree, VAR, view.prob),
        "ECE of all cases",
        f"Posterior mean and {percent(view.prob)} credible interval of the ECE, with the plug-in.",
    )


def _prior_posterior(view: View) -> Image:
    return _of_all(
        lambda: plot_prior_posterior(view.tree, VAR),
        "Prior and posterior of the ECE",
        "What was thought of the ECE before the data, and after.",
    )


def _of_all(draw: Callable[[], Figure], title: str, caption: str) -> Image:
    return image(draw, alt=f"{title}. {caption}", name=title, caption=caption)


SECTION = Section("plots", "The pictures", "Pictures", for_each(plots))
