"""Which of several models calibrates, in the report of an average over them."""

from __future__ import annotations

from markupsafe import Markup

from bayescal.report.tables import Column, bold, names, table
from bayescal.report.view import View
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.text import capital, probability

_NOTE = (
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
        Column(capital(name), [_cell(own, name) for own in weights], small="probability")
        for name in weights[0]
    ]
    return table("Models", columns) + Markup('<p class="note">{}</p>').format(_NOTE)


def _weights(view: View, case: ResultSlice) -> dict[str, float]:
    held = access.variable(view.tree, schema.MODEL_AVERAGE, "weight", case)
    kinds = map(str, held[schema.DESCRIPTION].values)
    return dict(zip(kinds, map(float, held.values), strict=True))


def _cell(weights: dict[str, float], name: str) -> str:
    text = probability(weights[name])
    return bold(text) if weights[name] == max(weights.values()) else text
