"""Venn-Abers predictors: two calibrated probabilities for a score, one for each label.

Of V. Vovk, I. Petej and V. Fedorova, "Large-scale probabilistic predictors with and without
guarantees of validity", NeurIPS 2015, https://arxiv.org/abs/1511.00213: inductive ones, section 2;
cross ones, section 3; merged probabilities, section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_choice, check_rows, check_same_length
from bayescal.core.columns import Whole, to_doubles, to_numpy
from bayescal.core.errors import InputError
from bayescal.core.intake import check_same_order, finite_numbers, round_scores
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.credal_sets import ordered

type Numbers = NDArray[Any]  # of rows, whole or not

# Rows that are counted exactly; of more the counts are doubles.
_MOST_WHOLE: Final = 2.0**31


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
            Of the shape of `score`. Between two calibration scores p0 is that of the lower one, p1
            that of the upper one; below all of them p0 is 0, above all of them p1 is 1.
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
    rows : array-like of shape (obs,), from 1e-100 to 1e100, optional
        How many rows each score and label stand for, by default one. Of sample weights w pass
        ``w * w.sum() / (w**2).sum()``, which sums to their effective number.

    Returns
    -------
    InductiveVennAbers
        The fit; its `predict` takes any number of rows.

    Raises
    ------
    InputError
        If a score is not finite, a label not 0 or 1, `rows` out of range, or lengths differ.

    Notes
    -----
    A new row is added to the calibration rows once with label 0 and once with label 1, and isotonic
    regression is fitted to each; p0 and p1 are the two fits at its score. It counts as one row,
    whatever `rows` are. Both are step functions, found in the time of a sort.

    One of p0 and p1 is calibrated, the one that belongs to the row's label (see `bounds`). The
    interval between them is **not** an interval that holds P(Y = 1 | score) with some probability:
    it narrows faster than that probability is learnt.

    References
    ----------
    .. [1] V. Vovk et al., NeurIPS 2015, section 2. https://arxiv.org/abs/1511.00213

    Examples
    --------
    >>> from bayescal.quantities.credal.venn_abers import fit_ivap
    >>> fitted = fit_ivap([0.2, 0.4, 0.6, 0.8], label=[0, 0, 1, 1])
    >>> p0, p1 = fitted.predict([0.1, 0.5, 0.9])
    >>> p0.round(3).tolist(), p1.round(3).tolist()
    ([0.0, 0.0, 0.667], [0.333, 1.0, 1.0])
    """
    check_same_order(label=label, score=score, rows=rows)
    scores = _scores(score)
    labels = _column(
        label,
        "label",
        "fiub",
        lambda found: (found != 0) & (found != 1),
        "0 or 1 for each row",
        "Pass 1 for rows of the class that the score is of.",
    ).astype(np.int64)
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
    # p1 keeps its value up to the last score of a step: its edge is the next number.
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

    Notes
    -----
    The value minimises the larger of two regrets, that of label 0 against `p0` and that of label 1
    against `p1`. It is 0 or 1 only where `p1` is 0 or `p0` is 1, which no IVAP gives.

    Examples
    --------
    >>> from bayescal.quantities.credal.venn_abers import merged
    >>> float(merged(0.25, 0.75))
    0.5
    """
    low, high = check_pair(p0, p1)
    return np.asarray(high / (1 - low + high))


def check_pair(p0: ArrayLike, p1: ArrayLike) -> Pair:
    """Check that p0 and p1 are probabilities in order."""
    return Pair(*ordered("Pass them as predict() returns them.", p0=p0, p1=p1))


def _scores(score: ArrayLike) -> Floats:
    """Check scores, and round them: the last bit of a probability must not decide on a step."""
    values = finite_numbers(score, "score")
    return round_scores(values.ravel()).reshape(values.shape)


def _numbers(rows: ArrayLike, n: int) -> Numbers:
    """Check how many rows each score stands for."""
    check_same_length(len(to_numpy(rows, "rows")), "rows", n, "score")
    rule, remedy = "a number from 1e-100 to 1e+100 for each score", "Leave scores of no row out."
    found = _column(rows, "rows", "iuf", lambda x: ~((x >= 1e-100) & (x <= 1e100)), rule, remedy)
    # Products of whole numbers are compared, which must not overflow.
    whole = found.dtype.kind != "f" and found.sum(dtype=np.float64) < _MOST_WHOLE
    return found.astype(np.int64 if whole else np.float64)


def _column(
    values: ArrayLike, name: str, kinds: str, wrong: Callable[[Any], Any], rule: str, remedy: str
) -> Numbers:
    """Check a column of numbers."""
    found = to_numpy(values, name)
    got = ""
    if found.ndim != 1 or found.dtype.kind not in kinds:
        got = f"dtype {found.dtype}, shape {found.shape}"
    elif wrong(found).any():
        place = int(wrong(found).argmax())
        got = f"{found[place]:.6g} at row {place}"
    if got:
        raise InputError(f"{name} must hold {rule}; got {got}. {remedy}")
    return found


class Steps(NamedTuple):
    """A step function on distinct scores; quotients of whole numbers are rounded once."""

    # Place of the first distinct score of each step, increasing from 0, (step,).
    start: Whole
    # Increasing values, (step,).
    value: Floats


def venn_abers_steps(count: Numbers, positive: Numbers) -> tuple[Steps, Steps]:
    """Fit isotonic regression with one more row at each distinct score in turn.

    Isotonic regression is the slope of the greatest convex minorant of the points
    ``P_i = (N_i, S_i)`` of cumulated rows and labels. A row of label 1 at score i moves the points
    left of it by (-1, -1), so that the fit there is::

        p1(i) = max_{c < i} min_{b >= i} (S_b - S_c + 1) / (N_b - N_c + 1)

    A minimum over all ``b > c`` does not change it; call it r(c), of which p1 is the running
    maximum. Write m for the slope of the minorant at c, u and v for the corners around, and D for
    the height above it. If ``D_c < 1 - m`` a line from c to a b before v is steeper than that to v;
    otherwise the line to v is no steeper than m, which r(u) is already. So b runs over corners
    only, on which the slope as seen from c falls, then rises.

    A row of label 0 is one of label 1 where order and labels are reversed. Whole numbers are
    compared exactly; near ties of others move p0 and p1 by rounding.
    """
    rows, labels = (np.append(0, np.cumsum(each)) for each in (count, positive))
    corners = _corners(rows, labels)
    start, top, bottom = _steps(rows, labels, corners)
    p1 = Steps(start, np.minimum(top / bottom, 1))
    last = len(count)
    backwards = rows[-1] - rows[::-1]
    start, top, bottom = _steps(
        backwards, backwards - (labels[-1] - labels[::-1]), last - corners[::-1]
    )
    end = np.append(start[1:], last)
    p0 = Steps((last - end)[::-1], np.maximum((bottom - top) / bottom, 0)[::-1])
    return p0, p1


def _corners(rows: Numbers, labels: Numbers) -> Whole:
    """Corners of the greatest convex minorant; all points above a neighbours' chord go at once."""
    kept = np.arange(len(rows))
    x, y = rows, labels
    while len(kept) > 2:
        dx, dy = np.diff(x), np.diff(y)
        corner = np.concatenate([[True], dy[:-1] * dx[1:] < dy[1:] * dx[:-1], [True]])
        if corner.all():
            break
        kept, x, y = kept[corner], x[corner], y[corner]
    return kept


def _steps(rows: Numbers, labels: Numbers, corners: Whole) -> tuple[Whole, Numbers, Numbers]:
    """Find where the running maximum of r rises, and its values as fractions."""
    place, corner = _near_minorant(rows, labels, corners)
    x, y = rows[place] - 1, labels[place] - 1
    end = _least_steep(x, y, rows[corners], labels[corners], corner + 1)
    top, bottom = labels[corners[end]] - y, rows[corners[end]] - x
    # Quotients of integers below 2**26 that differ do so after rounding too.
    highest = np.maximum.accumulate(top / bottom)
    rises = np.concatenate([[True], highest[1:] > highest[:-1]])
    return place[rises], top[rises], bottom[rises]


def _near_minorant(rows: Numbers, labels: Numbers, corners: Whole) -> tuple[Whole, Whole]:
    """Find the points c with D_c < 1 - m, and the corner at or before each."""
    across, up, points = np.diff(rows[corners]), np.diff(labels[corners]), np.diff(corners)
    # dx S - dy N is D times the width of the chord, but for its value at the corner.
    limit = across * (labels[corners[:-1]] + 1) - up * (rows[corners[:-1]] + 1)
    height = np.repeat(across, points) * labels[:-1] - np.repeat(up, points) * rows[:-1]
    near = height < np.repeat(limit, points)
    # Of a slope of 1 there is no such point; its corner stands for them all.
    near[corners[:-1]] = True
    place = np.flatnonzero(near)
    return place, np.searchsorted(corners, place, side="right") - 1


def _least_steep(
    x: Numbers, y: Numbers, corner_x: Numbers, corner_y: Numbers, first: Whole
) -> Whole:
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


@dataclass(frozen=True, slots=True, eq=False)
class OneVsRest:
    """Fitted inductive Venn-Abers predictors, one for each class.

    Parameters
    ----------
    predictors : tuple of InductiveVennAbers
        Of each class against the rest.
    """

    predictors: tuple[InductiveVennAbers, ...]

    def predict(self, score: ArrayLike) -> Pair:
        """Look up both probabilities of each class.

        Parameters
        ----------
        score : array-like of shape (obs, class), finite
            Scores of new rows.

        Returns
        -------
        Pair
            Each of shape (obs, class): lower and upper probability of each class. A row may be
            improper, with no probabilities between them that sum to 1 (see `credal_sets`).
        """
        values = _table(score)
        if values.shape[1] != len(self.predictors):
            raise InputError(
                f"score must have a column for each of the {len(self.predictors)} classes; got "
                f"{values.shape[1]}. Pass the scores of the same classifier."
            )
        found = [one.predict(values[:, k]) for k, one in enumerate(self.predictors)]
        return Pair(*(np.stack(columns, axis=1) for columns in zip(*found, strict=True)))


def fit_one_vs_rest(
    score: ArrayLike, *, label: ArrayLike, rows: ArrayLike | None = None
) -> OneVsRest:
    """Fit an inductive Venn-Abers predictor to each class against the rest.

    Parameters
    ----------
    score : array-like of shape (obs, class), finite
        Scores of calibration rows, a column a class; at least two.
    label : array-like of shape (obs,), int
        The column of each row's class. A class that no row has gets p0 = 0 everywhere, and a p1
        that is the larger the fewer rows there are.
    rows : array-like of shape (obs,), above 0, optional
        How many rows each row stands for, by default one; as of `fit_ivap`.

    Returns
    -------
    OneVsRest
        The fits.

    Raises
    ------
    InputError
        If a score is not finite, a label is no column, or lengths differ.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.credal.venn_abers import fit_one_vs_rest
    >>> score = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]])
    >>> lower, upper = fit_one_vs_rest(score, label=[0, 1, 2]).predict(score[:1])
    >>> lower.tolist(), upper.tolist()
    ([[0.5, 0.0, 0.0]], [[1.0, 0.5, 0.3333333333333333]])
    """
    check_same_order(label=label, score=score, rows=rows)
    values = _table(score)
    check_rows(len(values), "score")
    n_classes = values.shape[1]
    codes = _column(
        label,
        "label",
        "iu",
        lambda found: (found < 0) | (found >= n_classes),
        f"the column of each row's class, 0 to {n_classes - 1}",
        "Pass y_true of Scores, or the place of each label among the classes.",
    )
    check_same_length(len(codes), "label", len(values), "score")
    return OneVsRest(
        tuple(fit_ivap(values[:, k], label=codes == k, rows=rows) for k in range(n_classes))
    )


def _table(score: ArrayLike) -> NDArray[np.floating]:
    values = to_numpy(score, "score")
    if values.ndim != 2 or values.shape[1] < 2:
        raise InputError(
            "score must have shape (obs, class) with at least two classes; got shape "
            f"{values.shape}. For one score a row use fit_ivap."
        )
    return values


@dataclass(frozen=True, slots=True, eq=False)
class CrossVennAbers:
    """A fitted cross Venn-Abers predictor of binary labels.

    Parameters
    ----------
    predictors : tuple of InductiveVennAbers
        One a fold.
    """

    predictors: tuple[InductiveVennAbers, ...]

    def predict(self, score: ArrayLike) -> Pair:
        """Look up both probabilities of each fold.

        Parameters
        ----------
        score : array-like of shape (fold, obs), finite
            Scores of new rows, by the classifier that was trained without each fold.

        Returns
        -------
        Pair
            Each of shape (fold, obs); `merge_folds` merges them.
        """
        values = to_doubles(score, "score")
        if values.ndim != 2 or len(values) != len(self.predictors):
            raise InputError(
                f"score must have shape (fold, obs) with {len(self.predictors)} folds; got "
                f"{values.shape}. Pass the scores of each fold's classifier in the order of folds."
            )
        found = [one.predict(row) for one, row in zip(self.predictors, values, strict=True)]
        return Pair(*(np.stack(rows) for rows in zip(*found, strict=True)))


def fit_cross_venn_abers(score: ArrayLike, *, label: ArrayLike, fold: ArrayLike) -> CrossVennAbers:
    """Fit an inductive Venn-Abers predictor to each fold's rows.

    Parameters
    ----------
    score : array-like of shape (obs,), finite
        Score of each row by the classifier that was trained without its fold.
    label : array-like of shape (obs,)
        Labels, 0 or 1.
    fold : array-like of shape (obs,), int
        Fold of each row: 0, 1, ..., each with a row.

    Returns
    -------
    CrossVennAbers
        The fits, in the order of folds.

    Raises
    ------
    InputError
        If folds are not numbered so, or a column breaks a rule of `fit_ivap`.

    Examples
    --------
    >>> from bayescal.quantities.credal.venn_abers import fit_cross_venn_abers, merge_folds
    >>> fitted = fit_cross_venn_abers([0.1, 0.9, 0.2, 0.8], label=[0, 1, 0, 1], fold=[0, 0, 1, 1])
    >>> merge_folds(*fitted.predict([[0.5], [0.85]])).round(3).tolist()
    [0.586]
    """
    check_same_order(label=label, score=score, fold=fold)
    folds, scores = to_numpy(fold, "fold"), to_numpy(score, "score")
    labels = to_numpy(label, "label")
    whole = folds.ndim == 1 and folds.dtype.kind in "iu" and len(folds) > 0
    numbers = np.unique(folds) if whole else folds
    if not whole or not np.array_equal(numbers, np.arange(len(numbers))):
        shown = numbers.tolist()[:6] if whole else f"dtype {folds.dtype}"
        raise InputError(
            f"fold must number the folds 0, 1, ..., each with a row; got {shown}. "
            "Pass the fold that each row was held out in."
        )
    check_same_length(len(folds), "fold", len(scores), "score")
    check_same_length(len(labels), "label", len(scores), "score")
    held_out = [folds == k for k in numbers]
    return CrossVennAbers(tuple(fit_ivap(scores[rows], label=labels[rows]) for rows in held_out))


def merge_folds(p0: ArrayLike, p1: ArrayLike, loss: str = "log") -> Floats:
    """Merge the probabilities of several folds into one.

    Parameters
    ----------
    p0, p1 : array-like of shape (fold, ...), in [0, 1]
        Probabilities of label 1 of each fold.
    loss : {"log", "square"}, default "log"
        The loss whose regret against the folds is least in the worst case.

    Returns
    -------
    ndarray of shape (...), in [0, 1]
        ``G(p1) / (G(1 - p0) + G(p1))`` for the log loss, with G the geometric mean over folds: its
        odds are the geometric mean of the folds' merged odds. ``mean(p1 + p0**2 / 2 - p1**2 / 2)``
        for the square loss. One fold's log merge is `merged`.

    Raises
    ------
    InputError
        If p0 exceeds p1, one of them is no probability, or the loss is unknown.

    Examples
    --------
    >>> from bayescal.quantities.credal.venn_abers import merge_folds
    >>> float(merge_folds([0.25], [0.75])), float(merge_folds([0.25], [0.75], loss="square"))
    (0.5, 0.5)
    """
    low, high = check_pair(p0, p1)
    check_choice(loss, ("log", "square"), "loss")
    if not low.ndim or not len(low):
        raise InputError(
            f"p0 and p1 must have shape (fold, ...) with at least one fold; got shape {low.shape}. "
            "Pass the probabilities of each fold."
        )
    if loss == "square":
        return np.asarray((high + (low**2 - high**2) / 2).mean(axis=0))
    with np.errstate(divide="ignore"):
        one, zero = (np.exp(np.log(p).mean(axis=0)) for p in (high, 1 - low))
    total = one + zero
    if (total == 0).any():
        raise InputError(
            "folds must not contradict each other with certainty; got p0 = 1 in one fold and "
            "p1 = 0 in another. Merge them with loss='square'."
        )
    return np.asarray(one / total)
