"""What a reader must know before any number: failed fits, jumps, warnings, a quick answer."""

from __future__ import annotations

from dataclasses import dataclass

from bayescal.report.numbers import several
from bayescal.report.view import View


@dataclass(frozen=True, slots=True)
class Alert:
    """One box above the answer.

    Parameters
    ----------
    kind : {"bad", "warn", "quick"}
        How loud it is.
    title : str
        What is the matter.
    names : str
        The cases it is about, "" for all.
    text : str
        What follows from it, and the remedy.
    """

    kind: str
    title: str
    names: str
    text: str


def alerts(view: View) -> list[Alert]:
    """List the boxes of a result, the loudest first."""
    boxes = []
    status = view.text("status", "ok")
    told = status == "ok"
    if not view.converged:
        boxes.append(_not_converged(view, "" if told else status))
        told = True
    jumping = view.cases_where("jump_flag", True)
    if jumping:
        boxes.append(_jump(several([case.label for case in jumping]), "" if told else status))
        told = True
    if not told:
        boxes.append(Alert("warn", "Read this first", "", status))
    if view.quick:
        boxes.append(_quick(view))
    return boxes


def _not_converged(view: View, status: str) -> Alert:
    failed = view.cases_where("converged", False)
    concerned = several([case.label for case in failed]) if len(failed) < len(view.cases) else ""
    return Alert(
        "bad",
        "The fit did not converge: do not use these numbers",
        "" if status else concerned,
        status or "See the diagnostics below. Draw more, or raise target_accept, and fit again.",
    )


def _jump(names: str, status: str) -> Alert:
    return Alert(
        "warn",
        "The calibration curve may jump",
        "" if status else names,
        status
        or "The data favour a jump that the smooth curve cannot follow. Read the bins rather than "
        "the curve; the interval may be too narrow.",
    )


def _quick(view: View) -> Alert:
    return Alert(
        "quick",
        "Quick answer",
        "",
        f"These numbers were made without MCMC ({view.text('sampler')}). They are of the same "
        "posterior where the number of effective draws is large (see the diagnostics); fit "
        "without quick for the full run.",
    )
