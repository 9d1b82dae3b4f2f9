"""Text of users, written so that no program that shows it acts on it."""

from __future__ import annotations

import re
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
    """Put ' before text of a CSV file that a spreadsheet would take for a formula.

    Where one of = + - @, a tab or an end of line follows the first ' or several, one ' was put.
    """
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"
