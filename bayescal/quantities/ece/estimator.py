"""The paper's number: the binned calibration error of scores, without its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from bayescal.core import functionals
from bayescal.core.bin_counts import BinCounts
from bayescal.core.bin_edges import effective_number
from bayescal.core.binning import Binning, BinningFields, bin_scores
from bayescal.core.checks import check_choice, check_data, check_rows
from bayescal.core.columns import MISSING
from bayescal.core.counts import Counts
from bayescal.core.scores import MULTICLASS, Scores, Task

type Value = np.float64 | NDArray[np.float64]


class Estimate(NamedTuple):
    """Point estimates, each with the dims (classifier, class) where there is more than one.

    Parameters
    ----------
    ece : float or ndarray of shape (...)
        Expected calibration error, in [0, 1].
    mce : float or ndarray of shape (...)
        Maximum calibration error, the largest absolute gap of a bin that holds a row, in [0, 1].
    label_rate : ndarray of shape (..., bin)
        Share of the rows of each bin where the event happened; NaN in an empty bin.
    gap : ndarray of shape (..., bin)
        `label_rate` less `confidence`, in [-1, 1]; NaN in an empty bin.
    confidence : ndarray of shape (..., bin)
        Mean score of each bin; the midpoint of an empty one.
    bin_mass : ndarray of shape (..., bin)
        Share of all rows, or of their weight, in each bin.
    count : ndarray of shape (..., bin), int64
        Rows in each bin; of weighted rows their effective number, float64.
    positives : ndarray of shape (..., bin), int64
        Rows in each bin where the event happened; of weighted rows `count` times `label_rate`.
    bin_edges : ndarray of shape (..., bin + 1)
        Edges of the bins.
    l2 : float or ndarray of shape (...)
        Root of the mean squared gap, in [0, 1].
    l2_debiased : float or ndarray of shape (...)
        The same less what noise alone puts into it; 0 where that would be negative.
    """

    ece: Value
    mce: Value
    label_rate: NDArray[np.float64]
    gap: NDArray[np.float64]
    confidence: NDArray[np.float64]
    bin_mass: NDArray[np.float64]
    count: NDArray[Any]  # type: ignore[assignment]  # the result schema's name; hides tuple's
    positives: NDArray[Any]
    bin_edges: NDArray[np.float64]
    l2: Value
    l2_debiased: Value


def estimate(
    data: Scores | Task | BinCounts | Counts | Mapping[str, Counts],
    binning: Binning | None = None,
    *,
    multiclass: str = "top-label",
    **fields: Unpack[BinningFields],
) -> Estimate:
    """Estimate the calibration error by bins.

    Parameters
    ----------
    data : Scores, Task, BinCounts, Counts, CountTable or mapping of str to Counts
        Scores with labels (rows without are left out), or counts; options do not touch `BinCounts`.
    binning : Binning, optional
        Bins; by default 15 of equal mass, or those of `Counts`.
    multiclass : {"top-label", "class-wise", "marginal"}, default "top-label"
        Of more than two classes: is the predicted class right; is each class the true one, with a
        dim ``class``; or the latter's mean over classes. The mean is that of `ece`, `mce`, `l2` and
        `l2_debiased`; what is per bin keeps its dim ``class``.
    **fields
        `n_bins`, `strategy` and `closed` of a `Binning`, instead of `binning`.

    Returns
    -------
    Estimate
        Errors, then what each bin holds: a named tuple.

    Raises
    ------
    InputError
        If there is no labelled row, or an option is unknown.

    Notes
    -----
    The estimand is the error of the binned classifier, the sum over bins of ``|P(Y = 1, bin) -
    E[f; bin]|``, at most the true one, ``E |E[Y | f] - f|``. The estimate is biased upward, the
    more so the fewer rows a bin has: a calibrated classifier does not come out at 0.

    In the debiased l2 error a bin's squared gap is reduced by ``rate (1 - rate) / (count - 1)``. A
    bin of one row, as in the authors' software, or with a count of 1 at most contributes 0.

    With `sample_weight`, rates, mean scores and masses are weighted means, and quantile bins hold
    equal shares of the weight. Equal weights are as none; other whole weights as rows repeated so
    often, but in the debiased l2 error: its `count` is the effective number of rows, ``(sum w)**2 /
    sum w**2``, with which ``rate (1 - rate) / (count - 1)`` is unbiased for the variance of a
    weighted rate. Where rows with the event weigh h times as much as others, and r is the rate,
    both among neighbours as of `BinCounts.evened`, it is multiplied by
    ``(1 - r + h r) / (r + h (1 - r))``.

    References
    ----------
    .. [1] The PU-ECE paper, Eq. (1), section 2.2.2. https://openreview.net/forum?id=SvoBtLIrPZ
    .. [2] Futami and Fujisawa, NeurIPS 2024, Eq. (2) and Lemma 1. https://arxiv.org/abs/2405.15709
    .. [3] A. Kumar, P. Liang and T. Ma, NeurIPS 2019, section 5. https://arxiv.org/abs/1909.10155

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ece.estimator import estimate
    >>> scores = bc.Scores(y_true=[0, 1, 1, 1], y_prob=[0.25, 0.25, 0.75, 0.75])
    >>> found = estimate(scores, n_bins=2, strategy="uniform")
    >>> float(found.ece), found.label_rate.tolist()
    (0.25, [0.5, 1.0])
    """
    check_choice(multiclass, MULTICLASS, "multiclass")
    if isinstance(data, BinCounts):
        return _of_bins(data)
    if isinstance(data, Task):
        return _of_bins(bin_scores(data, binning, **fields))
    if isinstance(data, Counts):
        own = binning is None and not fields
        return _of_bins(data.bins if own else data.bins_of(Binning.of(binning, **fields)))
    kinds = (Scores, BinCounts, Counts, Mapping)
    check_data(data, kinds, "estimate", "Scores(y_true=..., y_prob=...)", Counts)
    if isinstance(data, Mapping):
        parts = [estimate(counts, binning, **fields) for counts in data.values()]
        return _stack(parts, [len(parts)] * (len(parts) > 1))
    cases = [_of_bins(bin_scores(task, binning, **fields)) for task in data.tasks(multiclass)]
    by_class = not data.is_binary and multiclass != "top-label"
    dims = [data.n_classifiers] * (data.n_classifiers > 1) + [data.n_classes] * by_class
    stacked = _stack(cases, dims)
    return _mean_over_classes(stacked) if by_class and multiclass == "marginal" else stacked


def resolved(binning: Binning, data: object) -> Binning:
    """Choose the number of bins where it follows the rows: one number for all groups."""
    if not isinstance(data, Scores) or not data.n_labeled:
        return binning
    groups = 1 if data.group is None else len(np.unique(data.group[data.y_true != MISSING]))
    return binning.resolve(effective_rows(data) / groups)


def effective_rows(data: Scores) -> float:
    """Number of labelled rows; of weighted ones the effective number."""
    weight = data.sample_weight
    own = None if weight is None else weight[data.y_true != MISSING]
    return effective_number(data.n_labeled, own)


def by_group(task: Task) -> list[Task]:
    """Split a task by its groups."""
    check_rows(task.n, "the labelled rows")
    if task.group is None:
        return [task]
    found = []
    for code, name in enumerate(task.groups):
        rows = task.group == code
        if rows.any():
            coords = {**task.coords, "group": name}
            weight = None if task.weight is None else task.weight[rows]
            found.append(Task(coords, task.score[rows], task.event[rows], weight=weight))
    return found


def _of_bins(bins: BinCounts) -> Estimate:
    """Estimate from the counts of one binary problem."""
    check_rows(bins.n, "the labelled rows")
    held = bins.count > 0
    mass = bins.share
    # Eq. (1) is a sum over bins of |positives - sum of scores| / n, to which an empty bin adds 0.
    rate = bins.positives / np.where(held, bins.count, 1)
    confidence = bins.mean_score
    squared = functionals.debiased_squared_calibration_error(
        mass, rate, confidence, bins.rate_count
    )
    label_rate = np.where(held, rate, np.nan)
    return Estimate(
        ece=functionals.expected_calibration_error(mass, rate, confidence),
        mce=functionals.maximum_calibration_error(mass, rate, confidence),
        label_rate=label_rate,
        gap=functionals.calibration_gap(label_rate, confidence),
        confidence=confidence,
        bin_mass=mass,
        count=bins.count,
        positives=bins.positives,
        bin_edges=bins.edges,
        l2=np.sqrt(functionals.squared_calibration_error(mass, rate, confidence)),
        l2_debiased=np.sqrt(np.maximum(squared, 0.0)),
    )


def _stack(cases: Sequence[Estimate], dims: Sequence[int]) -> Estimate:
    """Put the cases along the leading dims; none for a single case."""
    if not dims:
        return cases[0]
    columns = [np.stack(values) for values in zip(*cases, strict=True)]
    return Estimate._make(values.reshape(*dims, *values.shape[1:]) for values in columns)


def _mean_over_classes(found: Estimate) -> Estimate:
    """Average over the last leading dim what is one number a class."""
    scalars = ("ece", "mce", "l2", "l2_debiased")
    return found._replace(**{name: getattr(found, name).mean(axis=-1) for name in scalars})
