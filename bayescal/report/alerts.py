"""What a reader must know before any number: failed fits, warnings, draws without MCMC."""

from __future__ import annotations

from typing import Final, NamedTuple

from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.text import several


class Alert(NamedTuple):
    """A box above the main result: "bad", "warn", "note" or "quick", and its cases or ""."""

    kind: str
    title: str
    names: str
    text: str


_DIRECT: Final = Alert(
    "quick",
    "Without MCMC",
    "",
    "These draws were made without MCMC. They are from the same posterior; fit with "
    'method="nuts" for draws with chains and convergence diagnostics.',
)


def alerts(view: View) -> list[Alert]:
    """List the boxes of a result, the most serious first; its status is said once."""
    boxes = []
    status = "" if view.status == schema.OK else view.status
    if not view.converged:
        boxes.append(_not_converged(view, status))
        status = ""
    if status:
        boxes.append(Alert("warn", "Read this first", "", status))
    boxes += view.kind.alerts(view)
    if view.direct:
        boxes.append(_DIRECT)
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
