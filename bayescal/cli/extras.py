"""Commands beside those of quantities: counts, calibrated rows, the demo, measures and papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from bayescal.cli.options import PATH, ROWS_ALONE, THERE, VERBOSE, click_option
from bayescal.cli.output import TABLES, check_target, print_table, say, say_written, write_rows
from bayescal.cli.run import carry_out, in_terms_of, status_code
from bayescal.core import command as shared
from bayescal.core.checks import listing
from bayescal.core.command import COUNTS, Given, Option, are_counts, files_of, read_counts
from bayescal.core.errors import InputError
from bayescal.core.shown import terminal_bar
from bayescal.report import ENDINGS

if TYPE_CHECKING:
    from bayescal.core.columns import Label
    from bayescal.core.count_table import CountTable
    from bayescal.core.scores import Scores


_OF_ROWS: Final = (
    shared.CLASSIFIER,
    # A result of probabilities does not take logits.
    replace(shared.FROM_LOGITS, phrases={"set from_logits=True": "pass their softmax"}),
)


@click.command(short_help="Calibrate new rows by a kept result.")
@click.argument("result", type=THERE)
@click.argument("file", type=ROWS_ALONE)
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
@in_terms_of(_OF_ROWS)
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
    import numpy as np

    from bayescal.core.columns import to_floats
    from bayescal.core.command import matching
    from bayescal.core.intake import Column, logits, probabilities
    from bayescal.core.tables import open_table
    from bayescal.quantities import quantity_named
    from bayescal.results.access import check_given, json_attribute
    from bayescal.results.io import load

    check_target(output, TABLES, ".csv or .parquet")
    tree = load(result)
    calibrate = getattr(quantity_named(str(tree.attrs["quantity"])), "calibrate", None)
    if calibrate is None:
        raise InputError(
            f"a result of {tree.attrs['quantity']} calibrates no rows. Pass one of a quantity that "
            "does."
        )
    # Columns of all classifiers are no classes of one.
    check_given(tree, classifier=classifier)
    if from_logits and tree.attrs.get("input_scale") == "probabilities":
        raise InputError(
            f"{result.name} was fitted to probabilities, and --from-logits says that {file.name} "
            "holds logits. Leave it out, or fit to logits."
        )
    table = open_table(file)
    pairs = [pair for pattern in score for pair in matching(pattern, table, [])]
    read = table.read([name for name, _ in pairs])
    columns = [Column(f"column {name!r}{table.of}", read[name]) for name, _ in pairs]
    check = logits if tree.attrs.get("input_scale") == "logits" else probabilities
    for column in columns:
        check(column)
    known = json_attribute(tree, "classes")
    of_positive = len(pairs) == 1 and len(known) == 2 and known[0] not in pairs[0]
    found = calibrate(
        tree,
        np.column_stack([to_floats(one.values, one.name) for one in columns]),
        classifier=classifier,
        classes=None if of_positive else _classes(pairs, known),
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
    from bayescal.quantities import of_tables

    check_target(output, ENDINGS, ".html")
    say("Training four classifiers on half of scikit-learn's handwritten digits ...")
    scores = held_out_scores()
    say(f"Measuring their calibration on the other half, {scores.n_labeled} rows ...")
    from bayescal.workflow.fit import fit

    quantity = of_tables()
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


_PAIRS: Final = Option(
    flags=("--pairs",),
    is_flag=True,
    help="Count the rows of up to 8 classifiers together too, which their differences need.",
    phrases={", or make CountTable(dict(table)) of the former": ""},
)
_OPTIONS: Final = (
    shared.LABEL,
    shared.BINARY_SCORE,
    shared.GROUP,
    shared.WEIGHT,
    shared.POS_LABEL,
    shared.FROM_LOGITS,
    _PAIRS,
    VERBOSE,
)


def _count(files: tuple[Path, ...], output: Path, **given: Any) -> None:
    check_target(output, (COUNTS,), COUNTS)
    tables = [path for path in files_of({"file": files}) if path.suffix.casefold() != COUNTS]
    if tables and given["label"] is None:
        raise click.UsageError("Missing option '--label'.")
    if not tables:
        are_counts({**given, "file": files})
        if given["pairs"]:
            raise click.UsageError("--pairs counts rows, and each FILE is counts. Leave it out.")
    found: CountTable | None = None
    with in_terms_of(_OPTIONS), terminal_bar("Counting") as update:
        for done, path in enumerate(files):
            try:
                part = read_counts(path) if path not in tables else _counted(path, given)
                found = part if found is None else found + part
            except InputError as error:
                text = str(error)
                raise InputError(text if path.name in text else f"{path.name}: {text}") from None
            if update is not None:
                update(path.name, done + 1, len(files))
    assert found is not None
    found.save(output)
    _print(found, given["verbose"])
    say_written([output], err=False)


def _counted(path: Path, given: Given) -> CountTable:
    from bayescal.core.many_rows import count_rows
    from bayescal.core.tables import open_table

    table = open_table(path)
    names = shared.score_columns(given, table).names
    others = {name: given[name] for name in ("group", "weight", "pairs")}
    return shared.counted(count_rows, given, table, names, **others)


def _print(found: CountTable, verbose: bool) -> None:
    rows = [
        [name, group, *(f"{n:,}" for n in (one.n_obs, one.n_labeled, len(one.cell)))]
        for name in found
        for group, one in (found.groups_of(name) if found.groups else {"": found[name]}).items()
    ]
    columns = ["classifier", "group", "rows", "labelled", "cells"]
    print_table(columns, rows, words=(0, 1), spare=["cells"], verbose=verbose)


count = click.Command(
    "count",
    params=[
        click.Argument(["files"], type=ROWS_ALONE, nargs=-1, required=True, metavar="FILE..."),
        *(click_option(replace(option, required=False)) for option in _OPTIONS),
        click.Option(
            ["-o", "--output"],
            type=PATH,
            required=True,
            metavar=f"FILE{COUNTS}",
            help="The counts.",
        ),
    ],
    callback=_count,
    short_help="Sum up the rows of files in a small one.",
    help="Sum up the rows of each FILE by narrow cells of the score, in one reading, and add them "
    "all up. FILE is CSV, Parquet or a directory of Parquet files, or counts. What is written is "
    "small and takes the place of tables, of several at once, in ece, pu-ece, agnostic, check and "
    "report.",
    epilog="Example: bayescal count monday.parquet tuesday.parquet --label y --score p -o "
    "week.counts",
)

_NEG_LABEL: Final = Option(
    flags=("--neg-label",), metavar="VALUE", help="The other label; needed where it is a word."
)
_DIALECT: Final = Option(
    flags=("--dialect",),
    default="duckdb",
    choices=("duckdb", "spark", "bigquery", "postgres"),
    help="Whose SQL it is.",
)
_SQL_OPTIONS: Final = (
    replace(shared.SCORE, help="Column of a classifier's scores; repeat it for several."),
    shared.GROUP,
    shared.WEIGHT,
    shared.POS_LABEL,
    _NEG_LABEL,
    _DIALECT,
)


def _sql(table: tuple[str, ...], pos_label: str, neg_label: str | None, **given: Any) -> None:
    from bayescal.core.counts_sql import counts_sql

    if pattern := next((name for name in given["score"] if "*" in name), None):
        raise InputError(
            f"--score of count-sql must name one column, as TABLE is not read; got {pattern!r}. "
            "Repeat --score for each."
        )
    positive, negative = _label(pos_label), _label(neg_label)
    with in_terms_of((shared.LABEL, *_SQL_OPTIONS)):
        query = counts_sql(table, pos_label=positive, neg_label=negative, **given)
    click.echo(query, nl=False)


def _label(word: str | None) -> Label | None:
    """The number or truth value that a word stands for, as a database does not compare it."""
    if word is None or word.casefold() in ("true", "false"):
        return None if word is None else word.casefold() == "true"
    return shared.whole_or_word(word)


count_sql = click.Command(
    "count-sql",
    params=[
        click.Argument(["table"], nargs=-1, required=True, metavar="TABLE..."),
        *(click_option(option) for option in (shared.LABEL, *_SQL_OPTIONS)),
    ],
    callback=_sql,
    short_help="Print the query by which a database counts.",
    help="Print the query by which a database counts TABLE; several words are catalog, schema and "
    "table. In Python bayescal.Counts.from_frame takes its result.",
    epilog="Example: bayescal count-sql rows.parquet --label y --score p --dialect duckdb",
)
