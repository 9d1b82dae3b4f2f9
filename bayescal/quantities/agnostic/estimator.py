"""The paper's number: the largest miscount of positives over all score intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import batched
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import (
    check_choice,
    check_data,
    check_is,
    check_no_nan,
    check_rows,
    check_same_length,
    check_some_weight,
    clean_probabilities,
)
from bayescal.core.columns import Floats, to_doubles, to_floats, to_numpy
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, check_same_order, round_scores, weights
from bayescal.core.many_rows import count_rows as count_rows
from bayescal.core.scores import Scores, Task

type Events = NDArray[np.uint8]
type Keys = NDArray[np.signedinteger]

# Rows whose sums are formed at once, within a core's cache.
_BLOCK = 1 << 15


class IntervalMeasure(NamedTuple):
    """The interval measure of one binary problem."""

    c: float  #: Empirical calibration measure c_emp, in [0, 1].
    lower: float  #: The interval (lower, upper] of scores attains it.
    upper: float  #: Its upper end.
    sign: int  #: 1 if scores exceed the positives there, -1 if they fall short, 0 if c is 0.
    ks: float  #: The same measure over the intervals (-inf, p] only.


def interval_measure(
    score: ArrayLike, *, label: ArrayLike, weight: ArrayLike | None = None
) -> IntervalMeasure:
    """Compute the empirical calibration measure over all score intervals.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores, rounded to 12 digits as those of a fit are; float32 stays float32.
    label : array-like of shape (obs,)
        0 and 1, -1 and 1, or booleans.
    weight : array-like of shape (obs,), at least 0, optional
        Weights of the rows, by default equal. Their scale does not matter.

    Returns
    -------
    IntervalMeasure
        The measure, the interval that attains it, and the measure over prefixes.

    Raises
    ------
    InputError
        If scores are not probabilities, labels not of two values, lengths differ, or weights are
        negative, not finite or all 0.

    Notes
    -----
    With ``D(p)`` the sum of ``f - y`` over the rows of scores up to p, an interval (p1, p2] has the
    sum ``D(p2) - D(p1)``. So the supremum over all pairs is ``max D - min D`` over the ends of tied
    scores, with 0 before the first: it is exact, and takes one sort. The measure is known as ECCE-R
    or Kuiper's statistic as well, `ks` as ECCE-MAD.

    References
    ----------
    .. [1] Y. Gao et al., 2017, Definition 2. https://doi.org/10.1214/17-EJS1376SI
    .. [2] I. Arrieta-Ibarra et al., JMLR 23, 2022. https://jmlr.org/papers/v23/22-0658.html

    Examples
    --------
    >>> from bayescal.quantities.agnostic.estimator import interval_measure
    >>> found = interval_measure([0.125, 0.5, 0.5, 0.75], label=[0, 0, 0, 1])
    >>> found.c, found.lower, found.upper, found.sign
    (0.28125, -inf, 0.5, 1)
    """
    check_same_order(weight=weight, score=score)
    scores, events = checked_rows(score, label)
    if weight is None:
        return measure_of_sorted(sorted_rows(scores, events))
    return _weighted(scores, events, checked_weights(weight, len(scores)))


class IntervalStream:
    """The interval measure of rows that come in parts.

    Notes
    -----
    A row is kept as one integer, its label in the last bit: 8 bytes, or 4 where scores are float32.
    The parts, each in order, are joined and sorted when `measure` is called.

    Examples
    --------
    >>> from bayescal.quantities.agnostic.estimator import IntervalStream
    >>> stream = IntervalStream()
    >>> stream.add([0.125, 0.5], label=[0, 0])
    >>> stream.add([0.5, 0.75], label=[0, 1])
    >>> stream.measure().c
    0.28125
    """

    def __init__(self) -> None:
        self._parts: list[Keys] = []

    def add(self, score: ArrayLike, *, label: ArrayLike) -> None:
        """Add rows.

        Parameters
        ----------
        score, label
            As for `interval_measure`; scores of the same type as those before.

        Raises
        ------
        InputError
            As for `interval_measure`, and if the type of the scores changes.
        """
        part = sorted_rows(*checked_rows(score, label))
        if self._parts and part.dtype != self._parts[0].dtype:
            raise InputError(
                f"score must keep its type from part to part; got float{8 * part.itemsize} after "
                f"float{8 * self._parts[0].itemsize}. Convert all parts with astype."
            )
        self._parts.append(part)

    def measure(self) -> IntervalMeasure:
        """Compute the measure of all rows so far.

        Returns
        -------
        IntervalMeasure
            As of all rows at once.

        Raises
        ------
        InputError
            If no rows were added.
        """
        check_rows(len(self._parts), "the stream")
        if len(self._parts) > 1:
            merged = np.concatenate(self._parts)
            self._parts = []
            merged.sort()
            self._parts = [merged]
        return measure_of_sorted(self._parts[0])


def checked_rows(score: ArrayLike, label: ArrayLike) -> tuple[NDArray[np.floating], Events]:
    """Scores as floats in [0, 1], and labels as 0 and 1."""
    check_same_order(label=label, score=score)
    scores = checked_scores(score, "score")
    return scores, checked_labels(label, len(scores))


def checked_scores(score: ArrayLike, name: str) -> NDArray[np.floating]:
    """Scores as floats in [0, 1], (obs,), rounded as those of a fit are."""
    return round_scores(_in_a_column(score, name))


def checked_probabilities(values: ArrayLike, name: str) -> Floats:
    """Probabilities as float64 in [0, 1], (obs,)."""
    return _in_a_column(to_doubles(values, name), name).astype(np.float64)


def _in_a_column(values: ArrayLike, name: str) -> NDArray[np.floating]:
    found = to_floats(values, name)
    if found.ndim != 1:
        raise InputError(f"{name} must have one dimension (obs,); got shape {found.shape}.")
    check_rows(len(found), name)
    return clean_probabilities(found, name)


def checked_labels(label: ArrayLike, n: int) -> Events:
    """Labels as 0 and 1; they may be -1 and 1, or booleans."""
    labels = to_numpy(label, "label")
    if labels.ndim != 1 or labels.dtype.kind not in "biuf":
        raise InputError(
            f"label must be numbers or booleans of shape (obs,); got {labels.dtype} of shape "
            f"{labels.shape}. Pass 0 and 1."
        )
    check_same_length(n, "score", len(labels), "label")
    if labels.dtype.kind == "f":
        check_no_nan(labels, "label")
    events = labels == 1
    negative = 0 if labels.dtype.kind in "bu" or labels.min() == 0 else -1
    bad = ~(events | (labels == negative))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"label must be 0 or 1, -1 or 1, or a bool; got {labels[row].item()} at row {row}. "
            "Code the two labels as 0 and 1."
        )
    return np.asarray(events.view(np.uint8))


def checked_weights(weight: ArrayLike, n: int) -> Floats:
    """Sample weights, scaled to the sum 1."""
    found = weights(Column("weight", weight))
    check_same_length(n, "score", len(found), "weight")
    check_some_weight(int(np.count_nonzero(found)), n, "weight")
    return np.asarray(found / found.sum())


def sorted_rows(score: NDArray[np.floating], event: Events) -> Keys:
    """Rows by rising score, each as one integer with its label in the last bit."""
    # Read as integers, floats in [0, 1] keep their order and leave the first bits free.
    key: Keys = np.left_shift(score.view(f"i{score.itemsize}"), 1)
    np.bitwise_or(key, event, out=key, casting="unsafe")
    key.sort()
    return key


class Extremes(NamedTuple):
    """Least and largest prefix sums so far, with the scores they end at; before any row, 0."""

    low: float = 0.0
    low_at: float = -np.inf
    high: float = 0.0
    high_at: float = -np.inf

    def including(self, sums: Floats, score: NDArray[np.floating]) -> Extremes:
        """Take in the prefix sums that end at these scores."""
        if not len(sums):
            return self
        least, most = int(sums.argmin()), int(sums.argmax())
        low, high = self[:2], self[2:]
        if sums[least] < self.low:
            low = (float(sums[least]), float(score[least]))
        if sums[most] > self.high:
            high = (float(sums[most]), float(score[most]))
        return Extremes(*low, *high)

    def over(self, n: float) -> Extremes:
        """Divide the sums by the number of rows."""
        return self._replace(low=self.low / n, high=self.high / n)

    def measure(self, last: float) -> IntervalMeasure:
        """The measure; `last` is the largest score."""
        ends = sorted((self.low_at, self.high_at))
        return IntervalMeasure(
            c=self.high - self.low,
            lower=ends[0],
            upper=ends[1] if ends[1] > ends[0] else last,
            sign=int(np.sign(self.high_at - self.low_at)) if ends[1] > ends[0] else 0,
            ks=max(self.high, -self.low),
        )


def measure_of_sorted(key: Keys) -> IntervalMeasure:
    """The measure of rows that `sorted_rows` has sorted, (obs,)."""
    found, before = Extremes(), 0.0
    for start in range(0, len(key), _BLOCK):
        part = key[start : start + _BLOCK]
        score = part >> 1
        follows = np.append(score[1:], key[start + _BLOCK : start + _BLOCK + 1] >> 1)
        sums = before + np.cumsum(np.subtract(_scores(score), part & 1, dtype=np.float64))
        before = sums[-1]
        # Amid tied scores no interval ends; 0, the sum before any row, changes no extreme.
        sums[: len(follows)] *= score[: len(follows)] != follows
        found = found.including(sums, _scores(score))
    return found.over(len(key)).measure(float(_scores(key[-1:] >> 1)[0]))


def _scores(bits: Keys) -> NDArray[np.floating]:
    return bits.view(f"f{bits.itemsize}")


def _weighted(score: NDArray[np.floating], event: Events, weight: Floats) -> IntervalMeasure:
    order = np.argsort(score)
    ordered = score[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    sums = np.cumsum(weight[order] * (ordered - event[order].astype(np.float64)))
    return Extremes().including(sums[ends], ordered[ends]).measure(float(ordered[-1]))


type Value = np.float64 | Floats


class Estimate(NamedTuple):
    """Point estimates, each with the dims (classifier, class) where there is more than one.

    Parameters
    ----------
    c : float or ndarray of shape (...), in [0, 1]
        Empirical calibration measure c_emp: the largest ``|sum of scores - positives|`` of a score
        interval, over the number of rows.
    ks : float or ndarray of shape (...), in [0, 1]
        The same over the intervals (-inf, p] only, also known as ECCE-MAD; as a supremum over
        classes perhaps that of another class than `c`.
    lower, upper : float or ndarray of shape (...)
        The interval (lower, upper] that attains `c`; -inf where it holds the least score.
    sign : float or ndarray of shape (...)
        1 where scores exceed the positives there, -1 where they fall short, 0 where `c` is 0.
    """

    c: Value
    ks: Value
    lower: Value
    upper: Value
    sign: Value


def estimate(
    data: Scores | Task | Counts | Mapping[str, Counts], *, multiclass: str = "top-label"
) -> Estimate:
    """Estimate the calibration measure over all score intervals.

    Parameters
    ----------
    data : Scores, Task, Counts, CountTable or mapping of str to Counts
        Scores with labels; rows without are left out. Sample weights count. Of counts an interval
        ends where a cell does, which changes `c` by some hundredths of its standard error.
    multiclass : {"top-label", "class-wise", "supremum"}, default "top-label"
        Of more than two classes: is the predicted class right; is each class the true one, with a
        dim ``class``; or the largest of the latter, the paper's extension.

    Returns
    -------
    Estimate
        `c`, `ks`, and where `c` is attained: a named tuple.

    Notes
    -----
    The estimand is ``c(f) = sup |E[f; p1 < f <= p2] - P(Y = 1, p1 < f <= p2)|``. The estimate takes
    every pair of distinct scores into account, without bins. It is biased upward, by about ``1.6
    sqrt(E[f (1 - f)] / n)`` for a calibrated classifier: `calibration_test` says if it is more.

    References
    ----------
    .. [1] Y. Gao et al., 2017, Definition 2 and section 5. https://doi.org/10.1214/17-EJS1376SI

    Examples
    --------
    >>> import bayescal as bc
    >>> found = bc.agnostic.estimate(bc.Scores(y_true=[0, 0, 0, 1], y_prob=[0.125, 0.5, 0.5, 0.75]))
    >>> float(found.c), float(found.upper), float(found.sign)
    (0.28125, 0.5, 1.0)
    """
    if isinstance(data, Task):
        return _of([_measure(data)], [])
    kinds = (Scores, Counts, Mapping)
    check_data(data, kinds, "estimate", "Scores(y_true=..., y_prob=...)", Counts)
    check_choice(multiclass, ("top-label", "class-wise", "supremum"), "multiclass")
    if isinstance(data, Counts):
        return _of([measure_of_counts(data)], [])
    if isinstance(data, Mapping):
        return _of([measure_of_counts(one) for one in data.values()], [len(data)] * (len(data) > 1))
    by_class = not data.is_binary and multiclass != "top-label"
    tasks = data.tasks("class-wise" if by_class else "top-label")
    found = [_measure(task) for task in tasks]
    dims = [data.n_classifiers] * (data.n_classifiers > 1) + [data.n_classes] * by_class
    if by_class and multiclass == "supremum":
        parts = batched(found, data.n_classes)
        worst = [max(part)._replace(ks=max(one.ks for one in part)) for part in parts]
        return _of(worst, dims[:-1])
    return _of(found, dims)


def _measure(task: Task) -> IntervalMeasure:
    return interval_measure(task.score, label=task.event, weight=task.weight)


def measure_of_counts(counts: Counts) -> IntervalMeasure:
    """The measure of counted rows, those of a narrow cell tied."""
    check_rows(counts.n_labeled, "the counts")
    held = counts.labeled
    rows, positives = held.mass
    sums = np.cumsum(rows * held.score - positives)
    found = Extremes().including(sums, held.score).over(float(rows.sum()))
    return found.measure(float(held.score[-1]))


def interval_measure_of_rows(
    data: Any, *, label: str, score: str, pos_label: Any = 1, from_logits: bool = False
) -> IntervalMeasure:
    r"""Compute the measure of the labelled rows of a file, a data set or of Dask's columns.

    Parameters
    ----------
    data, label, score, pos_label, from_logits
        As for `count_rows`, with the scores of one classifier. Rows without a label are left out.

    Returns
    -------
    IntervalMeasure
        As of all rows at once, with rows of one narrow cell of the score tied.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist, or labels or scores cannot be used.

    Notes
    -----
    An interval ends where a cell does, which leaves out at most what a cell's own rows add up to,
    some hundredths of the measure's standard error. See `bayescal.Counts`.
    """
    check_is(score, str, "score", "Pass the name of a column.")
    how: Any = {"pos_label": pos_label, "from_logits": from_logits}
    return measure_of_counts(count_rows(data, label=label, score=score, **how)[score])


def _of(found: Sequence[IntervalMeasure], dims: Sequence[int]) -> Estimate:
    """Put the cases along the leading dims; none for a single case."""
    columns = {
        name: np.array([float(getattr(one, name)) for one in found]).reshape(dims)[()]
        for name in Estimate._fields
    }
    return Estimate(**columns)
