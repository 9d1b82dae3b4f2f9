"""The rows of self-learning: labeled, unlabeled, held back to calibrate, and to be predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_rows, check_same_length, listing
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats


@dataclass(frozen=True, eq=False)
class SelfLearningRows:
    """Features of all rows, and the labels that are known.

    Parameters
    ----------
    features : array-like of shape (labeled, feature)
        Features of the rows to learn from at first.
    labels : array-like of shape (labeled,)
        Their labels, a row of every class among them.
    unlabeled : array-like of shape (unlabeled, feature)
        Features of the rows that the classifier labels for itself.
    target : array-like of shape (target, feature)
        Features of the rows to predict after each training; nothing is learned from them.
    calibration_features : array-like of shape (calibration, feature), optional
        Features of labeled rows held back for the Venn-Abers predictor. Only credal self-learning
        uses them; no method trains on them.
    calibration_labels : array-like of shape (calibration,), optional
        Their labels.

    Raises
    ------
    InputError
        If shapes do not agree, a feature is missing or infinite, there is one class only, or a
        calibration row has a class of its own.

    Examples
    --------
    >>> from bayescal.quantities.credal.self_learning.data import SelfLearningRows
    >>> rows = SelfLearningRows([[0.0], [1.0]], ["no", "yes"], [[0.2], [0.9]], [[0.5]])
    >>> rows.classes.tolist()
    ['no', 'yes']
    """

    features: ArrayLike
    labels: ArrayLike
    unlabeled: ArrayLike
    target: ArrayLike
    calibration_features: ArrayLike | None = None
    calibration_labels: ArrayLike | None = None

    def __post_init__(self) -> None:
        for name in ("features", "unlabeled", "target"):
            object.__setattr__(self, name, _features(getattr(self, name), name))
        width = self.x_labeled.shape[1]
        for name in ("unlabeled", "target"):
            _check_width(getattr(self, name), width, name)
        object.__setattr__(self, "labels", _labels(self.labels, self.x_labeled, ""))
        if len(self.classes) < 2:
            raise InputError(
                f"labels must hold at least two classes; got {listing(self.classes.tolist())}. "
                "Every class needs a labeled row to learn from."
            )
        self._check_calibration(width)

    @property
    def x_labeled(self) -> Floats:
        """Features of the labeled rows."""
        return np.asarray(self.features)

    @property
    def x_unlabeled(self) -> Floats:
        """Features of the unlabeled rows."""
        return np.asarray(self.unlabeled)

    @property
    def x_target(self) -> Floats:
        """Features of the rows to predict."""
        return np.asarray(self.target)

    @property
    def y_labeled(self) -> NDArray[Any]:
        """Labels of the labeled rows."""
        return np.asarray(self.labels)

    @property
    def classes(self) -> NDArray[Any]:
        """Labels there are, sorted."""
        return np.unique(self.y_labeled)

    def calibration(self) -> tuple[Floats, NDArray[Any]]:
        """Give the rows held back to calibrate.

        Returns
        -------
        tuple of ndarray
            Features and labels.

        Raises
        ------
        InputError
            If there are none.
        """
        if self.calibration_features is None or self.calibration_labels is None:
            raise InputError(
                "credal self-learning must have labeled rows held back to calibrate; got none. "
                "Pass calibration_features and calibration_labels, or choose method='soft'."
            )
        return np.asarray(self.calibration_features), np.asarray(self.calibration_labels)

    def _check_calibration(self, width: int) -> None:
        given = (self.calibration_features, self.calibration_labels)
        if all(each is None for each in given):
            return
        if self.calibration_features is None or self.calibration_labels is None:
            raise InputError(
                "calibration_features and calibration_labels must be given together; "
                "got one of them. Pass both or none."
            )
        x = _features(self.calibration_features, "calibration_features")
        _check_width(x, width, "calibration_features")
        y = _labels(self.calibration_labels, x, "calibration_")
        strange = ~np.isin(y, self.classes)
        if strange.any():
            row = int(strange.argmax())
            raise InputError(
                f"calibration_labels must be among the labels {listing(self.classes.tolist())}; "
                f"got {y[row].item()!r} at row {row}. "
                "Every class needs a labeled row to learn from."
            )
        object.__setattr__(self, "calibration_features", x)
        object.__setattr__(self, "calibration_labels", y)


def _features(values: ArrayLike, name: str) -> Floats:
    """Take features as a table of finite numbers."""
    try:
        table = np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{name} must be a table of numbers; got other things. Encode words as numbers."
        ) from None
    if table.ndim != 2:
        raise InputError(f"{name} must have shape (obs, feature); got {table.shape}.")
    check_rows(len(table), name)
    bad = ~np.isfinite(table)
    if bad.any():
        row, column = (int(place) for place in np.unravel_index(int(bad.argmax()), bad.shape))
        raise InputError(
            f"{name} must be finite; got {table[row, column]} at row {row}, column {column}. "
            "Drop or impute it."
        )
    table.flags.writeable = False
    return table


def _check_width(table: Floats, width: int, name: str) -> None:
    if table.shape[1] != width:
        raise InputError(
            f"{name} must have the {width} features of the labeled rows; got {table.shape[1]}."
        )


def _labels(values: ArrayLike, rows: Floats, prefix: str) -> NDArray[Any]:
    """Take labels as a column, one for each row."""
    column = np.array(values)
    if column.dtype == object and all(isinstance(value, str) for value in column.flat):
        column = column.astype(np.str_)
    if column.ndim != 1 or column.dtype.kind not in "biuUS":
        raise InputError(
            f"{prefix}labels must be a column of whole numbers or words; "
            f"got shape {column.shape} of {column.dtype}."
        )
    check_same_length(len(column), f"{prefix}labels", len(rows), f"{prefix}features")
    column.flags.writeable = False
    return column
