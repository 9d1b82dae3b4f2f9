"""Where among the groups the scores can be trusted least."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from bayescal.report.answers import answer_of
from bayescal.report.numbers import count, fixed
from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.sentences import Answer
from bayescal.report.view import View
from bayescal.results import schema


@dataclass(frozen=True, slots=True)
class Row:
    """One group: its size, its label rate and its answer."""

    group: str
    rows: str
    prevalence: str
    answer: Answer


def groups(view: View) -> Markup | None:
    """Show the groups of each classifier from the worst calibrated to the best."""
    if schema.GROUP not in view.dims_of_cases:
        return None
    blocks: dict[str, list[Row]] = {}
    for case in view.cases:
        row = _row(view, case)
        if row is not None:
            blocks.setdefault(_owner(case), []).append(row)
    for rows in blocks.values():
        rows.sort(key=lambda row: -row.answer.point)
    return render("sections/groups.html.j2", blocks=blocks, prob=view.prob) if blocks else None


def _owner(case: schema.Case) -> str:
    """What the groups are groups of: a classifier, and a class where there are several."""
    return case.classifier if case.class_ is None else f"{case.classifier} / {case.class_}"


def _row(view: View, case: schema.Case) -> Row | None:
    answer = answer_of(view, case)
    if answer is None or case.group is None:
        return None
    return Row(
        group=case.group,
        rows=count(view.number_of(schema.POINT_ESTIMATE, "n", case)),
        prevalence=fixed(view.number_of(schema.POINT_ESTIMATE, "prevalence", case), 3),
        answer=answer,
    )


SECTION = Section("groups", "Group by group", "Groups", for_each(groups))
