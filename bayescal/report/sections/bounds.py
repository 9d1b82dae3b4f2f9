"""What theory guarantees, and what it asks for."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from bayescal.report.numbers import count, fixed
from bayescal.report.render import render
from bayescal.report.section import Section, for_each
from bayescal.report.view import View
from bayescal.results import schema


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound: its name, kind and assumption, and one value a case."""

    title: str
    kind: str
    assumption: str
    values: list[str]


def bounds(view: View) -> Markup | None:
    """Show every bound with its kind and its assumption in words.

    Parameters
    ----------
    view : View
        The result.

    Returns
    -------
    markupsafe.Markup or None
        None where the result has no bounds.
    """
    if schema.BOUNDS not in view.tree.children:
        return None
    held = view.tree[schema.BOUNDS].dataset
    rows = [_bound(view, str(name)) for name in held.data_vars]
    labels = [case.label for case in view.cases]
    shared = all(len(set(row.values)) == 1 for row in rows)
    return render("sections/bounds.html.j2", rows=rows, labels=labels, shared=shared)


def _bound(view: View, name: str) -> Bound:
    attrs = view.tree[schema.BOUNDS].dataset[name].attrs
    numbers = [view.number_of(schema.BOUNDS, name, case) for case in view.cases]
    whole = all(number is None or float(number).is_integer() for number in numbers)
    return Bound(
        title=str(
            attrs.get("long_name", name.replace("n_bins", "number_of_bins").replace("_", " "))
        ),
        kind=str(attrs.get("kind", "")),
        assumption=str(attrs.get("assumption", "")),
        values=[count(number) if whole else fixed(number, 4) for number in numbers],
    )


SECTION = Section("bounds", "What theory guarantees", "Bounds", for_each(bounds))
