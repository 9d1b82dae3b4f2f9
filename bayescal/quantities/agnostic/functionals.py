"""What draws of the calibration curve imply, cell by cell: the measure, costs and ROC curves.

And what each row adds to these, by which the metrics of classifiers correlate over shared rows.

A cell has a score, a mass and a label rate; cells run by rising score along the last axis, and
axes before it are of draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.quantity import CaseArrays, Floats
from bayescal.core.scores import Task
from bayescal.quantities.agnostic.decisions import DecisionRule

if TYPE_CHECKING:
    from bayescal.quantities.agnostic.posterior import AgnosticCase


def cost_draws(rule: DecisionRule, score: Floats, positive: Floats, negative: Floats) -> Floats:
    """Cost of a rule, given the mass or number of positives and negatives in each cell, (...)."""
    of_positive, of_negative = rule.cost_table[rule.action_of(score)].T
    return np.asarray(positive @ of_positive + negative @ of_negative)


def draw_labels(
    count: NDArray[np.int64], rate: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
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
) -> dict[str, NDArray[np.float64]]:
    """Correlation of each metric over shared rows, ([class,] classifier, classifier).

    Labels matter through the rates, which labelled rows alone show, and scores of all rows. So a
    covariance is the mean of L_i M_i over the n labelled rows, over n, L and M being the
    classifiers' influences of the label times ``y - rate``, and that of the influences of the score
    over all N rows, over N. Of unlabelled rows only the labels are uncertain.
    """
    classes = list(dict.fromkeys(case.coords.get("class", "") for case in cases))
    parts = list(zip(cases, rows, found, strict=True))
    matrices = [_of_one([part for part in parts if _class(part[0]) == name]) for name in classes]
    if len(classes) == 1:
        return matrices[0]
    return {name: np.stack([one[name] for one in matrices]) for name in matrices[0]}


def _class(case: AgnosticCase) -> str:
    return case.coords.get("class", "")


def _of_one(parts: Sequence[Part]) -> dict[str, NDArray[np.float64]]:
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


def _normed(covariance: Floats) -> NDArray[np.float64]:
    """Correlation matrix; 0 beside what does not vary."""
    spread = np.sqrt(np.diag(covariance))
    scale = np.outer(spread, spread)
    found = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found.clip(-1, 1))
