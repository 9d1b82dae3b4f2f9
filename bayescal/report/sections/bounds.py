"""What theory guarantees, and under which assumption."""

from __future__ import annotations

import math
from functools import partial

import xarray as xr
from markupsafe import Markup

from bayescal.report.kind import Section, for_each
from bayescal.report.render import plain
from bayescal.report.tables import Column, table
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.text import count, fixed

MOST_COLUMNS = 4


def bounds(view: View) -> Markup | None:
    """Show every bound with its kind and its assumption in words."""
    if schema.BOUNDS not in view.tree.children:
        return None
    held = view.tree[schema.BOUNDS].dataset
    numbers = {str(name): _numbers(view, held[name]) for name in held.data_vars}
    # Bounds with dimensions of their own, such as classes, are shown by their range.
    alike = set(held.dims) - set(schema.CASE_DIMS) or all(
        len(set(values)) == 1 for values in numbers.values()
    )
    if alike or len(view.cases) > MOST_COLUMNS:
        columns = [Column("Value", [_range(values) for values in numbers.values()])]
    else:
        columns = [
            Column(plain(case.label), [_writer(values)(values[k]) for values in numbers.values()])
            for k, case in enumerate(view.cases)
        ]
    intro = (
        f"These hold for {view.kind.BOUNDS_OF} whatever the model and its priors, under the "
        "assumption of each."
    )
    titles = [name.replace("n_bins", "number_of_bins") for name in numbers]
    body = table(
        "Bounds",
        [
            Column("Bound", [name.replace("_", " ") for name in titles], words=True),
            *columns,
            Column("Kind and assumption", [_words(held[name]) for name in numbers], words=True),
        ],
    )
    vacuous = any(
        str(held[name].attrs.get("kind", "")).startswith("upper bound") and max(values) > 1.0
        for name, values in numbers.items()
        if values
    )
    note = '<p class="note">No calibration error is above 1: an upper bound above 1 is vacuous.</p>'
    return Markup("<p>{}</p>\n{}{}").format(intro, body, Markup(note if vacuous else ""))


def _numbers(view: View, held: xr.DataArray) -> list[float]:
    """One value a case, NaN where there is none; all of a bound with dimensions of its own."""
    if set(held.dims) - set(schema.CASE_DIMS):
        return [float(value) for value in held.values.ravel()]
    found = (view.number_of(schema.BOUNDS, str(held.name), case) for case in view.cases)
    return [math.nan if number is None else number for number in found]


def _writer(numbers: list[float]) -> partial[str]:
    whole = all(math.isnan(number) or number.is_integer() for number in numbers)
    return partial(count) if whole else partial(fixed, digits=4)


def _range(numbers: list[float]) -> str:
    write = _writer(numbers)
    return " to ".join(dict.fromkeys(write(end) for end in (min(numbers), max(numbers))))


def _words(held: xr.DataArray) -> Markup:
    text = Markup("{}").format(str(held.attrs.get("kind", "")))
    assumption = str(held.attrs.get("assumption", ""))
    return text + Markup("<small>Assumes: {}</small>").format(assumption) if assumption else text


SECTION = Section("bounds", "Theoretical bounds", "Bounds", for_each(bounds))
