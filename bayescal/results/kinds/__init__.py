"""Kinds of results: how each is summarised, compared and concluded from.

A kind is a module of this package, found by the result's root attribute ``result_kind``; the layers
above have a module of the same name in their own ``kinds``. Adding a kind adds one module a layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Protocol, cast

from bayescal.core.checks import check_known
from bayescal.results import schema

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


class ResultKind(Protocol):
    """What every kind of result answers; the modules of this package have this shape."""

    def variables(self, tree: xr.DataTree) -> list[str]:
        """Variables that the verbs take as `var`, the main one first."""
        ...

    def summary(self, tree: xr.DataTree, prob: float) -> pd.DataFrame:
        """Tidy table: see `bayescal.summary`."""
        ...

    def interval(self, tree: xr.DataTree, var: str, prob: float) -> xr.DataArray:
        """Credible interval: see `bayescal.interval`."""
        ...

    def difference(
        self,
        tree: xr.DataTree,
        first: str,
        second: str,
        var: str,
        prob: float,
        class_: str | None,
        group: str | None,
    ) -> Any:
        """Difference of two classifiers: see `bayescal.difference`."""
        ...

    def best(self, tree: xr.DataTree, var: str, class_: str | None, group: str | None) -> Any:
        """Which classifier is best: see `bayescal.best`."""
        ...

    def conclusions(
        self, tree: xr.DataTree, var: str, prob: float, threshold: float | None
    ) -> Sequence[Any]:
        """Whether conclusions agree under several priors: see `bayescal.conclusions`."""
        ...


def kind_names() -> list[str]:
    """Names of the kinds there are."""
    return sorted(module.name for module in iter_modules(__path__))


def kind_of(tree: xr.DataTree) -> ResultKind:
    """The kind of a result, after checking that it is one."""
    schema.check_result(tree)
    return cast(ResultKind, kind_module(__name__, tree))


def kind_module(package: str, tree: xr.DataTree) -> Any:
    """The module of a layer's package ``kinds`` for this result."""
    name = str(tree.attrs["result_kind"])
    check_known(name, tuple(kind_names()), "result kind", "bayescal")
    return import_module(f"{package}.{name}")
