"""The main result, the summary and the figures, as the kind of the result has them."""

from __future__ import annotations

from markupsafe import Markup

from bayescal.plots.kind import plots_of
from bayescal.report.alerts import alerts
from bayescal.report.figures import figures
from bayescal.report.kind import Section, for_each
from bayescal.report.render import render
from bayescal.report.tables import table
from bayescal.report.view import View


def answer(view: View) -> Markup | None:
    """The main result of one fit, under what must be known first."""
    found = view.kind.answer(view)
    if found is None:
        return None
    return render(
        "answer.html.j2", alerts=alerts(view), converged=view.converged, **found._asdict()
    )


def results(view: View) -> Markup | None:
    """Show the summary as a table, under what it estimates."""
    columns = view.kind.table(view)
    if len(columns) < 2:
        return None
    estimand = Markup('<p class="note">{}</p>\n').format(view.text("estimand"))
    return (estimand if view.text("estimand") else Markup("")) + table("Summary", columns)


def plots(view: View) -> Markup | None:
    """Show every figure that the result has the numbers for."""
    found = plots_of(view.tree).figures(view.tree, view.prob)
    if not (found.columns or found.wide):
        return None
    return figures(found.columns, found.wide, found.intro, found.note)


SECTIONS = (
    Section("answer", "The answer", "Answer", for_each(answer)),
    Section("table", "Results", "Results", for_each(results)),
    Section("plots", "Figures", "Figures", for_each(plots)),
)
