"""Text of users, written so that no program that shows it acts on it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

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
