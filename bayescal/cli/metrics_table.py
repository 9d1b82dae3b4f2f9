"""The table of several classifiers' metrics that a command prints, and who is best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from bayescal.cli.errors import one_line
from bayescal.cli.table import posterior_rows, print_columns
from bayescal.report.numbers import MISSING, fixed, percent, probability

if TYPE_CHECKING:
    from xarray import DataTree

SHOWN: Final = ("accuracy", "ece", "auc", "auprc")
"""Metrics that fit a terminal; JSON and the report have all."""


def print_metrics(tree: DataTree, prob: float) -> None:
    """Write the table of a result to stdout, and who is best by accuracy."""
    from bayescal.results import schema
    from bayescal.results.best import best
    from bayescal.results.metrics import metric_title

    several = len(schema.classifier_names(tree)) > 1
    chances = {var: best(tree, var) for var in SHOWN} if several else {}
    columns = ["", "metric", "posterior mean", f"{percent(prob)} interval"]
    columns += ["SSME-KDE", "ensemble", "labelled rows"]
    columns += ["P(best)", "status"] if several else ["status"]
    cases = {case.label: case for case in schema.cases(tree)}
    rows = []
    for row in posterior_rows(tree, prob):
        var = row["metric"]
        if var not in SHOWN:
            continue
        cells = [str(row["case"]), metric_title(var), fixed(row["mean"]), _ends(row)]
        cells += [fixed(row[name]) for name in ("ssme_kde", "ensemble", "labeled")]
        if several:
            share = schema.at(chances[var].prob_best, cases[row["case"]])
            cells.append(probability(float(share)))
        rows.append([*cells, str(row["status"])])
    print_columns(columns, rows)
    if several:
        click.echo(one_line(chances["accuracy"].text))


def print_metric_estimates(rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the table of point estimates to stdout."""
    from bayescal.results.metrics import metric_title

    head = ["", *(metric_title(var) for var in SHOWN), "method"]
    print_columns(
        head,
        [
            [str(row["case"]), *(fixed(row[var], 4) for var in SHOWN), str(row["method"])]
            for row in rows
        ],
    )


def best_by_metric(tree: DataTree) -> dict[str, Any]:
    """Probabilities of being best by metric, as plain values."""
    from bayescal.results import schema
    from bayescal.results.best import best
    from bayescal.results.metrics import metrics_of

    if len(schema.classifier_names(tree)) < 2:
        return {}
    found: dict[str, Any] = {}
    for var in metrics_of(tree):
        shares = best(tree, var).prob_best
        if schema.GROUP in shares.dims:
            groups = map(str, shares[schema.GROUP].values)
            found[var] = {name: _plain(shares.sel({schema.GROUP: name})) for name in groups}
        else:
            found[var] = _plain(shares)
    return found


def _plain(shares: Any) -> dict[str, float | None]:
    names = map(str, shares["classifier"].values)
    values = (None if math.isnan(value) else float(value) for value in shares.values)
    return dict(zip(names, values, strict=True))


def _ends(row: Mapping[str, Any]) -> str:
    if row["lower"] is None:
        return MISSING
    return f"{fixed(row['lower'])} to {fixed(row['upper'])}"
