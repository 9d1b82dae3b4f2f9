"""How an object shows itself: as HTML in a notebook, as text in a terminal."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bayescal.core.strip import Strip
from bayescal.core.text import printable, undirected

if TYPE_CHECKING:
    from jinja2 import Template
    from rich.console import Console, RenderableType

_FIGURES: Final = "0123456789<>+-–−∞"
_UNLIMITED: Final = 10_000


class Box(NamedTuple):
    """What must be read first: of the kind "bad", "warn" or "note"."""

    kind: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Shown:
    """What is shown of an object: sentences, a table with a strip of intervals, and its origin.

    Sentences are escaped unless they are `Markup`. `failed` are rows of fits not converged.
    """

    lead: Sequence[str]
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    strip: Strip | None = None
    failed: Sequence[int] = ()
    boxes: Sequence[Box] = ()
    notes: Sequence[str] = ()
    origin: str = ""

    @property
    def numeric(self) -> list[bool]:
        """Whether a column holds numbers, which are set at the right."""
        columns = list(zip(*self.rows, strict=True))
        return [n > 0 and all(cell[:1] in _FIGURES for cell in c) for n, c in enumerate(columns)]

    def _repr_html_(self) -> str:
        return undirected(_template().render(shown=self))

    def __repr__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The same in plain text, as wide as the terminal."""
        from rich.console import Console

        width = width or shutil.get_terminal_size((80, 24)).columns
        # Rich would show its text in a notebook by itself.
        plain: Any = {"color_system": None, "highlight": False, "force_jupyter": False}
        console = Console(file=io.StringIO(), width=width, **plain)
        with console.capture() as printed:
            for part in self._parts(console):
                console.print(part)
        return "\n".join(line.rstrip() for line in printed.get().rstrip().splitlines())

    def _parts(self, console: Console) -> Iterator[RenderableType]:
        """Paragraphs and the table, none wider than the console."""
        from rich.text import Text

        for box in self.boxes:
            yield Text(f"{_line(box.title)}. {_line(box.text)}\n")
        if self.lead:
            yield Text(" ".join(map(_line, self.lead)) + "\n")
        if self.rows:
            yield from self._tables(console)
        for note in filter(None, [*self.notes, self.origin]):
            yield Text(_line(note))

    def _tables(self, console: Console) -> Iterator[RenderableType]:
        """The table; where it is too wide, a list a row."""
        from rich import box
        from rich.measure import Measurement
        from rich.table import Table
        from rich.text import Text

        heads, rows = [*map(_line, self.columns)], [[*map(_line, row)] for row in self.rows]
        for place in self.failed:
            rows[place][0] += " (not converged)"
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for head, numeric in zip(heads, self.numeric, strict=True):
            table.add_column(Text(head), justify="right" if numeric else "left")
        for row in rows:
            table.add_row(*map(Text, row))
        wide = console.options.update(width=_UNLIMITED)
        if Measurement.get(console, wide, table).maximum <= console.width:
            yield table
            yield ""
            return
        for first, *others in rows:
            yield Text(first, overflow="fold")
            listed = Table.grid(padding=(0, 0, 0, 2))
            for head, cell in zip(heads[1:], others, strict=True):
                listed.add_row("", Text(head), Text(cell, overflow="fold"))
            yield listed
            yield ""


class Showing:
    """An object that says what is shown of it, and so shows itself in a notebook."""

    __slots__ = ()

    def _show_(self) -> Shown:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._show_()._repr_html_()


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("bayescal.core"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("shown.html.j2")


def _line(text: Any) -> str:
    """One line of plain text, without tags of markup and what a terminal would act on."""
    plain = text.striptags() if hasattr(text, "striptags") else str(text)
    return printable(" ".join(plain.split()))
