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

    from bayescal.results.marginal import Marginal
    from bayescal.results.schema import Case

Row = Mapping[str, Any]

_PIPE_WIDTH = 120


def posterior_rows(tree: DataTree, prob: float) -> list[dict[str, Any]]:
    """Rows of :func:`bayescal.summary` as plain values, None where there is none."""
    from bayescal.results.summary import summary

    frame = summary(tree, prob).reset_index()
    records = frame.to_dict("records")
    return [{str(name): _plain(value) for name, value in row.items()} for row in records]


def marginal_rows(tree: DataTree, prob: float) -> list[dict[str, Any]]:
    """Means over classes in the columns of :func:`posterior_rows`; none unless asked for."""
    from bayescal.results.marginal import marginals

    if tree.attrs.get("multiclass") != "marginal":
        return []
    ece, tce = (marginals(tree, var, prob) for var in ("ece", "tce"))
    rows = posterior_rows(tree, prob)
    return [
        _marginal_row(case, found, without_bins, rows)
        for (case, found), (_, without_bins) in zip(ece, tce, strict=True)
    ]


def _marginal_row(case: Case, ece: Marginal, tce: Marginal, rows: Sequence[Row]) -> dict[str, Any]:
    """One classifier's (and group's) mean over classes, as sound as its worst class."""
    names = {"classifier": case.classifier}
    names |= {} if case.group is None else {"group": case.group}
    own = [row for row in rows if all(row[name] == value for name, value in names.items())]
    failed = [row["status"] for row in own if row["status"] != "ok"]
    several = [value for dim, value in names.items() if len({row[dim] for row in rows}) > 1]
    return {
        "case": " / ".join([*several, "mean over classes"]),
        **names,
        "n": own[0]["n"],
        "ece_point": _plain(ece.plug_in),
        "ece_mean": ece.mean,
        "ece_lower": ece.lower,
        "ece_upper": ece.upper,
        "p_calibrated": None,
        "tce_mean": tce.mean,
        "tce_lower": tce.lower,
        "tce_upper": tce.upper,
        "jump": any(row["jump"] for row in own),
        "status": failed[0] if failed else "ok",
    }


def print_json(head: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Write one JSON object to stdout: what was asked, then one object a row."""
    results = [{name: _plain(value) for name, value in row.items()} for row in rows]
    click.echo(json.dumps({**head, "results": results}, indent=2, allow_nan=False))


def print_posterior(rows: Sequence[Row], prob: float) -> None:
    """Write the table of a result to stdout."""
    columns = ["", "rows", "ECE, plug-in", "ECE, posterior", f"{percent(prob)} interval"]
    columns += ["P(calibrated)", "status"]
    print_columns(columns, [_posterior_cells(row) for row in rows])


def print_estimates(rows: Sequence[Row]) -> None:
    """Write the table of point estimates to stdout."""
    columns = ["", "rows", "ECE, plug-in", "MCE, plug-in", "l2, debiased"]
    print_columns(
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


def print_columns(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table to stdout: the first and last column to the left, the others to the right."""
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
