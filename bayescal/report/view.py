"""What a section sees: one result, read case by case, with each interval computed once."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import xarray as xr

from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.intervals import interval
from bayescal.results.kind import kind_module
from bayescal.results.status import status


@dataclass(frozen=True)
class View:
    """One result as the sections of the report read it, with its place in the report from 1."""

    tree: xr.DataTree
    prob: float
    number: int = 1

    @cached_property
    def kind(self) -> Any:
        """A `ReportKind`; not imported here, for its modules import this one."""
        return kind_module("bayescal.report.kinds", self.tree)

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
