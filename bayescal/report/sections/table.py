"""Every number of the summary, one row a case."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayescal.report.credal import credal_table
from bayescal.report.joint import joint_table
from bayescal.report.numbers import MISSING, count, error, percent, probability
from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.summary import NOT_CONVERGED, OK, summary

if TYPE_CHECKING:
    import pandas as pd

_TITLES = {
    "n": "Rows",
    "ece_point": "Plug‑in ECE",
    "ece_mean": "ECE, mean",
    "ece_median": "ECE, median",
    "ece": "ECE",
    "tce_mean": "Calibration error, mean",
    "tce": "Calibration error",
    "p_calibrated": "P(calibrated)",
    "status": "Fit",
}
# Names stand in the first column already, and diagnostics have a section of their own.
_ELSEWHERE = {*schema.CASE_DIMS, "rhat_max", "ess_min", "divergences", "jump"}
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table: its heading and its cells."""

    title: str
    cells: list[str]


def table(view: View) -> Markup | None:
    """Show the summary as a table."""
    if view.is_joint:
        return joint_table(view)
    if view.is_credal:
        return credal_table(view)
    frame = summary(view.tree, view.prob)
    columns = [
        column
        for name in map(str, frame.columns)
        if name not in _ELSEWHERE and (column := _column(frame, name, view.prob)) is not None
    ]
    if not columns:
        return None
    cells = zip(*(column.cells for column in columns), strict=True)
    return render(
        "sections/table.html.j2",
        case_word=view.case_word,
        titles=[column.title for column in columns],
        rows=list(zip(frame.index, cells, strict=True)),
        estimand=view.text("estimand"),
        bad=(NOT_CONVERGED,),
    )


def _column(frame: pd.DataFrame, name: str, prob: float) -> Column | None:
    """One column; two ends of an interval make one, a column that says nothing none."""
    values = frame[name].tolist()
    if name.endswith("_upper") or all(map(_is_missing, values)) or set(values) == {OK}:
        return None
    if name.endswith("_lower"):
        var = name.removesuffix("_lower")
        ends = zip(values, frame[f"{var}_upper"].tolist(), strict=True)
        cells = [f"{error(low, _DIGITS)} to {error(high, _DIGITS)}" for low, high in ends]
        return Column(f"{_title(var)}, {percent(prob)} interval", cells)
    return Column(_title(name), [_cell(name, value) for value in values])


def _title(name: str) -> str:
    return _TITLES.get(name, name.replace("_", " "))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if _is_missing(value):
        return MISSING
    if name == "n":
        return count(value)
    return probability(value) if name.startswith("p_") else error(float(value), _DIGITS)


SECTION = Section("table", "All the numbers", "Table", for_each(table))
