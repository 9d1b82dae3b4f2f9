"""What the command line reads for class probabilities of rows, with bounds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from bayescal.core import command as shared
from bayescal.core.command import Command, Estimates, Given, Option, Row, in_words, prior_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from xarray import DataTree

    from bayescal.core.tables import Table
    from bayescal.quantities.credal.data import CalibrationSplit
    from bayescal.quantities.credal.priors import Priors

_WEIGHT: Final = "s="
_PRINTED: Final = 10
_S = Option(
    flags=("--s",),
    type=float,
    help="Pseudo-observations of either label, which make the bounds; 1 if left out.",
    phrases={
        "of bayescal.prior_sensitivity": "by bayescal sensitivity credal",
        "use AveragedCurve or ImpreciseDirichlet": "use --prior average or bins",
    },
)


def priors_from_text(text: str, s: float | None = None) -> Priors:
    """Read the prior of the probability of the label given the score from a word."""
    from bayescal.quantities.credal.priors import (
        AveragedCurve,
        ImpreciseDirichlet,
        IncrementIsotonic,
        MonotoneCurve,
        Priors,
    )

    head, comma, weight = (part.strip() for part in text.casefold().partition(","))

    def of(kind: Callable[..., Any], bins: str | None = None) -> Priors:
        if comma and not weight.startswith(_WEIGHT):
            raise ValueError
        own = float(weight.removeprefix(_WEIGHT)) if comma else s
        given: dict[str, Any] = {} if own is None else {"s": own}
        if bins is not None:
            given["bins"] = bins if bins == "optimal" else int(bins)
        return Priors(kind(**given))

    kinds = {"average": AveragedCurve, "curve": MonotoneCurve}
    kinds |= {"steps": IncrementIsotonic, "bins": ImpreciseDirichlet}
    return in_words(
        head,
        {word: partial(of, kind) for word, kind in kinds.items()},
        "average, curve, steps, steps:BINS, bins or bins:BINS, each with or without ,s=NUMBER",
        text,
    )


def _read(given: Given) -> CalibrationSplit:
    from bayescal.core.tables import open_table, table_scores
    from bayescal.quantities.credal.data import CalibrationSplit

    table, columns = shared.open_columns(given, "calibration")
    single = columns.classes is None and len(columns.names) == 1 and given["weight"] is None
    if single and shared.too_large(table, 2):
        return _counted(given, table, columns.names[0])
    calibration = shared.labeled_scores(given, table, columns)
    classes, target = calibration.classes, open_table(given["target"])
    how: Any = {"pos_label": classes[-1], "from_logits": given["from_logits"], "classes": classes}
    unlabeled = table_scores(target, columns.by_classifier, None, **how)
    return CalibrationSplit(calibration=calibration, target=unlabeled)


def _counted(given: Given, table: Table, score: str) -> CalibrationSplit:
    """Sum calibration rows up in batches, as they are too many to hold."""
    from bayescal.core.intake import Column, probabilities
    from bayescal.core.tables import open_table
    from bayescal.quantities.credal.data import count_rows

    target = open_table(given["target"])
    values = target.read([score])[score]
    named = Column(f"column {score!r} of {target.path.name}", values)
    return shared.counted(
        count_rows, given, table, score, target=probabilities(named, given["from_logits"])
    )


def _write_rows(
    tree: DataTree, path: Path, prob: float, progress: Callable[[str, int, int], None] | None
) -> None:
    from bayescal.quantities.credal.row_bounds import write_rows

    write_rows(tree, path, prob=prob, progress=progress)


def _estimates(split: CalibrationSplit, given: Given) -> Estimates:
    from bayescal.core.plausibility import signs_of_scores
    from bayescal.quantities.credal.estimator import estimate

    names = [str(class_) for class_ in split.calibration.classes]
    curves = names[1:] if split.calibration.is_binary else names
    shown = ("row", "class", "score", "p0", "p1", "merged", "improper")
    columns = {"classifier": "", **{name: name for name in shown}}
    rows: list[Row] = []
    for name in split.calibration.classifiers:
        one = split.select(name)
        found = estimate(one)
        shape = (split.n_target, len(curves))
        values = {"score": one.target.y_prob[0], "p0": found.p0, "p1": found.p1}
        values["merged"] = found.prob
        listed = {key: each.reshape(shape).tolist() for key, each in values.items()}
        rows += [
            {
                "classifier": name,
                "row": place,
                "class": class_,
                **{key: each[place][k] for key, each in listed.items()},
                "improper": bool(found.improper[place]),
            }
            for place in range(split.n_target)
            for k, class_ in enumerate(curves)
        ]
    note = "p0 to p1 is no interval for the probability; leave out --estimate-only for one."
    # Of rows that are counted, a score may stand for many.
    signs = [] if split.rows is not None else signs_of_scores(split.calibration)
    return Estimates(rows, columns, [note], signs, printed=_PRINTED, spare=["improper"])


COMMAND = Command(
    help="Calibrate the scores in TARGET on the labelled rows of CALIBRATION, with bounds. Both "
    "files are CSV or Parquet, of one population; the classifier was trained on neither. "
    "CALIBRATION has a column of labels, TARGET needs none, and both have the score columns. For "
    "each target row: the probability of the class given the score, its credal-credible bounds, "
    "and whether the class can be decided on. A CALIBRATION too large for memory is read in "
    "batches, where it has one column of scores.",
    example="credal calibration.csv target.csv --label y --score forest -o credal.html",
    arguments=("CALIBRATION", "TARGET"),
    options=(*shared.ROWS, shared.ONE_CLASSIFIER, _S),
    prior=prior_by(
        priors_from_text,
        "average",
        "average (smooth, rough, rising or in steps, as the data say), curve (smooth and "
        "rising), steps (rising in jumps; steps:BINS) or bins (imprecise Dirichlet, not assumed to "
        "rise; bins:BINS), BINS a number or optimal; with ,s=NUMBER for other pseudo-observations "
        "than --s.",
    ),
    read=_read,
    priors=lambda given, data: priors_from_text(given["prior"], given["s"]),
    estimates=_estimates,
    write_rows=_write_rows,
    curve=True,
)
