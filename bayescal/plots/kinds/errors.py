"""Figures of calibration errors: reliability diagrams, posteriors, comparison."""

from __future__ import annotations

from functools import partial

import xarray as xr

from bayescal.plots import style
from bayescal.plots.comparison import plot_comparison
from bayescal.plots.kind import Drawing, Gallery
from bayescal.plots.posterior import plot_posterior, plot_prior_posterior
from bayescal.plots.reliability import plot_reliability
from bayescal.plots.sensitivity import plot_conclusions
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.curves import curve_shape
from bayescal.results.text import percent

FUNCTIONS = ("plot_reliability", "plot_posterior", "plot_comparison", "plot_prior_posterior")
MOST_DIAGRAMS = 24
MOST_PANELS = 40

plot_refits = partial(plot_conclusions, from_zero=True)


def figures(tree: xr.DataTree, prob: float) -> Gallery:
    """Reliability case by case, then figures of all cases together."""
    cases = access.cases(tree)
    shown = _with_diagram(tree, cases)
    return Gallery(
        columns=[_diagram(tree, case, prob) for case in shown],
        wide=_of_all(tree, len(cases), prob),
        intro=_intro(tree, prob) if shown else "",
        note=f"The {len(shown)} cases with the largest errors; "
        f"bayescal.plots.plot_reliability draws the other {len(cases) - len(shown)}."
        if 0 < len(shown) < len(cases)
        else "",
    )


def _with_diagram(tree: xr.DataTree, cases: list[ResultSlice]) -> list[ResultSlice]:
    """Cases that get a reliability diagram: all, or those with the largest errors."""
    held = ((schema.POSTERIOR, "calibration_curve"), (schema.CONSTANT_DATA, "curve_score"))
    if not all(access.has_variable(tree, *one) for one in held):
        return []
    if len(cases) <= MOST_DIAGRAMS:
        return cases
    return sorted(cases, key=lambda case: -access.averaged_mean(tree, _main(tree), case))[
        :MOST_DIAGRAMS
    ]


def _main(tree: xr.DataTree) -> str:
    return "tce" if access.has_variable(tree, schema.POSTERIOR, "tce") else "ece"


def _intro(tree: xr.DataTree, prob: float) -> str:
    happens = "positive"
    if schema.CLASS in tree[schema.POSTERIOR].dims:
        happens = "of the class"
    elif tree.attrs.get("multiclass") == "top-label":
        happens = "predicted correctly"
    return (
        f"A calibrated score follows the diagonal: of the rows with score 0.7, 70% are {happens}. "
        f"The line is the calibration curve with its {percent(prob)} band; the points are the "
        "bins, or the scores where there are few, their area in proportion to their rows."
    )


def _diagram(tree: xr.DataTree, case: ResultSlice, prob: float) -> Drawing:
    name = style.shorten(case.title)
    var = _main(tree)
    shape = curve_shape(tree, case)
    sentence = "" if shape is None else shape.sentence
    alt = (
        f"Reliability diagram of {name}. Posterior mean of its calibration error "
        f"{access.averaged_mean(tree, var, case):.4f}. {sentence}"
    ).rstrip()
    draw = partial(plot_reliability, tree, case.classifier, case.class_, case.group, prob)
    return Drawing(draw, "", sentence, alt)


def _of_all(tree: xr.DataTree, n_cases: int, prob: float) -> list[Drawing]:
    """Figures of all cases together."""
    names = (n for n in schema.CALIBRATION_ERRORS if access.has_variable(tree, schema.POSTERIOR, n))
    var = next(names, None)
    if var is None:
        return []
    title = var.upper()
    posterior = Drawing(
        partial(plot_posterior, tree, var, prob),
        f"Posterior of the {title}",
        "The density given that there is a calibration error, and at zero the probability that "
        "there is none.",
    )
    comparison = Drawing(
        partial(plot_comparison, tree, var, prob),
        f"{title} of all cases",
        f"Posterior mean and {percent(prob)} credible interval of the {title}, with the plug-in.",
    )
    prior = Drawing(
        partial(plot_prior_posterior, tree, var),
        f"Prior and posterior of the {title}",
        f"Densities of the {title} before and after the data.",
    )
    few = n_cases <= MOST_PANELS
    found = [posterior] if few else []
    found += [comparison] if n_cases > 1 else []
    found += [prior] if few and access.has_variable(tree, schema.PRIOR, var) else []
    return found
