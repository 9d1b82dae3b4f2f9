"""What the command line reads to calibrate by class-wise temperatures."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bayescal.core import score_options as shared
from bayescal.core.command import Command, Estimates, Given, Option, Row, in_words

if TYPE_CHECKING:
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
    from bayescal.core.scores import Scores
    from bayescal.quantities.temperature.data import Problem, Rows, data_warnings
    from bayescal.quantities.temperature.estimator import estimate_of

    rows: list[Row] = []
    warnings: list[str] = []
    problems: list[Rows] = (
        [Problem.of(scores, name) for name in scores.classifiers]
        if isinstance(scores, Scores)
        else [scores]
    )
    for problem in problems:
        found = estimate_of(problem, problem.numbers())._asdict()
        warnings += data_warnings(problem)
        alpha = found.pop("class_alpha")
        of_all = {key: float(value) for key, value in found.items()}
        rows += [
            {
                "classifier": problem.classifier,
                "class": class_,
                "alpha": float(alpha[place]),
                **of_all,
            }
            for place, class_ in enumerate(problem.classes)
        ]
    columns = {"classifier": "", "class": "class", "alpha": "alpha", "shared_alpha": "shared"}
    columns |= {"ece_uncalibrated": "ECE before", "ece": "after", "max_ece": "max-ECE after"}
    note = "Errors after calibration are of the rows that it was fitted to: too small for new rows."
    return Estimates(rows, columns, [note], warnings=warnings)


COMMAND = Command(
    help="Calibrate the classifiers in FILE by a temperature for each predicted class, with "
    "partial pooling. FILE is CSV or Parquet, of rows that the classifiers were not trained on; a "
    "row whose label is empty counts in the calibration errors alone. Keep the result with -o "
    "RESULT.nc, and apply it to new rows with bayescal calibrate. Files too large for memory are "
    "read in batches.",
    example="temperature logits.parquet --label y --multiclass --score 'z_*' --from-logits",
    options=(
        shared.LABEL,
        shared.SCORE,
        shared.CLASSIFIER,
        shared.WEIGHT,
        shared.POS_LABEL,
        shared.FROM_LOGITS,
        shared.ONE_CLASSIFIER,
    ),
    prior=Option(
        flags=("--prior",),
        default="default",
        metavar="PRIOR",
        help="default, classes-alike, classes-unlike, shared-number-unknown, "
        "predicted-classes or temperatures-alone.",
        read=priors_from_text,
    ),
    read=_read,
    estimates=_estimates,
)
