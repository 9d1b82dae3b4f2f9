"""``bayescal count`` and ``count-sql``: rows summed up in a file, or by a database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bayescal.cli.options import PATH, ROWS, VERBOSE, click_option
from bayescal.cli.output import say_written
from bayescal.cli.run import in_terms_of
from bayescal.cli.terminal import print_table
from bayescal.core import score_options as shared
from bayescal.core.command import Given, Option
from bayescal.core.errors import InputError
from bayescal.core.progress import terminal_bar
from bayescal.core.score_options import COUNTS, are_counts, read_counts
from bayescal.core.writing import check_writable

if TYPE_CHECKING:
    from bayescal.core.columns import Label
    from bayescal.core.count_table import CountTable

_PAIRS: Final = Option(
    flags=("--pairs",),
    is_flag=True,
    help="Count the rows of up to 8 classifiers together too, which their differences need.",
)
_OPTIONS: Final = (
    shared.LABEL,
    shared.BINARY_SCORE,
    shared.GROUP,
    shared.WEIGHT,
    shared.POS_LABEL,
    shared.FROM_LOGITS,
    _PAIRS,
    VERBOSE,
)


def _count(files: tuple[Path, ...], output: Path, **given: Any) -> None:
    if output.suffix.casefold() != COUNTS:
        raise click.UsageError(f"--output must end in {COUNTS}; got {output.name!r}.")
    check_writable(output)
    tables = [path for path in files if path.suffix.casefold() != COUNTS]
    if tables and given["label"] is None:
        raise click.UsageError("Missing option '--label'.")
    if not tables:
        are_counts({**given, "file": files})
    found: CountTable | None = None
    with in_terms_of(_OPTIONS), terminal_bar("Counting") as update:
        for done, path in enumerate(files):
            try:
                part = read_counts(path) if path not in tables else _counted(path, given)
                found = part if found is None else found + part
            except InputError as error:
                text = str(error)
                raise InputError(text if path.name in text else f"{path.name}: {text}") from None
            if update is not None:
                update(path.name, done + 1, len(files))
    assert found is not None
    found.save(output)
    _print(found, given["verbose"])
    say_written([output], err=False)


def _counted(path: Path, given: Given) -> CountTable:
    from bayescal.core.many_rows import count_rows
    from bayescal.core.tables import open_table

    table = open_table(path)
    names = shared.score_columns(given, table).names
    others = {name: given[name] for name in ("group", "weight", "pairs")}
    return shared.counted(count_rows, given, table, names, **others)


def _print(found: CountTable, verbose: bool) -> None:
    rows = [
        [name, group, *(f"{n:,}" for n in (one.n_obs, one.n_labeled, len(one.cell)))]
        for name in found
        for group, one in (found.groups_of(name) if found.groups else {"": found[name]}).items()
    ]
    columns = ["classifier", "group", "rows", "labelled", "cells"]
    print_table(columns, rows, words=(0, 1), spare=["cells"], verbose=verbose)


count = click.Command(
    "count",
    params=[
        click.Argument(["files"], type=ROWS, nargs=-1, required=True, metavar="FILE..."),
        *(click_option(replace(option, required=False)) for option in _OPTIONS),
        click.Option(
            ["-o", "--output"],
            type=PATH,
            required=True,
            metavar=f"FILE{COUNTS}",
            help="The counts.",
        ),
    ],
    callback=_count,
    short_help="Sum up the rows of files in a small one.",
    help="Sum up the rows of each FILE by narrow cells of the score, in one reading, and add them "
    "all up. FILE is CSV, Parquet or a directory of Parquet files, or counts. What is written is "
    "small and takes the place of a table in bayescal ece, agnostic and report, several files at "
    "once.",
    epilog="Example: bayescal count monday.parquet tuesday.parquet --label y --score p -o "
    "week.counts",
)

_NEG_LABEL: Final = Option(
    flags=("--neg-label",), metavar="VALUE", help="The other label; needed where it is a word."
)
_DIALECT: Final = Option(
    flags=("--dialect",),
    default="duckdb",
    choices=("duckdb", "spark", "bigquery", "postgres"),
    help="Whose SQL it is.",
)
_SQL_OPTIONS: Final = (
    replace(shared.SCORE, help="Column of a classifier's scores; repeat it for several."),
    shared.GROUP,
    shared.WEIGHT,
    shared.POS_LABEL,
    _NEG_LABEL,
    _DIALECT,
)


def _sql(table: tuple[str, ...], pos_label: str, neg_label: str | None, **given: Any) -> None:
    from bayescal.core.counts_sql import counts_sql

    positive, negative = _label(pos_label), _label(neg_label)
    with in_terms_of((shared.LABEL, *_SQL_OPTIONS)):
        query = counts_sql(table, pos_label=positive, neg_label=negative, **given)
    click.echo(query, nl=False)


def _label(word: str | None) -> Label | None:
    """The number or truth value that a word stands for, as a database does not compare it."""
    if word is None or word.casefold() in ("true", "false"):
        return None if word is None else word.casefold() == "true"
    try:
        return int(word)
    except ValueError:
        return word


count_sql = click.Command(
    "count-sql",
    params=[
        click.Argument(["table"], nargs=-1, required=True, metavar="TABLE..."),
        *(click_option(option) for option in (shared.LABEL, *_SQL_OPTIONS)),
    ],
    callback=_sql,
    short_help="Print the query by which a database counts.",
    help="Print the query by which a database counts TABLE; several words are catalog, schema and "
    "table. In Python bayescal.Counts.from_frame takes its result.",
    epilog="Example: bayescal count-sql rows.parquet --label y --score p --dialect duckdb",
)
