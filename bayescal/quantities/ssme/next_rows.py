"""Single rows of a fit: which to label next, and on which every classifier is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_choice, check_whole, listing
from bayescal.core.errors import InputError
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores, predicted_class
from bayescal.quantities.ssme.data import score_matrix
from bayescal.quantities.ssme.metrics import ROW_MEANS, Metrics, row_values
from bayescal.results import access, schema

if TYPE_CHECKING:
    from xarray import DataTree


# Variances below this are those of rows whose label is known, or certain.
_LEAST_VARIANCE = 1e-12
_SEED = 20


class NextLabels(NamedTuple):
    """Rows to label, the most useful first.

    Parameters
    ----------
    rows : ndarray of shape (k,), int
        Their places among the rows that were fitted.
    width : ndarray of shape (k,), in (0, 1]
        Expected width of the metric's interval once a row and those before it are labelled, as a
        share of today's; averaged over classifiers.
    """

    rows: NDArray[np.intp]
    width: Floats


def next_labels(result: DataTree, k: int = 10, *, metric: str = "accuracy") -> NextLabels:
    """Choose the rows whose labels are expected to shrink a metric's intervals most.

    Parameters
    ----------
    result : DataTree
        What `bayescal.fit` returned for ``ssme`` with ``prob_label=True``.
    k : int, default 10
        Number of rows.
    metric : str, default "accuracy"
        One of `Metrics`.

    Returns
    -------
    NextLabels
        Rows and expected widths. Fewer than `k` rows where no other is without label.

    Raises
    ------
    InputError
        If the result has groups, weights or no label probabilities, or `metric` or `k` is none.

    Notes
    -----
    Estimand: the expected posterior variance of the metric once the labels are known. With p_i the
    probability of a label in each draw and m the metric, labelling row i is expected to take ``C'
    (diag P_i - P_i P_i')^-1 C`` off the variance of m, P_i being the mean of p_i (the law of total
    variance, to first order). C is the covariance of m and the label: ``Cov(m, p_i) + N d``, N the
    mean over draws of the label's variance in a draw, and d what the row's label itself adds to m.
    Rows are taken one by one, covariances updated as of a linear model. The likelihood's power
    discounts what a label tells of other rows. Results of earlier versions leave d out.

    Rows chosen so are not a random sample: fit them with ``labeling="random"``, which is right as
    the choice depends on scores and known labels only. The metrics of the labelled rows alone are
    then biased, and so is all that takes these rows for a sample of all.

    References
    ----------
    .. [1] D. V. Lindley, 1956. https://doi.org/10.1214/aoms/1177728069
    .. [2] D. B. Rubin, Biometrika 63(3), 1976. https://doi.org/10.1093/biomet/63.3.581

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ssme.truth("mixed").scores(20, 200, seed=1)
    >>> result = bc.fit(bc.ssme, scores, seed=20, prob_label=True)  # doctest: +SKIP
    >>> bc.ssme.next_labels(result, 3).rows  # doctest: +SKIP
    """
    check_choice(metric, Metrics._fields, "metric")
    check_whole(k, "k")
    prob = label_draws(result)
    values = access.variable(result, schema.POSTERIOR, metric)
    if schema.GROUP in values.dims:
        raise InputError(
            "rows to label next are those of a result without groups; got groups. Fit without them."
        )
    if schema.EFFECTIVE_N in result.attrs:
        raise InputError(
            "rows to label next are those of a result without weights; got weighted rows. Fit "
            "scores.without_weight()."
        )
    draws = access.flattened(values).reshape(len(prob), -1)
    if not np.isfinite(draws).all(axis=1).any():
        raise InputError(
            f"rows to label next need draws of the metric; {metric!r} is undefined in every draw. "
            "Choose another metric."
        )
    # With k labels more.
    priors, n = access.json_attribute(result, "priors"), int(result.attrs["n_labeled"]) + k
    power = float(priors["power"]) * n / (n + float(priors["discount"]))
    probs = _fitted_scores(result, *prob.shape[1:])
    own = None if probs is None else own_shares(probs, prob.mean(axis=0), metric)
    return greedy_rows(prob[..., 1:], draws, power, int(k), own)


def _fitted_scores(result: DataTree, n_obs: int, n_classes: int) -> Floats | None:
    """Scores that were fitted, (classifier, obs, class); results of earlier versions lack them."""
    if not access.has_variable(result, schema.CONSTANT_DATA, "class_score"):
        return None
    score = access.variable(result, schema.CONSTANT_DATA, "class_score")
    return np.asarray(score.transpose(..., "obs", "label_class")).reshape(-1, n_obs, n_classes)


def own_shares(probs: Floats, mean: Floats, metric: str) -> Floats:
    """What a row's label adds to a metric, against the first class: (obs, class but one, m).

    `probs` are those of m classifiers, (m, obs, class); `mean` are the labels' probabilities.
    """
    found = np.zeros(probs.shape)
    if metric in ROW_MEANS:
        found = row_values(probs, metric) / len(mean)
    elif metric in ("auc", "auprc"):
        # Of two classes that of the second, else the mean of one class against the rest.
        ranked = range(1 if mean.shape[1] == 2 else 0, mean.shape[1])
        for k in ranked:
            slopes = [_ranking_slope(one, mean[:, k], metric) for one in probs[..., k]]
            found[..., k] = np.array(slopes) / len(ranked)
    # Calibration errors are under the probabilities of labels, known or not.
    return np.asarray((found[..., 1:] - found[..., :1]).transpose(1, 2, 0))


def _ranking_slope(score: Floats, q: Floats, metric: str) -> Floats:
    """Derivative of AUC or AUPRC by the probability that each row is positive, (obs,)."""
    # Both are quotients of expected sums, in which a row meets itself as a positive only.
    _, place = np.unique(score, return_inverse=True)
    rows, positive = np.bincount(place), np.bincount(place, q)
    p, n, both = q.sum(), (1 - q).sum(), (q * (1 - q)).sum()
    if metric == "auc":
        below = ((rows - positive).cumsum() - (rows - positive) / 2)[place]
        above = (p - positive.cumsum() + positive / 2)[place]
        top, whole = q @ below - both / 2, p * n - both
        slope = below - above + q - 0.5, n - p - 1 + 2 * q
    else:
        rows = rows[::-1].cumsum()[::-1]
        hits = 1 + positive[::-1].cumsum()[::-1][place] - q
        top, whole = q @ (hits / rows[place]), p
        slope = (hits - q) / rows[place] + (positive / rows).cumsum()[place], np.ones(len(q))
    if whole < _LEAST_VARIANCE:
        return np.zeros(len(q))
    return np.asarray((slope[0] - top / whole * slope[1]) / whole)


def greedy_rows(
    prob: Floats, metric: Floats, power: float, k: int, own: Floats | None = None
) -> NextLabels:
    """Take row after row; `prob` is (draw, obs, class but one), `metric` (draw, classifier).

    `own` is what each label itself adds to the metric, (obs, class but one, classifier).
    """
    kept = np.isfinite(metric).all(axis=1)
    prob, metric = prob[kept], metric[kept]
    n_draws, n_obs, n_free = prob.shape
    own = np.zeros((n_obs, n_free, metric.shape[1])) if own is None else own
    mean = prob.mean(axis=0)
    # Of a label given what is known now: the variance between draws, and within them.
    total = mean[:, :, None] * (np.eye(n_free) - mean[:, None, :])
    centred = (prob - mean).reshape(n_draws, -1)
    noise = total - _own_blocks(centred, n_obs)
    # Of the metric's variance, what the label of a row adds within draws.
    within = (own * (noise @ own)).sum(axis=1)
    metric = metric - metric.mean(axis=0)
    before, known = (metric**2).mean(axis=0), 0.0
    rows: list[int] = []
    widths: list[float] = []
    open_rows = (np.diagonal(total, axis1=1, axis2=2) > _LEAST_VARIANCE).any(axis=1)
    for _ in range(min(k, int(open_rows.sum()))):
        spread = _own_blocks(centred, n_obs) + noise / power
        cross = (centred.T @ metric / n_draws).reshape(n_obs, n_free, -1) + noise @ own / power
        solved = np.linalg.pinv(spread, hermitian=True) @ cross
        # The power discounts what is learned of other rows, not that this label is known.
        gain = (cross * solved).sum(axis=1) - (1 / power - 1) * within
        gain /= np.maximum(before, _LEAST_VARIANCE)
        best = int(np.argmax(np.where(open_rows, gain.mean(axis=1), -np.inf)))
        open_rows[best] = False
        row = centred[:, best * n_free : (best + 1) * n_free]
        metric, known = metric - row @ own[best], known + within[best]
        centred, metric = _given(row, spread[best], centred), _given(row, spread[best], metric)
        rows.append(best)
        # The width of a metric that is certain already stays as it is.
        left = np.maximum((metric**2).mean(axis=0) - known, 0)
        share = np.divide(left, before, out=np.ones_like(before), where=before > 0)
        widths.append(float(np.sqrt(share).mean()))
    return NextLabels(np.array(rows, dtype=np.intp), np.array(widths))


def _own_blocks(centred: Floats, n_obs: int) -> Floats:
    """Covariances of each row's probabilities over draws, (obs, class, class)."""
    by_row = centred.reshape(len(centred), n_obs, -1)
    return np.asarray(np.einsum("sik,sil->ikl", by_row, by_row) / len(centred))


def _given(own: Floats, spread: Floats, values: Floats) -> Floats:
    """Shrink deviations so that their covariance is that given the label of a row."""
    # A square root of the update of the covariance (Potter's): V - c c' / s, for one class free.
    between = own.T @ own / len(own)
    weights, axes = np.linalg.eigh(spread)
    inverse = axes / np.sqrt(np.maximum(weights, _LEAST_VARIANCE))
    shares, turned = np.linalg.eigh(inverse.T @ between @ inverse)
    basis = inverse @ turned
    root, varies = 1 - np.sqrt(np.clip(1 - shares, 0, 1)), shares > _LEAST_VARIANCE
    factor = np.divide(root, shares, out=np.zeros_like(shares), where=varies)
    projected = own @ basis
    return np.asarray(values - (projected * factor) @ (projected.T @ values / len(own)))


class AllWrong(NamedTuple):
    """Failures that all classifiers share.

    Parameters
    ----------
    prob : ndarray of shape (obs,), in [0, 1]
        Posterior probability that every classifier is wrong on a row.
    rate : ndarray of shape (draw,), in [0, 1]
        Draws of the share of rows on which all are wrong, among the rows that were fitted.
    """

    prob: Floats
    rate: Floats


def all_wrong(result: DataTree, scores: Scores) -> AllWrong:
    """Find rows on which no classifier is right, and how many there are.

    Parameters
    ----------
    result : DataTree
        What `bayescal.fit` returned for ``ssme`` with ``prob_label=True``.
    scores : Scores
        The scores that were fitted.

    Returns
    -------
    AllWrong
        By row, and as a share of the rows.

    Raises
    ------
    InputError
        If the result has no probabilities of labels, or the scores are not those fitted.

    Notes
    -----
    Estimand: that the label is none of the classes that a classifier finds most probable. Where all
    predict the same class of two, that is the probability of the other one. A draw of the share has
    a label drawn for each row.
    """
    draws = label_draws(result)
    matrix = score_matrix(scores)
    if (matrix.n_obs, matrix.n_classes) != draws.shape[1:]:
        raise InputError(
            f"scores must be those that were fitted: {draws.shape[1]} rows of {draws.shape[2]} "
            f"classes; got {matrix.n_obs} of {matrix.n_classes}."
        )
    names, known = access.json_attribute(result, "classifiers"), matrix.labeled
    alike = list(matrix.classifiers) == names and (draws[:, known, matrix.y[known]] == 1).all()
    fitted = _fitted_scores(result, *draws.shape[1:])
    if alike and fitted is not None:
        # Scores may have been through a file of single precision since.
        alike = np.allclose(fitted, matrix.probs, rtol=0, atol=1e-6)
    if not alike:
        raise InputError(
            f"scores must be those that were fitted: the same rows in order, of {listing(names)}; "
            "got other classifiers, scores or labels. Pass what bayescal.fit got."
        )
    predicted = np.eye(matrix.n_classes, dtype=bool)[predicted_class(matrix.probs)].any(axis=0)
    wrong = np.where(predicted, 0.0, draws).sum(axis=2)
    happened = np.random.default_rng(_SEED).random(wrong.shape) < wrong
    return AllWrong(wrong.mean(axis=0), happened.mean(axis=1))


def label_draws(result: DataTree) -> Floats:
    """Read the probabilities of labels of a result, (draw, obs, class)."""
    schema.check_result(result)
    if not access.has_variable(result, schema.POSTERIOR, "prob_label"):
        raise InputError(
            "the result must hold the probabilities of labels; got one without. Fit bayescal.ssme "
            "with prob_label=True."
        )
    prob = access.variable(result, schema.POSTERIOR, "prob_label")
    return access.flattened(prob.transpose(..., "obs", "label_class"))
