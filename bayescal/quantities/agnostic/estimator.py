"""The paper's number: the empirical calibration measure of scores, without its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_choice, check_data, check_is, check_rows
from bayescal.core.counts import Counts

# Counts of any rows serve this quantity too.
from bayescal.core.many_rows import count_rows as count_rows
from bayescal.core.many_rows import counted
from bayescal.core.scores import Scores, Task
from bayescal.quantities.agnostic.intervals import Extremes, IntervalMeasure, interval_measure

type Value = np.float64 | NDArray[np.float64]

MULTICLASS = ("top-label", "class-wise", "supremum")


class Estimate(NamedTuple):
    """Point estimates, each with the dims (classifier, class) where there is more than one.

    Parameters
    ----------
    c : float or ndarray of shape (...), in [0, 1]
        Empirical calibration measure c_emp: the largest ``|sum of scores - positives|`` of a score
        interval, over the number of rows.
    ks : float or ndarray of shape (...), in [0, 1]
        The same over the intervals (-inf, p] only, also known as ECCE-MAD.
    lower, upper : float or ndarray of shape (...)
        The interval (lower, upper] that attains `c`; -inf where it holds the least score.
    sign : float or ndarray of shape (...)
        1 where scores exceed the positives in that interval, -1 where they fall short, 0 where
        `c` is 0.
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
        A named tuple.

    Notes
    -----
    The estimand is ``c(f) = sup |E[f; p1 < f <= p2] - P(Y = 1, p1 < f <= p2)|``. The estimate takes
    every pair of distinct scores into account, without bins. It is biased upward, by about
    ``1.6 sqrt(E[f (1 - f)] / n)`` for a calibrated classifier: `calibration_test` says whether it
    is more than that.

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, 2017, Definition 2 and section 5.
       https://doi.org/10.1214/17-EJS1376SI

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
    check_choice(multiclass, MULTICLASS, "multiclass")
    if isinstance(data, Counts):
        return _of([measure_of_counts(data)], [])
    if isinstance(data, Mapping):
        return _of([measure_of_counts(one) for one in data.values()], [len(data)] * (len(data) > 1))
    by_class = not data.is_binary and multiclass != "top-label"
    tasks = data.tasks("class-wise" if by_class else "top-label")
    found = [_measure(task) for task in tasks]
    dims = [data.n_classifiers] * (data.n_classifiers > 1) + [data.n_classes] * by_class
    if by_class and multiclass == "supremum":
        worst = [max(part) for part in _split(found, data.n_classes)]
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
    counts = counted(data, label=label, score=score, pos_label=pos_label, from_logits=from_logits)
    return measure_of_counts(counts[score])


def _of(found: Sequence[IntervalMeasure], dims: Sequence[int]) -> Estimate:
    """Put the cases along the leading dims; none for a single case."""
    columns = {
        name: np.array([float(getattr(one, name)) for one in found]).reshape(dims)[()]
        for name in Estimate._fields
    }
    return Estimate(**columns)


def _split(found: Sequence[IntervalMeasure], size: int) -> list[Sequence[IntervalMeasure]]:
    return [found[start : start + size] for start in range(0, len(found), size)]
