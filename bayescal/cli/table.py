"""The table that a command prints, and the same rows as JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from bayescal.report.numbers import count, decimals, fixed, percent, probability

if TYPE_CHECKING:
    from xarray import DataTree

Row = Mapping[str, Any]

_PIPE_WIDTH = 120


def posterior_rows(tree: DataTree, prob: float) -> list[dict[str, Any]]:
    """Rows of :func:`bayescal.summary` as plain values, None where there is none."""
    from bayescal.results.summary import summary

    frame = summary(tree, prob).reset_index()
    records = frame.to_dict("records")
    return [{str(name): _plain(value) for name, value in row.items()} for row in records]


def print_json(head: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Write one JSON object to stdout: what was asked, then one object a row."""
    results = [{name: _plain(value) for name, value in row.items()} for row in rows]
    click.echo(json.dumps({**head, "results": results}, indent=2, allow_nan=False))


def print_posterior(rows: Sequence[Row], prob: float) -> None:
    """Write the table of a result to stdout."""
    columns = ["", "rows", "ECE, plug-in", "ECE, posterior", f"{percent(prob)} interval"]
    columns += ["P(calibrated)", "status"]
    _print(columns, [_posterior_cells(row) for row in rows])


def print_estimates(rows: Sequence[Row]) -> None:
    """Write the table of point estimates to stdout."""
    columns = ["", "rows", "ECE, plug-in", "MCE, plug-in", "l2, debiased"]
    _print(
        columns,
        [
            [
                str(row["case"]),
                count(row["n"]),
                fixed(row["ece_point"], 4),
                fixed(row["mce_point"], 4),
                fixed(row["l2_debiased"], 4),
            ]
            for row in rows
        ],
    )


def _posterior_cells(row: Row) -> list[str]:
    low, high = row["ece_lower"], row["ece_upper"]
    digits = decimals(low, high)
    status = str(row["status"])
    return [
        str(row["case"]),
        count(row["n"]),
        fixed(row["ece_point"], digits),
        fixed(row["ece_mean"], digits),
        f"{fixed(low, digits)} to {fixed(high, digits)}",
        probability(row["p_calibrated"]),
        f"{status}, may jump" if row["jump"] else status,
    ]


def _print(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from bayescal.cli.errors import one_line

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(columns):
        table.add_column(name, justify="left" if index in (0, len(columns) - 1) else "right")
    for row in rows:
        # Text, not markup: names are a user's.
        table.add_row(*(Text(one_line(cell)) for cell in row))
    terminal = sys.stdout.isatty()
    Console(file=sys.stdout, width=None if terminal else _PIPE_WIDTH).print(table)


def _plain(value: Any) -> Any:
    """Python's own number for NumPy's, None for NaN."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
