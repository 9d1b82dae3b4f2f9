"""Inductive Venn-Abers predictors: two calibrated probabilities for a score, one for each label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_rows, check_same_length
from bayescal.core.errors import InputError

type Integers = NDArray[np.int64]


class Steps(NamedTuple):
    """A step function on distinct scores.

    Parameters
    ----------
    start : ndarray of shape (step,), int64
        Place of the first distinct score of each step, increasing from 0.
    value : ndarray of shape (step,)
        Increasing values, each a quotient of integers rounded once.
    """

    start: Integers
    value: NDArray[np.float64]


def venn_abers_steps(count: Integers, positive: Integers) -> tuple[Steps, Steps]:
    """Fit isotonic regression with one more row at each distinct score in turn.

    Notes
    -----
    Isotonic regression is the slope of the greatest convex minorant of the points
    ``P_i = (N_i, S_i)`` of cumulated rows and labels. A row of label 1 at score i moves the points
    left of it by (-1, -1), so that the fit there is::

        p1(i) = max_{c < i} min_{b >= i} (S_b - S_c + 1) / (N_b - N_c + 1)

    The right-hand side is not changed by a minimum over all ``b > c``: no line is made steeper, and
    the one that attains the maximum ends at some ``b >= i`` [1]_. With r(c) for that minimum, p1 is
    the running maximum of r. Write m for the slope of the minorant at c, u and v for the corners
    around, and D for the height above it. A line from c to a b before v has the slope
    ``m + (D_b - D_c + 1 - m) / (N_b - N_c + 1)``: steeper than the line to v if ``D_c < 1 - m``,
    as ``D_b >= 0``. Otherwise the line to v is no steeper than m, and r(u) is at least m already.
    So b runs over corners only, on which the slope as seen from c falls, then rises.

    A row of label 0 is one of label 1 where order and labels are reversed. Comparisons are made on
    integers; no loop runs over rows.

    References
    ----------
    .. [1] V. Vovk, I. Petej and V. Fedorova, "Large-scale probabilistic predictors with and without
       guarantees of validity", NeurIPS 2015, section 2. https://arxiv.org/abs/1511.00213
    """
    rows, labels = _cumulated(count), _cumulated(positive)
    corners = _corners(rows, labels)
    start, top, bottom = _steps(rows, labels, corners)
    p1 = Steps(start, top / bottom)

    last = len(count)
    backwards = rows[-1] - rows[::-1]
    start, top, bottom = _steps(
        backwards, backwards - (labels[-1] - labels[::-1]), last - corners[::-1]
    )
    end = np.append(start[1:], last)
    p0 = Steps((last - end)[::-1], ((bottom - top) / bottom)[::-1])
    return p0, p1


def _cumulated(values: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(values, dtype=np.int64)])


def _corners(rows: Integers, labels: Integers) -> Integers:
    """Find the corners of the greatest convex minorant, both ends with it.

    A point on or above the chord of its two neighbours is no corner, so that all of these go at
    once, until none is left.
    """
    kept = np.arange(len(rows))
    x, y = rows, labels
    while len(kept) > 2:
        dx, dy = np.diff(x), np.diff(y)
        corner = np.concatenate([[True], dy[:-1] * dx[1:] < dy[1:] * dx[:-1], [True]])
        if corner.all():
            break
        kept, x, y = kept[corner], x[corner], y[corner]
    return kept


def _steps(
    rows: Integers, labels: Integers, corners: Integers
) -> tuple[Integers, Integers, Integers]:
    """Find where the running maximum of r rises, and its values as fractions."""
    place, corner = _near_the_minorant(rows, labels, corners)
    x, y = rows[place] - 1, labels[place] - 1
    end = _least_steep(x, y, rows[corners], labels[corners], corner + 1)
    top, bottom = labels[corners[end]] - y, rows[corners[end]] - x
    # Quotients of integers below 2**26 that differ do so after rounding too.
    highest = np.maximum.accumulate(top / bottom)
    rises = np.concatenate([[True], highest[1:] > highest[:-1]])
    return place[rises], top[rises], bottom[rises]


def _near_the_minorant(
    rows: Integers, labels: Integers, corners: Integers
) -> tuple[Integers, Integers]:
    """Find the points c with D_c < 1 - m, and the corner at or before each."""
    across, up, points = np.diff(rows[corners]), np.diff(labels[corners]), np.diff(corners)
    # dx S - dy N is D times the width of the chord, but for its value at the corner.
    limit = across * (labels[corners[:-1]] + 1) - up * (rows[corners[:-1]] + 1)
    height = np.repeat(across, points) * labels[:-1] - np.repeat(up, points) * rows[:-1]
    place = np.flatnonzero(height < np.repeat(limit, points))
    if up[-1] == across[-1]:
        # Above a slope of 1 there is no such point; its corner stands for them all.
        place = np.append(place, corners[-2])
    return place, np.searchsorted(corners, place, side="right") - 1


def _least_steep(
    x: Integers, y: Integers, corner_x: Integers, corner_y: Integers, first: Integers
) -> Integers:
    """Find the corner, from the first allowed on, to which the line from (x, y) is least steep."""
    end = first.copy()
    last = len(corner_x) - 1
    moving = np.flatnonzero(end < last)
    while len(moving):
        now = end[moving]
        left, low = x[moving], y[moving]
        here, there = (corner_y[at] - low for at in (now, now + 1))
        better = there * (corner_x[now] - left) < here * (corner_x[now + 1] - left)
        moving = moving[better]
        end[moving] += 1
        moving = moving[end[moving] < last]
    return end


type Floats = NDArray[np.float64]


class Pair(NamedTuple):
    """What a Venn-Abers predictor says of each row.

    Parameters
    ----------
    p0 : ndarray of shape (...), in [0, 1]
        Probability of label 1 by a fit in which the row has label 0.
    p1 : ndarray of shape (...), in [0, 1]
        The same by a fit in which it has label 1; above `p0`.
    """

    p0: Floats
    p1: Floats


@dataclass(frozen=True, slots=True, eq=False)
class InductiveVennAbers:
    """A fitted inductive Venn-Abers predictor of binary labels.

    Parameters
    ----------
    edge : ndarray of shape (edge,)
        Scores from which on p0 or p1 takes its next value, increasing.
    p0, p1 : ndarray of shape (edge + 1,)
        Values of both, from below the first edge on.
    """

    edge: Floats
    p0: Floats
    p1: Floats

    def predict(self, score: ArrayLike) -> Pair:
        """Look up both probabilities.

        Parameters
        ----------
        score : array-like of any shape, finite
            Scores of new rows.

        Returns
        -------
        Pair
            Of the shape of `score`.

        Raises
        ------
        InputError
            If a score is not finite.

        Notes
        -----
        Between two calibration scores p0 is that of the lower one, p1 that of the upper one. Below
        all of them p0 is 0, above all of them p1 is 1.
        """
        values = _finite(score, "score")
        place = np.searchsorted(self.edge, values, side="right")
        return Pair(self.p0[place], self.p1[place])


def fit_ivap(score: ArrayLike, label: ArrayLike) -> InductiveVennAbers:
    """Fit an inductive Venn-Abers predictor (IVAP) to calibration rows.

    Parameters
    ----------
    score : array-like of shape (obs,), finite
        Scores of rows that the classifier was not trained on, in any order. Only their order
        matters: probabilities and logits give the same fit.
    label : array-like of shape (obs,)
        Labels, 0 or 1. Both may be the same for all rows, and one row is enough.

    Returns
    -------
    InductiveVennAbers
        The fit, to be asked for any number of rows.

    Raises
    ------
    InputError
        If a score is not finite, a label not 0 or 1, or lengths differ.

    Notes
    -----
    A new row is added to the calibration rows once with label 0 and once with label 1, and isotonic
    regression is fitted to each; p0 and p1 are the two fits at its score. They are step functions
    of it, which are found once, exactly, in the time of a sort.

    One of p0 and p1 is calibrated, the one that belongs to the row's label (see `bounds`). The
    interval between them is **not** an interval that holds P(Y = 1 | score) with some probability:
    it narrows faster than that probability is learnt.

    References
    ----------
    .. [1] V. Vovk, I. Petej and V. Fedorova, "Large-scale probabilistic predictors with and without
       guarantees of validity", NeurIPS 2015, section 2. https://arxiv.org/abs/1511.00213

    Examples
    --------
    >>> from bayescal.quantities.credal.venn_abers.ivap import fit_ivap
    >>> fitted = fit_ivap([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1])
    >>> p0, p1 = fitted.predict([0.1, 0.5, 0.9])
    >>> p0.round(3).tolist(), p1.round(3).tolist()
    ([0.0, 0.0, 0.667], [0.333, 1.0, 1.0])
    """
    scores, labels = _finite(score, "score"), _binary(label)
    if scores.ndim != 1:
        raise InputError(
            f"score must hold one value a row; got shape {scores.shape}. "
            "Pass the score of label 1; for several classes use fit_one_vs_rest."
        )
    check_rows(len(scores), "score")
    check_same_length(len(labels), "label", len(scores), "score")
    order = np.argsort(scores)
    ordered = scores[order]
    first = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    count = np.diff(first, append=len(ordered))
    positive = np.add.reduceat(labels[order], first)
    lower, upper = venn_abers_steps(count, positive)
    return _between_edges(ordered[first].astype(np.float64), lower, upper)


def _between_edges(distinct: Floats, lower: Steps, upper: Steps) -> InductiveVennAbers:
    """Put the steps of p0 and p1 on common edges."""
    p0 = np.concatenate([[0.0], lower.value])
    p1 = np.concatenate([upper.value, [1.0]])
    start = distinct[lower.start]
    # p1 keeps its value up to and with the last score of a step, so that its edge is the next
    # number after.
    ends = distinct[np.append(upper.start[1:], len(distinct)) - 1]
    after = np.nextafter(ends, np.inf)
    edge = np.union1d(start, after)
    return InductiveVennAbers(
        edge,
        p0[np.searchsorted(start, np.append(-np.inf, edge), side="right")],
        p1[np.searchsorted(after, np.append(-np.inf, edge), side="right")],
    )


def merged(p0: ArrayLike, p1: ArrayLike) -> Floats:
    """Merge both probabilities into the one whose log loss exceeds theirs least.

    Parameters
    ----------
    p0, p1 : array-like of one shape, in [0, 1]
        Probabilities of label 1, as a Venn-Abers predictor gives them.

    Returns
    -------
    ndarray
        ``p1 / (1 - p0 + p1)``, between `p0` and `p1`.

    Raises
    ------
    InputError
        If p0 exceeds p1, or one of them is no probability.

    Notes
    -----
    The value minimises the larger of two regrets, that of label 0 against `p0` and that of label 1
    against `p1`. It is 0 or 1 only where `p1` is 0 or `p0` is 1, which no IVAP gives.

    References
    ----------
    .. [1] V. Vovk, I. Petej and V. Fedorova, NeurIPS 2015, section 4.
       https://arxiv.org/abs/1511.00213

    Examples
    --------
    >>> from bayescal.quantities.credal.venn_abers.ivap import merged
    >>> float(merged(0.25, 0.75))
    0.5
    """
    low, high = np.asarray(p0, float), np.asarray(p1, float)
    check_pair(low, high)
    return np.asarray(high / (1 - low + high))


def check_pair(p0: Floats, p1: Floats) -> None:
    """Check that p0 and p1 are probabilities in order."""
    wrong = np.atleast_1d(~((p0 >= 0) & (p0 <= p1) & (p1 <= 1)))
    if wrong.any():
        place = np.unravel_index(int(wrong.argmax()), wrong.shape)
        low, high = (float(np.broadcast_to(p, wrong.shape)[place]) for p in (p0, p1))
        raise InputError(
            f"p0 and p1 must satisfy 0 <= p0 <= p1 <= 1; got p0 {low:.6g} and p1 {high:.6g} "
            f"at row {int(place[0])}. Pass them as predict() returns them."
        )


def _finite(score: ArrayLike, name: str) -> NDArray[np.floating]:
    values = np.asarray(score)
    if values.dtype.kind not in "fiub":
        raise InputError(f"{name} must hold numbers; got dtype {values.dtype}. Pass scores.")
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    if not np.isfinite(values).all():
        place = int((~np.isfinite(np.atleast_1d(values))).ravel().argmax())
        raise InputError(
            f"{name} must be finite; got {values.ravel()[place]:.6g} at place {place}. "
            "Drop those rows, or mend the classifier."
        )
    return values


def _binary(label: ArrayLike) -> NDArray[np.int64]:
    values = np.asarray(label)
    got = ""
    if values.ndim != 1 or values.dtype.kind not in "fiub":
        got = f"dtype {values.dtype}, shape {values.shape}"
    elif ((values != 0) & (values != 1)).any():
        place = int(((values != 0) & (values != 1)).argmax())
        got = f"{values[place]:.6g} at row {place}"
    if got:
        raise InputError(
            f"label must hold 0 or 1 for each row; got {got}. "
            "Pass 1 for rows of the class that the score is of."
        )
    return values.astype(np.int64)
