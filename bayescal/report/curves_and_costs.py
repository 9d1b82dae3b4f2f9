"""Calibration over all score intervals, costs of decisions and ROC curves, in the report."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Final

from markupsafe import Markup

from bayescal.plots.kind import Drawing
from bayescal.plots.roc import plot_roc
from bayescal.report.figures import figures
from bayescal.report.render import plain
from bayescal.report.tables import Column, table
from bayescal.report.view import View
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.exceedance import prob_exceeds
from bayescal.results.intervals import credible_interval
from bayescal.results.roc_curves import has_roc
from bayescal.results.text import (
    MISSING,
    capital,
    ends,
    fixed,
    percent,
    probability,
    variable_title,
)

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
