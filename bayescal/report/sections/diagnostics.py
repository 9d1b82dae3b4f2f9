"""Convergence, divergences, and what else each fit is checked by."""

from __future__ import annotations

from markupsafe import Markup

from bayescal.core.health import MAX_RHAT, MIN_EBFMI, MIN_ESS
from bayescal.report.kind import Check, Section, for_each
from bayescal.report.tables import Column, names, off, table
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.access import ResultSlice
from bayescal.results.text import count, fixed

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
)
_OUTSIDE = Markup(' <span aria-label="outside its rule">✗</span>')


def diagnostics(view: View) -> Markup | None:
    """Show every diagnostic of every fit, with its rule."""
    fits = _fits(view)
    columns = [
        column
        for check in (*CHECKS, *view.kind.CHECKS)
        if (column := _column(view, check, list(fits.values()))) is not None
    ]
    if not columns:
        return None
    word = view.case_word if len(fits) == len(view.cases) else "Fit"
    heads = Column(word, names(list(fits)), words=True)
    return _verdict(view, len(fits)) + table("Diagnostics", [heads, *columns])


def _fits(view: View) -> dict[str, ResultSlice]:
    """A case of each fit: several classifiers may have one, as the diagnostics' dimensions say."""
    held = view.tree[schema.DIAGNOSTICS].dataset
    dims = [dim for dim in view.dims_of_cases if any(dim in held[name].dims for name in held)]
    if len(dims) == len(view.dims_of_cases):
        return {case.label: case for case in view.cases}
    joint = [] if schema.CLASSIFIER in dims else ["all classifiers"]
    fits: dict[str, ResultSlice] = {}
    for case in view.cases:
        fits.setdefault(", ".join([*joint, *(case.sel[dim] for dim in dims)]), case)
    return fits


def _verdict(view: View, n_fits: int) -> Markup:
    status = view.status
    if not view.converged:
        failed = view.cases_where("converged", False) if n_fits == len(view.cases) else []
        of = f": {', '.join(case.label for case in failed)}" if failed else ""
        return Markup("<p>{} {}</p>\n").format(
            off(f"Not converged{of}."), "" if status == "ok" else status
        )
    if status != "ok":
        return Markup("<p><strong>The checks passed, with a remark.</strong> {}</p>\n").format(
            status
        )
    chains = (
        ""
        if view.direct
        else "The chains agree, there are enough effective draws, and no trajectory diverged."
    )
    good = '<p><span class="good"><strong>All checks passed.</strong></span> {}</p>\n'
    return Markup(good).format(chains)


def _column(view: View, check: Check, fits: list[ResultSlice]) -> Column | None:
    """One diagnostic; None where no fit has it, such as R-hat without chains."""
    values = [view.number_of(schema.DIAGNOSTICS, check.name, case) for case in fits]
    if all(value is None for value in values):
        return None
    return Column(check.title, [_cell(check, value) for value in values], small=check.rule)


def _cell(check: Check, value: float | None) -> str:
    """A value, marked where it breaks its rule."""
    if value is None:
        return fixed(None)
    text = check.write(value)
    return text if check.passes is None or check.passes(value) else off(text) + _OUTSIDE


SECTION = Section("diagnostics", "Convergence diagnostics", "Diagnostics", for_each(diagnostics))
