"""Text of users that no program acts on, and tables in plain text that fit a width."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

# What a spreadsheet takes for a formula, full-width signs among it; a number is none.
_FORMULA: Final = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Marks, embeddings, overrides and isolates of writing direction (Unicode Standard Annex 9).
_DIRECTIONS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SPELLED: Final = {code: f"\\u{code:04x}" for code in _DIRECTIONS}


def printable(text: str) -> str:
    r"""Spell out what a terminal would act on, and halves of characters: "\x1b", "\u202e"."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def undirected(text: str) -> str:
    """Spell out the characters that turn the writing direction of the text around them."""
    return text.translate(_SPELLED)


def cell[T](value: T) -> T | str:
    """Put ' before text of a CSV file that a spreadsheet would take for a formula."""
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def shorten(name: str, width: int) -> str:
    """Cut a name in its middle, since names of one family differ at their ends."""
    line = " ".join(name.split())
    return _cut(line, width, (width - 3) // 2)


def distinct(names: Iterable[str], width: int) -> dict[str, str]:
    """Cut names to a width so that no two read alike; wider where no cut of that width does.

    All are cut at one place: their middle, or the nearest to it that keeps what differs.
    """
    lines = {name: " ".join(name.split()) for name in names}
    n, longest = len(set(lines.values())), max(map(len, lines.values()), default=0)
    for room in range(width, longest):
        for tail in sorted(range(room - 3), key=lambda tail: abs(2 * tail + 3 - room)):
            cut = {name: _cut(line, room, tail) for name, line in lines.items()}
            if len(set(cut.values())) == n:
                return cut
    return lines


def _cut(line: str, width: int, tail: int) -> str:
    if len(line) <= width:
        return line
    return f"{line[: width - 3 - tail]}...{line[len(line) - tail :]}"


_GAP: Final = "  "
_LEAST_NAME: Final = 16
"""Width that names are cut to, at the narrowest."""


def cell_len(text: str) -> int:
    """Columns that a text takes, two for a wide character."""
    from rich.cells import cell_len

    return cell_len(text)


def one_line(text: str) -> str:
    r"""Join a text into one line, and spell out characters that a terminal would act on."""
    return printable(" ".join(text.split()))


class Column(NamedTuple):
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

    def cut(self, wide: int) -> Column:
        """The column with its names cut."""
        twice = any(cell_len(cell) > len(cell) for cell in self.cells)
        short = distinct(self.cells, wide // 2 if twice else wide)
        return self._replace(cells=tuple(short[cell] for cell in self.cells))


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int]
) -> list[Column]:
    """The columns of a table; `words` are those of words."""
    cells = list(zip(*([one_line(cell) for cell in row] for row in rows), strict=True))
    return [
        Column(one_line(head), tuple(cells[place]) if cells else (), place in words)
        for place, head in enumerate(heads)
    ]


def fitted(columns: Sequence[Column], width: int) -> list[str] | None:
    """The table's lines, headings folded and names cut if need be; None if it is still too wide."""
    for folded in (False, True):
        if _total(columns, folded) <= width:
            return _drawn(columns, folded)
    columns = _narrowed(columns, width)
    return _drawn(columns, True) if _total(columns, True) <= width else None


def _total(columns: Sequence[Column], folded: bool) -> int:
    return sum(one.width(folded) for one in columns) + len(_GAP) * (len(columns) - 1)


def _narrowed(columns: Sequence[Column], width: int) -> list[Column]:
    """Cut the widest columns of words until the table fits."""
    wide = [one.width(True) for one in columns]
    names = [place for place, one in enumerate(columns) if one.words and wide[place] > _LEAST_NAME]
    for _ in range(_total(columns, True) - width):
        longest = max(names, key=wide.__getitem__, default=None)
        if longest is None or wide[longest] == _LEAST_NAME:
            break
        wide[longest] -= 1
    return [one.cut(wide[place]) if place in names else one for place, one in enumerate(columns)]


def _drawn(columns: Sequence[Column], folded: bool) -> list[str]:
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


def one_by_one(columns: Sequence[Column], width: int) -> list[str]:
    """The name of each row, and its numbers one a line."""
    first, *others = columns
    first = first.cut(width - cell_len(first.head) - 1)
    wide = max((cell_len(one.head) for one in others), default=0)
    others = [one.cut(width - wide - 4) if one.words else one for one in others]
    lines = []
    for place, name in enumerate(first.cells):
        lines.append(f"{first.head} {name}".strip())
        lines += [f"  {one.head:<{wide}}  {one.cells[place]}" for one in others]
        lines.append("")
    return lines
