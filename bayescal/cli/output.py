"""What a command shows and writes, and how its tables and sentences fit the terminal."""

from __future__ import annotations

import codecs
import io
import json
import math
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bayescal.cli.options import SAMPLING
from bayescal.core.command import Estimates, Given, Option, Row
from bayescal.core.errors import InputError
from bayescal.core.text import (
    NAME_LENGTH,
    Column,
    cell,
    counted,
    distinct,
    fitted,
    one_by_one,
    one_line,
    plain,
    printable,
    table,
)
from bayescal.core.writing import check_writable, replacing, write_text
from bayescal.report import ENDINGS

if TYPE_CHECKING:
    from xarray import DataTree

_IN_SENTENCES: Final = 28
"""Width that names are cut to in sentences."""
_READABLE: Final = 120
"""Lines of prose are no longer, however wide the terminal is."""
_NOTE_LINES: Final = 2
_MORE: Final = " (more: --verbose)."


def width() -> int:
    """Columns of the terminal, COLUMNS if it is set, 80 where there is no terminal."""
    return max(shutil.get_terminal_size().columns, 40)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Put lines and signs that an encoding lacks in ASCII, and escape other characters."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(dict.fromkeys(map(ord, "─−–"), "-"))
    return text.encode("ascii", "backslashreplace").decode(), error.end


def print_anywhere() -> None:
    """Let stdout print what its encoding lacks, as in a pipe on Windows."""
    codecs.register_error("bayescal", _in_ascii)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="bayescal")


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
    whole: bool = False,
) -> None:
    """Write a table to stdout that is no wider than the terminal.

    `words` are the columns of words, to the left; `spare` those that are left out, in this order,
    until the rest fits, with names cut, of those that should be `whole` the long ones first. With
    `verbose`, or if too few can be left out, each number has a line.
    """
    every = table(columns, rows, words)
    short = every
    if whole and fitted(every, width(), cut=False) is None:
        short = [one.cut(NAME_LENGTH) if one.words else one for one in every]
    heads = () if verbose else tuple(spare)
    left_out, found = list[Column](), None
    for cut, n in product((False, True) if whole else (True,), range(len(heads) + 1)):
        left_out = [one for head in heads[:n] for one in every if one.head == head]
        kept = [one for one in (every if cut else short) if one.head not in heads[:n]]
        if (found := fitted(kept, width(), cut=cut)) is not None:
            break
    for line in found or one_by_one(every, width()):
        click.echo(line.rstrip())
    if found is not None:
        if left_out:
            # A column with one value is named with it.
            names = [
                f"{one.head} = {one.cells[0]}" if len({*one.cells}) == 1 else one.head
                for one in left_out
            ]
            say(f"Left out at this width: {'; '.join(names)}. --verbose shows all.")
        click.echo()


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
        context = getattr(error, "ctx", None)
        hint = "" if context is None else f" See '{context.command_path} --help'."
        return _end(error.format_message() + hint, BAD_INPUT)
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
        flag = next(one for one in option.flags if one.startswith("--"))
        for phrase, words in option.phrases.items():
            message = message.replace(phrase, words)
        if option.is_flag:
            message = re.sub(rf"(?<![\w,]){option.name}=True\b", flag, message)
        # "draws=2000, tune=1000" loses its comma: options stand side by side. Spaces keep quotes.
        # After a bracket it is an argument of Python's.
        value = rf"(?<![\w,(]){option.name}=(?:('[^']* [^']*')|'?([^'\s]*[^'\s.,;])'?)(,(?= \w+=))?"
        message = re.sub(value, rf"{flag} \1\2", message)
        message = re.sub(rf"(^|(?<=Set )|(?<=: )){option.name}(?= (must|has|to) )", flag, message)
    return message


def with_options(tree: DataTree, options: Sequence[Option]) -> DataTree:
    """A result whose status names options, for a report."""
    from bayescal.results.access import json_attribute
    from bayescal.results.schema import WARNINGS

    shown = tree.copy(deep=False)
    shown.attrs["status"] = as_options(str(tree.attrs["status"]), options)
    if WARNINGS in tree.attrs:
        said = json_attribute(tree, WARNINGS)
        shown.attrs[WARNINGS] = json.dumps([(as_options(one, options), of) for one, of in said])
    return shown


_VERSION: Final = 1
"""Of the form of JSON, which output.schema.json describes."""
_PARQUET: Final = ".parquet"
TABLES: Final = (".csv", _PARQUET)
_KNOWN: Final = (".nc", *TABLES, *ENDINGS)


def outputs(given: Given, options: Iterable[Option]) -> list[Path]:
    """The files to be written, checked before the work that fills them."""
    paths, report = list(given["output"]), given["report"]
    words = ".nc (the result), .html (a report), .csv or .parquet (the numbers)"
    for path in paths:
        check_target(path, _KNOWN, words)
    if report is not None:
        check_target(report, ENDINGS, ".html", "--report")
        paths.append(report)
    check_different(filter(None, (*paths, given.get("checkpoint"))))
    if given.get("estimate_only"):
        _check_estimates(given, options, paths)
    return paths


def check_target(path: Path, known: Sequence[str], words: str, flag: str = "--output") -> None:
    """Refuse another ending than those known, which `words` say, and tables that are read."""
    if path.suffix.casefold() not in known:
        raise click.UsageError(f"{flag} must end in {words}; got {path.name!r}.")
    check_writable(path)
    if path.suffix.casefold() in TABLES and path.exists():
        context = click.get_current_context()
        for param in context.command.params:
            given = context.params[str(param.name)] if isinstance(param, click.Argument) else ()
            for read in (given,) if isinstance(given, Path) else given:
                if read.exists() and read.samefile(path):
                    raise click.UsageError(f"{flag} {path} is read: choose another name.")


def check_different(paths: Iterable[Path]) -> None:
    """Refuse files of which one would replace another."""
    known = set[Path]()
    for path in paths:
        if path.resolve() in known:
            raise click.UsageError(f"a file can be written once; got {path} twice. Rename one.")
        known.add(path.resolve())


def _check_estimates(given: Given, options: Iterable[Option], paths: Sequence[Path]) -> None:
    of_fit = ("report", "measure", "prior", *(option.name for option in SAMPLING))
    wrong = next((one.flag for one in options if one.name in of_fit and one.is_given(given)), None)
    for path in paths:
        if wrong is None and path.suffix.casefold() not in TABLES:
            wrong = f"--output {path.name}"
    if wrong is not None:
        raise click.UsageError(
            f"--estimate-only computes no posterior, and {wrong} needs one. Leave one out."
        )


def write(tree: DataTree, path: Path, prob: float, title: str | None = None) -> None:
    """Write a result as the file's ending says."""
    if path.suffix.casefold() in ENDINGS:
        from bayescal.report import report

        report(tree, path, prob=prob, **({} if title is None else {"title": title}))
    elif path.suffix.casefold() in TABLES:
        from bayescal.results.summary import finest

        frame = finest(tree, prob)
        index = frame.index.name == "case"
        if path.suffix.casefold() == _PARQUET:
            with replacing(path) as draft:
                frame.to_parquet(draft, index=index)
        else:
            frame = frame.reset_index() if index else frame
            text = frame.select_dtypes(exclude="number").columns
            frame = frame.assign(**{name: frame[name].map(cell) for name in text})
            columns = [cell(name) for name in frame]
            write_text(path, frame.to_csv(index=False, header=columns, lineterminator="\n"))
    else:
        from bayescal.results.io import save

        save(tree, path)


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write plain rows as CSV or Parquet."""
    import csv

    if path.suffix.casefold() == _PARQUET:
        import pyarrow as pa
        from pyarrow import parquet

        with replacing(path) as draft:
            parquet.write_table(pa.Table.from_pylist(rows), draft)
        return
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(cell, rows[0]))
    writer.writerows([cell(row.get(name)) for name in rows[0]] for row in rows)
    write_text(path, text.getvalue())


def say_written(paths: Sequence[Path], *, err: bool) -> None:
    """Say where the files are."""
    for path in paths:
        click.echo(f"Written: {printable(str(path.resolve()))}", err=err)


def print_json(head: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Write one JSON object to stdout: what was given and found, then one object a row."""
    found = {"schema_version": _VERSION, **head, "results": rows}
    click.echo(json.dumps(plain(found), indent=2, allow_nan=False))


def print_estimates(found: Estimates, *, verbose: bool = False) -> None:
    """Write the first estimates to stdout, and how many more there are."""
    shown = found.rows[: found.printed]
    print_table(
        list(found.columns.values()),
        [[_cell(row.get(name)) for name in found.columns] for row in shown],
        words=[
            index
            for index, name in enumerate(found.columns)
            if any(isinstance(row.get(name), str) for row in shown)
        ],
        spare=found.spare,
        verbose=verbose,
    )
    rest = len(found.rows) - len(shown)
    if rest:
        say(f"and {counted(rest, 'more row')}: -o rows.csv writes all.")


def _cell(value: Any) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:,.{4 if abs(value) < 100 else 1}f}"
    return str(value)
