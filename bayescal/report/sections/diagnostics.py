"""Whether the numbers can be trusted: convergence, divergences, and the cross-check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from bayescal.core.health import MAX_RHAT, MIN_EBFMI, MIN_ESS
from bayescal.report.numbers import count, fixed
from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.view import View
from bayescal.results import schema


@dataclass(frozen=True, slots=True)
class Check:
    """One column: a diagnostic, how it is written, and when it is good."""

    name: str
    title: str
    rule: str
    write: Callable[[float], str]
    passes: Callable[[float], bool] | None = None


CHECKS = (
    Check(
        "rhat_max",
        "R-hat",
        f"at most {MAX_RHAT}",
        lambda x: fixed(x, 3),
        lambda x: x <= MAX_RHAT,
    ),
    Check("ess_min", "Effective draws", f"at least {MIN_ESS}", count, lambda x: x >= MIN_ESS),
    Check("divergences", "Divergences", "none", count, lambda x: x == 0),
    Check(
        "ebfmi_min",
        "E-BFMI",
        f"at least {MIN_EBFMI}",
        lambda x: fixed(x, 2),
        lambda x: x >= MIN_EBFMI,
    ),
    Check("importance_ess", "Importance sampling", "effective draws", count),
    Check("log_bayes_factor_jump", "Jump", "log Bayes factor", lambda x: fixed(x, 1)),
)


def diagnostics(view: View) -> Markup | None:
    """Show every diagnostic of every case, with the rule it is held to."""
    columns = [check for check in CHECKS if _known(view, check)]
    if not columns:
        return None
    return render(
        "sections/diagnostics.html.j2",
        case_word="Fit" if view.is_joint else view.case_word,
        columns=columns,
        rows=[
            (label, [_cell(view, check, case) for check in columns])
            for label, case in _fits(view).items()
        ],
        status=view.text("status", "ok"),
        converged=view.converged,
        failed=[]
        if view.is_joint
        else [case.label for case in view.cases_where("converged", False)],
        quick=view.quick,
    )


def _fits(view: View) -> dict[str, schema.Case]:
    """Cases by name; one for all where they are of one fit."""
    if view.is_joint:
        return {"all classifiers": view.cases[0]}
    return {case.label: case for case in view.cases}


def _known(view: View, check: Check) -> bool:
    """Whether any case has the figure: R-hat is NaN where there are no chains."""
    found = (view.number_of(schema.DIAGNOSTICS, check.name, case) for case in view.cases)
    return any(number is not None for number in found)


def _cell(view: View, check: Check, case: schema.Case) -> tuple[str, bool]:
    """Return the text of a cell and whether the value breaks its rule."""
    value = view.number_of(schema.DIAGNOSTICS, check.name, case)
    if value is None:
        return fixed(None), False
    return check.write(value), check.passes is not None and not check.passes(value)


SECTION = Section(
    "diagnostics", "Can the numbers be trusted?", "Diagnostics", for_each(diagnostics)
)
