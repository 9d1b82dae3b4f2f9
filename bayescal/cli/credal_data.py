"""From two files to a CalibrationSplit: labelled rows, and rows to answer for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayescal.cli.options import Split

if TYPE_CHECKING:
    from bayescal.core.scores import Scores
    from bayescal.quantities.credal.calibration_split import CalibrationSplit


def read_split(data: Split) -> CalibrationSplit:
    """Read both files."""
    from bayescal.quantities.credal.calibration_split import CalibrationSplit

    calibration = _calibration(data)
    return CalibrationSplit(calibration=calibration, target=_target(data, calibration))


def _calibration(data: Split) -> Scores:
    if not data.multiclass:
        from bayescal.core.tables import read_scores

        return read_scores(
            data.calibration,
            label=data.label,
            score=list(data.scores),
            pos_label=data.pos_label,
            from_logits=data.from_logits,
        )
    if len(data.scores) < 3:
        raise click.UsageError(
            f"--multiclass needs a --score for each of three classes or more; got "
            f"{len(data.scores)}. With two classes, give the column of the positive one, without "
            "--multiclass."
        )
    import numpy as np

    from bayescal.core.checks import check_unique
    from bayescal.core.scores import Scores
    from bayescal.core.tables import open_table

    check_unique(data.scores, "--score")
    columns = open_table(data.calibration).read(list(dict.fromkeys([data.label, *data.scores])))
    return Scores(
        y_true=columns[data.label],
        y_prob=np.column_stack([columns[name] for name in data.scores]),
        classifier=data.calibration.stem,
        from_logits=data.from_logits,
        classes=data.scores,
    )


def _target(data: Split, calibration: Scores) -> Scores:
    """Scores without labels, of calibration's classifiers and classes."""
    import numpy as np

    from bayescal.core.columns import MISSING
    from bayescal.core.intake import Column, Parts, probabilities
    from bayescal.core.scores import from_parts
    from bayescal.core.tables import open_table

    columns = open_table(data.target).read(list(dict.fromkeys(data.scores)))

    def scored(name: str, values: Any) -> Any:
        return probabilities(Column(f"{name} of {data.target.name}", values), data.from_logits)

    if data.multiclass:
        together = np.column_stack([columns[name] for name in data.scores])
        y_prob = scored("the score columns", together)[np.newaxis]
    else:
        y_prob = np.stack([scored(f"column {name!r}", columns[name]) for name in data.scores])
    missing = np.full(y_prob.shape[1], MISSING, np.int32)
    return from_parts(
        Parts(y_prob, missing, calibration.classifiers, calibration.classes, None, ())
    )
