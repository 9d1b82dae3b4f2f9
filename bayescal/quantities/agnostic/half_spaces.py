"""The measure of section 5 for three classes, over half-planes of the probability triangle."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_row_sums, check_same_length, shown
from bayescal.core.columns import to_doubles, to_numpy
from bayescal.core.errors import InputError

type Floats = NDArray[np.float64]

# All lines through two rows are tried.
_MOST_ROWS = 1000
# Rows closer to a line, relative to the rows' distance, lie on it.
_ON_LINE = 1e-12


def half_plane_measure(prob: ArrayLike, *, label: ArrayLike) -> float:
    """Compute the empirical c_2 of three classes.

    Parameters
    ----------
    prob : array-like of shape (obs, 3), in [0, 1]
        Probabilities of the classes; rows sum to 1. 1,000 rows at most.
    label : array-like of shape (obs,)
        The true class, 0, 1 or 2.

    Returns
    -------
    float
        The largest ``|sum of scores - labels|`` of a class over the rows in a half-plane, over the
        number of rows.

    Raises
    ------
    InputError
        If probabilities or labels are not such, or there are too many rows.

    Notes
    -----
    c_k is the supremum over intersections of k - 1 half-spaces. A decision between two actions
    divides the triangle of probabilities by one line, so c_2 is what bounds its cost. A line that
    parts the rows can be moved until it holds two of them, so the lines through pairs are enough;
    of the rows on a line, each beginning or end may be taken in. That takes time in proportion to
    the cube of the rows. How to compute c_k for large k is an open question of the paper.

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, "On the interpretability of conditional probability
       estimates in the agnostic setting", Electronic Journal of Statistics 11(2), 2017, section 5.
       https://doi.org/10.1214/17-EJS1376SI

    Examples
    --------
    >>> from bayescal.quantities.agnostic.half_spaces import half_plane_measure
    >>> half_plane_measure([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], label=[0, 1])
    0.25
    """
    probs, classes = to_doubles(prob, "prob"), to_numpy(label, "label")
    if probs.ndim != 2 or probs.shape[1] != 3 or not 1 <= len(probs) <= _MOST_ROWS:
        raise InputError(
            f"prob must have shape (obs, 3) with 1 to {_MOST_ROWS} rows; got {probs.shape}. "
            "Take a sample of the rows."
        )
    check_same_length(len(probs), "prob", len(classes), "label")
    if not ((probs >= 0) & (probs <= 1)).all():
        raise InputError("prob must lie in [0, 1]. Pass probabilities.")
    check_row_sums(probs, "prob")
    if classes.ndim != 1 or not np.isin(classes, (0, 1, 2)).all():
        raise InputError(
            f"label must be 0, 1 or 2 in each row; got {shown(classes.tolist())}. Code them."
        )
    places, row = np.unique(probs[:, :2], axis=0, return_inverse=True)
    surplus = probs - np.eye(3)[classes.astype(np.int64)]
    sums = np.zeros((len(places), 3))
    np.add.at(sums, row.reshape(-1), surplus)
    most = np.abs(sums.sum(axis=0)).max()
    for pivot in range(len(places)):
        most = max(most, _through(places, sums, pivot))
    return float(most) / len(probs)


def _through(places: Floats, sums: Floats, pivot: int) -> float:
    """Largest |sum| of a half-plane whose border is a line through the pivot and another place."""
    away = places - places[pivot]
    others = np.flatnonzero(np.arange(len(places)) != pivot)
    most = 0.0
    for other in others:
        direction = away[other]
        side = direction[0] * away[:, 1] - direction[1] * away[:, 0]
        on = np.abs(side) <= _ON_LINE
        order = np.flatnonzero(on)[np.argsort(away[on] @ direction)]
        strict = sums[side > _ON_LINE].sum(axis=0)
        along = np.vstack([np.zeros(3), np.cumsum(sums[order], axis=0)])
        # Beginnings of the line, or what is left of it: its ends.
        taken = np.vstack([strict + along, strict + along[-1] - along])
        most = max(most, float(np.abs(taken).max()))
    return most
