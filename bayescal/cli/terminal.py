"""Tables and sentences that fit the terminal: shorter names, fewer columns, a line a number."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import click

from bayescal.cli.errors import one_line
from bayescal.core.text import distinct

_GAP: Final = "  "
_LEAST_NAME: Final = 16
_IN_SENTENCES: Final = 28
"""Width that names are cut to in sentences and in tables, at the narrowest."""
_READABLE: Final = 120
"""Lines of prose are no longer, however wide the terminal is."""
_NOTE_LINES: Final = 2
_MORE: Final = " (more: --verbose)."


def cell_len(text: str) -> int:
    """Columns that a text takes, two for a wide character."""
    from rich.cells import cell_len

    return cell_len(text)


def width() -> int:
    """Columns of the terminal, COLUMNS if it is set, 80 where there is no terminal."""
    return max(shutil.get_terminal_size().columns, 40)


def say(sentence: str, *, verbose: bool = True, indent: str = "") -> None:
    """Write a sentence to stdout, wrapped at the width; two lines of it unless all are wanted."""
    text = one_line(sentence)
    lines = _wrapped(text, indent)
    if len(lines) > _NOTE_LINES and not verbose:
        clauses = [text[: end.start()] + _MORE for end in re.finditer("[.;:] ", text)]
        short = [found for one in clauses if len(found := _wrapped(one, "")) <= _NOTE_LINES]
        lines = short[-1] if short else [*lines[: _NOTE_LINES - 1], f"...{_MORE}"]
    for line in lines:
        click.echo(line)


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        min(width(), _READABLE),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def with_short_names(sentence: str, names: Iterable[str]) -> str:
    """Cut long names in a sentence, no two of them alike."""
    for name, short in sorted(distinct(names, _IN_SENTENCES).items(), key=lambda one: -len(one[0])):
        sentence = sentence.replace(name, short)
    return sentence


class _Column(NamedTuple):
    """A column of a table, to the left if it is of words, which may be names."""

    head: str
    cells: tuple[str, ...]
    words: bool

    def width(self, folded: bool) -> int:
        """Width with the heading on one line, or folded between its words."""
        heads = self.head.split() if folded else [self.head]
        return max(map(cell_len, (*heads, *self.cells)), default=0)

    def lines(self, folded: bool) -> list[str]:
        """The heading's lines."""
        return textwrap.wrap(self.head, self.width(folded), break_long_words=False) or [""]

    def padded(self, text: str, wide: int) -> str:
        """A cell in its place."""
        space = " " * (wide - cell_len(text))
        return text + space if self.words else space + text

    def cut(self, wide: int) -> _Column:
        """The column with its names cut."""
        twice = any(cell_len(cell) > len(cell) for cell in self.cells)
        short = distinct(self.cells, wide // 2 if twice else wide)
        return self._replace(cells=tuple(short[cell] for cell in self.cells))


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: Sequence[int] = (0,),
    spare: Sequence[str] = (),
    verbose: bool = False,
) -> None:
    """Write a table to stdout that is no wider than the terminal.

    `words` are the columns of words, to the left; `spare` those that are left out where all have no
    room, the first one first. With `verbose`, or without enough to leave out, it is a line a number
    instead.
    """
    cells = list(zip(*([one_line(cell) for cell in row] for row in rows), strict=True))
    every = [
        _Column(one_line(head), tuple(cells[place]) if cells else (), place in words)
        for place, head in enumerate(columns)
    ]
    kept, left_out = every, list[_Column]()
    found = _fitted(kept)
    for head in () if verbose else spare:
        if found is not None:
            break
        left_out += [one for one in kept if one.head == head]
        kept = [one for one in kept if one.head != head]
        found = _fitted(kept)
    for line in found or _one_by_one(every):
        click.echo(line.rstrip())
    if found is not None:
        if left_out:
            names = ", ".join(map(_in_short, left_out))
            say(f"Left out at this width: {names}. --verbose shows all.")
        click.echo()


def _in_short(column: _Column) -> str:
    """Name a column, and its value if it has only one."""
    values = set(column.cells)
    return f"{column.head} = {values.pop()}" if len(values) == 1 else column.head


def _fitted(columns: Sequence[_Column]) -> list[str] | None:
    """The table's lines, headings folded and names cut if need be; None if it is still too wide."""
    for folded in (False, True):
        if _total(columns, folded) <= width():
            return _drawn(columns, folded)
    columns = _cut(columns)
    return _drawn(columns, True) if _total(columns, True) <= width() else None


def _total(columns: Sequence[_Column], folded: bool) -> int:
    return sum(one.width(folded) for one in columns) + len(_GAP) * (len(columns) - 1)


def _cut(columns: Sequence[_Column]) -> list[_Column]:
    """Cut the widest columns of words until the table fits."""
    wide = [one.width(True) for one in columns]
    names = [place for place, one in enumerate(columns) if one.words and wide[place] > _LEAST_NAME]
    for _ in range(_total(columns, True) - width()):
        longest = max(names, key=wide.__getitem__, default=None)
        if longest is None or wide[longest] == _LEAST_NAME:
            break
        wide[longest] -= 1
    return [one.cut(wide[place]) if place in names else one for place, one in enumerate(columns)]


def _drawn(columns: Sequence[_Column], folded: bool) -> list[str]:
    wide = [one.width(folded) for one in columns]
    heads = [one.lines(folded) for one in columns]
    most = max(map(len, heads))
    heads = [[""] * (most - len(one)) + one for one in heads]
    rows = [*zip(*heads, strict=True), *zip(*(one.cells for one in columns), strict=True)]
    lines = [
        _GAP.join(one.padded(*cell) for one, *cell in zip(columns, row, wide, strict=True))
        for row in rows
    ]
    return [*lines[:most], "─" * _total(columns, folded), *lines[most:]]


def _one_by_one(columns: Sequence[_Column]) -> list[str]:
    """The name of each row, and its numbers one a line."""
    first, *others = columns
    first = first.cut(width() - cell_len(first.head) - 1)
    wide = max((cell_len(one.head) for one in others), default=0)
    others = [one.cut(width() - wide - 4) if one.words else one for one in others]
    lines = []
    for place, name in enumerate(first.cells):
        lines.append(f"{first.head} {name}".strip())
        lines += [f"  {one.head:<{wide}}  {one.cells[place]}" for one in others]
        lines.append("")
    return lines
