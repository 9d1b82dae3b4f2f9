"""The files that a command writes: what they may be called, and what goes into each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bayescal.core.command import Given, Row

if TYPE_CHECKING:
    from xarray import DataTree

_REPORT: Final = (".html", ".htm")
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
        # Loaded for a file alone: it brings xarray with it.
        from bayescal.results.io import check_writable

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
        from bayescal.results.io import replacing
        from bayescal.results.kind import kind_of

        frame = kind_of(tree).rows(tree, prob)
        index = frame.index.name == "case"
        with replacing(path) as draft:
            if path.suffix.casefold() == _PARQUET:
                frame.to_parquet(draft, index=index)
            else:
                frame.to_csv(draft, index=index, lineterminator="\n")
    else:
        from bayescal.results.io import save

        save(tree, path)


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write plain rows as CSV."""
    import csv
    import io

    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    _write_text(path, text.getvalue())


def _write_text(path: Path, text: str) -> None:
    from bayescal.results.io import replacing

    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def say_written(paths: Sequence[Path], *, err: bool) -> None:
    """Say where the files are."""
    for path in paths:
        click.echo(f"Written: {path.resolve()}", err=err)
