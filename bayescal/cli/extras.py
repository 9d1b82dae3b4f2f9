"""Commands that fit no file: ``calibrate`` by a kept result, ``demo``, ``measures``, ``cite``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayescal.cli.options import PATH, ROWS, VERBOSE
from bayescal.cli.output import TABLES, check_report, say_written, write_rows
from bayescal.cli.run import carry_out, status_code
from bayescal.cli.terminal import say
from bayescal.core.checks import listing
from bayescal.core.errors import InputError
from bayescal.core.writing import check_writable

if TYPE_CHECKING:
    from bayescal.core.scores import Scores


@click.command(short_help="Calibrate new rows by a kept result.")
@click.argument("result", type=PATH)
@click.argument("file", type=ROWS)
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
    "-o",
    "--output",
    type=PATH,
    required=True,
    metavar="FILE",
    help="The probabilities (.csv, .parquet).",
)
def calibrate(
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

    if output.suffix.casefold() not in TABLES:
        raise click.UsageError(f"--output must end in .csv or .parquet; got {output.name!r}.")
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


_SEED = 0
_PROB = 0.9


@click.command(short_help="Report on four classifiers of digits.")
@click.option(
    "-o", "--output", type=PATH, default="calibration.html", show_default=True, help="The report."
)
@click.option(*VERBOSE.flags, is_flag=True, help=VERBOSE.help)
def demo(output: Path, verbose: bool) -> int:
    """Train four classifiers on handwritten digits and report how calibrated they are.

    The question is whether a digit is five or more. Half of the 1,797 images train, the other half
    judge. The most accurate classifier is not the best calibrated one.
    """
    from bayescal.quantities import quantities

    check_report(output, "--output")
    check_writable(output)
    say("Training four classifiers on half of scikit-learn's handwritten digits ...")
    scores = held_out_scores()
    say(f"Measuring their calibration on the other half, {scores.n_labeled} rows ...")
    from bayescal.workflow.fit import fit

    quantity = next(found for found in quantities().values() if found.COMMAND.reports)
    compute = partial(fit, quantity, scores, seed=_SEED, prob=_PROB)
    title = "Is it five or more? Four classifiers"
    return carry_out(quantity, compute, [output], {"prob": _PROB, "verbose": verbose}, title)


def held_out_scores() -> Scores:
    """Train the demo's classifiers and score the rows that they have not seen."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from bayescal.core.scores import Scores

    images, digit = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(
        images, digit >= 5, test_size=0.5, stratify=digit, random_state=_SEED
    )
    classifiers = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "naive Bayes": GaussianNB(),
        "random forest": RandomForestClassifier(200, random_state=_SEED),
        "boosted trees": HistGradientBoostingClassifier(random_state=_SEED),
    }
    scored = {
        name: classifier.fit(x_train, y_train).predict_proba(x_test)[:, 1]
        for name, classifier in classifiers.items()
    }
    return Scores.stack(scored, y_true=y_test, pos_label=True)


@click.command(short_help="List what --measure may be.")
@click.pass_context
def measures(ctx: click.Context) -> None:
    """List what --measure may be: names, with the values they take, and what each is."""
    from bayescal.measures import measures

    text = ctx.make_formatter()
    text.write_dl(
        [
            (":".join(filter(None, (name, ",".join(one.options).upper()))), one.meaning)
            for name, one in measures().items()
        ]
    )
    click.echo(text.getvalue(), nl=False)


@click.command()
@click.argument("quantity", required=False, metavar="[QUANTITY]")
def cite(quantity: str | None) -> None:
    """Print the papers behind a quantity, or behind all."""
    from bayescal.quantities import quantities

    known = quantities()
    chosen = list(known) if quantity is None else [quantity.replace("-", "_")]
    if chosen[0] not in known:
        raise InputError(f"QUANTITY must be one of {', '.join(known)}; got {quantity!r}.")
    for name in chosen:
        click.echo(f"{name}: {known[name].TITLE}")
        for reference in known[name].REFERENCES:
            click.echo(f"\n  {reference.citation}\n    {reference.where}")
