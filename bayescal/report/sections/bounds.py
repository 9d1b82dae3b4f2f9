"""What theory guarantees, and what it asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from bayescal.report.numbers import count, fixed
from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.credal_rows import LABEL_CLASS

MOST_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound: its name, kind and assumption, and one value a case or one for all."""

    title: str
    kind: str
    assumption: str
    values: list[str]


def bounds(view: View) -> Markup | None:
    """Show every bound with its kind and its assumption in words."""
    if schema.BOUNDS not in view.tree.children:
        return None
    held = view.tree[schema.BOUNDS].dataset
    numbers = {str(name): _numbers(view, str(name)) for name in held.data_vars}
    # Bounds of each class are told together too.
    alike = LABEL_CLASS in held.dims or all(len(set(values)) == 1 for values in numbers.values())
    together = alike or len(view.cases) > MOST_COLUMNS
    rows = [_bound(held[name].attrs, name, values, together) for name, values in numbers.items()]
    return render(
        "sections/bounds.html.j2",
        rows=rows,
        of=_subject(view),
        labels=[] if together else [case.label for case in view.cases],
        vacuous=any(
            row.kind.startswith("upper bound") and max(numbers[name], default=0.0) > 1.0
            for name, row in zip(numbers, rows, strict=True)
        ),
    )


def _subject(view: View) -> str:
    """What the bounds are of."""
    if view.is_credal:
        return "the Venn-Abers probabilities p0 and p1"
    return "the metrics on the labelled rows alone" if view.is_joint else "the plug-in estimate"


def _numbers(view: View, name: str) -> list[float]:
    """One value a case (and class, where the bound is of each), NaN where there is none."""
    held = schema.variable(view.tree, schema.BOUNDS, name)
    if LABEL_CLASS in held.dims:
        return [float(value) for value in held.values.ravel()]
    found = (view.number_of(schema.BOUNDS, name, case) for case in view.cases)
    return [math.nan if number is None else number for number in found]


def _bound(attrs: Mapping[str, Any], name: str, numbers: list[float], together: bool) -> Bound:
    whole = all(math.isnan(number) or number.is_integer() for number in numbers)
    write = count if whole else partial(fixed, digits=4)
    values = [write(number) for number in numbers]
    if together:
        ends = [write(end) for end in (min(numbers), max(numbers))]
        values = [" to ".join(dict.fromkeys(ends))]
    return Bound(
        title=name.replace("n_bins", "number_of_bins").replace("_", " "),
        kind=str(attrs.get("kind", "")),
        assumption=str(attrs.get("assumption", "")),
        values=values,
    )


SECTION = Section("bounds", "What theory guarantees", "Bounds", for_each(bounds))
