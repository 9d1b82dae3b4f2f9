"""The files that a command writes: what they may be called, and what goes into each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bayescal.core.command import Given, Row
from bayescal.core.text import cell, printable
from bayescal.core.writing import check_writable, replacing, write_text
from bayescal.report.html import ENDINGS as _REPORT

if TYPE_CHECKING:
    from xarray import DataTree

_PARQUET: Final = ".parquet"
TABLES: Final = (".csv", _PARQUET)
_KNOWN: Final = (".nc", *TABLES, *_REPORT)


def outputs(given: Given) -> list[Path]:
    """The files to be written, checked before the work that fills them."""
    paths, report = list(given["output"]), given["report"]
    for path in paths:
        if path.suffix.casefold() not in _KNOWN:
            raise click.UsageError(
                "--output must end in .nc (the result), .html (a report), .csv or .parquet (the "
                "numbers); "
                f"got {path.name!r}."
            )
    if report is not None:
        check_report(report, "--report")
        paths.append(report)
    if given.get("estimate_only"):
        _check_estimates(given, paths)
    for path in paths:
        check_writable(path)
    return paths


def check_report(path: Path, flag: str) -> None:
    """Refuse another ending than that of a report."""
    if path.suffix.casefold() not in _REPORT:
        raise click.UsageError(f"{flag} must end in .html; got {path.name!r}.")


def _check_estimates(given: Given, paths: Sequence[Path]) -> None:
    wrong = "--quick" if given["quick"] else "--report" if given["report"] else None
    for path in paths:
        if wrong is None and path.suffix.casefold() != ".csv":
            wrong = f"--output {path.name}"
    if wrong is not None:
        raise click.UsageError(
            f"--estimate-only computes no posterior, and {wrong} needs one. Leave one out."
        )


def write(tree: DataTree, path: Path, prob: float, title: str | None = None) -> None:
    """Write a result as the file's ending says."""
    if path.suffix.casefold() in _REPORT:
        from bayescal.report.html import report

        report(tree, path, prob=prob, **({} if title is None else {"title": title}))
    elif path.suffix.casefold() in TABLES:
        from bayescal.results.kind import kind_of

        frame = kind_of(tree).rows(tree, prob)
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
    """Write plain rows as CSV."""
    import csv
    import io

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(cell, rows[0]))
    writer.writerows([cell(row.get(name)) for name in rows[0]] for row in rows)
    write_text(path, text.getvalue())


def say_written(paths: Sequence[Path], *, err: bool) -> None:
    """Say where the files are."""
    for path in paths:
        click.echo(f"Written: {printable(str(path.resolve()))}", err=err)
