"""Tables, column by column: the first heads the rows."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from markupsafe import Markup

from bayescal.report.render import plain, render


class Column(NamedTuple):
    """A heading, with a second line in small type, and cells; `words` are set at the left."""

    title: str
    cells: Sequence[str]
    words: bool = False
    small: str = ""


def table(label: str, columns: Sequence[Column], caption: str = "") -> Markup:
    """Write a table; `label` names it to those who do not see it."""
    rows = list(zip(*(column.cells for column in columns), strict=True))
    return render("table.html.j2", label=label, columns=columns, rows=rows, caption=caption)


def names(values: Sequence[str], failed: Sequence[bool] = ()) -> list[str]:
    """Cells with names, those of failed fits marked."""
    marked = failed or [False] * len(values)
    mark = Markup('<small class="off">not converged</small>')
    return [plain(value) + (mark if bad else "") for value, bad in zip(values, marked, strict=True)]


def off(text: str) -> Markup:
    """A cell that must not be overlooked."""
    return Markup('<span class="off">{}</span>').format(text)


def bold(text: str) -> Markup:
    """A cell in bold."""
    return Markup("<strong>{}</strong>").format(text)


def table_of(
    label: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    words: Container[str],
    caption: str = "",
) -> Markup:
    """Write a table row by row; headings among `words` are of text."""
    columns = zip(heads, zip(*rows, strict=True), strict=True)
    return table(label, [Column(head, cells, head in words) for head, cells in columns], caption)
