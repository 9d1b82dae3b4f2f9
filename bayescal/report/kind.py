"""What the report says of each kind of result; one module a kind, found by `result_kind`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from markupsafe import Markup

if TYPE_CHECKING:
    from bayescal.report.alerts import Alert
    from bayescal.report.section import Section
    from bayescal.report.tables import Column
    from bayescal.report.view import View


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

    def table(self, view: View) -> list[Column]:
        """Columns of the summary."""
        ...

    def alerts(self, view: View, status: str) -> list[Alert]:
        """Warnings beyond convergence; `status` is what no other warning has said yet."""
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
