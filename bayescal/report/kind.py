"""What a section is, and what the report says of each kind of result, a module a kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from markupsafe import Markup

from bayescal.report.render import render

if TYPE_CHECKING:
    from bayescal.report.alerts import Alert
    from bayescal.report.tables import Column
    from bayescal.report.view import View


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

    def table(self, view: View) -> list[Column]:
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
