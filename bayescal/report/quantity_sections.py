"""What single quantities show: models, assumptions, classes, costs and ROC curves."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Final

from markupsafe import Markup

from bayescal.plots.kind import Drawing
from bayescal.plots.roc import plot_roc
from bayescal.report.render import Column, bold, figures, names, plain, table
from bayescal.report.view import View
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.curves import has_roc
from bayescal.results.intervals import credible_interval, prob_exceeds
from bayescal.results.kind import kind_of
from bayescal.results.text import (
    MISSING,
    capital,
    ends,
    fixed,
    percent,
    probability,
    variable_title,
)

_MODELS_NOTE = (
    "Posterior probabilities of the models that the result is an average of, by evidence; what is "
    "shown of a model's own numbers is given that it holds."
)


def models(view: View) -> Markup | None:
    """A line a case: the probability of each model, the largest in bold."""
    if not view.has(schema.MODEL_AVERAGE, "weight"):
        return None
    weights = [_weights(view, case) for case in view.cases]
    columns = [Column(view.case_word, names([case.label for case in view.cases]), words=True)]
    columns += [
        Column(capital(name), [_weight(own, name) for own in weights], small="probability")
        for name in weights[0]
    ]
    return table("Models", columns) + Markup('<p class="note">{}</p>').format(_MODELS_NOTE)


def _weights(view: View, case: ResultSlice) -> dict[str, float]:
    held = access.variable(view.tree, schema.MODEL_AVERAGE, "weight", case)
    kinds = map(str, held[schema.DESCRIPTION].values)
    return dict(zip(kinds, map(float, held.values), strict=True))


def _weight(weights: dict[str, float], name: str) -> str:
    text = probability(weights[name])
    return bold(text) if weights[name] == max(weights.values()) else text


_ASSUMPTION = "assumption"
_PROBABILITY = "probability"
MOST_METRICS = 4
_ASSUMPTIONS_NOTE = (
    "Medians and 90% intervals of the same posterior, weighted to each assumption on the "
    "classifiers' opinion pool: that its probabilities are right, that little is known of how "
    "steep they should be, and that they are off by what agreement among the classifiers "
    "suggests. Where the columns differ, the result rests on the assumption: label more rows. "
    "A dash says that the labels rule the assumption out."
)


def assumptions(view: View) -> Markup | None:
    """A line a case and metric, a column an assumption."""
    if not view.has(schema.SENSITIVITY, _PROBABILITY):
        return None
    held = view.tree[schema.SENSITIVITY].dataset
    if _ASSUMPTION not in held[_PROBABILITY].dims:
        return None
    kind = kind_of(view.tree)
    metrics = [name for name in kind.variables(view.tree)[:MOST_METRICS] if name in held]
    lines = [(case, name) for case in view.cases for name in metrics]
    columns = [
        Column(view.case_word, names([case.label for case, _ in lines]), words=True),
        Column("Metric", [capital(kind.title(name)) for _, name in lines], words=True),
    ]
    for assumption in map(str, held[_ASSUMPTION].values):
        chance = float(held[_PROBABILITY].sel({_ASSUMPTION: assumption}).item())
        small = "" if math.isnan(chance) else f"probability {probability(chance)}"
        cells = [_under_assumption(view, name, case, assumption) for case, name in lines]
        columns.append(Column(capital(assumption), cells, small=small))
    note = Markup('<p class="note">{}</p>').format(_ASSUMPTIONS_NOTE)
    return table("Metrics by assumption", columns) + note


def _under_assumption(view: View, name: str, case: ResultSlice, assumption: str) -> str:
    found = access.variable(view.tree, schema.SENSITIVITY, name, case)
    lower, median, upper = map(float, found.sel({_ASSUMPTION: assumption}).values)
    return MISSING if math.isnan(median) else f"{fixed(median)} ({ends(lower, upper)})"


_CLASS = "label_class"


def by_class(view: View) -> Markup | None:
    """A line a class: mean and interval of every variable that the result names for it."""
    held = [name for name in view.names("class_variables") if view.has(schema.POSTERIOR, name)]
    if not held:
        return None
    tables = [_of_case(view, case, held) for case in view.cases]
    return Markup("").join(tables)


def _of_case(view: View, case: ResultSlice, names: list[str]) -> Markup:
    classes = [str(name) for name in view.tree[schema.POSTERIOR].dataset[_CLASS].values]
    columns = [Column("Class", [plain(name) for name in classes], words=True)]
    for name in names:
        means = access.variable(view.tree, schema.POSTERIOR, name, case).mean(schema.DRAW_DIMS)
        bounds = access.at(credible_interval(view.tree, name, view.prob), case)
        columns.append(
            Column(
                capital(variable_title(name)),
                [
                    _of_class(float(mean), *map(float, pair))
                    for mean, pair in zip(means, bounds, strict=True)
                ],
            )
        )
    caption = f"{case.title}: posterior means with {percent(view.prob)} intervals."
    return table(f"Classes of {case.title}", columns, caption)


def _of_class(mean: float, lower: float, upper: float) -> str:
    return MISSING if math.isnan(mean) else f"{fixed(mean)} ({ends(lower, upper)})"


_EXCEEDED: Final = (0.01, 0.02, 0.05)
_BOUND: Final = 0.95
_MOST_PANELS: Final = 12
_SIGNS: Final = {1: "too high", -1: "too low"}


def curves_and_costs(view: View) -> Markup | None:
    """Measure with the interval that attains it, costs of the rules, and ROC curves."""
    if not has_roc(view.tree):
        return None
    parts = [_measure(view), _costs(view), _roc(view)]
    return Markup("\n").join(part for part in parts if part is not None)


def _names(view: View) -> Column:
    return Column(view.case_word, [plain(case.label) for case in view.cases], words=True)


def _measure(view: View) -> Markup:
    """The estimate and where it is attained, and what the posterior says of it."""
    cases = view.cases
    ends_of_c = credible_interval(view.tree, "c", 2 * _BOUND - 1)
    upper = [float(access.at(ends_of_c, case).values[1]) for case in cases]
    columns = [
        _names(view),
        Column("c_emp", [fixed(_point(view, "c", case)) for case in cases]),
        Column("Attained in", [_attained(view, case) for case in cases], words=True),
        Column("Scores there", [_sign(view, case) for case in cases], words=True),
        Column(f"{percent(_BOUND)} upper bound of c", [fixed(value) for value in upper]),
        *(
            Column(
                f"P(c > {value:g})",
                [probability(prob_exceeds(view.tree, "c", value, case)) for case in cases],
            )
            for value in _EXCEEDED
        ),
    ]
    caption = (
        "c is the largest miscount of positives in any interval of scores, as a share of all rows. "
        "The bound and the probabilities are posterior ones."
    )
    return table("Calibration over all score intervals", columns, caption)


def _point(view: View, name: str, case: ResultSlice) -> float:
    value = access.scalar(view.tree, schema.POINT_ESTIMATE, name, case)
    return math.nan if value is None else value


def _attained(view: View, case: ResultSlice) -> str:
    low, high = (_point(view, name, case) for name in ("lower", "upper"))
    return f"{'[0' if math.isinf(low) else '(' + fixed(low)}, {fixed(high)}]"


def _sign(view: View, case: ResultSlice) -> str:
    value = _point(view, "sign", case)
    return MISSING if math.isnan(value) else _SIGNS.get(int(value), MISSING)


def _costs(view: View) -> Markup | None:
    """Each rule in words, and its costs."""
    rules = json.loads(view.text("decision", "{}"))
    if not rules:
        return None
    names = [f"{prefix}{rule}" for rule in rules for prefix in ("", "unlabeled_")]
    held = [name for name in names if view.has(schema.POSTERIOR, name)]
    columns = [_names(view)]
    for name in held:
        cells = [_mean_and_ends(view, name, case) for case in view.cases]
        columns.append(Column(capital(variable_title(name)), cells))
        if not name.startswith("unlabeled_"):
            cells = [fixed(_point(view, name, case)) for case in view.cases]
            columns.append(Column("Labelled rows", cells))
    said = Markup("").join(
        Markup("<p><strong>{}</strong>: {}.</p>\n").format(capital(variable_title(name)), text)
        for name, text in rules.items()
    )
    caption = (
        f"Costs of a row: posterior means with {percent(view.prob)} intervals, expected in the "
        "population and of the unlabelled rows; and the mean of the labelled rows."
    )
    return said + table("Costs of decisions", columns, caption)


def _mean_and_ends(view: View, name: str, case: ResultSlice) -> str:
    bounds = view.interval(name, case)
    if bounds is None:
        return MISSING
    return f"{fixed(access.averaged_mean(view.tree, name, case))} ({ends(*bounds)})"


def _roc(view: View) -> Markup | None:
    """ROC curves with their bands."""
    if len(view.cases) > _MOST_PANELS:
        return None
    caption = (
        "The wide band holds the whole curve with the given probability: it is what boxes of both "
        "rates at every threshold leave possible. The narrow one is of each point for itself."
    )
    drawing = Drawing(partial(plot_roc, view.tree, view.prob), "ROC curve", caption)
    return figures(wide=[drawing])
