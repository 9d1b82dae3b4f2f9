"""Tables and sentences that fit the terminal, and how the command line ends."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import click

from bayescal.core.command import Option
from bayescal.core.errors import InputError
from bayescal.core.text import Column, distinct, fitted, one_by_one, one_line, table

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

    `words` are the columns of words, to the left; `spare` those that are left out, in this order,
    until the rest fits. With `verbose`, or if too few can be left out, each number has a line.
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


OK: Final = 0
FAILED: Final = 1
"""Something went wrong while running, such as a full disk."""
BAD_INPUT: Final = 2
"""The command or its data cannot be used as they are."""
NOT_CONVERGED: Final = 3
"""The answer was computed and written, but the sampler's diagnostics say not to trust it."""
INTERRUPTED: Final = 130
"""Ctrl-C, as shells number it."""


class Interrupted(Exception):  # noqa: N818  # no error: the user's wish
    """Ctrl-C, with words on what was kept."""


def guarded(run: Callable[[], object], *, debug: bool = False) -> int:
    """Run a command; turn warnings, and whatever ends it, into lines on stderr and a code."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_others, **_named: warn(str(message))
            code = run()
    except click.ClickException as error:
        return _end(_usage(error), BAD_INPUT)
    except InputError as error:
        return _end(str(error), BAD_INPUT)
    except Interrupted as error:
        return _end(str(error), INTERRUPTED)
    except (click.Abort, KeyboardInterrupt):
        return _end("interrupted", INTERRUPTED)
    except OSError as error:
        return _end(str(error), FAILED)
    except MemoryError:
        return _end("out of memory; pass fewer rows or classifiers at once.", FAILED)
    except Exception as error:  # a traceback only with --debug
        if debug:
            raise
        kind = type(error).__name__
        return _end(f"unexpected {kind}: {error} (bayescal --debug shows where)", FAILED)
    return code if isinstance(code, int) else OK


def warn(message: str) -> None:
    """Write one line to stderr, as a warning."""
    click.echo(f"bayescal: warning: {one_line(message)}", err=True)


def _end(message: str, code: int) -> int:
    print(f"bayescal: {one_line(message)}", file=sys.stderr)
    return code


def as_options(message: str, options: Iterable[Option]) -> str:
    """Put what a message says of Python's arguments in terms of a command's options."""
    for option in options:
        for phrase, words in option.phrases.items():
            message = message.replace(phrase, words)
        if option.is_flag:
            message = re.sub(rf"(?<![\w,]){option.name}=True\b", option.flag, message)
        # "draws=2000, tune=1000" loses its comma: options stand side by side. Spaces keep quotes.
        value = rf"(?<![\w,]){option.name}=(?:('[^']* [^']*')|'?([^'\s]*[^'\s.,;])'?)(,(?= \w+=))?"
        message = re.sub(value, rf"{option.flag} \1\2", message)
        message = re.sub(rf"(^|(?<=Set )){option.name}(?= (must|has|to) )", option.flag, message)
    return message


def _usage(error: click.ClickException) -> str:
    message = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{message} See '{error.ctx.command_path} --help'."
    return message
