"""What pages and figures still ask by kind; `bayescal.core.variables` says what takes its place."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import xarray as xr

from bayescal.core.errors import InputError
from bayescal.core.variables import LESS, MORE
from bayescal.results import access, compare, schema, summary, text
from bayescal.results.access import check_variable as check_variable
from bayescal.results.intervals import interval

_DIRECTIONS = {MORE: True, LESS: False, None: None}


def kind_of(tree: xr.DataTree) -> Any:
    """The functions of a kind of result, which are now those of every result."""
    schema.check_result(tree)
    return SimpleNamespace(
        variables=lambda tree: [one.name for one in access.answers(tree)],
        title=lambda var: access.described(tree, var).title,
        higher_is_better=lambda var: _DIRECTIONS[access.described(tree, var).better],
        point_label=access.point_label,
        point=access.point,
        description=lambda tree: text.labelled_rows(tree.attrs),
        summary=summary.summary,
        rows=summary.finest,
        records=summary.records,
        table=summary.table,
        interval=interval,
        best=lambda tree, var, class_, group: compare.best(tree, var, class_=class_, group=group),
    )


def kind_name(tree: xr.DataTree) -> str:
    """Name of the kind of a result."""
    return f"{access.main(tree).role}s"


def kind_module(package: str, tree: xr.DataTree) -> Any:
    """The module of a layer's package for this result."""
    return import_module(f"{package}.{kind_name(tree)}")


def require_kind(tree: xr.DataTree, kind: str, what: str, remedy: str) -> None:
    """Refuse results of another kind: "`what` needs ..., `remedy`"."""
    schema.check_result(tree)
    if kind_name(tree) != kind:
        raise InputError(
            f"{what} needs a result of kind {kind!r}; this one, of {tree.attrs['quantity']}, is of "
            f"kind {kind_name(tree)!r}. {remedy}"
        )
