"""Variables of each class, in the report: which they are, a result says itself."""

from __future__ import annotations

import math

from markupsafe import Markup

from bayescal.report.render import plain
from bayescal.report.tables import Column, table
from bayescal.report.view import View
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import credible_interval
from bayescal.results.text import MISSING, capital, ends, fixed, percent, variable_title

_CLASS = "label_class"


def by_class(view: View) -> Markup | None:
    """A line a class: mean and interval of every variable that the result names for it."""
    held = [name for name in view.names("class_variables") if view.has(schema.POSTERIOR, name)]
    if not held:
        return None
    tables = [_of_case(view, case, held) for case in view.cases]
    return Markup("").join(tables)


def _of_case(view: View, case: ResultSlice, names: list[str]) -> Markup:
    classes = [str(name) for name in view.tree[schema.POSTERIOR].dataset[_CLASS].values]
    columns = [Column("Class", [plain(name) for name in classes], words=True)]
    for name in names:
        means = access.variable(view.tree, schema.POSTERIOR, name, case).mean(schema.DRAW_DIMS)
        bounds = access.at(credible_interval(view.tree, name, view.prob), case)
        columns.append(
            Column(
                capital(variable_title(name)),
                [
                    _cell(float(mean), *map(float, pair))
                    for mean, pair in zip(means, bounds, strict=True)
                ],
            )
        )
    caption = f"{case.title}: posterior means with {percent(view.prob)} intervals."
    return table(f"Classes of {case.title}", columns, caption)


def _cell(mean: float, lower: float, upper: float) -> str:
    return MISSING if math.isnan(mean) else f"{fixed(mean)} ({ends(lower, upper)})"
