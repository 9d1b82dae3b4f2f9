"""The metrics under each assumption that few labels cannot check, in the report."""

from __future__ import annotations

import math

from markupsafe import Markup

from bayescal.report.tables import Column, names, table
from bayescal.report.view import View
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.kind import kind_of
from bayescal.results.text import MISSING, capital, ends, fixed, probability

_ASSUMPTION = "assumption"
_PROBABILITY = "probability"
MOST_METRICS = 4
_NOTE = (
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
        cells = [_cell(view, name, case, assumption) for case, name in lines]
        columns.append(Column(capital(assumption), cells, small=small))
    note = Markup('<p class="note">{}</p>').format(_NOTE)
    return table("Metrics by assumption", columns) + note


def _cell(view: View, name: str, case: ResultSlice, assumption: str) -> str:
    found = access.variable(view.tree, schema.SENSITIVITY, name, case)
    lower, median, upper = map(float, found.sel({_ASSUMPTION: assumption}).values)
    return MISSING if math.isnan(median) else f"{fixed(median)} ({ends(lower, upper)})"
