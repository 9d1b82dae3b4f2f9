"""Labeled: metrics of the labelled rows alone, as evaluation is done without this package."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayescal.core.checks import MOST_DRAWN, check_data, check_number, check_whole, generator
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.quantities.ssme.baselines.imputed import check_labels
from bayescal.quantities.ssme.data import panel_of
from bayescal.quantities.ssme.metrics.label_draws import measured
from bayescal.quantities.ssme.metrics.metrics import Metrics, metrics


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
    """Measure every classifier on the labelled rows.

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
        If fewer than two classes have a label: AUC and AUPRC do not exist.

    References
    ----------
    .. [1] D. Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
       2025, section 5.2 and appendix B.2. https://arxiv.org/abs/2501.11866

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.baselines.labeled import labeled
    >>> scores = bc.Scores(y_true=[0, 1, 1, None], y_prob=[0.2, 0.9, 0.4, 0.6])
    >>> labeled(scores).accuracy.round(3)
    array([0.667])
    """
    return metrics(*_labeled_rows(scores, "Labeled"))


def labeled_by_group(scores: Scores) -> Metrics:
    """Measure every classifier on the labelled rows of each group.

    Parameters
    ----------
    scores : Scores
        As for `labeled`, with groups.

    Returns
    -------
    Metrics
        Arrays of shape (classifier, group). A metric that does not exist in a group is that of all
        labelled rows: of a group without labels, as in the paper, and AUC and AUPRC of a group
        whose labels are all of one class, of which the paper does not speak.

    Raises
    ------
    InputError
        As `labeled`, and if there are no groups.

    References
    ----------
    .. [1] D. Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
       2025, appendix B.2. https://arxiv.org/abs/2501.11866

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.baselines.labeled import labeled_by_group
    >>> y_prob, group = [0.2, 0.9, 0.4, 0.6], ["u", "u", "u", "v"]
    >>> scores = bc.Scores(y_true=[0, 1, 1, None], y_prob=y_prob, group=group)
    >>> labeled_by_group(scores).accuracy.round(3)
    array([[0.667, 0.667]])
    """
    check_data(scores, (Scores,), "labeled_by_group", "Scores(y_true=..., y_prob=...)")
    if scores.group is None:
        raise InputError("metrics by group need groups; got none. Pass group= with the scores.")
    panel = panel_of(scores)
    overall = labeled(scores)
    found = measured(panel.take(panel.labeled), panel.known)
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
    resample in which only one class is left has no AUC and no AUPRC and is left out of theirs. Of
    few labels the interval is too narrow, as the bootstrap knows no row that was not seen: with 20
    labels and an accuracy of .95 a third of all samples hold no error, and their interval is a
    single point.

    References
    ----------
    .. [1] B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, section 13.3.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.ssme.baselines.labeled import labeled_interval
    >>> scores = bc.Scores(y_true=[0, 1, 1, None], y_prob=[0.2, 0.9, 0.4, 0.6])
    >>> ends = labeled_interval(scores)
    >>> ends.lower.accuracy.round(3), ends.upper.accuracy.round(3)
    (array([0.333]), array([1.]))
    """
    check_number(prob, "prob", "(0, 1)")
    check_whole(n_boot, "n_boot", most=MOST_DRAWN)
    probs, one_hot = _labeled_rows(scores, "Labeled's interval")
    n = len(one_hot)
    counts = generator(seed).multinomial(n, np.full(n, 1 / n), size=n_boot)
    found = metrics(probs, one_hot, counts.astype(np.float64))
    tail = (1 - prob) / 2

    def end(level: float) -> Metrics:
        return Metrics(*(_quantile(values, level) for values in found))

    return Interval(end(tail), end(1 - tail))


def _labeled_rows(scores: Scores, method: str) -> tuple[Floats, Floats]:
    """Probabilities and one-hot labels of the labelled rows."""
    panel = panel_of(scores)
    check_labels(panel, method, classes=2)
    return panel.probs[:, panel.labeled], panel.known


def _quantile(values: Floats, level: float) -> Floats:
    """Quantile over the draws in which a metric exists."""
    exists = np.isfinite(values)
    if not exists.any(axis=0).all():
        raise InputError(
            f"none of {len(values)} resamples holds rows of two classes, so that AUC and AUPRC "
            "have no interval. Label more rows of the rarer class, or raise n_boot."
        )
    return np.asarray(np.nanquantile(values, level, axis=0))
