"""Which figures a result has, by the role of its main variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from bayescal.core.quantity import ERROR, METRIC, ROW
from bayescal.core.text import capital, percent, shorten
from bayescal.plots.comparison import plot_comparison, plot_metrics, plot_ranks
from bayescal.plots.posterior import plot_posterior, plot_prior_posterior
from bayescal.plots.reliability import plot_reliability
from bayescal.plots.rows import plot_credal_sets, plot_decisions, plot_probability
from bayescal.plots.style import Drawing, full_title
from bayescal.results import access, schema
from bayescal.results.compare import rankable
from bayescal.results.curves import curve_shape
from bayescal.results.summary import heading

if TYPE_CHECKING:
    import xarray as xr

    from bayescal.results.access import ResultSlice

MOST_DIAGRAMS: Final = 24
MOST_PANELS: Final = 40
MOST_METRICS: Final = 3
MOST_ROWS: Final = 60
MOST_FIGURES: Final = 8
MOST_CURVES: Final = 4


@dataclass(frozen=True, slots=True)
class Gallery:
    """The figures of a result in order: first those in columns, then the wide ones."""

    columns: Sequence[Drawing] = ()
    wide: Sequence[Drawing] = ()
    intro: str = ""
    note: str = ""


def gallery(tree: xr.DataTree, prob: float) -> Gallery:
    """The figures of a fit."""
    of_role = {ERROR: _of_errors, METRIC: _of_metrics, ROW: _of_rows}
    return of_role[access.main(tree).role](tree, prob)


def _of_errors(tree: xr.DataTree, prob: float) -> Gallery:
    """Reliability case by case, then figures of all cases together."""
    cases = access.cases(tree)
    shown = cases if access.has_calibration_curve(tree) else []
    if len(shown) > MOST_DIAGRAMS:
        mean = partial(access.posterior_mean, tree, access.main(tree).name)
        shown = sorted(cases, key=lambda case: -mean(case))[:MOST_DIAGRAMS]
    left = len(cases) - len(shown)
    return Gallery(
        columns=[_diagram(tree, case, prob) for case in shown],
        wide=_of_all(tree, len(cases), prob),
        intro=_intro(tree, prob) if shown else "",
        note=f"The {len(shown)} cases with the largest errors; "
        f"bayescal.plots.plot_reliability draws the other {left}."
        if shown and left
        else "",
    )


def _intro(tree: xr.DataTree, prob: float) -> str:
    happens = "positive"
    if schema.CLASS in tree[schema.POSTERIOR].dims:
        happens = "of the class"
    elif tree.attrs.get("multiclass") == "top-label":
        happens = "predicted correctly"
    return (
        f"A calibrated score follows the diagonal: of the rows with score 0.7, 70% are {happens}. "
        f"The line is the calibration curve: the wide {percent(prob)} band holds all of it, the "
        "narrow one each point. The points are the bins, or the scores where there are few, their "
        "area in proportion to their rows."
    )


def _diagram(tree: xr.DataTree, case: ResultSlice, prob: float) -> Drawing:
    name = full_title(tree, case)
    mean = access.posterior_mean(tree, access.main(tree).name, case)
    shape = curve_shape(tree, case)
    sentence = "" if shape is None else shape.sentence
    alt = (
        f"Reliability diagram of {name}. Posterior mean of its calibration error {mean:.4f}. "
        f"{sentence}"
    ).rstrip()
    draw = partial(plot_reliability, tree, case.classifier, case.class_, case.group, prob)
    return Drawing(draw, "", sentence, alt)


def _of_all(tree: xr.DataTree, n_cases: int, prob: float) -> list[Drawing]:
    """Figures of all cases together."""
    var = access.main(tree)
    posterior = Drawing(
        partial(plot_posterior, tree, var.name, prob),
        f"Posterior of the {var.title}",
        "The density given that there is a calibration error, and at zero the probability that "
        "there is none.",
    )
    comparison = Drawing(
        partial(plot_comparison, tree, var.name, prob),
        f"{var.title} of all cases",
        f"Posterior mean and {percent(prob)} credible interval of the {var.title}, with the "
        "plug-in.",
    )
    prior = Drawing(
        partial(plot_prior_posterior, tree, var.name),
        f"Prior and posterior of the {var.title}",
        f"Densities of the {var.title}, given that it is not 0, before and after the data.",
    )
    few = n_cases <= MOST_PANELS
    found = [posterior] if few else []
    found += [comparison] if n_cases > 1 else []
    found += [prior] if few and access.has_variable(tree, schema.PRIOR, var.name) else []
    return found


def _of_metrics(tree: xr.DataTree, prob: float) -> Gallery:
    """The main metrics, and the probability of each rank by the first that has a direction."""
    if len(access.cases(tree)) > MOST_ROWS:
        return Gallery()
    metrics = access.answers(tree)
    wide = []
    for var in metrics[:MOST_METRICS]:
        caption = "Posterior mean and intervals."
        if access.has_variable(tree, schema.REFERENCE_ESTIMATES, var.name):
            caption += (
                " Marks below each interval are reference estimates; where they lie far from it, "
                "the result depends on the model."
            )
        draw = partial(plot_metrics, tree, var.name, prob)
        wide.append(Drawing(draw, capital(heading(var)), caption))
    ranked = next((var for var in metrics if rankable(tree, var)), None)
    if ranked is not None:
        caption = "Posterior probability of each rank; the first column is that of being best."
        draw = partial(plot_ranks, tree, ranked.name)
        wide.append(Drawing(draw, f"Ranks by {ranked.title}", caption))
    return Gallery(wide=wide)


def _of_rows(tree: xr.DataTree, prob: float) -> Gallery:
    """Of the first classifiers, probabilities against scores, and decisions or credal sets."""
    classes = [str(name) for name in access.json_attribute(tree, "classes")]
    binary = len(classes) == 2
    curves = classes[1:] if binary else classes[: MOST_CURVES - 1]
    cases = access.cases(tree)
    shown = cases[: max(MOST_FIGURES // (len(curves) + 1), 1)]
    of_rows = _decisions if binary else _sets
    left = len(cases) - len(shown)
    return Gallery(
        columns=[_curve(tree, case, name, prob) for case in shown for name in curves],
        wide=[of_rows(tree, case, prob) for case in shown],
        note=f"Figures of the first classifiers; bayescal.plots draws the other {left}."
        if left
        else "",
    )


def _curve(tree: xr.DataTree, case: ResultSlice, class_: str, prob: float) -> Drawing:
    name = full_title(tree, case)
    return Drawing(
        partial(plot_probability, tree, case.classifier, class_, prob),
        f"Probability of {shorten(class_)}, {name}",
        f"At each score, the {percent(prob)} bounds of the probability of the class given the "
        "score. The steps are p0 and p1, which are not bounds of it.",
        f"Probability of {shorten(class_)} against the score of {name}, with posterior bounds.",
    )


def _decisions(tree: xr.DataTree, case: ResultSlice, prob: float) -> Drawing:
    return Drawing(
        partial(plot_decisions, tree, case.classifier, None, prob),
        f"Decisions, {full_title(tree, case)}",
        "Rows in order of their score. A row whose bounds contain one half is open: either class "
        "may be the more probable one.",
    )


def _sets(tree: xr.DataTree, case: ResultSlice, prob: float) -> Drawing:
    return Drawing(
        partial(plot_credal_sets, tree, None, case.classifier, prob),
        f"Credal sets, {full_title(tree, case)}",
        "Class probabilities between the bounds, from the most certain row to the most open one.",
    )
