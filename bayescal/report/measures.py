"""Further numbers of the calibration curve in the report, and which classifier is best by each."""

from __future__ import annotations

from contextlib import suppress

from markupsafe import Markup

from bayescal.core.errors import InputError
from bayescal.core.variables import LESS, MORE, Variable
from bayescal.report.render import Column, names, table
from bayescal.report.view import Section, View, for_each
from bayescal.results import access
from bayescal.results.access import ResultSlice
from bayescal.results.ranking import Best, best
from bayescal.results.summary import own_point
from bayescal.results.text import MISSING, capital, decimals, ends, fixed, percent, probability

MOST_ROWS = 120
_BETTER = {LESS: "lower is better", MORE: "higher is better"}
_NOTE = (
    "All are numbers of the calibration curve, drawn from one posterior. A plug-in is the number "
    "of the labelled rows as they are; errors of the curve have none."
)


def measures(view: View) -> Markup | None:
    """A line a measure and case."""
    if not view.measures:
        return None
    lines = [(one, case) for one in view.measures for case in view.cases]
    shown = lines[:MOST_ROWS]
    ranks = {one.name: ranking for one in view.measures if (ranking := _ranking(view, one))}
    columns = [
        Column("Measure", [_name(one, case is view.cases[0]) for one, case in shown], words=True),
        *_cases(view, shown),
        Column("Plug‑in", [_point(view, *line) for line in shown]),
        Column("Mean", [_mean(view, *line) for line in shown]),
        Column(f"{percent(view.prob)} interval", [_range(view, *line) for line in shown]),
    ]
    if ranks:
        chances = [_chance(ranks.get(one.name), case) for one, case in shown]
        columns.append(Column("P(best)", chances))
    left = len(lines) - len(shown)
    more = f" {left} further lines are left out; bayescal.summary gives them." if left else ""
    return table("Further measures", columns) + Markup('<p class="note">{}{}</p>').format(
        _NOTE, more
    )


def _name(one: Variable, first: bool) -> Markup:
    """Its title; in the first of its lines, what it is."""
    title = Markup("{}").format(capital(one.title))
    if not (first and one.meaning):
        return title
    # Some meanings begin with the title, which stands above.
    text = capital(one.meaning.removeprefix(f"{capital(one.title)}: ").rstrip("."))
    text += f"; {_BETTER[one.better]}." if one.better else "."
    return title + Markup("<small>{}</small>").format(text)


def _cases(view: View, shown: list[tuple[Variable, ResultSlice]]) -> list[Column]:
    """Names of the cases, where there are several."""
    if len(view.cases) == 1:
        return []
    failed = [not access.case_converged(view.tree, case) for _, case in shown]
    return [Column(view.case_word, names([case.label for _, case in shown], failed), words=True)]


def _ranking(view: View, one: Variable) -> Best | None:
    """Probabilities of being best; None where classifiers are one, or not of the same rows."""
    with suppress(InputError):
        return best(view.tree, one.name)
    return None


def _chance(ranking: Best | None, case: ResultSlice) -> str:
    if ranking is None:
        return MISSING
    return probability(float(access.at(ranking.prob_best, case)))


def _digits(view: View, one: Variable, case: ResultSlice) -> int:
    bounds = view.interval(one.name, case)
    return 3 if bounds is None else decimals(*bounds)


def _point(view: View, one: Variable, case: ResultSlice) -> str:
    return fixed(own_point(view.tree, one, case), _digits(view, one, case))


def _mean(view: View, one: Variable, case: ResultSlice) -> str:
    return fixed(access.posterior_mean(view.tree, one.name, case), _digits(view, one, case))


def _range(view: View, one: Variable, case: ResultSlice) -> str:
    bounds = view.interval(one.name, case)
    return MISSING if bounds is None else ends(*bounds, _digits(view, one, case))


MEASURES = Section("measures", "Further measures", "Measures", for_each(measures))
