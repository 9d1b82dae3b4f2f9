"""ROC curves and costs: of calibrated scores, what draws of the curve imply, and of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_flag, check_number, check_same_length
from bayescal.core.columns import Whole
from bayescal.core.errors import InputError
from bayescal.core.intake import check_same_order
from bayescal.core.quantity import CaseArrays, Floats
from bayescal.core.scores import Task
from bayescal.quantities.agnostic.decisions import DecisionRule
from bayescal.quantities.agnostic.estimator import checked_probabilities
from bayescal.results import access, intervals
from bayescal.results.compare import Difference, Pair, draw_by_draw
from bayescal.results.curves import RocRegion
from bayescal.results.curves import roc_band as roc_band
from bayescal.results.curves import roc_boxes as roc_boxes
from bayescal.results.intervals import interval, tail

if TYPE_CHECKING:
    from bayescal.quantities.agnostic.posterior import AgnosticCase


class Roc(NamedTuple):
    """An ROC curve."""

    threshold: Floats  #: Scores from which on a row is called positive, falling, (point,).
    fpr: Floats  #: False positive rate at each.
    tpr: Floats  #: True positive rate at each.
    auc: float  #: Area under the curve.


def roc(score: ArrayLike, *, probability: ArrayLike | None = None) -> Roc:
    """Compute the ROC curve that the scores imply if they are calibrated; section 4 of the paper.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores of unlabelled rows.
    probability : array-like of shape (obs,), in [0, 1], optional
        Probability that each row is positive, by default its score; labels give the usual curve.

    Returns
    -------
    Roc
        A point for each distinct score, and (0, 0).

    Raises
    ------
    InputError
        If scores or probabilities are not such, or imply no positive or no negative row.

    Notes
    -----
    ``TPR(p) = sum f 1{f > p} / sum f`` and ``FPR(p) = sum (1 - f) 1{f > p} / (n - sum f)``. The
    paper prints ``f < p``: `printed_roc`.

    Examples
    --------
    >>> import bayescal as bc
    >>> curve = bc.agnostic.roc([0.25, 0.75])
    >>> curve.tpr.tolist(), curve.fpr.tolist(), curve.auc
    ([0.0, 0.75, 1.0], [0.0, 0.25, 1.0], 0.75)
    """
    check_same_order(probability=probability, score=score)
    scores = checked_probabilities(score, "score")
    chances = scores if probability is None else checked_probabilities(probability, "probability")
    check_same_length(len(scores), "score", len(chances), "probability")
    order = np.argsort(scores)[::-1]
    falling = scores[order]
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    hits = np.append(0.0, np.cumsum(chances[order])[ends])
    alarms = np.append(0.0, np.cumsum(1 - chances[order])[ends])
    if not (hits[-1] > 0 and alarms[-1] > 0):
        only = "negative" if hits[-1] == 0 else "positive"
        raise InputError(
            f"an ROC curve needs positive and negative rows; by their probabilities all rows are "
            f"{only}. Pass rows of both."
        )
    tpr, fpr = hits / hits[-1], alarms / alarms[-1]
    return Roc(np.append(falling[ends], -np.inf), fpr, tpr, float(np.trapezoid(tpr, fpr)))


def printed_roc(score: ArrayLike, *, probability: ArrayLike | None = None) -> Roc:
    """Compute the curve of the paper's formulas as printed, with ``f < p`` for ``f > p``.

    Section 4 of the paper.

    Parameters
    ----------
    score, probability
        As for `roc`.

    Returns
    -------
    Roc
        Its thresholds rise, from the least score up to inf.

    Raises
    ------
    InputError
        As for `roc`.

    Notes
    -----
    ``TPR(p) = sum f 1{f < p} / sum f`` and ``FPR(p) = sum (1 - f) 1{f < p} / (n - sum f)`` are the
    shares of the positives and of the negatives that are called negative. So the curve is that of
    `roc` turned by half a turn, and its area one less that of `roc`.
    """
    curve = roc(score, probability=probability)
    threshold = np.append(curve.threshold[-2::-1], np.inf)
    return Roc(threshold, 1 - curve.fpr[::-1], 1 - curve.tpr[::-1], 1 - curve.auc)


def roc_region(score: ArrayLike, c: float) -> RocRegion:
    """Bound the ROC curve of unlabelled rows, given their calibration measure.

    Section 4 of the paper.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores of the unlabelled rows.
    c : float, in [0, 1]
        Calibration measure of these rows, or a bound of it.

    Returns
    -------
    RocRegion
        At the thresholds of ``roc(score)``.

    Raises
    ------
    InputError
        If scores are not probabilities or imply one class, or `c` does not lie in [0, 1].

    Notes
    -----
    ``(sum f 1{f > p} ± n c) / sum f`` for the true positive rate, and the same with 1 - f for the
    false positive rate, whose region the paper does not print. If the rows' measure is c at most,
    the true curve lies in the region at all thresholds at once: the positives above p and those up
    to p are each off by n c at most, and so is their sum.

    Examples
    --------
    >>> import bayescal as bc
    >>> region = bc.agnostic.roc_region([0.25, 0.75], 0.125)
    >>> region.tpr_lower.tolist(), region.tpr_upper.tolist()
    ([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    """
    check_number(c, "c", "[0, 1]", "Pass a calibration measure.")
    curve = roc(score)
    scores = checked_probabilities(score, "score")
    miscount = c * len(scores)
    negatives, positives = float((1 - scores).sum()), float(scores.sum())
    return RocRegion(
        *_between(curve.fpr, miscount / negatives), *_between(curve.tpr, miscount / positives)
    )


def _between(rate: Floats, slack: float) -> tuple[Floats, Floats]:
    """Rates within the slack; 0 and 1, without and with all rows, are certain."""
    inside = np.full(rate.shape, slack)
    inside[[0, -1]] = 0.0
    return np.maximum(rate - inside, 0), np.minimum(rate + inside, 1)


def cost_draws(rule: DecisionRule, score: Floats, positive: Floats, negative: Floats) -> Floats:
    """Cost of a rule, given the mass or number of positives and negatives in each cell, (...)."""
    of_positive, of_negative = rule.cost_table[rule.action_of(score)].T
    return np.asarray(positive @ of_positive + negative @ of_negative)


def draw_labels(count: Whole, rate: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the positives and negatives of the rows in each cell, (..., cell)."""
    positive = rng.binomial(count, rate).astype(np.float64)
    return positive, count - positive


class RocDraws(NamedTuple):
    """An ROC curve of each draw, from (0, 0) to (1, 1), a point for each cell."""

    fpr: Floats  # (..., cell + 1)
    tpr: Floats  # (..., cell + 1)
    auc: Floats  # (...)


def roc_draws(positive: Floats, negative: Floats) -> RocDraws:
    """ROC curves, of which point k has the k cells of the highest scores above the threshold."""
    tpr, fpr = (_share_above(values) for values in (positive, negative))
    twice = np.einsum("...k,...k", tpr[..., 1:] + tpr[..., :-1], fpr[..., 1:] - fpr[..., :-1])
    return RocDraws(fpr, tpr, np.asarray(twice / 2))


def _share_above(values: Floats) -> Floats:
    """Share of the total above each threshold, highest first."""
    share = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    above = share[..., 1:]
    np.cumsum(values[..., ::-1], axis=-1, out=above)
    total = above[..., -1:].copy()
    above /= np.where(total > 0, total, np.nan)
    return share


class PrefixSums(NamedTuple):
    """Largest, least and last of the sums of the first cells, the empty sum among them, (...)."""

    high: Floats
    low: Floats
    last: Floats

    @classmethod
    def of(cls, summands: Floats) -> PrefixSums:
        """Sum up, (..., cell)."""
        sums = np.cumsum(summands, axis=-1)
        high, low = (np.asarray(end(axis=-1, initial=0.0)) for end in (sums.max, sums.min))
        return cls(high, low, sums[..., -1] if sums.shape[-1] else np.zeros(sums.shape[:-1]))

    def between(self, before: Floats | float, after: Floats | float) -> PrefixSums:
        """Add a cell before the first one, and one behind the last."""
        total = before + self.last + after
        return PrefixSums(
            np.maximum(np.maximum(before + self.high, total), 0.0),
            np.minimum(np.minimum(before + self.low, total), 0.0),
            np.asarray(total),
        )

    @property
    def measures(self) -> dict[str, Floats]:
        """Largest absolute sum over neighbouring cells, c, and over those from the first on, ks."""
        return {"c": self.high - self.low, "ks": np.maximum(self.high, -self.low)}


class Influence(NamedTuple):
    """What a row adds to a metric, by the cell of its score."""

    label: Floats
    score: Floats


class SharedRows(NamedTuple):
    """Rows that classifiers share, or that stand for them: labelled ones, and other scores."""

    task: Task
    unlabeled: NDArray[np.floating]


type Part = tuple[AgnosticCase, SharedRows, CaseArrays]


def correlations(
    cases: Sequence[AgnosticCase], rows: Sequence[SharedRows], found: Sequence[CaseArrays]
) -> dict[str, Floats]:
    """Correlation of each metric over shared rows, ([class,] classifier, classifier).

    Labels matter through the rates, which labelled rows alone show, and scores of all rows. So a
    covariance is the mean of L_i M_i over the n labelled rows, over n, L and M being the
    classifiers' influences of the label times ``y - rate``, and that of the influences of the score
    over all N rows, over N. Of unlabelled rows only the labels are uncertain.
    """
    by_class: dict[str, list[Part]] = {}
    for part in zip(cases, rows, found, strict=True):
        by_class.setdefault(part[0].coords.get("class", ""), []).append(part)
    matrices = [_of_one(parts) for parts in by_class.values()]
    if len(matrices) == 1:
        return matrices[0]
    return {name: np.stack([one[name] for one in matrices]) for name in matrices[0]}


def _of_one(parts: Sequence[Part]) -> dict[str, Floats]:
    """Correlations of the classifiers of one class."""
    rates = [_rates(case, arrays) for case, _, arrays in parts]
    by_case = [influences(case, rate) for (case, *_), rate in zip(parts, rates, strict=True)]
    every = [(case.problem.cells, rows) for case, rows, _ in parts]
    places = [own.find(rows.task.score) for own, rows in every]
    rest = [own.find(rows.unlabeled) for own, rows in every]
    figures = parts[0][0].problem.figures
    n_labeled, n_all = figures.n, figures.n + figures.n_unlabeled
    found = {}
    for name in by_case[0]:
        by_label = np.stack(
            [
                own[name].label[place] * (rows.task.event - rate[place])
                for own, place, (_, rows), rate in zip(by_case, places, every, rates, strict=True)
            ]
        )
        by_score = np.stack(
            [
                own[name].score[np.concatenate(both)]
                for own, *both in zip(by_case, places, rest, strict=True)
            ]
        )
        of_labels = by_label @ by_label.T / by_label.shape[1] / n_labeled
        of_scores = np.atleast_2d(np.cov(by_score, bias=True)) / n_all
        found[name] = _normed(of_labels + of_scores)
        if figures.n_unlabeled:
            found[f"unlabeled_{name}"] = _normed(of_labels)
    return {name: matrix for name, matrix in found.items() if name in parts[0][2].posterior}


def _rates(case: AgnosticCase, arrays: CaseArrays) -> Floats:
    """Posterior mean of the label rates of the cells, (cell,)."""
    curve = np.asarray(arrays.posterior["calibration_curve"]).mean(axis=(0, 1))
    at = np.asarray(arrays.constant_data["curve_score"])
    return np.asarray(np.interp(case.problem.cells.mean_score, at, curve))


def influences(case: AgnosticCase, rate: Floats) -> dict[str, Influence]:
    """Influences on each metric, given the label rates of the cells."""
    cells = case.problem.cells
    score, mass = cells.mean_score, cells.count / cells.count.sum()
    return {
        **_of_measures(score, mass, rate),
        "auc": _of_auc(mass, rate),
        **{name: _of_cost(rule, score, rate) for name, rule in case.rules.items()},
    }


def _of_measures(score: Floats, mass: Floats, rate: Floats) -> Mapping[str, Influence]:
    """Of c, in the interval that attains it, and of ks."""
    sums = np.append(0.0, np.cumsum(mass * (score - rate)))
    high, low = int(sums.argmax()), int(sums.argmin())
    far = int(np.abs(sums).argmax())
    return {
        "c": _of_interval(score, rate, low, high),
        "ks": _of_interval(score, rate, *((0, far) if sums[far] > 0 else (far, 0))),
    }


def _of_interval(score: Floats, rate: Floats, low: int, high: int) -> Influence:
    """Of the sum at `high` less that at `low`."""
    place = np.arange(len(score))
    up, down = (place >= low) & (place < high), (place >= high) & (place < low)
    sign = up.astype(np.float64) - down
    return Influence(-sign, sign * (score - rate))


def _of_auc(mass: Floats, rate: Floats) -> Influence:
    """Of the AUC: what a positive and a negative row add, which are DeLong's components."""
    positive, negative = mass * rate, mass * (1 - rate)
    share = positive.sum()
    if not 0 < share < 1:
        return Influence(np.zeros(len(mass)), np.zeros(len(mass)))
    below = (np.cumsum(negative) - negative / 2) / (1 - share)
    above = 1 - (np.cumsum(positive) - positive / 2) / share
    auc = positive @ below / share
    of_positive, of_negative = (below - auc) / share, (above - auc) / (1 - share)
    return Influence(of_positive - of_negative, rate * of_positive + (1 - rate) * of_negative)


def _of_cost(rule: DecisionRule, score: Floats, rate: Floats) -> Influence:
    """Of a rule's cost."""
    positive, negative = rule.cost_table[rule.action_of(score)].T
    return Influence(positive - negative, rate * positive + (1 - rate) * negative)


def _normed(covariance: Floats) -> Floats:
    """Correlation matrix; 0 beside what does not vary."""
    spread = np.sqrt(np.diag(covariance))
    scale = np.outer(spread, spread)
    found = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found.clip(-1, 1))


def upper_bound(
    result: xr.DataTree,
    prob: float = 0.95,
    *,
    classifier: str | None = None,
    class_: str | None = None,
) -> float:
    """Give the number that the calibration measure is below, with a posterior probability.

    Parameters
    ----------
    result : xarray.DataTree
        A result of this quantity.
    prob : float, in (0.5, 1), default 0.95
        Posterior probability.
    classifier, class_ : str, optional
        Needed where the result has several.

    Returns
    -------
    float
        The upper end of ``bc.interval(result, "c", 2 * prob - 1)``.

    Raises
    ------
    InputError
        If there is no such classifier or class, or `prob` lies outside (0.5, 1).

    Notes
    -----
    c is 0 with the posterior probability that the classifier is calibrated. The bound is that of
    the other case, with the descriptions of the curve weighted as `bayescal.interval` says: it does
    not collapse to 0 near calibration. See `prob_above` too.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.agnostic.truth("over").scores(500, seed=1)
    >>> result = bc.fit(bc.agnostic, scores, method="direct", seed=20)
    >>> bc.agnostic.upper_bound(result) > bc.datasets.agnostic.truth("over").c
    True
    """
    check_number(prob, "prob", "(0.5, 1)", "Pass 0.95.")
    ends = interval(result, "c", 2 * prob - 1)
    return float(access.at(ends, access.named_case(result, classifier, class_)).values[1])


def prob_above(
    result: xr.DataTree, value: float, *, classifier: str | None = None, class_: str | None = None
) -> float:
    """Give the posterior probability that the calibration measure exceeds a value.

    Parameters
    ----------
    result : xarray.DataTree
        A result of this quantity.
    value : float
        The measure that would matter.
    classifier, class_ : str, optional
        Needed where the result has several.

    Returns
    -------
    float
        P(c > value), averaged over all descriptions of the curve, calibrated among them.

    Raises
    ------
    InputError
        If there is no such classifier or class.
    """
    check_number(value, "value", "(-inf, inf)")
    case = access.named_case(result, classifier, class_)
    return float(access.at(intervals.prob_above(result, "c", value), case))


def rule_difference(
    result: xr.DataTree,
    first: str,
    second: str,
    prob: float = 0.9,
    *,
    unlabeled: bool = False,
    classifier: str | None = None,
) -> Difference:
    """Give the posterior of the difference of two rules' costs, first minus second.

    Parameters
    ----------
    result : xarray.DataTree
        A result of several rules.
    first, second : str
        Names of two of them.
    prob : float, in (0, 1), default 0.9
        Probability of the interval.
    unlabeled : bool, default False
        Whether the costs are those of the unlabelled rows, or expected in the population.
    classifier : str, optional
        Needed where the result has several.

    Returns
    -------
    Difference
        Mean, interval, probabilities and draws; both costs come from the same draws.

    Raises
    ------
    InputError
        If there is no such rule or classifier, or `prob` is no probability.

    Examples
    --------
    >>> import bayescal as bc
    >>> costs = {"keep": (5, 0), "remove": (0, 3)}
    >>> rules = {
    ...     "bayes": bc.agnostic.bayes_rule(costs),
    ...     "half": bc.DecisionRule(costs, {"keep": (0, 0.5), "remove": (0.5, 1)}),
    ... }
    >>> scores = bc.datasets.agnostic.truth("calibrated").scores(500, seed=1)
    >>> result = bc.fit(bc.agnostic, scores, decision=rules, method="direct", seed=20)
    >>> bc.agnostic.rule_difference(result, "bayes", "half").mean < 0
    True
    """
    tail(prob)
    check_flag(unlabeled, "unlabeled")
    names = [f"{'unlabeled_' if unlabeled else ''}cost_{rule}" for rule in (first, second)]
    case = access.named_case(result, classifier)
    draws = [access.flat_draws(result, access.check_variable(result, one), case) for one in names]
    pair = Pair(first, second, "unlabeled_cost" if unlabeled else "cost", prob, None, None)
    converged = access.all_converged(result, [case])
    return replace(draw_by_draw(pair, draws, "a cost is"), converged=converged)
