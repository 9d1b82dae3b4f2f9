"""What a section of the report is, and what it sees of a result."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import xarray as xr
from markupsafe import Markup

from bayescal.core.variables import PARAMETER, Variable
from bayescal.report.render import render
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice, status, warned_cases
from bayescal.results.intervals import interval
from bayescal.results.summary import heading
from bayescal.results.text import capital, decimals, labelled_rows

HIDDEN: Final = ""
"""Heading of a column that is left out."""
WEIGHT: Final = "weight"
"""Posterior probabilities of what a result is an average of."""


type Render = Callable[[Sequence[View]], Markup | None]


class Section(NamedTuple):
    """One section: its anchor, its heading, its name in the contents, and its body or None.

    With `grids` it reads refits under several priors too, otherwise single fits only; with
    `declared` only results that ask for it, in their attribute ``sections``.
    """

    id: str
    title: str
    short: str
    render: Render
    grids: bool = False
    declared: bool = False


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


class Alert(NamedTuple):
    """A box above the main result: "bad", "warn", "note" or "quick", and its cases or ""."""

    kind: str
    title: str
    names: str
    text: str


@dataclass(frozen=True)
class View:
    """One result as the sections of the report read it, with its place in the report from 1."""

    tree: xr.DataTree
    prob: float
    number: int = 1
    measures: tuple[Variable, ...] = ()
    """Further numbers of the calibration curve that the report shows."""

    @cached_property
    def answers(self) -> list[Variable]:
        """Errors, metrics, or what rows are judged by, the main one first."""
        return access.answers(self.tree)

    @cached_property
    def main(self) -> Variable:
        """The main one; by its role the answer is worded."""
        return access.main(self.tree)

    @property
    def main_heading(self) -> str:
        """Heading of its column, as on the command line: "Calibration error (TCE)"."""
        return capital(heading(self.main))

    @property
    def parameters(self) -> list[Variable]:
        """Parameters that are shown beside an estimate, such as a class prior."""
        return [one for one in access.of_role(self.tree, PARAMETER) if one.point]

    def full_name(self, name: str) -> str:
        """Name of a variable, or of what a prior is of, in full."""
        found = access.described(self.tree, name)
        return found.full or found.title

    @property
    def data(self) -> str:
        """Say what the data are."""
        return labelled_rows(self.tree.attrs)

    @property
    def paired(self) -> bool:
        """Whether the result knows how the errors of classifiers correlate."""
        return schema.ERROR_CORRELATION in self.tree.children

    @property
    def described(self) -> bool:
        """Whether the result is an average over components or models, with their weights."""
        return self.has(schema.MODEL_AVERAGE, WEIGHT)

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

    @cached_property
    def warnings(self) -> dict[ResultSlice, list[str]]:
        """What is wrong with single cases and not with all of several; it stands in their rows."""
        found: dict[ResultSlice, list[str]] = {}
        for text, cases in warned_cases(self.tree, self.cases).items():
            for case in cases if len(cases) < len(self.cases) else []:
                found.setdefault(case, []).append(text)
        return found

    @property
    def direct(self) -> bool:
        """Whether the draws were made without MCMC."""
        return self.text("method") == "direct"

    @property
    def converged(self) -> bool:
        """Whether every fit passed its convergence checks."""
        return access.all_converged(self.tree, self.cases)

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

    @property
    def failed(self) -> list[ResultSlice]:
        """The cases that did not converge."""
        return [case for case in self.cases if not access.case_converged(self.tree, case)]

    @cached_property
    def digits(self) -> int:
        """Decimals that suit the narrowest interval of the main variable: numbers line up."""
        return max(decimals(*self.interval(self.main.name, case)) for case in self.cases)

    @cached_property
    def _intervals(self) -> dict[str, xr.DataArray]:
        return {}

    def interval(self, name: str, case: ResultSlice) -> tuple[float, float]:
        """Return the credible interval of a posterior variable for one case."""
        if name not in self._intervals:
            self._intervals[name] = interval(self.tree, name, prob=self.prob)
        return access.ends(self._intervals[name], case)
