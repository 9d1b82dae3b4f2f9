"""How an object shows itself, and progress bars: as HTML in a notebook, as text in a terminal."""

from __future__ import annotations

import html
import io
import math
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bayescal.core.text import fitted, one_by_one, one_line, percent, table, undirected

if TYPE_CHECKING:
    from jinja2 import Environment
    from rich.console import Console, RenderableType

_MARGIN: Final = 0.04
_APART: Final = 0.24
"""Least distance of two labels, as a share of the narrowest drawing."""
_STEPS: Final = (1.0, 2.0, 5.0, 10.0)


class Bar(NamedTuple):
    """An interval and its point, as shares of the drawing's width; `other` is a second estimate."""

    low: float
    high: float
    point: float
    other: float | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """Bars, one a row of the table or None, over the ticks of their scale: places and labels."""

    bars: Sequence[Bar | None]
    ticks: Sequence[tuple[float, str]]
    key: str

    def labels(self) -> Iterator[tuple[float, str]]:
        """As many ticks with their labels as do not touch each other."""
        last = -1.0
        for at, label in self.ticks:
            if at - last >= _APART:
                last = at
                yield at, label


def strip_of(intervals: Sequence[tuple[float, float, float]], key: str, *among: float) -> Strip:
    """Bars of intervals (low, high, point), where defined, on a scale on which `among` lie too."""
    known = [value for one in intervals for value in one if math.isfinite(value)] + [*among]
    low, high = min(known, default=0.0), max(known, default=1.0)
    step = _step(high - low)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))

    def at(value: float) -> float:
        return _MARGIN + (1 - 2 * _MARGIN) * (value / step - first) / (last - first)

    ticks = [(at(k * step), _label(k * step, digits)) for k in range(first, last + 1)]
    drawn = (tuple(map(at, one)) if all(map(math.isfinite, one)) else None for one in intervals)
    return Strip([None if one is None else Bar(*one) for one in drawn], ticks, key)


def _step(width: float) -> float:
    """Distance of the ticks: at most five."""
    width = width or 1.0
    power = 10.0 ** math.floor(math.log10(width / 5))
    return next(power * one for one in _STEPS if width <= 5 * power * one * (1 + 1e-9))


def _label(value: float, digits: int) -> str:
    """A tick, with a true minus sign."""
    return f"{value:z.{digits}f}".replace("-", "\N{MINUS SIGN}") if value else "0"


_FIGURES: Final = "0123456789<>+-–−∞"


class Box(NamedTuple):
    """What must be read first: of the kind "bad", "warn", "note" or "quick"."""

    kind: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Shown:
    """What is shown of an object: sentences, a table with a strip of intervals, and its origin.

    Sentences are escaped unless they are `Markup`.
    """

    lead: Sequence[str]  #: The answer.
    columns: Sequence[str] = ()  #: Heads of the table.
    rows: Sequence[Sequence[str]] = ()  #: Its cells.
    strip: Strip | None = None  #: Intervals beside the rows.
    failed: Sequence[int] = ()  #: Rows of fits that have not converged.
    boxes: Sequence[Box] = ()  #: What must be known first.
    notes: Sequence[str] = ()  #: Sentences below the table.
    origin: str = ""  #: How the result was made.

    @property
    def numeric(self) -> list[bool]:
        """Whether a column holds numbers, which are set at the right."""
        columns = list(zip(*self.rows, strict=True))
        return [n > 0 and all(cell[:1] in _FIGURES for cell in c) for n, c in enumerate(columns)]

    def _repr_html_(self) -> str:
        page = templates("bayescal.core").get_template("shown.html.j2")
        return undirected(page.render(shown=self))

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
            yield from map(Text, self._table(console.width))
        for note in filter(None, [*self.notes, self.origin]):
            yield Text(_line(note))

    def _table(self, width: int) -> list[str]:
        """Lines of the table, with a status where a fit has not converged."""
        heads, rows = list(self.columns), [[*map(str, row)] for row in self.rows]
        words = [place for place, numeric in enumerate(self.numeric) if not numeric]
        if self.failed:
            words.append(len(heads))
            heads.append("Status")
            for place, row in enumerate(rows):
                row.append("not converged" if place in self.failed else "ok")
        columns = table(heads, rows, words)
        return [*(fitted(columns, width) or one_by_one(columns, width)), ""]


class Showing:
    """An object that says what is shown of it, and so shows itself in a notebook."""

    __slots__ = ()

    def _show_(self) -> Shown:
        raise NotImplementedError  # each class says what it shows; named tuples cannot be abstract

    def _repr_html_(self) -> str:
        return self._show_()._repr_html_()


@cache
def templates(package: str) -> Environment:
    """Templates of a package, which escape every value and know all names they use."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    blocks: Any = {"trim_blocks": True, "lstrip_blocks": True}
    loader = PackageLoader(package)
    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, **blocks)
    env.filters["percent"] = percent
    return env


def _line(text: Any) -> str:
    """One line of plain text, without tags of markup and what a terminal would act on."""
    return one_line(text.striptags() if hasattr(text, "striptags") else str(text))


type Progress = Callable[[str, int, int], None]
"""Called with what is worked on, how many are finished, and of how many."""

_DELAY: Final = 0.7
"""Seconds of work that are too short for a bar."""
_EVERY: Final = 0.5
_SHOWN: Final = ContextVar("shown", default=False)


@contextmanager
def progress_bar(what: str, given: Progress | None = None) -> Iterator[Progress | None]:
    """Yield what was given, or in a notebook a bar of its own, one for work within other work."""
    if _SHOWN.get():
        yield given
        return
    token = _SHOWN.set(True)
    bar = _Bar(what) if given is None and in_notebook() else None
    try:
        yield given if bar is None else bar.update
    finally:
        _SHOWN.reset(token)
        if bar is not None:
            bar.close()


@contextmanager
def terminal_bar(what: str) -> Iterator[Progress | None]:
    """A bar on stderr with the time left while the block runs; None where it is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich
    from rich.console import Console
    from rich.markup import escape

    state = (rich.SpinnerColumn(), rich.TextColumn("{task.description}"), rich.BarColumn())
    times = (rich.TimeElapsedColumn(), rich.TimeRemainingColumn())
    columns = (*state, rich.MofNCompleteColumn(), *times)
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def update(label: str, done: int, total: int) -> None:
            description = f"{what}: {escape(one_line(label))}" if label else what
            bar.update(task, description=description, completed=done, total=total or None)

        yield update


def in_notebook() -> bool:
    """Whether this process is a Jupyter kernel."""
    module = sys.modules.get("IPython")
    return hasattr(None if module is None else module.get_ipython(), "kernel")


class _Bar:
    """A bar that a thread draws, so that long work between two calls is seen to go on."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._label, self._done, self._total = "", 0, 0
        self._began = time.monotonic()
        self._over = Event()
        # The cell that the output belongs to is in the context.
        self._thread = Thread(target=copy_context().run, args=(self._draw,), daemon=True)
        self._thread.start()

    def update(self, label: str, done: int, total: int) -> None:
        """Take the state that is drawn next."""
        self._label, self._done, self._total = label, done, total

    def close(self) -> None:
        """Take the bar away."""
        self._over.set()
        self._thread.join()

    def _draw(self) -> None:
        if self._over.wait(_DELAY):
            return
        # It has no types.
        shown = import_module("IPython.display")
        handle = shown.display(shown.HTML(self._html()), display_id=True)
        while not self._over.wait(_EVERY):
            handle.update(shown.HTML(self._html()))
        handle.update(shown.HTML(""))

    def _html(self) -> str:
        """The bar; without a value, it moves to and fro."""
        known = f' value="{self._done}" max="{self._total}"' if self._total > 1 else ""
        count = f", {self._done:,} of {self._total:,}" if self._total > 1 else ""
        label = f" {self._label}" if self._label else ""
        words = f"{self._what}{label}{count}, {time.monotonic() - self._began:.0f} s"
        return f"<progress{known}></progress> {html.escape(words)}"
