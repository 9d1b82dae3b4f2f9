"""What is known of rows' labels: a label, probabilities, or a set of probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import listing
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.sets.intervals import proper
from bayescal.quantities.credal.sets.projection import project


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
    """Make sets of labels: each holds one corner of the simplex."""
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
    """Check that bounds hold probabilities in every row."""
    low, high = proper(lower, upper)
    if low.ndim != 2:
        raise InputError(
            f"lower must have shape (obs, class); got {low.shape}. Pass bounds of each class."
        )
    if len(low) != rows:
        raise InputError(
            f"lower must have a row for each of the {rows} rows of X; got {len(low)}. "
            "Pass one value for each row."
        )
    return LabelSets(low, high)
