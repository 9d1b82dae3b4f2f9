"""Prior sensitivity: power scaling of one fit, or refits under other priors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from bayescal.core.quantity import METRIC, ROW
from bayescal.core.text import (
    MISSING,
    capital,
    decimals,
    ends,
    error,
    fixed,
    percent,
    probability,
    several,
)
from bayescal.plots.posterior import drawings
from bayescal.report import rows
from bayescal.report.render import Column, View, bold, facts, figures, names, plain, render, table
from bayescal.report.rows import priors_of
from bayescal.report.sections import alerts
from bayescal.results import access, schema
from bayescal.results import robustness as scaling
from bayescal.results.robustness import Conclusion, conclusions
from bayescal.results.rows import RowConclusion

if TYPE_CHECKING:
    import pandas as pd


MOST_LISTED = 4
MOST_METRICS = 3


def concluded(view: View) -> list[Conclusion | RowConclusion]:
    """What the priors and cases that are shown lead to; the whole grid's is in its attributes."""
    threshold = view.tree.attrs.get("threshold")
    at = None if threshold is None else float(threshold)
    return conclusions(view.tree, view.text("conclusion_var") or None, view.prob, at)


def refits(view: View) -> Markup:
    """Whether conclusions under several priors agree, case by case."""
    found = concluded(view)
    of_rows = [one for one in found if isinstance(one, RowConclusion)]
    if of_rows:
        tables = [
            _refit_table(one.case, rows.refit_columns(view, one), "decisions are", one.robust)
            for one in of_rows
        ]
        lead = [one.text for one in of_rows]
        return _page(view, lead, tables, rows.REFITS_NOTE, converged=True)
    of_cases = [one for one in found if isinstance(one, Conclusion)]
    sided = any(row.side for one in of_cases for row in one.rows)
    against = "perfect calibration" if of_cases[0].threshold is None else "the threshold"
    rule = f" and all lie on the same side of {against}" if sided else ""
    note = (
        f"A conclusion is robust if the intervals under every two priors overlap{rule}. Shifts are "
        "from the first prior."
    )
    # The sentences on a conclusion say whether its fits converged.
    said = len(of_cases) == 1
    lead = [of_cases[0].text if said else _overall(of_cases)]
    tables = [_table(view, one) for one in of_cases]
    return _page(view, lead, tables, note, converged=said or view.converged)


def _page(
    view: View, lead: Sequence[str], tables: Sequence[Markup], note: str, *, converged: bool
) -> Markup:
    """What sections on refits share: warnings, sentences, figure, tables, and the priors."""
    drawn = drawings(view.tree, view.prob)
    pictures = figures(wide=drawn) if drawn else Markup("")
    answer = {"lead": lead, "body": pictures + Markup("\n").join(tables), "notes": [note]}
    top = render("answer.html.j2", alerts=alerts(view), converged=converged, **answer)
    texts = view.structure("prior_texts") or {}
    words: dict[str, str] = {plain(name): text for name, text in texts.items()}
    return top + facts(words) if any(words.values()) else top


def _overall(found: list[Conclusion]) -> Markup:
    lost = [one.case for one in found if not one.robust]
    if not lost:
        number = "both" if len(found) == 2 else f"all {len(found)}"
        return Markup("The conclusion is robust to the prior in {} cases.").format(number)
    listed = Markup(", ").join(plain(case) for case in lost[:MOST_LISTED])
    more = f" and {len(lost) - MOST_LISTED} more" if len(lost) > MOST_LISTED else ""
    return Markup("Under {} priors the conclusion is not robust for {}{}.").format(
        len(found[0].rows), listed, more
    )


def _table(view: View, one: Conclusion) -> Markup:
    rows = one.rows
    digits = max(decimals(row.lower, row.upper) for row in rows)
    title = capital(access.described(view.tree, one.var).title)
    intervals = [ends(row.lower, row.upper, digits) for row in rows]
    columns = [
        priors_of(rows),
        Column(f"{title}, mean", [error(row.mean, digits) for row in rows]),
        Column(f"{percent(view.prob)} interval", intervals),
    ]
    if any(row.p_calibrated is not None for row in rows):
        columns.append(Column("P(calibrated)", [probability(row.p_calibrated) for row in rows]))
    shifts = [MISSING, *(signed(row.shift) for row in rows[1:])]
    columns.append(Column("Shift of the mean", shifts, small="posterior sd"))
    written = _refit_table(one.case, columns, "", one.robust)
    return written + (Markup('<p class="note">{}</p>').format(one.text) if one.case else "")


def _refit_table(case: str, columns: Sequence[Column], what: str, robust: bool) -> Markup:
    """A table of one case, headed by its verdict where there are several."""
    if not case:
        return table("Refits", columns)
    verdict = " ".join(filter(None, (what, "" if robust else "not", "robust")))
    return table(f"Refits of {case}", columns, Markup("{}: {}").format(plain(case), verdict))


def signed(value: float) -> str:
    """Write a shift with its sign."""
    text = fixed(value, 2)
    return f"+{text}" if value > 0 and text not in (MISSING, "0.00") else text


MOST_ROWS = 40
_SHORT = {scaling.FLAT: "flat prior", scaling.NONE: "no prior"}
_MATTERS = (scaling.BOTH, scaling.PRIOR)
type Line = tuple[str, dict[str, Any]]


def sensitivity(view: View) -> Markup | None:
    """How much the result depends on the priors."""
    if view.is_grid:
        return refits(view)
    if scaling.obstacle(view.tree):
        return None
    note = ""
    # Of rows a few, of metrics the first ones, of errors the main one with its parameters.
    variables = [one.name for one in (view.main, *view.parameters)]
    if view.main.role == ROW:
        note = " Of nine rows evenly spaced by score the most sensitive one is shown."
    elif view.main.role == METRIC:
        variables = [one.name for one in view.answers[:MOST_METRICS]]
    elif view.has(schema.MODEL_AVERAGE, schema.P_CALIBRATED):
        note = " The prior probability of perfect calibration is not scaled."
    scaled = None if view.main.role == ROW else variables
    return _scaled(view, note, scaling.power_scale(view.tree, scaled))


def _name(view: View, name: str) -> str:
    """Name of a variable that is power-scaled, or of what a prior is of, in full."""
    if "[" in name:
        return rows.variable_name(view, name)
    found = access.described(view.tree, name)
    return found.full or found.title


def _scaled(view: View, note: str, frame: pd.DataFrame) -> Markup:
    lines = _lines(view, frame)
    shown, left = lines[:MOST_ROWS], max(len(lines) - MOST_ROWS, 0)
    records = [record for _, record in shown]
    words = [_SHORT.get(str(r["diagnosis"]), str(r["diagnosis"])) for r in records]
    shifts = [signed(float(r["prior_shift"])) for r in records]
    named = [str(r["prior"]) for r in records]
    priors = ["all together" if one == scaling.ALL else _name(view, one) for one in named]
    variables = [capital(_name(view, str(r["quantity"]))) for r in records]
    columns = [
        Column("Variable", variables, words=True),
        Column("Prior of", priors, words=True),
        Column("Sensitivity to the prior", [fixed(r["prior_sensitivity"], 3) for r in records]),
        Column("to the data", [fixed(r["likelihood_sensitivity"], 3) for r in records]),
        Column("Shift for twice the prior", shifts, small="posterior sd"),
        Column("Diagnosis", [bold(one) if one in _MATTERS else one for one in words], words=True),
    ]
    if len(view.cases) > 1:
        columns.insert(0, Column(view.case_word, names([case for case, _ in shown]), words=True))
    cut = ""
    if left:
        cut = (
            f"The {MOST_ROWS} lines with the largest sensitivity to the prior; "
            f"bayescal.power_scale has the other {left}. "
        )
    note = (
        f"{cut}Sensitivity is how fast the posterior changes as the prior, or the data, "
        "get a little more or less weight (power scaling; Kallioinen and others, 2024, "
        f"doi:10.1007/s11222-023-10366-5). From {scaling.THRESHOLD} on it matters, where the mean "
        f"moves by {scaling.LEAST_SHIFT} or more.{note}"
    )
    return Markup('<p>{}</p>\n{}<p class="note">{}</p>').format(
        _sentence(view, frame), table("Power scaling", columns), note
    )


def _lines(view: View, frame: pd.DataFrame) -> list[Line]:
    """Lines of the table, those where the prior matters most first if they are many."""
    found: list[Line] = [*zip(map(str, frame.index), frame.to_dict("records"), strict=True)]
    if len(view.cases) > 1 and scaling.ALL in set(frame["prior"]):
        # Of several priors their product is enough, where there are many lines already.
        found = [line for line in found if line[1]["prior"] == scaling.ALL]
    if len(found) > MOST_ROWS:
        found.sort(key=lambda line: -np.nan_to_num(line[1]["prior_sensitivity"]))
    return found


def _sentence(view: View, frame: pd.DataFrame) -> str:
    """What the table says, in words."""
    words = set(frame["diagnosis"])
    if words <= {*_SHORT}:
        return (
            "The prior is flat: raised to any power it stays the same, so power scaling says "
            "nothing about it. It is an assumption nevertheless. To see how the result depends on "
            "it, fit under other priors with bayescal.prior_sensitivity, or bayescal sensitivity."
        )
    if words <= {*_SHORT, scaling.IMPOSSIBLE, scaling.CONSTANT, scaling.UNDEFINED}:
        return "The sensitivity to the prior cannot be computed from these draws."
    matter = frame[frame["diagnosis"].isin(_MATTERS)]
    if matter.empty:
        spread = scaling.SPREAD in words
        what = "moves no mean by much, but some spread" if spread else "changes little"
        return f"The data dominate: a little more or less weight of the prior {what}."
    cases = list(dict.fromkeys(map(str, matter.index)))
    named = [f"{view.kind}{case}" for case in cases]
    listed = several(named) if len(named) <= 4 else f"{len(named)} cases"
    where = "" if frame.index.nunique() == 1 else f" for {listed}"
    strongest = matter.iloc[int(matter["prior_shift"].abs().argmax())]
    way = "raise" if strongest["prior_shift"] > 0 else "lower"
    name = capital(_name(view, str(strongest["quantity"])))
    # An acronym keeps its capitals.
    what = f"{name[0].lower()}{name[1:]}" if name[1:2].islower() else name
    return (
        f"The prior matters{where}. Where it does most, twice its weight would {way} the {what} by "
        f"{abs(strongest['prior_shift']):.2f} posterior standard deviations. Before relying on the "
        "result fit under other priors with bayescal.prior_sensitivity, or bayescal sensitivity."
    )
