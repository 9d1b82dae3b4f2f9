"""AutoEval: the labelled rows' mean, steadied by what the scores expect (PPI++)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from bayescal.core.checks import check_number
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.baselines.row_means import (
    check_row_mean,
    guessed_values,
    observed_values,
)
from bayescal.quantities.ssme.data import panel_of


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
    6.1). The interval adds the variances of both means. It is approximate: of few labels it is too
    short, and of no width where all labelled rows are right and lambda is 0.

    References
    ----------
    .. [1] A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: Efficient Prediction-Powered
       Inference", 2023, sections 2 and 6. https://arxiv.org/abs/2311.01453
    .. [2] P. Boyeau, A. N. Angelopoulos, N. Yosef, J. Malik and M. I. Jordan, "AutoEval Done Right:
       Using Synthetic Data for Model Evaluation", 2024. https://arxiv.org/abs/2403.07008

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.baselines.autoeval import autoeval
    >>> y_true = [0, 1, 1, 0, None, None]
    >>> scores = bc.Scores(y_true=y_true, y_prob=[0.1, 0.9, 0.3, 0.4, 0.95, 0.1])
    >>> found = autoeval(scores)
    >>> found.estimate.round(3), found.tuning.round(3)
    (array([0.797]), array([0.316]))
    """
    check_row_mean(metric)
    check_number(prob, "prob", "(0, 1)")
    panel = panel_of(scores)
    n, n_rest = panel.n_labeled, panel.n_obs - panel.n_labeled
    if n < 2 or n_rest < 1:
        raise InputError(
            "AutoEval needs two labelled rows and one unlabelled row or more; got "
            f"{n} and {n_rest}. With all labels known, take their mean."
        )
    guessed = guessed_values(panel, metric, guess)
    f = observed_values(panel, metric)
    g, rest = guessed[:, panel.labeled], guessed[:, ~panel.labeled]
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
