"""Decision curves, where a net benefit is among the measures of a result."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import xarray as xr
from markupsafe import Markup

from bayescal.plots import plot_decision_curve
from bayescal.plots.style import Drawing, shorten
from bayescal.report.render import Column, figures, names, table
from bayescal.report.view import Section, View, for_each
from bayescal.results import access, schema
from bayescal.results.decision_curve import decision_curve
from bayescal.results.text import ends, error, fixed, percent, probability

if TYPE_CHECKING:
    import pandas as pd

_NAME: Final = "net_benefit"
_MOST_CURVES: Final = 6


def decisions(view: View) -> Markup | None:
    """A curve, a sentence and a table for each class and group."""
    thresholds = _thresholds(view.tree)
    if not thresholds:
        return None
    of_cases = list(dict.fromkeys((case.class_, case.group) for case in view.cases))
    parts = [_of_one(view, class_, group, thresholds) for class_, group in of_cases[:_MOST_CURVES]]
    left = len(of_cases) - _MOST_CURVES
    if left > 0:
        note = '<p class="note">bayescal.plots.plot_decision_curve draws the other {}.</p>\n'
        parts.append(Markup(note).format(left))
    return Markup("\n").join(parts)


def _thresholds(tree: xr.DataTree) -> list[float]:
    """Thresholds of the net benefits among the measures."""
    parts = (name.partition(":") for name in access.measure_names(tree))
    return sorted({float(options) for name, _, options in parts if name == _NAME})


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
    return f"{fixed(mean)} ({ends(low, high)})"


DECISIONS: Final = Section("decisions", "Decision curves", "Decisions", for_each(decisions))
