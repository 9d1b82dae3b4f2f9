"""``bayescal calibrate``: class probabilities of new rows, by a result that is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayescal.cli.options import PATH
from bayescal.cli.output import say_written, write_rows
from bayescal.core.errors import InputError


@click.command()
@click.argument("result", type=PATH)
@click.argument("file", type=PATH)
@click.option(
    "--score",
    multiple=True,
    required=True,
    metavar="COLUMN",
    help="Columns of the classes, in their order, or a pattern such as 'z_*'; of two classes the "
    "column of the positive one.",
)
@click.option("--from-logits", is_flag=True, help="The scores are logits, not probabilities.")
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
    stays the same.
    """
    from bayescal.core.score_options import matching
    from bayescal.core.tables import open_table
    from bayescal.quantities import quantity_named
    from bayescal.results.access import json_attribute
    from bayescal.results.io import check_writable, load

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
    table = open_table(file)
    names = [name for pattern in score for name, _ in matching(pattern, table, [])]
    columns = table.read(names)
    scale = "logits" if from_logits else "probabilities"
    prob = calibrate(tree, _side_by_side(columns, names), classifier=classifier, scale=scale)
    classes = [f"p_{name}" for name in json_attribute(tree, "classes")]
    write_rows([dict(zip(classes, row, strict=True)) for row in prob.tolist()], output)
    say_written([output], err=False)
    return 0


def _side_by_side(columns: dict[str, Any], names: list[str]) -> Any:
    import numpy as np

    from bayescal.core.columns import to_floats

    return np.column_stack([to_floats(columns[name], f"column {name!r}") for name in names])
