"""The contract of kinds of results, and how the kind of a result is found.

Kinds are the modules of `bayescal.results.kinds`. They are loaded by name, so that the verbs that
look them up and the kinds that build on the verbs' parts do not import each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from bayescal.core.errors import InputError
from bayescal.results import schema
from bayescal.results.access import ResultSlice, main

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescal.results.compare import Best, Difference, Pair
    from bayescal.results.conclude import Conclusion
    from bayescal.results.rows import RowConclusion


_PACKAGE = "bayescal.results.kinds"


class Table(NamedTuple):
    """What a terminal shows of a result."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: tuple[str, ...] = ()


class ResultKind(Protocol):
    """What every kind of result answers; the modules of this package have this shape.

    A verb that makes no sense for a kind raises an InputError that names what to use instead.
    """

    def variables(self, tree: xr.DataTree) -> list[str]:
        """Variables that can be compared and concluded on, main one first."""
        ...

    def title(self, var: str) -> str:
        """Name a variable in a few words, for an axis, a column or a sentence."""
        ...

    def higher_is_better(self, var: str) -> bool | None:
        """Whether more of a variable is better; None where neither is."""
        ...

    def point_label(self, tree: xr.DataTree) -> str:
        """Name the point estimate that stands beside the posterior."""
        ...

    def point(self, tree: xr.DataTree, var: str, case: ResultSlice) -> float | None:
        """Point estimate of a variable, in one case; None where there is none."""
        ...

    def description(self, tree: xr.DataTree) -> str:
        """Say what the data are: "40 labelled rows, 960 without"."""
        ...

    def summary(self, tree: xr.DataTree, prob: float) -> pd.DataFrame:
        """Tidy table: see `bayescal.summary`."""
        ...

    def rows(self, tree: xr.DataTree, prob: float) -> pd.DataFrame:
        """What a CSV file of the result holds: the finest table there is."""
        ...

    def records(self, tree: xr.DataTree, prob: float) -> list[dict[str, Any]]:
        """Rows of plain values, as JSON holds them; None where there is none."""
        ...

    def table(self, tree: xr.DataTree, prob: float) -> Table:
        """What a terminal shows."""
        ...

    def interval(self, tree: xr.DataTree, var: str, prob: float) -> xr.DataArray:
        """Credible interval: see `bayescal.interval`."""
        ...

    def difference(self, tree: xr.DataTree, pair: Pair) -> Difference:
        """Difference of two classifiers: see `bayescal.difference`."""
        ...

    def best(self, tree: xr.DataTree, var: str, class_: str | None, group: str | None) -> Best:
        """Which classifier is best: see `bayescal.best`."""
        ...

    def power_scaled(self, tree: xr.DataTree, case: ResultSlice) -> Mapping[str, xr.DataArray]:
        """Draws that `bayescal.power_scale` takes by default, of one case, by variable."""
        ...

    def conclusions(
        self, tree: xr.DataTree, var: str, prob: float, threshold: float | None
    ) -> Sequence[Conclusion] | Sequence[RowConclusion]:
        """Whether conclusions agree under several priors: see `bayescal.conclusions`."""
        ...


def kind_names() -> list[str]:
    """Names of the kinds there are."""
    return sorted(module.name for module in iter_modules(import_module(_PACKAGE).__path__))


def kind_of(tree: xr.DataTree) -> ResultKind:
    """The kind of a result, after checking that it is one."""
    schema.check_result(tree)
    return cast(ResultKind, kind_module(_PACKAGE, tree))


def kind_name(tree: xr.DataTree) -> str:
    """Name of the kind of a result."""
    return f"{main(tree).role}s"


def kind_module(package: str, tree: xr.DataTree) -> Any:
    """The module of a layer's package ``kinds`` for this result."""
    return import_module(f"{package}.{kind_name(tree)}")


def require_kind(tree: xr.DataTree, kind: str, what: str, remedy: str) -> None:
    """Refuse results of another kind: "`what` needs ..., `remedy`"."""
    schema.check_result(tree)
    if kind_name(tree) != kind:
        raise InputError(
            f"{what} needs a result of kind {kind!r}; this one, of {tree.attrs['quantity']}, is of "
            f"kind {kind_name(tree)!r}. {remedy}"
        )


def check_variable(tree: xr.DataTree, var: str | None) -> str:
    """The variable, the kind's main one where none is given, after checking that it is there."""
    found = kind_of(tree).variables(tree)
    if var is None and found:
        return found[0]
    if not isinstance(var, str) or var not in found:
        raise InputError(
            f"var must be one of the result's; got {var!r}. Choose from {', '.join(found)}."
        )
    return var
