"""What ``bayescal credal`` prints and writes: a line a classifier, and the rows."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bayescal.cli.table import posterior_rows, print_columns
from bayescal.core.errors import OutputError
from bayescal.report.numbers import MISSING, count, fixed, percent

if TYPE_CHECKING:
    from xarray import DataTree

    from bayescal.quantities.credal.calibration_split import CalibrationSplit

Row = Mapping[str, Any]

_PRINTED: Final = 10


def print_rows_decided(tree: DataTree, prob: float) -> None:
    """Write the table of a result to stdout: widths, and how many rows are decided."""
    columns = ["", "calibration", "target", "told", f"{percent(prob)} width"]
    columns += ["p0 to p1", "decided", "open", "improper", "status"]
    print_columns(columns, [_cells(row) for row in posterior_rows(tree, prob)])


def _cells(row: Row) -> list[str]:
    n_open = round(row["open_share"] * row["n_rows"])
    return [
        str(row["case"]),
        *(count(row[name]) for name in ("n", "n_target", "n_rows")),
        fixed(row["width"], 3),
        fixed(row["ivap_width"], 3),
        count(row["n_rows"] - n_open),
        count(n_open),
        f"{100 * row['improper_share']:.1f}%" if row["improper_share"] else MISSING,
        str(row["status"]),
    ]


def posterior_lines(tree: DataTree, prob: float) -> list[dict[str, Any]]:
    """Rows of :func:`bayescal.row_table` as plain values."""
    from bayescal.results.row_table import row_table

    frame = row_table(tree, prob)
    return [{str(k): _plain(v) for k, v in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def estimated_rows(split: CalibrationSplit) -> list[dict[str, Any]]:
    """Venn-Abers probabilities of all target rows."""
    from bayescal.quantities.credal.estimator import estimate

    classes = [str(name) for name in split.calibration.classes]
    curves = classes[1:] if split.calibration.is_binary else classes
    rows = []
    for name in split.calibration.classifiers:
        one = split.select(name)
        found = estimate(one)
        shape = (split.n_target, len(curves))
        score, p0, p1, merged = (
            part.reshape(shape) for part in (one.target.y_prob[0], found.p0, found.p1, found.prob)
        )
        rows += [
            {
                "classifier": name,
                "row": place,
                "class": class_,
                "score": float(score[place, k]),
                "p0": float(p0[place, k]),
                "p1": float(p1[place, k]),
                "merged": float(merged[place, k]),
                "improper": bool(found.improper[place]),
            }
            for place in range(split.n_target)
            for k, class_ in enumerate(curves)
        ]
    return rows


def print_estimates(rows: Sequence[Row]) -> None:
    """Write the first rows to stdout, and how many more there are."""
    import click

    columns = ["", "row", "class", "score", "p0", "p1", "merged", "improper"]
    print_columns(
        columns,
        [
            [
                str(row["classifier"]),
                count(row["row"]),
                str(row["class"]),
                *(fixed(row[name], 4) for name in ("score", "p0", "p1", "merged")),
                "yes" if row["improper"] else "",
            ]
            for row in rows[:_PRINTED]
        ],
    )
    if len(rows) > _PRINTED:
        click.echo(f"and {count(len(rows) - _PRINTED)} more: --rows rows.csv writes all of them.")
    click.echo("p0 to p1 is no interval for the probability; leave out --estimate-only for one.")


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """Write rows as CSV."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror}. Choose another directory."
        ) from error
