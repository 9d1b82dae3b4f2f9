"""Active-Testing: rows to label are drawn where loss is expected, and weighted back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_number, check_whole, generator
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.baselines.row_means import (
    check_row_mean,
    guessed_values,
    observed_values,
)
from bayescal.quantities.ssme.data import panel_of


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
        A pool of rows of which every label is known. Only `budget` labels are looked at for each
        classifier.
    metric : {"accuracy", "log_loss", "brier"}, default "accuracy"
        A metric that is a mean over rows.
    budget : int
        Number of rows to label for each classifier.
    guess : {"self", "ensemble"}, default "self"
        Whose probabilities say where loss is to be expected: each classifier's own, or the mean of
        all.
    floor : float, in (0, 1], default 0.1
        Least probability of a row to be drawn, relative to a uniform draw from those that are left.
        A row that is never drawn would bias the estimate.
    seed : int, default 0
        Same seed, same rows.

    Returns
    -------
    ActiveTest
        Estimates of shape (classifier,), and the rows.

    Raises
    ------
    InputError
        If a label is missing, the metric is not a mean over rows, or `budget` or `floor` lies
        outside its range.

    Notes
    -----
    Rows are drawn one after the other without putting back, with probability q proportional to the
    expected loss (1 - accuracy, log loss or Brier score). Of a pool of N rows, the loss of the m-th
    of M rows is weighted by ``1 + (N - M) / (N - m) (1 / ((N - m + 1) q) - 1)``: R_LURE, an
    estimate of the pool's mean loss without bias, [1]_ equation 6 and [2]_.

    Labels are saved where the loss itself is foreseen. A loss of 0 or 1 gains nothing from an
    honest guess r of its probability: the variance of a row is the sum of r / q over the pool, the
    same for q proportional to r as for a uniform q. A classifier that believes in itself expects no
    loss where it errs, and does worse than that.

    The SSME paper [3]_, whose baseline this is, cites [1]_ in section 5.2, which is what this is,
    and in appendix B.2 another method, [4]_: it estimates the loss of every row from a surrogate
    model that is trained anew as labels come in, and needs the rows' features. The paper labels "a
    fixed number" of rows that it does not give. Its errors on toxic comments are 7.2, 7.3 and 7.5
    points beside 20, 50 and 100 labels; a `budget` of 10 whatever the number of labels gives this
    level.

    References
    ----------
    .. [1] J. Kossen, S. Farquhar, Y. Gal and T. Rainforth, "Active Testing: Sample-Efficient Model
       Evaluation", ICML 2021, section 4. https://arxiv.org/abs/2103.05331
    .. [2] S. Farquhar, Y. Gal and T. Rainforth, "On Statistical Bias in Active Learning: How and
       When to Fix It", ICLR 2021, section 4. https://arxiv.org/abs/2101.11665
    .. [3] D. Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
       2025, section 5.2 and appendix B.2. https://arxiv.org/abs/2501.11866
    .. [4] J. Kossen, S. Farquhar, Y. Gal and T. Rainforth, "Active Surrogate Estimators: An Active
       Learning Approach to Label-Efficient Model Evaluation", NeurIPS 2022.
       https://arxiv.org/abs/2202.06881

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.baselines.active_testing import active_testing
    >>> pool = bc.Scores(y_true=[0, 1, 1, 0], y_prob=[0.1, 0.9, 0.4, 0.2])
    >>> active_testing(pool, budget=4).estimate
    array([0.75])
    """
    check_row_mean(metric)
    panel = panel_of(oracle)
    n = panel.n_obs
    if panel.n_labeled < n:
        raise InputError(
            "Active-Testing asks for labels of rows that it chooses, so that every row needs one; "
            f"got {n - panel.n_labeled} rows without. Pass a pool whose labels are all known."
        )
    check_whole(budget, "budget", 1, f"Pass a number up to the pool's {n} rows.", n)
    check_number(floor, "floor", "(0, 1]", "Pass 0.1.")
    sign = -1.0 if metric == "accuracy" else 1.0
    shift = 1.0 if metric == "accuracy" else 0.0
    # A loss of 1 - accuracy; expectations are cut at 0, which they miss by rounding only.
    expected = np.maximum(shift + sign * guessed_values(panel, metric, guess), 0.0)
    loss = shift + sign * observed_values(panel, metric)
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
