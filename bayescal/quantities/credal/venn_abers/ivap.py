"""Inductive Venn-Abers predictors: two calibrated probabilities for a score, one for each label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_rows, check_same_length
from bayescal.core.columns import to_doubles, to_numpy
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.rounding import round_scores
from bayescal.quantities.credal.venn_abers.steps import Steps, venn_abers_steps

type Integers = NDArray[np.int64]


class Pair(NamedTuple):
    """What a Venn-Abers predictor says of each row."""

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
        place = np.searchsorted(self.edge, _scores(score), side="right")
        return Pair(self.p0[place], self.p1[place])


def fit_ivap(
    score: ArrayLike, *, label: ArrayLike, rows: ArrayLike | None = None
) -> InductiveVennAbers:
    """Fit an inductive Venn-Abers predictor (IVAP) to calibration rows.

    Parameters
    ----------
    score : array-like of shape (obs,), finite
        Scores of rows that the classifier was not trained on. Only their order matters:
        probabilities and logits give the same fit. They are rounded to 12 decimals.
    label : array-like of shape (obs,)
        Labels, 0 or 1. Both may be the same for all rows, and one row is enough.
    rows : array-like of shape (obs,), int, at least 1, optional
        How many rows each score and label stand for, by default one.

    Returns
    -------
    InductiveVennAbers
        The fit; its `predict` takes any number of rows.

    Raises
    ------
    InputError
        If a score is not finite, a label not 0 or 1, or lengths differ.

    Notes
    -----
    A new row is added to the calibration rows once with label 0 and once with label 1, and isotonic
    regression is fitted to each; p0 and p1 are the two fits at its score. They are step functions
    of it, found once in the time of a sort, without rounding.

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
    >>> fitted = fit_ivap([0.2, 0.4, 0.6, 0.8], label=[0, 0, 1, 1])
    >>> p0, p1 = fitted.predict([0.1, 0.5, 0.9])
    >>> p0.round(3).tolist(), p1.round(3).tolist()
    ([0.0, 0.0, 0.667], [0.333, 1.0, 1.0])
    """
    scores, labels = _scores(score), _binary(label)
    if scores.ndim != 1:
        raise InputError(
            f"score must hold one value a row; got shape {scores.shape}. "
            "Pass the score of label 1; for several classes use fit_one_vs_rest."
        )
    check_rows(len(scores), "score")
    check_same_length(len(labels), "label", len(scores), "score")
    number = np.ones(len(scores), np.int64) if rows is None else _numbers(rows, len(scores))
    order = np.argsort(scores)
    ordered = scores[order]
    first = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    count = np.add.reduceat(number[order], first)
    positive = np.add.reduceat((number * labels)[order], first)
    lower, upper = venn_abers_steps(count, positive)
    return _between_edges(ordered[first], lower, upper)


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
    low, high = check_pair(p0, p1)
    return np.asarray(high / (1 - low + high))


def check_pair(p0: ArrayLike, p1: ArrayLike) -> Pair:
    """Check that p0 and p1 are probabilities in order."""
    found = Pair(to_doubles(p0, "p0"), to_doubles(p1, "p1"))
    if found.p0.shape != found.p1.shape:
        raise InputError(
            f"p0 and p1 must have the same shape; got {found.p0.shape} and {found.p1.shape}. "
            "Pass them as predict() returns them."
        )
    wrong = np.atleast_1d(~((found.p0 >= 0) & (found.p0 <= found.p1) & (found.p1 <= 1)))
    if wrong.any():
        place = np.unravel_index(int(wrong.argmax()), wrong.shape)
        low, high = (float(np.atleast_1d(p)[place]) for p in found)
        raise InputError(
            f"p0 and p1 must satisfy 0 <= p0 <= p1 <= 1; got p0 {low:.6g} and p1 {high:.6g} "
            f"at row {int(place[0])}. Pass them as predict() returns them."
        )
    return found


def _scores(score: ArrayLike) -> Floats:
    """Check scores, and round them: the last bit of a probability must not decide on a step."""
    values = np.asarray(score) if np.isscalar(score) else to_numpy(score, "score")
    if values.dtype.kind not in "fiub":
        raise InputError(f"score must hold numbers; got dtype {values.dtype}. Pass scores.")
    values = values.astype(np.float64, copy=False)
    flat = values.ravel()
    finite = np.isfinite(flat)
    if not finite.all():
        place = int(finite.argmin())
        raise InputError(
            f"score must be finite; got {flat[place]:.6g} at place {place}. "
            "Drop those rows, or correct the classifier."
        )
    return round_scores(flat).reshape(values.shape)


def _numbers(rows: ArrayLike, n: int) -> Integers:
    """Check numbers of rows."""
    values = to_numpy(rows, "rows")
    check_same_length(len(values), "rows", n, "score")
    got = ""
    if values.ndim != 1 or values.dtype.kind not in "iu":
        got = f"dtype {values.dtype}, shape {values.shape}"
    elif (values < 1).any():
        place = int((values < 1).argmax())
        got = f"{values[place]} at row {place}"
    if got:
        raise InputError(
            f"rows must hold a whole number >= 1 for each score; got {got}. "
            "Leave scores of no row out."
        )
    return values.astype(np.int64)


def _binary(label: ArrayLike) -> Integers:
    values = to_numpy(label, "label")
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
