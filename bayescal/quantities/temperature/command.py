"""What the command line reads to calibrate by class-wise temperatures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bayescal.core import command as shared
from bayescal.core.command import Command, Estimates, Given, Row, in_words, prior_by

if TYPE_CHECKING:
    from xarray import DataTree

    from bayescal.core.scores import Scores
    from bayescal.quantities.temperature.many_rows import CountedRows
    from bayescal.quantities.temperature.priors import Priors


def priors_from_text(text: str) -> Priors:
    """Read how far classes differ from a word."""
    from bayescal.quantities.temperature.priors import Priors

    named = Priors().alternatives().items()
    words = {name.replace(" ", "-"): partial(replace, priors) for name, priors in named}
    return in_words(text, words, f"one of {', '.join(words)}")


def _read(given: Given) -> Scores | CountedRows:
    """Read the file, or go through it in batches where its rows are too many to hold."""
    table, columns = shared.open_columns(given)
    if len(columns.by_classifier) > 1 or not shared.too_large(table, len(columns.names)):
        return shared.labeled_scores(given, table, columns)
    from bayescal.quantities.temperature.many_rows import count_rows

    ((classifier, names),) = columns.by_classifier.items()
    return shared.counted(
        count_rows,
        given,
        table,
        names,
        classes=columns.classes,
        classifier=classifier,
        weight=given.get("weight"),
    )


def _estimates(scores: Scores | CountedRows, given: Given) -> Estimates:
    from bayescal.quantities.temperature.data import data_warnings, range_warnings
    from bayescal.quantities.temperature.estimator import estimate_of
    from bayescal.quantities.temperature.many_rows import problems_of

    rows: list[Row] = []
    warnings: list[str] = []
    for problem in problems_of(scores):
        found = estimate_of(problem, problem.numbers)._asdict()
        warnings += data_warnings(problem) + range_warnings(problem, found["shared_alpha"])
        alpha = found.pop("class_alpha")
        of_all = {key: float(value) for key, value in found.items()}
        rows += [
            {
                "classifier": problem.classifier,
                "class": class_,
                "alpha": float(alpha[place]),
                "temperature": 1 / float(alpha[place]),
                **of_all,
            }
            for place, class_ in enumerate(problem.classes)
        ]
    columns = {"classifier": "", "class": "class", "temperature": "temperature"}
    columns |= {"ece_uncalibrated": "ECE before, all rows", "ece": "ECE after, all rows"}
    columns |= {"max_ece": "max-ECE after"}
    note = "Errors after calibration are of the rows that it was fitted to: too small for new rows."
    return Estimates(rows, columns, [note], warnings, spare=["max-ECE after"])


def _temperatures(tree: DataTree, prob: float) -> Estimates:
    """Temperature, and calibration errors before and after, of the rows of each predicted class."""
    import numpy as np

    from bayescal.core.text import percent
    from bayescal.results import access

    rows: list[Row] = []
    for case in access.cases(tree):
        temperature = 1 / access.flat_draws(tree, "alpha", case)
        of_class = {
            "temperature_mean": temperature.mean(axis=0),
            "temperature_lower": np.quantile(temperature, (1 - prob) / 2, axis=0),
            "temperature_upper": np.quantile(temperature, (1 + prob) / 2, axis=0),
        }
        for name in ("class_ece_uncalibrated", "class_ece"):
            of_class[f"{name}_mean"] = access.flat_draws(tree, name, case).mean(axis=0)
        rows += [
            {"case": case.label, "class": class_}
            | {name: float(values[place]) for name, values in of_class.items()}
            for place, class_ in enumerate(access.names_along(tree, "label_class"))
        ]
    columns = {"case": "", "class": "predicted class", "temperature_mean": "temperature"}
    columns |= {"temperature_lower": f"{percent(prob)} from", "temperature_upper": "to"}
    columns |= {"class_ece_uncalibrated_mean": "ECE before", "class_ece_mean": "ECE after"}
    return Estimates(rows, columns)


COMMAND = Command(
    help="Calibrate the classifiers in FILE by a temperature for each predicted class, with "
    "partial pooling. FILE is CSV or Parquet, of rows that the classifiers were not trained on; a "
    "row whose label is empty counts in the calibration errors alone. Keep the result with -o "
    "RESULT.nc, and apply it to new rows with bayescal calibrate. Files too large for memory are "
    "read in batches.",
    example="temperature logits.parquet --label y --multiclass --score 'z_*' --from-logits",
    options=(*shared.ROWS, shared.ONE_CLASSIFIER),
    prior=prior_by(
        priors_from_text,
        "default",
        "default, classes-alike, classes-unlike, shared-number-unknown, "
        "predicted-classes or temperatures-alone.",
    ),
    read=_read,
    estimates=_estimates,
    details=_temperatures,
)
