"""The models to fit for given data, and what they share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import Binning
from bayescal.core.checks import check_data, check_is, check_rows
from bayescal.core.columns import MISSING, Label
from bayescal.core.count_table import CountTable
from bayescal.core.counts import Counts
from bayescal.core.plausibility import class_signs
from bayescal.core.quantity import Case, CaseArrays, Floats, Plan
from bayescal.core.scores import Scores, Task
from bayescal.curves.average import weighing
from bayescal.curves.cells import Problem
from bayescal.curves.shared_rows import shared_rows
from bayescal.quantities.ece.data import (
    Data,
    in_table,
    is_fine,
    problems,
    problems_by_group,
)
from bayescal.quantities.ece.estimator import resolved
from bayescal.quantities.ece.grouped_posterior import GROUPED_VARIABLES, GroupedCase, without_ends
from bayescal.quantities.ece.posterior import AveragedCase, EceCase, case_of
from bayescal.quantities.ece.priors import CurveAverage, Priors
from bayescal.results.measure import correlation, weighted_influence


def error_correlation(
    tasks: Sequence[Task], cases: Sequence[EceCase | AveragedCase], found: Sequence[CaseArrays]
) -> Floats:
    """Correlation of classifiers' calibration errors over shared rows, (classifier, classifier)."""
    influences = []
    for task, case, arrays in zip(tasks, cases, found, strict=True):
        cells = case.problem.cells
        held = np.flatnonzero(cells.count)
        sign = np.zeros(cells.n_bins)
        sign[held] = np.asarray(arrays.constant_data["gap_direction"])[: len(held)]
        influences.append(influence(task, cells, sign))
    return correlation(influences)


def influence(task: Task, cells: BinCounts, sign: Floats) -> Floats:
    """What each row adds to the estimate of a classifier's calibration error, (obs,).

    Notes
    -----
    The calibration error is ``E |P(Y | f) - f| = E [d(f) (Y - f)]`` with d the sign of the gap. Row
    i adds ``d(s_i) (y_i - s_i)``, and as d is optimal the error in it is of second order: this is
    the influence function of the error. Of weights w it is that of a weighted mean, ``w_i`` times
    the row's distance from that mean.
    """
    found = sign[cells.find(task.score)] * (task.event - task.score)
    return np.asarray(weighted_influence(found, task.weight), dtype=np.float32)


def plan(
    data: Data | Counts | Mapping[str, Counts],
    priors: Priors,
    *,
    binning: Binning | None = None,
    multiclass: str = "top-label",
) -> Plan:
    """Plan the fits of calibration errors.

    Parameters
    ----------
    data : Scores, BinCounts, Counts, CountTable or mapping of str to Counts
        Scores with labels, one problem's counts, or counts by classifier (and group).
    priors : Priors
        Priors.
    binning : Binning, optional
        Bins of the evaluation, in place of those of `Counts`; not used with `BinCounts`. With
        ``n_bins="optimal"`` groups have one number of bins, that of their mean number of labelled
        rows.
    multiclass : {"top-label", "class-wise", "marginal"}, default "top-label"
        How several classes become binary problems; see `bayescal.ece.estimate`.

    Returns
    -------
    Plan
        A case a classifier (and class). Groups are one case under a smooth curve, and a case each
        under bins.

    Raises
    ------
    InputError
        If the data are of another class, or hold no labelled row.
    """
    kinds = (Scores, BinCounts, Counts, Mapping)
    check_data(data, kinds, "ece", "Scores(y_true=..., y_prob=...)", Counts)
    rows: Data = in_table(data, binning)
    check_is(priors, Priors, "priors", "Pass bayescal.ece.Priors().")
    bins = resolved(Binning.of(binning), rows)
    attrs = _attributes(rows, bins, multiclass) | weighing(priors.label_rate)
    if not isinstance(rows, BinCounts) and rows.groups:
        found = problems_by_group(rows, priors, bins, multiclass)
        parts = [case for own in found for case in _of_groups(own, rows.groups, priors)]
        pooled = any(isinstance(case, GroupedCase) for case in parts)
        return Plan(parts, attrs, variables=GROUPED_VARIABLES if pooled else ())
    cases = [
        case_of(problem, priors, _notes(rows, problem.coords))
        for problem in problems(rows, priors, bins, multiclass)
    ]
    tasks = _shared_tasks(rows, multiclass)
    if not tasks:
        return Plan(cases, attrs)
    shared = shared_rows(tasks, [case.problem.cells for case in cases])
    by_classifier_alone = len({case.coords["classifier"] for case in cases}) == len(cases)
    correlate = partial(error_correlation, tasks, cases) if by_classifier_alone else None
    return Plan(cases, attrs, correlate, shared_rows=shared)


def _shared_tasks(data: Data, multiclass: str) -> Sequence[Task]:
    """The binary problems of rows that several classifiers share; none of one classifier."""
    if isinstance(data, Scores):
        return data.tasks(multiclass) if data.n_classifiers > 1 else ()
    return data.shared_tasks() if isinstance(data, CountTable) else ()


def _notes(data: Data, coords: Mapping[str, str]) -> Sequence[str]:
    """What is said of a classifier's labels of several classes."""
    return class_signs(data, coords["classifier"]) if isinstance(data, Scores) else ()


def _of_groups(found: Sequence[Problem], groups: Collection[str], priors: Priors) -> Sequence[Case]:
    """One model for all groups that share a curve; independent ones otherwise."""
    check_rows(len(found), "the labelled rows")
    held = {problem.coords["group"] for problem in found}
    notes = [
        f"group {name} has no labelled row and is left out." for name in groups if name not in held
    ]
    if is_fine(priors) and _have_a_curve(found, priors):
        return [GroupedCase.of(found, priors, notes)]
    return [case_of(problem, priors, notes) for problem in found]


def _have_a_curve(found: Sequence[Problem], priors: Priors) -> bool:
    """Whether there is a curve to share: under an average scores of 0 and 1 are on none."""
    average = isinstance(priors.label_rate, CurveAverage)
    return not average or any(without_ends(problem).cells.count.any() for problem in found)


def _attributes(data: Data, binning: Binning, multiclass: str) -> dict[str, Any]:
    """What was binned, and how: root attributes of the result."""
    if isinstance(data, BinCounts):
        return _of_counts(data, data.n, (0, 1))
    if isinstance(data, CountTable):
        counts = next(iter(data.values()))
        return _of_counts(counts.bins, counts.n_obs, counts.classes)
    return {
        "n_obs": data.n_obs,
        "n_labeled": data.n_labeled,
        "classes": [str(label) for label in data.classes],
        "multiclass": "binary" if data.is_binary else multiclass,
        **binning.attrs,
        **_effective(data),
    }


def _effective(data: Scores) -> dict[str, float]:
    """The effective number of labelled rows, where rows have weights."""
    if data.sample_weight is None:
        return {}
    weight = data.sample_weight[data.y_true != MISSING]
    return {"effective_n": float(weight.sum() ** 2 / (weight**2).sum())}


def _of_counts(bins: BinCounts, n_obs: int, classes: Sequence[Label]) -> dict[str, Any]:
    return {
        "n_obs": n_obs,
        "n_labeled": bins.n,
        "classes": [str(label) for label in classes],
        "multiclass": "binary",
        "binning_strategy": bins.strategy,
        "n_bins": bins.n_bins,
        "closed": bins.closed,
        **({"effective_n": bins.effective_n} if bins.weighted else {}),
    }
