"""Other methods of evaluating classifiers from few labels, to compare with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bayescal.core.checks import (
    MOST_DRAWN,
    check_choice,
    check_number,
    check_whole,
    generator,
    shown,
)
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.data import ScoreMatrix, score_matrix, weighted_matrix
from bayescal.quantities.ssme.imputed_labels import (
    Calibrated,
    bayesian_calibration,
    check_labels,
    dawid_skene,
    majority_vote,
    pseudo_labeled,
)
from bayescal.quantities.ssme.metrics import (
    ROW_MEANS,
    Metrics,
    block_sizes,
    join,
    measured,
    metrics,
    row_values,
)

__all__ = [
    "ActiveTest",
    "AutoEval",
    "Calibrated",
    "Interval",
    "active_testing",
    "autoeval",
    "bayesian_calibration",
    "dawid_skene",
    "labeled",
    "labeled_by_group",
    "labeled_interval",
    "majority_vote",
    "pseudo_labeled",
]


class Interval(NamedTuple):
    """Ends of an interval of every metric.

    Parameters
    ----------
    lower, upper : Metrics
        Arrays of shape (classifier,).
    """

    lower: Metrics
    upper: Metrics


def labeled(scores: Scores) -> Metrics:
    """Measure every classifier on the labelled rows; section 5.2 and appendix B.2 of the paper.

    Parameters
    ----------
    scores : Scores
        Scores of one or several classifiers; labelled rows of two classes or more.

    Returns
    -------
    Metrics
        Arrays of shape (classifier,).

    Raises
    ------
    InputError
        If fewer than two classes have a label: AUC does not exist.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 1, 1, None], y_prob=[0.2, 0.9, 0.4, 0.6])
    >>> bc.ssme.baselines.labeled(scores).accuracy.round(3)
    array([0.667])
    """
    matrix = weighted_matrix(scores)
    check_labels(matrix, "Labeled", classes=2)
    return measured(matrix.take(matrix.labeled), matrix.known, by_group=False)


def labeled_by_group(scores: Scores) -> Metrics:
    """Measure every classifier on the labelled rows of each group; appendix B.2 of the paper.

    Parameters
    ----------
    scores : Scores
        As for `labeled`, with groups.

    Returns
    -------
    Metrics
        Arrays of shape (classifier, group). A metric without value in a group is that of all
        labelled rows: without labels, as in the paper, AUC of one class, AUPRC without positives.

    Raises
    ------
    InputError
        As `labeled`, and if there are no groups.
    """
    matrix = weighted_matrix(scores)
    if matrix.group is None:
        raise InputError("metrics by group need groups; got none. Pass group= with the scores.")
    overall = labeled(scores)
    found = measured(matrix.take(matrix.labeled), matrix.known)
    return Metrics._make(
        np.where(np.isnan(of_group), of_all[:, np.newaxis], of_group)
        for of_group, of_all in zip(found, overall, strict=True)
    )


def labeled_interval(
    scores: Scores, *, prob: float = 0.9, n_boot: int = 1000, seed: int = 0
) -> Interval:
    """Percentile bootstrap interval of the metrics of the labelled rows.

    Parameters
    ----------
    scores : Scores
        As for `labeled`.
    prob : float, in (0, 1), default 0.9
        Probability of the interval.
    n_boot : int, default 1000
        Number of resamples of the labelled rows.
    seed : int, default 0
        Same seed, same resamples.

    Returns
    -------
    Interval
        Lower and upper ends, between as much probability on either side.

    Raises
    ------
    InputError
        As `labeled`, and if `prob` or `n_boot` lies outside its range.

    Notes
    -----
    Rows are resampled, all classifiers together; quantile bins stay those of the labelled rows. A
    resample of one class has no AUC, one without positives no AUPRC, and is left out of theirs. Of
    few labels the interval is too narrow, as the bootstrap knows no row that was not seen.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 1, 1, None], y_prob=[0.2, 0.9, 0.4, 0.6])
    >>> ends = bc.ssme.baselines.labeled_interval(scores)
    >>> ends.lower.accuracy.round(3), ends.upper.accuracy.round(3)
    (array([0.333]), array([1.]))
    """
    check_number(prob, "prob", "(0, 1)")
    check_whole(n_boot, "n_boot", most=MOST_DRAWN)
    matrix = score_matrix(scores)
    check_labels(matrix, "Labeled's interval", classes=2)
    probs, one_hot = matrix.probs[:, matrix.labeled], matrix.known
    n, rng = len(one_hot), generator(seed)
    parts = [
        metrics(probs, one_hot, rng.multinomial(n, np.full(n, 1 / n), size).astype(np.float64))
        for size in block_sizes(n_boot, n)
    ]
    found = join(parts, np.concatenate)
    if any(np.isnan(values).all(axis=0).any() for values in found):
        raise InputError(
            f"none of {n_boot} resamples holds rows of two classes, so that AUC and AUPRC "
            "have no interval. Label more rows of the rarer class, or raise n_boot."
        )
    tail = (1 - prob) / 2
    ends = (np.nanquantile(found, level, axis=1) for level in (tail, 1 - tail))
    return Interval(*map(Metrics._make, ends))


class ActiveTest(NamedTuple):
    """One metric of every classifier by active testing.

    Parameters
    ----------
    estimate : ndarray of shape (classifier,)
        The metric. An estimate without bias may lie outside the metric's range.
    rows : ndarray of shape (classifier, budget)
        The rows that were chosen to be labelled, in that order, for each classifier.
    """

    estimate: Floats
    rows: NDArray[np.intp]


def active_testing(
    oracle: Scores,
    metric: str = "accuracy",
    *,
    budget: int,
    guess: str = "self",
    floor: float = 0.1,
    seed: int = 0,
) -> ActiveTest:
    """Estimate the mean of a metric over rows from labels of rows that the method chooses.

    Parameters
    ----------
    oracle : Scores
        A pool of rows with all labels, of which each classifier is shown `budget`.
    metric
        As for `autoeval`.
    budget : int
        Number of rows to label for each classifier.
    guess : {"self", "ensemble"}, default "self"
        Whose probabilities say where loss is expected: each classifier's own, or the mean of all.
    floor : float, in (0, 1], default 0.1
        Least probability of a row to be drawn, relative to a uniform draw from those that are left,
        before probabilities are divided by their sum, at most ``1 + floor``. A row that is never
        drawn would bias the estimate.
    seed : int, default 0
        Same seed, same rows.

    Returns
    -------
    ActiveTest
        Estimates of shape (classifier,), and the rows.

    Raises
    ------
    InputError
        If a label is missing, the metric is no mean over rows, or `budget` or `floor` out of range.

    Notes
    -----
    Rows are drawn one after the other without putting back, with probability q proportional to the
    expected loss (1 - accuracy, log loss or Brier score). Of a pool of N rows, the loss of the m-th
    of M rows is weighted by ``1 + (N - M) / (N - m) (1 / ((N - m + 1) q) - 1)``: R_LURE, an
    estimate of the pool's mean loss without bias, [1]_ equation 6 and [2]_. Labels are saved where
    the loss itself is foreseen; a classifier sure of itself expects none where it is wrong, and
    does worse than a uniform draw. The SSME paper gives no `budget`; 10 has its errors.

    References
    ----------
    .. [1] J. Kossen et al., ICML 2021, section 4. https://arxiv.org/abs/2103.05331
    .. [2] S. Farquhar et al., ICLR 2021, section 4. https://arxiv.org/abs/2101.11665

    Examples
    --------
    >>> import bayescal as bc
    >>> pool = bc.Scores(y_true=[0, 1, 1, 0], y_prob=[0.1, 0.9, 0.4, 0.2])
    >>> bc.ssme.baselines.active_testing(pool, budget=4).estimate
    array([0.75])
    """
    check_row_mean(metric)
    matrix = score_matrix(oracle)
    n = matrix.n_obs
    if matrix.n_labeled < n:
        raise InputError(
            "Active-Testing asks for labels of rows that it chooses, so that every row needs one; "
            f"got {n - matrix.n_labeled} rows without. Pass a pool whose labels are all known."
        )
    check_whole(budget, "budget", 1, f"Pass a number up to the pool's {n} rows.", n)
    check_number(floor, "floor", "(0, 1]", "Pass 0.1.")
    sign = -1.0 if metric == "accuracy" else 1.0
    shift = 1.0 if metric == "accuracy" else 0.0
    # A loss of 1 - accuracy; expectations are cut at 0, which they miss by rounding only.
    expected = np.maximum(shift + sign * guessed_values(matrix, metric, guess), 0.0)
    loss = shift + sign * observed_values(matrix, metric)
    rng = generator(seed)
    drawn = [acquire(one, budget, floor, rng) for one in expected]
    risk = [
        float(np.mean(lure_weights(q, n) * values[rows]))
        for values, (rows, q) in zip(loss, drawn, strict=True)
    ]
    return ActiveTest(shift + sign * np.array(risk), np.stack([rows for rows, _ in drawn]))


def acquire(
    expected: Floats, budget: int, floor: float, rng: np.random.Generator
) -> tuple[NDArray[np.intp], Floats]:
    """Draw rows one after the other, where loss is expected."""
    left = np.arange(len(expected))
    rows, probabilities = np.empty(budget, dtype=np.intp), np.empty(budget)
    for m in range(budget):
        total = expected[left].sum()
        q = expected[left] / total if total > 0 else np.full(len(left), 1 / len(left))
        q = np.maximum(q, floor / len(left))
        q /= q.sum()
        place = rng.choice(len(left), p=q)
        rows[m], probabilities[m] = left[place], q[place]
        left = np.delete(left, place)
    return rows, probabilities


def lure_weights(q: Floats, n: int) -> Floats:
    """Weigh the rows drawn so that their mean loss is the pool's without bias, (budget,)."""
    budget = len(q)
    if budget == n:
        return np.ones(budget)
    m = np.arange(1, budget + 1)
    return np.asarray(1 + (n - budget) / (n - m) * (1 / ((n - m + 1) * q) - 1))


class AutoEval(NamedTuple):
    """One metric of every classifier by prediction-powered inference.

    Parameters
    ----------
    estimate : ndarray of shape (classifier,)
        The metric. An estimate without bias may lie outside the metric's range.
    lower, upper : ndarray of shape (classifier,)
        Ends of the normal interval.
    tuning : ndarray of shape (classifier,), in [0, 1]
        Weight lambda of what the scores expect: 0 leaves the labelled rows alone.
    """

    estimate: Floats
    lower: Floats
    upper: Floats
    tuning: Floats


def autoeval(
    scores: Scores, metric: str = "accuracy", *, guess: str = "self", prob: float = 0.9
) -> AutoEval:
    """Estimate the mean of a metric over rows by PPI++.

    Parameters
    ----------
    scores : Scores
        Scores of one or several classifiers; two labelled rows and one unlabelled row or more.
    metric : {"accuracy", "log_loss", "brier"}, default "accuracy"
        A metric that is a mean over rows.
    guess : {"self", "ensemble"}, default "self"
        Whose probabilities stand for the missing labels: each classifier's own (its confidence, as
        in the paper), or the mean of all.
    prob : float, in (0, 1), default 0.9
        Probability of the interval.

    Returns
    -------
    AutoEval
        Arrays of shape (classifier,).

    Raises
    ------
    InputError
        If the metric is not a mean over rows, or rows are too few.

    Notes
    -----
    With values f of n labelled rows, values g expected from the scores, and N unlabelled rows, the
    estimate is ``mean_n(f - lambda g) + lambda mean_N(g)``. The lambda of least variance is
    ``cov_n(f, g) / ((1 + n / N) var(g))``, the variance over all rows, cut to [0, 1] ([1]_ example
    6.1). The interval adds the variances of both means. Divisors are those of the authors' program:
    n + N - 1 in var(g), else the number of rows. The interval is approximate: of few labels it is
    too short, and of no width where all labelled rows are right and lambda is 0.

    References
    ----------
    .. [1] A. Angelopoulos et al., PPI++, 2023, sections 2 and 6. https://arxiv.org/abs/2311.01453
    .. [2] P. Boyeau et al., AutoEval, 2024. https://arxiv.org/abs/2403.07008

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true = [0, 1, 1, 0, None, None]
    >>> scores = bc.Scores(y_true=y_true, y_prob=[0.1, 0.9, 0.3, 0.4, 0.95, 0.1])
    >>> found = bc.ssme.baselines.autoeval(scores)
    >>> found.estimate.round(3), found.tuning.round(3)
    (array([0.797]), array([0.316]))
    """
    check_row_mean(metric)
    check_number(prob, "prob", "(0, 1)")
    matrix = score_matrix(scores)
    n, n_rest = matrix.n_labeled, matrix.n_obs - matrix.n_labeled
    if n < 2 or n_rest < 1:
        remedy = "Label more rows" if n < 2 else "With all labels known, take their mean"
        raise InputError(
            "AutoEval needs two labelled rows and one unlabelled row or more; got "
            f"{n} and {n_rest}. {remedy}."
        )
    guessed = guessed_values(matrix, metric, guess)
    f = observed_values(matrix, metric)
    g, rest = guessed[:, matrix.labeled], guessed[:, ~matrix.labeled]
    tuning = _tuning(f, g, guessed, n / n_rest)
    left = f - tuning[:, np.newaxis] * g
    estimate = left.mean(axis=1) + tuning * rest.mean(axis=1)
    error = np.sqrt(left.var(axis=1) / n + tuning**2 * rest.var(axis=1) / n_rest)
    reach = ndtri((1 + prob) / 2) * error
    return AutoEval(estimate, estimate - reach, estimate + reach, tuning)


def _tuning(f: Floats, g: Floats, every: Floats, ratio: float) -> Floats:
    """Lambda of least variance for each classifier; 0 where the scores expect a constant."""
    covariance = ((f - f.mean(axis=1, keepdims=True)) * (g - g.mean(axis=1, keepdims=True))).mean(1)
    variance = every.var(axis=1, ddof=1)
    varies = variance > 0
    tuning = np.divide(covariance, (1 + ratio) * variance, out=np.zeros(len(f)), where=varies)
    return np.clip(tuning, 0.0, 1.0)


def check_row_mean(metric: str) -> None:
    """Check that a metric is a mean over rows."""
    if not isinstance(metric, str) or metric not in ROW_MEANS:
        raise InputError(
            f"metric must be a mean over rows, one of {', '.join(map(repr, ROW_MEANS))}; got "
            f"{shown(metric)}. ECE, MCE, AUC and AUPRC are no means over rows: take another method."
        )


def guessed_values(matrix: ScoreMatrix, metric: str, guess: str) -> Floats:
    """Value of a metric in each row that is expected without its label, (classifier, obs)."""
    check_choice(guess, ("self", "ensemble"), "guess")
    believed = matrix.probs if guess == "self" else matrix.probs.mean(axis=0, keepdims=True)
    return np.asarray((row_values(matrix.probs, metric) * believed).sum(axis=2))


def observed_values(matrix: ScoreMatrix, metric: str) -> Floats:
    """Value of a metric in each labelled row, (classifier, labelled)."""
    rows = np.flatnonzero(matrix.labeled)
    values = row_values(matrix.probs[:, rows], metric)
    return np.asarray(values[:, np.arange(len(rows)), matrix.y[rows]])
