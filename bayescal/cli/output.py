"""What a command shows and writes: tables, JSON, files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bayescal.cli.terminal import print_table, say
from bayescal.core.command import Estimates, Given, Row
from bayescal.core.text import cell, printable
from bayescal.core.writing import check_writable, replacing, write_text
from bayescal.report import ENDINGS
from bayescal.results.text import plain

if TYPE_CHECKING:
    from xarray import DataTree


_VERSION: Final = 1
"""Of the form of JSON, which output.schema.json describes."""
_PARQUET: Final = ".parquet"
TABLES: Final = (".csv", _PARQUET)
_KNOWN: Final = (".nc", *TABLES, *ENDINGS)


def outputs(given: Given) -> list[Path]:
    """The files to be written, checked before the work that fills them."""
    paths, report = list(given["output"]), given["report"]
    words = ".nc (the result), .html (a report), .csv or .parquet (the numbers)"
    for path in paths:
        check_target(path, _KNOWN, words)
    if report is not None:
        check_target(report, ENDINGS, ".html", "--report")
        paths.append(report)
    if given.get("estimate_only"):
        _check_estimates(given, paths)
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


def _check_estimates(given: Given, paths: Sequence[Path]) -> None:
    options = ("quick", "report", "measure", "checkpoint")
    wrong = next((f"--{name}" for name in options if given[name]), None)
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
    import io

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
        say(f"and {rest:,} more rows: -o rows.csv writes all of them.")


def _cell(value: Any) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4f}"
    return str(value)
