"""Which figures a result of each kind has; one module a kind, found by `result_kind`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from bayescal.results import schema
from bayescal.results.kind import kind_module, require_kind

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure that can be drawn: its name, its caption, and what it shows in words."""

    draw: Callable[[], Figure]
    name: str
    caption: str
    alt: str = ""

    @property
    def words(self) -> str:
        """Alternative text."""
        return self.alt or f"{self.name}. {self.caption}"


@dataclass(frozen=True, slots=True)
class Gallery:
    """The figures of a result in order: first those in columns, then the wide ones."""

    columns: Sequence[Drawing] = ()
    wide: Sequence[Drawing] = ()
    intro: str = ""
    note: str = ""


class PlotKind(Protocol):
    """What the plots module of a kind has."""

    FUNCTIONS: tuple[str, ...]
    """Public functions that draw results of this kind."""

    def figures(self, tree: xr.DataTree, prob: float) -> Gallery:
        """Figures of a fit."""
        ...

    def plot_refits(
        self, tree: xr.DataTree, var: str | None, prob: float, threshold: float | None
    ) -> Figure:
        """What `bayescal.plots.plot_sensitivity` draws of a prior grid."""
        ...


def plots_of(tree: xr.DataTree) -> PlotKind:
    """The plots of the kind that a result is of."""
    return cast(PlotKind, kind_module("bayescal.plots.kinds", tree))


def check_kind(tree: xr.DataTree, name: str, what: str) -> None:
    """Refuse a result of another kind, naming what draws it."""
    schema.check_result(tree)
    functions = ", ".join(plots_of(tree).FUNCTIONS)
    require_kind(tree, name, what, f"Draw it with bayescal.plots: {functions}.")
