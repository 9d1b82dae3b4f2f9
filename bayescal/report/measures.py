"""Further numbers of the calibration curve in the report, and decision curves."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from bayescal.core.errors import InputError
from bayescal.core.variables import LESS, MORE, Variable
from bayescal.plots import plot_decision_curve
from bayescal.plots.style import Drawing, shorten
from bayescal.report.render import Column, figures, names, table
from bayescal.report.view import Section, View, for_each
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.decision_curve import decision_curve
from bayescal.results.measure import is_of_rows
from bayescal.results.ranking import Best, best
from bayescal.results.summary import numbers_of
from bayescal.results.text import (
    MISSING,
    capital,
    error,
    percent,
    probability,
    with_ends,
)

if TYPE_CHECKING:
    import pandas as pd


MOST_LINES = 120
_BETTER = {LESS: "lower is better", MORE: "higher is better"}
_NOTE = (
    "Draws are of the posterior of the calibration curve{}. A plug-in is the number of the "
    "labelled rows as they are; errors of the curve have none.{}"
)
_OF_ROWS = "; those of {} are of the labelled rows alone (Bayesian bootstrap)"


def measures(view: View) -> Markup | None:
    """A line a measure and case."""
    if not view.measures:
        return None
    lines = [(one, case) for one in view.measures for case in view.cases]
    shown = lines[:MOST_LINES]
    ranks = {one.name: ranking for one in view.measures if (ranking := _ranking(view, one))}
    titles = ("Plug‑in", "Mean", f"{percent(view.prob)} interval")
    numbers = zip(
        *(numbers_of(view.tree, case, one, view.interval(one.name, case)) for one, case in shown),
        strict=True,
    )
    columns = [
        Column("Measure", [_name(one, case is view.cases[0]) for one, case in shown], words=True),
        *(Column(title, cells) for title, cells in zip(titles, numbers, strict=True)),
    ]
    if len(view.cases) > 1:
        failed = [not access.case_converged(view.tree, case) for _, case in shown]
        cells = names([case.label for _, case in shown], failed)
        columns.insert(1, Column(view.case_word, cells, words=True))
    if ranks:
        chances = [_chance(ranks.get(one.name), case) for one, case in shown]
        columns.append(Column("P(best)", chances))
    left = len(lines) - len(shown)
    more = f" {left} further lines are left out; bayescal.summary gives them." if left else ""
    means = ", ".join(one.title for one in view.measures if is_of_rows(view.tree, one.name))
    note = _NOTE.format(_OF_ROWS.format(means) if means else "", more)
    return table("Further measures", columns) + Markup('<p class="note">{}</p>').format(note)


def _name(one: Variable, first: bool) -> Markup:
    """Its title; in the first of its lines, what it is."""
    title = Markup("{}").format(capital(one.title))
    if not (first and one.meaning):
        return title
    # Some meanings begin with the title, which stands above.
    text = capital(one.meaning.removeprefix(f"{capital(one.title)}: ").rstrip("."))
    text += f"; {_BETTER[one.better]}." if one.better else "."
    return title + Markup("<small>{}</small>").format(text)


def _ranking(view: View, one: Variable) -> Best | None:
    """Probabilities of being best; None where classifiers are one, or not of the same rows."""
    with suppress(InputError):
        return best(view.tree, one.name)
    return None


def _chance(ranking: Best | None, case: ResultSlice) -> str:
    if ranking is None:
        return MISSING
    return probability(float(access.at(ranking.prob_best, case)))


MEASURES = Section("measures", "Further measures", "Measures", for_each(measures))


_NAME: Final = "net_benefit"
_MOST_CURVES: Final = 6


def decisions(view: View) -> Markup | None:
    """A curve, a sentence and a table for each class and group."""
    split = (name.partition(":") for name in access.measure_names(view.tree))
    thresholds = sorted({float(options) for name, _, options in split if name == _NAME})
    if not thresholds:
        return None
    of_cases = list(dict.fromkeys((case.class_, case.group) for case in view.cases))
    parts = [_of_one(view, class_, group, thresholds) for class_, group in of_cases[:_MOST_CURVES]]
    left = len(of_cases) - _MOST_CURVES
    if left > 0:
        note = '<p class="note">bayescal.plots.plot_decision_curve draws the other {}.</p>\n'
        parts.append(Markup(note).format(left))
    return Markup("\n").join(parts)


def _of_one(view: View, class_: str | None, group: str | None, thresholds: list[float]) -> Markup:
    of_case = partial(decision_curve, view.tree, prob=view.prob, class_=class_, group=group)
    where = ", ".join(shorten(name) for name in (class_, group) if name is not None)
    drawing = Drawing(
        partial(plot_decision_curve, view.tree, None, view.prob, class_=class_, group=group),
        f"Decision curve, {where}" if where else "Decision curve",
        "Net benefit of treating the rows whose score is at the threshold or above: the share of "
        "true positives, less that of false positives at the threshold's odds. P(useful) is the "
        "probability that it is above those of treating all and treating none, EVPI the net "
        "benefit that knowing the best strategy would add.",
    )
    sentence = Markup("<p>{}</p>\n").format(of_case().text)
    return sentence + figures(wide=[drawing]) + _table(view, of_case(thresholds).table, where)


def _table(view: View, found: pd.DataFrame, where: str) -> Markup:
    """Net benefit at the thresholds of the measures."""
    rows = [row for _, row in found.sort_values("threshold", kind="stable").iterrows()]
    failed = [row["status"] != schema.OK for row in rows]
    columns = [
        Column("Classifier", names([row["classifier"] for row in rows], failed), words=True),
        Column("Threshold", [f"{row['threshold']:g}" for row in rows]),
        Column("Net benefit", [_interval(row, "") for row in rows]),
        Column("Treating all", [_interval(row, "all_") for row in rows]),
        Column("P(useful)", [probability(row["p_useful"]) for row in rows]),
        Column("P(best)", [probability(row["p_best"]) for row in rows]),
        Column("EVPI", [error(row["evpi"], 4) for row in rows]),
    ]
    caption = f"Posterior means with {percent(view.prob)} intervals; treating none has 0."
    return table(f"Net benefit {where}".strip(), columns, caption)


def _interval(row: pd.Series, prefix: str) -> str:
    mean, low, high = (float(row[f"{prefix}{name}"]) for name in ("mean", "lower", "upper"))
    return with_ends(mean, low, high)


DECISIONS: Final = Section("decisions", "Decision curves", "Decisions", for_each(decisions))
