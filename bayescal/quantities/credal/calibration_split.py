"""Scores to calibrate on and scores to be calibrated, of the same classifiers, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import listing
from bayescal.core.columns import MISSING
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, Parts, probabilities
from bayescal.core.scores import Scores, check_unweighted, from_parts


class RowCounts(NamedTuple):
    """How many rows the calibration scores stand for."""

    rows: NDArray[np.int64]  # (score,): labelled rows
    n_obs: int  # with those without a label


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class CalibrationSplit:
    """Labelled scores to calibrate on, and the scores to be calibrated.

    Parameters
    ----------
    calibration : Scores
        Rows that the classifier was not trained on, with their labels. Rows whose label is missing
        are left out.
    target : Scores or array-like of shape (obs,) or (obs, class), in [0, 1]
        Target rows: scores of the same classifiers and classes, with labels or without.
        Plain probabilities are those of calibration's only classifier, without labels: columns in
        the order of its classes, of two the second counts.

    Attributes
    ----------
    calibration, target : Scores
        Both parts.
    counts : RowCounts or None
        How many rows each calibration score stands for; None where these are rows.

    Raises
    ------
    InputError
        If classifiers or classes differ, no calibration row has a label, or rows have weights.

    Notes
    -----
    Both parts are taken to be drawn from one population, and calibration rows to be no rows of the
    training set. Neither can be seen from the scores.

    Examples
    --------
    >>> from bayescal.quantities.credal.calibration_split import CalibrationSplit
    >>> from bayescal.core.scores import Scores
    >>> calibration = Scores(y_true=[0, 1, 1], y_prob=[0.2, 0.4, 0.9], classifier="vit")
    >>> CalibrationSplit(calibration=calibration, target=[0.3, 0.5])
    <CalibrationSplit: classifiers 'vit'; n_calibration 3, n_target 2; classes 0, 1>
    """

    calibration: Scores
    target: Scores
    counts: RowCounts | None

    def __init__(self, *, calibration: Scores, target: Any) -> None:
        if not isinstance(calibration, Scores):
            raise InputError(
                f"calibration must be Scores; got {type(calibration).__name__}. "
                "Pass Scores(y_true=..., y_prob=...)."
            )
        if not calibration.n_labeled:
            raise InputError(
                "calibration must hold labelled rows; got none. Pass y_true for these rows."
            )
        if not isinstance(target, Scores):
            target = _unlabeled(target, calibration)
        _check_alike(calibration, target)
        for part in (calibration, target):
            check_unweighted(part, "credal")
        object.__setattr__(self, "calibration", calibration)
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "counts", None)

    @property
    def rows(self) -> NDArray[np.int64] | None:
        """How many rows each labelled calibration score stands for; None for one each."""
        return None if self.counts is None else self.counts.rows

    @property
    def n_obs(self) -> int:
        """Number of calibration rows, with those without a label."""
        return self.calibration.n_obs if self.counts is None else self.counts.n_obs

    @property
    def n_calibration(self) -> int:
        """Number of labelled calibration rows."""
        return self.calibration.n_labeled if self.rows is None else int(self.rows.sum())

    @property
    def n_target(self) -> int:
        """Number of target rows."""
        return self.target.n_obs

    @property
    def n_classes(self) -> int:
        """Number of classes, 2 for a binary task."""
        return self.calibration.n_classes

    def select(self, classifier: str) -> CalibrationSplit:
        """Take one classifier.

        Parameters
        ----------
        classifier : str
            Its name.

        Returns
        -------
        CalibrationSplit
            Of this classifier alone.

        Raises
        ------
        InputError
            If there is no such classifier.
        """
        found = CalibrationSplit(
            calibration=self.calibration.select(classifier), target=self.target.select(classifier)
        )
        return counting(found, self.counts)

    def __repr__(self) -> str:
        """Name classifiers and classes, and count the rows."""
        return (
            f"<CalibrationSplit: classifiers {listing(self.calibration.classifiers)}; "
            f"n_calibration {self.n_calibration}, n_target {self.n_target}; "
            f"classes {listing(self.calibration.classes)}>"
        )


def labeled_rows(split: CalibrationSplit) -> tuple[NDArray[np.floating], NDArray[np.int32]]:
    """Scores (classifier, ...) and labels of the calibration rows that have one."""
    known = split.calibration.y_true != MISSING
    return split.calibration.y_prob[:, known], split.calibration.y_true[known]


def counting(split: CalibrationSplit, counts: RowCounts | None) -> CalibrationSplit:
    """Let each calibration score, all of which are labelled, stand for so many rows."""
    found = CalibrationSplit(calibration=split.calibration, target=split.target)
    object.__setattr__(found, "counts", counts)
    return found


def _unlabeled(y_prob: Any, calibration: Scores) -> Scores:
    """Take probabilities as scores of calibration's classifier, without labels."""
    if calibration.n_classifiers > 1:
        raise InputError(
            "target must be Scores where there are several classifiers; got "
            f"{type(y_prob).__name__} and classifiers {listing(calibration.classifiers)}. "
            "Pass Scores.stack(...) of the same classifiers."
        )
    score = probabilities(Column("target", y_prob))
    if score.shape[1:] != calibration.y_prob.shape[2:]:
        raise InputError(
            "target must hold scores of calibration's classes; got shape "
            f"{score.shape} for classes {listing(calibration.classes)}. "
            "Pass a column for each class, or for two classes the score of the second."
        )
    missing = np.full(len(score), MISSING, np.int32)
    return from_parts(
        Parts(score[np.newaxis], missing, calibration.classifiers, calibration.classes, None, ())
    )


def _check_alike(calibration: Scores, target: Scores) -> None:
    for what in ("classifiers", "classes"):
        theirs, ours = getattr(calibration, what), getattr(target, what)
        if theirs != ours:
            raise InputError(
                f"calibration and target must have the same {what}; got {listing(theirs)} and "
                f"{listing(ours)}. Pass the same ones, in the same order."
            )
    if calibration.y_prob.shape[2:] != target.y_prob.shape[2:]:
        raise InputError(
            "calibration and target must both hold one score a row, or both a score for each "
            f"class; got shapes {calibration.y_prob.shape[1:]} and {target.y_prob.shape[1:]}. "
            "Pass scores of the same kind."
        )
