"""What a section of the report is, and what it sees of a result."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import xarray as xr
from markupsafe import Markup

from bayescal.report.render import render
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice, status
from bayescal.results.intervals import interval
from bayescal.results.kind import kind_module

if TYPE_CHECKING:
    from bayescal.report.render import Column
    from bayescal.report.sections import Alert


type Render = Callable[[Sequence[View]], Markup | None]


class Section(NamedTuple):
    """One section: its anchor, its heading, its name in the contents, and its body or None.

    With `grids` it reads refits under several priors too, otherwise single fits only.
    """

    id: str
    title: str
    short: str
    render: Render
    grids: bool = False


def for_each(render_one: Callable[[View], Markup | None]) -> Render:
    """Make a section of one result into a section of several; what is the same is shown once."""

    def render_all(views: Sequence[View]) -> Markup | None:
        parts: dict[Markup, list[str]] = {}
        for view in views:
            part = render_one(view)
            if part is not None:
                parts.setdefault(part, []).append(view.heading)
        if not parts:
            return None
        return render("parts.html.j2", parts=parts, titled=len(views) > 1)

    return render_all


class Answer(NamedTuple):
    """The main result: sentences, a table or list below them, and notes."""

    lead: Sequence[str]
    body: str = ""
    notes: Sequence[str] = ()


class Check(NamedTuple):
    """A diagnostic: its variable, how it is written, and when it passes."""

    name: str
    title: str
    rule: str
    write: Callable[[float], str]
    passes: Callable[[float], bool] | None = None


class Scaling(NamedTuple):
    """Which variables are power-scaled (None: the default), in which posterior, and a note."""

    variables: list[str] | None
    posterior: str = "posterior"
    note: str = ""


class ReportKind(Protocol):
    """What the report module of a kind has."""

    SECTIONS: tuple[Section, ...]
    """Sections of this kind alone; they stand after the figures."""
    CHECKS: tuple[Check, ...]
    """Diagnostics beyond those of the sampler."""
    BOUNDS_OF: str
    """What its theoretical bounds are bounds of."""
    PRIOR_NAMES: Mapping[str, str]
    """What the priors of its models are of, by the names of their densities."""

    def answer(self, view: View) -> Answer | None:
        """The main result; None leaves it out."""
        ...

    def summary_columns(self, view: View) -> list[Column]:
        """Columns of the summary."""
        ...

    def alerts(self, view: View) -> list[Alert]:
        """What must be known beyond convergence and the status."""
        ...

    def terms(self, view: View) -> list[tuple[str, str]]:
        """Entries of the glossary."""
        ...

    def scaling(self, view: View) -> Scaling:
        """What is power-scaled."""
        ...

    def variable_name(self, view: View, name: str) -> str:
        """Name of a power-scaled variable."""
        ...

    def refits(self, view: View) -> Markup:
        """Prior sensitivity of a prior grid."""
        ...


@dataclass(frozen=True)
class View:
    """One result as the sections of the report read it, with its place in the report from 1."""

    tree: xr.DataTree
    prob: float
    number: int = 1

    @cached_property
    def kind(self) -> Any:
        """A `ReportKind`; not imported here, for its modules import this one."""
        return kind_module("bayescal.report", self.tree)

    @cached_property
    def cases(self) -> tuple[ResultSlice, ...]:
        """Every case of the result, classifier by classifier."""
        return tuple(access.cases(self.tree))

    @property
    def title(self) -> str:
        """What this result is about, in a few words."""
        return self.text("title") or f"Result {self.number}"

    @property
    def heading(self) -> str:
        """The title, and how this result differs from others of the same quantity."""
        parts = [self.title]
        multiclass = self.text("multiclass", "binary")
        if multiclass not in ("binary", "joint"):
            parts.append(multiclass)
        if schema.GROUP in self.dims_of_cases:
            parts.append("by group")
        if self.is_grid:
            parts.append("under several priors")
        return f"{self.number}. {', '.join(parts)}"

    @property
    def is_grid(self) -> bool:
        """Whether this is the same data under several priors."""
        return access.is_prior_grid(self.tree)

    @property
    def dims_of_cases(self) -> tuple[str, ...]:
        """Dimensions along which the cases of this result differ."""
        posterior = self.tree[schema.POSTERIOR].dataset
        return tuple(dim for dim in schema.CASE_DIMS if dim in posterior.dims)

    @property
    def case_word(self) -> str:
        """What one case is: "Classifier", "Class", "Group", or "Case" where they mix."""
        dims = self.dims_of_cases or (schema.CLASSIFIER,)
        return dims[0].capitalize() if len(dims) == 1 else "Case"

    @cached_property
    def status(self) -> str:
        """What is wrong with the cases of this result; "ok" if nothing is."""
        return status(self.tree, self.cases)

    @property
    def direct(self) -> bool:
        """Whether the draws were made without MCMC."""
        return self.text("method") == "direct"

    @property
    def converged(self) -> bool:
        """Whether every fit passed its convergence checks."""
        return access.is_converged(self.tree) and not self.cases_where("converged", False)

    def has(self, group: str, name: str) -> bool:
        """Whether the result holds a variable."""
        return access.has_variable(self.tree, group, name)

    def text(self, name: str, default: str = "") -> str:
        """Return a root attribute as text."""
        value = self.tree.attrs.get(name)
        return default if value is None else str(value)

    def structure(self, name: str) -> Any:
        """Return a root attribute kept as JSON; text that is not JSON comes back as it is."""
        text = self.text(name)
        try:
            return json.loads(text) if text else None
        except ValueError:
            return text

    def names(self, name: str) -> list[str]:
        """Return a root attribute that holds a JSON list, as texts."""
        value = self.structure(name)
        return [str(item) for item in value] if isinstance(value, list) else []

    def number_of(self, group: str, name: str, case: ResultSlice) -> float | None:
        """Return one number of one case, or None where there is none."""
        if not self.has(group, name):
            return None
        found = access.variable(self.tree, group, name, case)
        value = float(found.item()) if found.ndim == 0 else math.nan
        return None if math.isnan(value) else value

    def cases_where(self, flag: str, value: bool) -> list[ResultSlice]:
        """Return the cases whose yes-or-no diagnostic `flag` has the given value."""
        if not self.has(schema.DIAGNOSTICS, flag):
            return []
        found = access.variable(self.tree, schema.DIAGNOSTICS, flag)
        return [case for case in self.cases if bool(access.at(found, case).item()) is value]

    @cached_property
    def _intervals(self) -> dict[str, xr.DataArray]:
        return {}

    def interval(self, name: str, case: ResultSlice) -> tuple[float, float] | None:
        """Return the credible interval of a posterior variable for one case."""
        if not self.has(schema.POSTERIOR, name):
            return None
        if name not in self._intervals:
            self._intervals[name] = interval(self.tree, name, prob=self.prob)
        ends = access.at(self._intervals[name], case)
        low, high = (float(ends.sel(ci_bound=bound)) for bound in ("lower", "upper"))
        return low, high
