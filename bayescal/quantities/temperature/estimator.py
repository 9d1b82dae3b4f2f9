"""The paper's estimates: temperature scaling, class-wise temperature scaling, and their errors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from bayescal.core.bins.binning import Binning
from bayescal.core.checks import check_data, check_is, check_rows
from bayescal.core.errors import InputError
from bayescal.core.partial_sums import Several
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.temperature.data import Problem, Rows
from bayescal.quantities.temperature.errors import BINNING, CellSums, top_class
from bayescal.quantities.temperature.logits import ClassWise


class Estimate(NamedTuple):
    """Estimates on the rows that the numbers were fitted to.

    Parameters
    ----------
    ece, max_ece, avg_ece : float, in [0, 1]
        Calibration errors after class-wise temperature scaling: of all rows, of the worst
        predicted class, and their mean.
    ece_uncalibrated, max_ece_uncalibrated, avg_ece_uncalibrated : float, in [0, 1]
        The same before.
    accuracy : float, in [0, 1]
        Share of rows whose predicted class is the true one.
    class_alpha : ndarray of shape (class,)
        The number of each predicted class, in [0.01, 100].
    shared_alpha : float
        That of temperature scaling.
    """

    ece: float
    max_ece: float
    avg_ece: float
    ece_uncalibrated: float
    max_ece_uncalibrated: float
    avg_ece_uncalibrated: float
    accuracy: float
    class_alpha: Floats
    shared_alpha: float


def estimate(data: Scores, *, gamma: float = np.inf, binning: Binning = BINNING) -> Estimate:
    """Fit class-wise temperature scaling, and measure calibration before and after.

    Parameters
    ----------
    data : Scores
        Scores of one classifier, by logits or probabilities. Rows without a label are left out.
        Losses, errors and shares of weighted rows are weighted; whole weights count as repeats.
    gamma : float, at least 0, default infinity
        Largest difference of a class's number from the shared one.
    binning : Binning, default 15 bins of equal width
        Bins of the errors.

    Returns
    -------
    Estimate
        A named tuple.

    Raises
    ------
    InputError
        If there are several classifiers, groups, no labelled row or a label of score 0, or `gamma`
        is negative.

    Notes
    -----
    Errors after calibration are those of the rows that the numbers were fitted to, and too small
    for new rows; with few rows a class by much. The paper measures them on other rows.

    References
    ----------
    .. [1] Y. Zhao, J. Chen and S. Oymak, "On the Role of Dataset Quality and Heterogeneity in Model
       Confidence", 2020, sections 4.1 and 5.1. https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.temperature.truth("heterogeneous").scores(2000, seed=1)
    >>> found = bc.temperature.estimate(scores)
    >>> found.avg_ece < found.avg_ece_uncalibrated
    True
    """
    check_data(data, (Scores,), "temperature", "Scores(y_true=..., y_prob=..., from_logits=True)")
    check_is(binning, Binning, "binning", "Pass bayescal.Binning(15, 'uniform').")
    if data.n_classifiers != 1:
        raise InputError(
            f"estimate takes one classifier; got {data.n_classifiers}. Pass data.select(name)."
        )
    problem = Problem.of(data, data.classifiers[0])
    check_rows(len(problem.known), "the labelled rows")
    return estimate_of(problem, problem.numbers(gamma), binning)


def estimate_of(problem: Rows, numbers: ClassWise, binning: Binning = BINNING) -> Estimate:
    """Estimates of one classifier, with the numbers of class-wise temperature scaling."""
    alphas = [np.ones(problem.n_classes), numbers.alpha]
    before, after = problem.summed(partial(_sums, alphas=alphas, binning=binning)).each
    return Estimate(
        *_errors(after),
        *_errors(before),
        float(before.correct.sum() / before.rows.sum()),
        numbers.alpha,
        numbers.shared,
    )


def _sums(problem: Problem, alphas: Sequence[Floats], binning: Binning) -> Several[CellSums]:
    """Sums of the labelled rows when each predicted class is multiplied by its number."""
    rows = problem.known
    logits, predicted, label = problem.logits[rows], problem.predicted[rows], problem.label[rows]
    weight = None if problem.weight is None else problem.weight[rows]
    scores = (top_class(alpha[predicted][:, None] * logits)[0] for alpha in alphas)
    of = partial(CellSums.of, n_classes=problem.n_classes, binning=binning, weight=weight)
    return Several(tuple(of(score, predicted, label) for score in scores))


def _errors(sums: CellSums) -> tuple[float, float, float]:
    """Calibration error of all rows, the largest of the classes with rows, and their mean."""
    gap = (sums.correct - sums.labeled_score).reshape(-1, sums.n_bins)
    rows = sums.rows.reshape(gap.shape).sum(axis=1)
    kept = rows > 0
    of_class = np.abs(gap[kept]).sum(axis=1) / rows[kept]
    every = np.abs(gap.sum(axis=0)).sum() / rows.sum()
    return float(every), float(of_class.max()), float(of_class.mean())
