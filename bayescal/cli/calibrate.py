"""``bayescal calibrate``: class probabilities of new rows, by a result that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bayescal.cli.options import PATH
from bayescal.cli.output import say_written, write_rows
from bayescal.cli.run import status_code
from bayescal.core.checks import listing
from bayescal.core.errors import InputError
from bayescal.core.writing import check_writable


@click.command()
@click.argument("result", type=PATH)
@click.argument("file", type=PATH)
@click.option(
    "--score",
    multiple=True,
    required=True,
    metavar="COLUMN",
    help="A column for each class, in any order, or a pattern such as 'z_*': a class is named by "
    "its column, or by what the * stands for. Of two classes the column of the positive one does.",
)
@click.option(
    "--from-logits",
    is_flag=True,
    help="The scores are logits. Without it they are what RESULT was fitted to.",
)
@click.option("--classifier", metavar="NAME", help="Which of several classifiers of RESULT.")
@click.option(
    "-o", "--output", type=PATH, required=True, metavar="FILE.csv", help="The probabilities."
)
def command(
    result: Path,
    file: Path,
    score: tuple[str, ...],
    from_logits: bool,
    classifier: str | None,
    output: Path,
) -> int:
    """Calibrate the rows of FILE by RESULT, such as bayescal temperature keeps with -o RESULT.nc.

    Each row gets the posterior-predictive probabilities of the classes. The most probable class
    stays the same, unless vector scaling has a weight in RESULT.
    """
    from bayescal.core.score_options import matching
    from bayescal.core.tables import open_table
    from bayescal.quantities import quantity_named
    from bayescal.results.access import json_attribute
    from bayescal.results.io import load

    if output.suffix.casefold() != ".csv":
        raise click.UsageError(f"--output must end in .csv; got {output.name!r}.")
    check_writable(output)
    tree = load(result)
    calibrate = getattr(quantity_named(str(tree.attrs["quantity"])), "calibrate", None)
    if calibrate is None:
        raise InputError(
            f"a result of {tree.attrs['quantity']} calibrates no rows. Pass one of a quantity that "
            "does."
        )
    if from_logits and tree.attrs.get("input_scale") == "probabilities":
        raise InputError(
            f"{result.name} was fitted to probabilities, and --from-logits says that {file.name} "
            "holds logits. Leave it out, or fit to logits."
        )
    table = open_table(file)
    pairs = [pair for pattern in score for pair in matching(pattern, table, [])]
    known = json_attribute(tree, "classes")
    found = calibrate(
        tree,
        _side_by_side(table.read([name for name, _ in pairs]), [name for name, _ in pairs]),
        classifier=classifier,
        classes=None if len(pairs) == 1 and len(known) == 2 else _classes(pairs, known),
        scale="logits" if from_logits else None,
    )
    names = [f"p_{name}" for name in known]
    write_rows([dict(zip(names, row, strict=True)) for row in found.tolist()], output)
    say_written([output], err=False)
    return status_code(tree, ())


def _classes(pairs: Sequence[tuple[str, str]], known: Sequence[str]) -> list[str]:
    """The class of each column: what the * of a pattern stands for, or its name."""
    columns, starred = (list(names) for names in zip(*pairs, strict=True))
    for named in (starred, columns):
        if sorted(named) == sorted(known):
            return named
    raise InputError(
        f"--score must name a column for each class of the result, {listing(known)}, by the class "
        f"or by what the * of a pattern stands for; got {listing(columns)}. Name the columns as "
        "where it was fitted."
    )


def _side_by_side(columns: dict[str, Any], names: list[str]) -> Any:
    import numpy as np

    from bayescal.core.columns import to_floats

    return np.column_stack([to_floats(columns[name], f"column {name!r}") for name in names])
