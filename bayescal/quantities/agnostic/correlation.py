"""Correlation of classifiers' metrics due to the rows that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.quantity import CaseArrays
from bayescal.core.tasks import Task
from bayescal.quantities.agnostic.decisions import DecisionRule
from bayescal.quantities.agnostic.figures import RowFigures
from bayescal.quantities.agnostic.posterior import AgnosticCase

type Floats = NDArray[np.float64]


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
    variance is the mean of L_i^2 over the n labelled rows, over n, L being the influence of the
    label times ``y - rate``, and that of the influence of the score over all N rows, over N. A
    covariance has products of influences. Of unlabelled rows only the labels are uncertain.
    """
    classes = list(dict.fromkeys(case.coords.get("class", "") for case in cases))
    parts = list(zip(cases, rows, found, strict=True))
    matrices = [_of_one([part for part in parts if _class(part[0]) == name]) for name in classes]
    if len(classes) == 1:
        return matrices[0]
    return {name: np.stack([one[name] for one in matrices]) for name in matrices[0]}


def _class(case: AgnosticCase) -> str:
    return case.coords.get("class", "")


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


def rows_of(case: AgnosticCase) -> SharedRows:
    """The rows of a case."""
    figures = case.problem.figures
    if not isinstance(figures, RowFigures):
        raise TypeError("only rows in memory show what classifiers share")
    return SharedRows(figures.task, figures.unlabeled)


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
