"""Prior sensitivity by refits: the conclusion, a figure, and a table a case."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from bayescal.plots.sensitivity import drawings
from bayescal.report.alerts import alerts
from bayescal.report.figures import figures
from bayescal.report.render import facts, plain, render
from bayescal.report.tables import Column, names, table
from bayescal.report.view import View
from bayescal.results.conclusion import Conclusion, conclusions
from bayescal.results.kind import kind_of
from bayescal.results.text import (
    MISSING,
    capital,
    decimals,
    ends,
    error,
    fixed,
    percent,
    probability,
)

MOST_LISTED = 4


def refits(view: View) -> Markup:
    """Whether the conclusion on a variable is robust, case by case."""
    threshold = view.tree.attrs.get("threshold")
    at = None if threshold is None else float(threshold)
    all_of = conclusions(view.tree, view.text("conclusion_var") or None, view.prob, at)
    found = [one for one in all_of if isinstance(one, Conclusion)]
    sided = any(row.side for one in found for row in one.rows)
    against = "perfect calibration" if at is None else "the threshold"
    rule = f" and all lie on the same side of {against}" if sided else ""
    note = (
        f"A conclusion is robust if the intervals under every two priors overlap{rule}. Shifts are "
        "from the first prior."
    )
    lost = [one.case for one in found if not one.robust]
    lead = [found[0].text] if len(found) == 1 else [_overall(lost, found)]
    said = len(found) == 1  # The sentences on a conclusion say whether its fits converged.
    tables = [_table(view, one) for one in found]
    return refits_page(view, lead, tables, note, converged=said or view.converged)


def refits_page(
    view: View, lead: Sequence[str], tables: Sequence[Markup], note: str, *, converged: bool
) -> Markup:
    """What sections on refits share: warnings, sentences, figure, tables, and the priors."""
    drawn = drawings(view.tree, view.prob)
    pictures = figures(wide=drawn) if drawn else Markup("")
    texts = view.structure("prior_texts")
    body = pictures + Markup("\n").join(tables)
    top = render(
        "answer.html.j2",
        alerts=alerts(view),
        converged=converged,
        lead=lead,
        body=body,
        notes=[note],
    )
    words: dict[str, str] = {}
    if isinstance(texts, dict):
        words = {plain(name): text for name, text in texts.items()}
    return top + facts(words) if any(words.values()) else top


def _overall(lost: list[str], found: list[Conclusion]) -> Markup:
    if not lost:
        return Markup("The conclusion is robust to the prior in all {} cases.").format(len(found))
    listed = Markup(", ").join(plain(case) for case in lost[:MOST_LISTED])
    more = f" and {len(lost) - MOST_LISTED} more" if len(lost) > MOST_LISTED else ""
    return Markup("Under {} priors the conclusion is not robust for {}{}.").format(
        len(found[0].rows), listed, more
    )


def _table(view: View, one: Conclusion) -> Markup:
    rows = one.rows
    digits = max(decimals(row.lower, row.upper) for row in rows)
    title = capital(kind_of(view.tree).title(one.var))
    columns = [
        Column(
            "Prior", names([row.prior for row in rows], [not row.converged for row in rows]), True
        ),
        Column(f"{title}, mean", [error(row.mean, digits) for row in rows]),
        Column(
            f"{percent(view.prob)} interval", [ends(row.lower, row.upper, digits) for row in rows]
        ),
    ]
    if any(row.p_calibrated is not None for row in rows):
        columns.append(Column("P(calibrated)", [probability(row.p_calibrated) for row in rows]))
    shifts = [MISSING, *(signed(row.shift) for row in rows[1:])]
    columns.append(Column("Shift of the mean", shifts, small="posterior sd"))
    written = refit_table(one.case, columns, "robust" if one.robust else "not robust")
    return written + (Markup('<p class="note">{}</p>').format(one.text) if one.case else "")


def refit_table(case: str, columns: Sequence[Column], verdict: str) -> Markup:
    """A table of one case, headed by its verdict where there are several."""
    if not case:
        return table("Refits", columns)
    return table(f"Refits of {case}", columns, Markup("{}: {}").format(plain(case), verdict))


def signed(value: float) -> str:
    """Write a shift with its sign."""
    text = fixed(value, 2)
    return f"+{text}" if value > 0 and text not in (MISSING, "0.00") else text
