"""Tables and sentences on stdout that fit the terminal."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

import click

from bayescal.core.text import distinct
from bayescal.core.text_table import Column, fitted, one_by_one, one_line, table

_IN_SENTENCES: Final = 28
"""Width that names are cut to in sentences."""
_READABLE: Final = 120
"""Lines of prose are no longer, however wide the terminal is."""
_NOTE_LINES: Final = 2
_MORE: Final = " (more: --verbose)."


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
    room, the first one first. With `verbose`, or not enough of them, it is a line a number instead.
    """
    every = table(columns, rows, words)
    kept, left_out = every, list[Column]()
    found = fitted(kept, width())
    for head in () if verbose else spare:
        if found is not None:
            break
        left_out += [one for one in kept if one.head == head]
        kept = [one for one in kept if one.head != head]
        found = fitted(kept, width())
    for line in found or one_by_one(every, width()):
        click.echo(line.rstrip())
    if found is not None:
        if left_out:
            names = ", ".join(map(_in_short, left_out))
            say(f"Left out at this width: {names}. --verbose shows all.")
        click.echo()


def _in_short(column: Column) -> str:
    """Name a column, and its value if it has only one."""
    values = set(column.cells)
    return f"{column.head} = {values.pop()}" if len(values) == 1 else column.head
