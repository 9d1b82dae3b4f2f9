"""The shape of a section: an id, a heading, and a function from results to HTML or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bayescal.report.render import render
from bayescal.report.view import View

Render = Callable[[Sequence[View]], Markup | None]
RenderOne = Callable[[View], Markup | None]


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the report.

    Parameters
    ----------
    id : str
        Its anchor, unique in the report.
    title : str
        Its heading.
    short : str
        Its name in the contents.
    render : callable
        From all results of the report to the section's body; None leaves the section out.
    grids : bool, default False
        Whether it reads refits under several priors too, or single fits only.
    """

    id: str
    title: str
    short: str
    render: Render
    grids: bool = False


def for_each(render_one: RenderOne) -> Render:
    """Make a section of one result into a section of several."""

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
