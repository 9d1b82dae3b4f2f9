"""What is known of rows' labels: a label, probabilities, or a set of probabilities."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_rows, listing
from bayescal.core.errors import InputError
from bayescal.quantities.credal.projection import project

type Floats = NDArray[np.float64]

# Bounds that were made to hold probabilities miss the sum of 1 by rounding only.
_ROUNDING: Final = 1e-9
# A softmax may underflow: without a floor a class of probability 0 would never come back.
_FLOOR: Final = 1e-12


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
        floored = np.maximum(p[open_rows], _FLOOR)
        nearest[open_rows] = project(
            floored / floored.sum(axis=1, keepdims=True),
            self.lower[open_rows],
            self.upper[open_rows],
        )
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
    """Make sets of labels: each holds one corner of the simplex.

    Parameters
    ----------
    labels : ndarray of shape (obs,)
        Labels.
    classes : ndarray of shape (class,)
        Labels there may be, in the order of the columns.

    Returns
    -------
    LabelSets
        Lower and upper bounds 1 at the label, 0 elsewhere.

    Raises
    ------
    InputError
        If a label is none of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.credal.label_sets import from_labels
    >>> from_labels(np.array(["b", "a"]), np.array(["a", "b"])).lower.tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    corner = labels[:, None] == classes
    unknown = ~corner.any(axis=1)
    if unknown.any():
        row = int(unknown.argmax())
        raise InputError(
            f"labels must be among the classes {listing(classes.tolist())}; "
            f"got {labels[row].item()!r} at row {row}. Name all classes."
        )
    points = corner.astype(np.float64)
    return LabelSets(points, points)


def check_label_sets(lower: ArrayLike, upper: ArrayLike, rows: int) -> LabelSets:
    """Check that bounds hold probabilities in every row.

    Parameters
    ----------
    lower, upper : array-like of shape (obs, class)
        Bounds.
    rows : int
        Number of rows there should be.

    Returns
    -------
    LabelSets
        The bounds as arrays.

    Raises
    ------
    InputError
        If shapes differ, a bound is outside [0, 1], bounds cross, or no probabilities lie between
        them.

    Examples
    --------
    >>> from bayescal.quantities.credal.label_sets import check_label_sets
    >>> check_label_sets([[0.6, 0.5]], [[1.0, 1.0]], 1)
    Traceback (most recent call last):
    ...
    bayescal.core.errors.InputError: lower and upper must hold probabilities; got lower bounds \
that sum to 1.1 and upper bounds that sum to 2 at row 0. Discount the bounds first.
    """
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    if low.ndim != 2 or low.shape != high.shape or low.shape[1] < 2:
        raise InputError(
            "lower and upper must have the same shape (obs, class) with at least 2 classes; "
            f"got {low.shape} and {high.shape}."
        )
    check_rows(len(low), "lower")
    if len(low) != rows:
        raise InputError(f"lower must have a row for each of the {rows} rows of X; got {len(low)}.")
    # A NaN makes every comparison false, so it lands in the refusal.
    bad = ~((low >= 0) & (low <= high) & (high <= 1))
    if bad.any():
        row, column = (int(place) for place in np.unravel_index(int(bad.argmax()), bad.shape))
        raise InputError(
            "bounds must keep 0 <= lower <= upper <= 1; got "
            f"[{low[row, column]:.6g}, {high[row, column]:.6g}] at row {row}, column {column}. "
            "Sort or clip them."
        )
    least, most = low.sum(axis=1), high.sum(axis=1)
    empty = (least > 1 + _ROUNDING) | (most < 1 - _ROUNDING)
    if empty.any():
        row = int(empty.argmax())
        raise InputError(
            "lower and upper must hold probabilities; got lower bounds that sum to "
            f"{least[row]:.6g} and upper bounds that sum to {most[row]:.6g} at row {row}. "
            "Discount the bounds first."
        )
    return LabelSets(low, high)
