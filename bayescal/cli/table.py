"""The table that a command prints, and the same rows as JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from bayescal.cli.errors import one_line
from bayescal.core.command import Estimates, Row
from bayescal.results.text import plain

# Names are folded to this width at the narrowest, beyond which the terminal wraps whole lines.
_LEAST_NAME: Final = 12
_UNLIMITED: Final = 10_000


def print_json(head: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Write one JSON object to stdout: what was given and found, then one object a row."""
    click.echo(json.dumps(plain({**head, "results": rows}), indent=2, allow_nan=False))


def print_estimates(found: Estimates) -> None:
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
    )
    rest = len(found.rows) - len(shown)
    if rest:
        click.echo(f"and {rest:,} more rows: -o rows.csv writes all of them.")


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


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int] | None = None
) -> None:
    """Write a table to stdout, words to the left and numbers to the right; names are never cut."""
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    left = (0, len(columns) - 1) if words is None else words
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(columns):
        table.add_column(
            Text(one_line(name)),
            justify="left" if index in left else "right",
            no_wrap=index != 0,
            overflow="fold",
        )
    for row in rows:
        # Text, not markup: names are a user's.
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console = Console(file=sys.stdout, highlight=False)
    wide = console.options.update(width=_UNLIMITED)
    natural = Measurement.get(console, wide, table).maximum
    names = max((len(row[0]) for row in rows), default=0)
    fits = sys.stdout.isatty() and natural - names + _LEAST_NAME <= console.width
    console.width = min(natural, console.width) if fits else natural
    with console.capture() as printed:
        console.print(table)
    for line in printed.get().splitlines():
        click.echo(line.rstrip())
