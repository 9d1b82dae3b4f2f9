"""Find one case of a result by the names a user gives."""

from __future__ import annotations

import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import schema
from bayescal.results.schema import Case


def find_case(
    tree: xr.DataTree,
    classifier: str | None = None,
    class_: str | None = None,
    group: str | None = None,
) -> Case:
    """Return the first case that matches what is given."""
    wanted = {schema.CLASSIFIER: classifier, schema.CLASS: class_, schema.GROUP: group}
    found = schema.cases(tree)
    for dim, value in wanted.items():
        if value is None:
            continue
        choices = list(dict.fromkeys(_coordinate(case, dim) for case in found))
        if value not in choices:
            listed = ", ".join(repr(choice) for choice in choices if choice is not None)
            raise InputError(
                f"{dim} must be one in the result; got {value!r}. "
                + (f"Choose from {listed}." if listed else f"This result has no {dim} dimension.")
            )
        found = [case for case in found if _coordinate(case, dim) == value]
    return found[0]


def _coordinate(case: Case, dim: str) -> str | None:
    return {
        schema.CLASSIFIER: case.classifier,
        schema.CLASS: case.class_,
        schema.GROUP: case.group,
    }[dim]
