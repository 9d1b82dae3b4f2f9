"""The shape of a section: an id, a heading, and a function from results to HTML or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from bayescal.report.render import render
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
