"""What single quantities show, if they ask for it: class prior, assumptions, classes, costs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Final

import numpy as np
from markupsafe import Markup

from bayescal.core.text import MISSING, capital, fixed, percent, probability, with_ends
from bayescal.plots import plot_class_reliability, plot_roc, plot_sensitivity_curve
from bayescal.plots.style import Drawing
from bayescal.report.render import Column, View, figures, names, table
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.curves import has_roc
from bayescal.results.intervals import interval, prob_above

_ASSUMPTION = "assumption"
MOST_METRICS = 4
_ASSUMPTIONS_NOTE = (
    "Medians and 90% intervals of the same posterior, weighted to each assumption on the "
    "classifiers' opinion pool: that its probabilities are right, that little is known of how "
    "steep they should be, and that they are off by {}. Where the columns differ, the result rests "
    "on the assumption: label more rows. A dash says that the labels rule the assumption out."
)


def assumptions(view: View) -> Markup | None:
    """Metrics if little is known but what few labels cannot check: a column an assumption."""
    if schema.SENSITIVITY not in view.tree.children:
        return None
    held = view.tree[schema.SENSITIVITY].dataset
    shown = [one for one in view.answers[:MOST_METRICS] if one.name in held]
    lines = list(product(view.cases, shown))
    columns = [
        Column(view.case_word, names([case.label for case, _ in lines]), words=True),
        Column("Metric", [capital(one.title) for _, one in lines], words=True),
    ]
    for assumption in map(str, held[_ASSUMPTION].values):
        chance = float(held["probability"].sel({_ASSUMPTION: assumption}).item())
        small = "" if math.isnan(chance) else f"probability {probability(chance)}"
        found = (access.variable(view.tree, schema.SENSITIVITY, one.name, at) for at, one in lines)
        values = [one.sel({_ASSUMPTION: assumption}).values for one in found]
        cells = [with_ends(middle, low, high) for low, middle, high in values]
        columns.append(Column(capital(assumption), cells, small=small))
    off = "what agreement among the classifiers suggests"
    if len(access.classifier_names(view.tree)) == 1:
        off = "an unknown amount, as a single classifier has none to agree with"
    note = Markup('<p class="note">{}</p>').format(_ASSUMPTIONS_NOTE.format(off))
    return table("Metrics by assumption", columns) + note


def by_class(view: View) -> Markup | None:
    """A line a class: mean and interval of every variable named for it; and its reliability."""
    shown = view.names("class_variables")
    if not access.has_variable(view.tree, schema.POSTERIOR, *shown):
        return None
    tables = [_of_case(view, case, shown) for case in view.cases]
    caption = (
        "Accuracy against confidence of the labelled rows of each predicted class, before "
        "calibration and after; with the posterior mean of the calibration error before and after. "
        "These rows are those that the calibration was fitted to."
    )
    draw = partial(plot_class_reliability, view.tree, prob=view.prob)
    drawn = [
        Drawing(partial(draw, name), f"Reliability of each class, {name}", caption)
        for name in access.classifier_names(view.tree)
    ]
    return Markup("").join(tables) + figures(wide=drawn)


def _of_case(view: View, case: ResultSlice, shown: list[str]) -> Markup:
    # One where it was selected.
    held = np.ravel(view.tree[schema.POSTERIOR].dataset["label_class"].values)
    classes = [str(name) for name in held]
    columns = [Column("Class", names(classes), words=True)]
    for name in shown:
        means = access.variable(view.tree, schema.POSTERIOR, name, case).mean(schema.DRAW_DIMS)
        bounds = access.at(interval(view.tree, name, view.prob), case)
        both = zip(np.ravel(means.values), np.atleast_2d(bounds.values), strict=True)
        cells = [with_ends(mean, *bounds) for mean, bounds in both]
        columns.append(Column(capital(access.described(view.tree, name).title), cells))
    caption = f"{case.title}: posterior means with {percent(view.prob)} intervals."
    return table(f"Classes of {case.title}", columns, caption)


_EXCEEDED: Final = (0.01, 0.02, 0.05)
_BOUND: Final = 0.95
_MOST_PANELS: Final = 12
_SIGNS: Final[Mapping[float | None, str]] = {1: "too high", -1: "too low"}


def curves_and_costs(view: View) -> Markup | None:
    """Measure with the interval that attains it, costs of the rules, and ROC curves."""
    parts = [_measure(view), _costs(view), _roc(view)]
    return Markup("\n").join(part for part in parts if part is not None)


def _names(view: View) -> Column:
    return Column(view.case_word, names([case.label for case in view.cases]), words=True)


def _measure(view: View) -> Markup:
    """The estimate and where it is attained, and what the posterior says of it."""
    cases = view.cases
    ends_of_c = interval(view.tree, "c", 2 * _BOUND - 1)
    upper = [access.ends(ends_of_c, case)[1] for case in cases]
    point = partial(view.number_of, schema.POINT_ESTIMATE)
    signs = [_SIGNS.get(point("sign", case), MISSING) for case in cases]
    ends = [(point("lower", case), fixed(point("upper", case))) for case in cases]
    attained = [f"{'[0' if a == -math.inf else f'({fixed(a)}'}, {b}]" for a, b in ends]
    columns = [
        _names(view),
        Column("Estimate", [fixed(point("c", case)) for case in cases], small="c_emp"),
        Column("Attained in", attained, words=True),
        Column("Scores there", signs, words=True),
        Column(f"{percent(_BOUND)} upper bound of c", [fixed(value) for value in upper]),
        *(
            Column(
                f"P(c > {value:g})", [probability(float(access.at(found, case))) for case in cases]
            )
            for value in _EXCEEDED
            for found in [prob_above(view.tree, "c", value)]
        ),
    ]
    text = (
        "The interval calibration error c is the largest miscount of positives in any interval of "
        "scores, as a share of all rows; c_emp is that of the labelled rows. The probabilities are "
        "posterior ones; the bound is conservative, that of the credible interval."
    )
    note = Markup('<p class="note">{}</p>').format(text)
    return table("Calibration over all score intervals", columns) + note


def _costs(view: View) -> Markup | None:
    """Each rule in words, and its costs."""
    rules = json.loads(view.text("decision", "{}"))
    if not rules:
        return None
    names = [f"{prefix}{rule}" for rule in rules for prefix in ("", "unlabeled_")]
    held = [name for name in names if view.has(schema.POSTERIOR, name)]
    columns = [_names(view)]
    for name in held:
        cells = [
            with_ends(access.posterior_mean(view.tree, name, case), *view.interval(name, case))
            for case in view.cases
        ]
        columns.append(Column(capital(access.described(view.tree, name).title), cells))
        if not name.startswith("unlabeled_"):
            points = (view.number_of(schema.POINT_ESTIMATE, name, case) for case in view.cases)
            cells = [fixed(point) for point in points]
            columns.append(Column("Labelled rows", cells))
    titles = {name: capital(access.described(view.tree, name).title) for name in rules}
    rule = Markup("<p><strong>{}</strong>: {}.</p>\n")
    said = Markup("").join(rule.format(titles[name], text) for name, text in rules.items())
    caption = (
        f"Costs of a row: posterior means with {percent(view.prob)} intervals, expected in the "
        "population and of the unlabelled rows; and the mean of the labelled rows."
    )
    return said + table("Costs of decisions", columns, caption)


def _roc(view: View) -> Markup | None:
    """ROC curves with their bands."""
    if len(view.cases) > _MOST_PANELS or not has_roc(view.tree):
        return None
    caption = (
        "The wide band holds the whole curve with the given probability: it is what boxes of both "
        "rates at every threshold leave possible. The narrow one is of each point for itself."
    )
    drawing = Drawing(partial(plot_roc, view.tree, view.prob), "ROC curve", caption)
    return figures(wide=[drawing])


def class_prior(view: View) -> Markup:
    """How the error moves with the share of positives among the unlabelled rows."""
    caption = (
        "The result depends on the share of positives among the unlabelled rows. The shaded wedge "
        "is Theorem 2: the plug-in moves by no more than the class prior does. If the class prior "
        "is declared known but is off by a tenth, most intervals miss the true value."
    )
    name = "Calibration error against the class prior"
    return figures([Drawing(partial(plot_sensitivity_curve, view.tree), name, caption)])
