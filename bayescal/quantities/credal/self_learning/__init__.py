"""Rows of self-learning, and the labels that they get: a class, probabilities, or a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_rows, check_same_length, listing
from bayescal.core.columns import Whole, to_doubles
from bayescal.core.errors import InputError
from bayescal.core.intake import check_same_order
from bayescal.core.quantity import Floats
from bayescal.core.text import counted
from bayescal.quantities.credal.credal_sets import discount, project, proper
from bayescal.quantities.credal.venn_abers import fit_one_vs_rest


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
        Features of labelled rows for the Venn-Abers predictor of credal self-learning alone.
    calibration_labels : array-like of shape (calibration,), optional
        Their labels.

    Raises
    ------
    InputError
        If shapes do not agree, a feature is missing or infinite, there is one class only, or a
        calibration row has a class of its own.

    Examples
    --------
    >>> from bayescal.quantities.credal.self_learning import SelfLearningRows
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
        self._take_labeled("")
        for name in ("unlabeled", "target"):
            table = _features(getattr(self, name), name, self.x_labeled.shape[1])
            object.__setattr__(self, name, table)
        if len(self.classes) < 2:
            raise InputError(
                f"labels must hold at least two classes; got {listing(self.classes.tolist())}. "
                "Every class needs a labelled row to learn from."
            )
        held_back = (self.calibration_features, self.calibration_labels)
        given = [values for values in held_back if values is not None]
        if len(given) == 1:
            raise InputError(
                "calibration_features and calibration_labels must be given together; "
                "got one of them. Pass both or none."
            )
        if given:
            self._take_labeled("calibration_", self.x_labeled.shape[1])
            label = self.calibration()[1]
            strange = ~np.isin(label, self.classes)
            if strange.any():
                row = int(strange.argmax())
                raise InputError(
                    f"calibration_labels must be among the labels {listing(self.classes.tolist())};"
                    f" got {label[row].item()!r} at row {row}. "
                    "Every class needs a labelled row to learn from."
                )

    @property
    def x_labeled(self) -> Floats:
        """Features of the labelled rows."""
        return np.asarray(self.features)

    @property
    def x_unlabeled(self) -> Floats:
        """Features of the unlabelled rows."""
        return np.asarray(self.unlabeled)

    @property
    def x_target(self) -> Floats:
        """Features of the rows to predict."""
        return np.asarray(self.target)

    @property
    def y_labeled(self) -> NDArray[Any]:
        """Labels of the labelled rows."""
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
                "credal self-learning must have labelled rows held back to calibrate; got none. "
                "Pass calibration_features and calibration_labels, or choose method='soft'."
            )
        return np.asarray(self.calibration_features), np.asarray(self.calibration_labels)

    def _take_labeled(self, prefix: str, width: int | None = None) -> None:
        """Check features, and labels of the same rows."""
        features, labels = f"{prefix}features", f"{prefix}labels"
        x, y = getattr(self, features), getattr(self, labels)
        check_same_order(**{features: x, labels: y})
        table = _features(x, features, width)
        object.__setattr__(self, features, table)
        object.__setattr__(self, labels, _labels(y, table, prefix))


def _features(values: ArrayLike, name: str, width: int | None) -> Floats:
    """Take features as a table of finite numbers, of a width if others have one already."""
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
    if width not in (None, table.shape[1]):
        raise InputError(
            f"{name} must have the {counted(width, 'feature')} of the labelled rows; got "
            f"{table.shape[1]}."
        )
    table.flags.writeable = False
    return table


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


class LabelSets(NamedTuple):
    """Bounds on the probabilities of each row's label.

    Parameters
    ----------
    lower, upper : ndarray of shape (obs, class), in [0, 1]
        Bounds. Equal bounds are probabilities, and of 0 and 1 a label.
    """

    lower: Floats
    upper: Floats

    def nearest(self, p: Floats) -> Floats:
        """Find the probabilities of each row's set nearest to others in Kullback-Leibler terms.

        Parameters
        ----------
        p : ndarray of shape (obs, class), in [0, 1]
            Predicted probabilities.

        Returns
        -------
        ndarray of shape (obs, class), in [0, 1]
            The q of the set with the least KL(q || p).
        """
        open_rows = (self.lower < self.upper).any(axis=1)
        if not open_rows.any():
            return self.lower
        nearest = self.lower.copy()
        # Means of many classifiers may exceed 1 by rounding.
        below_one = np.minimum(p[open_rows], 1.0)
        nearest[open_rows] = project(below_one, self.lower[open_rows], self.upper[open_rows])
        return nearest

    def followed_by(self, other: LabelSets) -> LabelSets:
        """Put the sets of further rows below these.

        Parameters
        ----------
        other : LabelSets
            Sets of the further rows, of the same classes.

        Returns
        -------
        LabelSets
            Sets of all rows.
        """
        return LabelSets(
            np.concatenate([self.lower, other.lower]), np.concatenate([self.upper, other.upper])
        )


def from_labels(labels: NDArray[Any], classes: NDArray[Any]) -> LabelSets:
    """Make sets of labels, all among the classes: each holds one corner of the simplex."""
    points = (labels[:, None] == classes).astype(np.float64)
    return LabelSets(points, points)


def check_label_sets(lower: ArrayLike, upper: ArrayLike, rows: int) -> LabelSets:
    """Check that bounds hold probabilities in every row."""
    low, high = proper(lower, upper)
    if low.ndim != 2:
        raise InputError(
            f"lower must have shape (obs, class); got {low.shape}. Pass bounds of each class."
        )
    if len(low) != rows:
        raise InputError(
            f"lower must have a row for each row of X, {rows}; got {len(low)}. "
            "Pass one value for each row."
        )
    return LabelSets(low, high)


def hard_labels(prob: Floats) -> LabelSets:
    """Label each row with its most probable class (Algorithm 3).

    Parameters
    ----------
    prob : ndarray of shape (obs, class), in [0, 1]
        Predicted probabilities.

    Returns
    -------
    LabelSets
        One corner of the simplex a row; of equally probable classes the first.
    """
    points = _checked(prob)
    return from_labels(points.argmax(axis=1), np.arange(points.shape[1]))


def soft_labels(prob: Floats) -> LabelSets:
    """Label each row with its predicted probabilities (Algorithm 4).

    Parameters
    ----------
    prob : ndarray of shape (obs, class), in [0, 1]
        Predicted probabilities.

    Returns
    -------
    LabelSets
        One point a row, which sums to 1 to the last digit also where float32 did not.
    """
    points = _checked(prob)
    points = points / points.sum(axis=1, keepdims=True)
    return LabelSets(points, points)


def credal_labels(
    prob: Floats, calibration_prob: Floats, *, calibration_label: Whole, relation: str = ">"
) -> LabelSets:
    """Label each row with the credal set of Venn-Abers predictors (Algorithm 2).

    Parameters
    ----------
    prob : ndarray of shape (obs, class), in [0, 1]
        Predicted probabilities of the rows to label.
    calibration_prob : ndarray of shape (calibration, class), in [0, 1]
        Predicted probabilities of the rows held back.
    calibration_label : ndarray of shape (calibration,)
        Their labels, as columns of `prob`.
    relation : {">", ">="}, default ">"
        Which sets are discounted: see `discount`.

    Returns
    -------
    LabelSets
        One set a row: for each class the two values p0 and p1 of its inductive Venn-Abers
        predictor against the rest, discounted where no probabilities lie between them.
    """
    bounds = fit_one_vs_rest(calibration_prob, label=calibration_label).predict(_checked(prob))
    return LabelSets(*discount(*bounds, relation=relation))


def _checked(prob: Floats) -> Floats:
    """Check predicted probabilities, (obs, class)."""
    found = to_doubles(prob, "prob")
    if found.ndim != 2 or found.shape[1] < 2:
        raise InputError(
            f"prob must have shape (obs, class), with two classes or more; got {found.shape}. "
            "Pass what predict_proba returns."
        )
    if not ((found >= 0) & (found <= 1)).all() or not found.sum(axis=1).all():
        raise InputError("prob must lie in [0, 1], with a sum above 0 in each row; it does not.")
    return found
