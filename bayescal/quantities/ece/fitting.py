"""The models to fit for given data, and what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_counts import BinCounts
from bayescal.core.edges import Strategy, strategy_name
from bayescal.core.factorize import Label
from bayescal.core.scores import Scores
from bayescal.core.tasks import Task
from bayescal.quantities.ece.case import EceCase
from bayescal.quantities.ece.grouped import GroupedCase
from bayescal.quantities.ece.influence import correlation, influence
from bayescal.quantities.ece.prepare import Data, by_group, problem_of, problems
from bayescal.quantities.ece.priors import Priors, SmoothCurve

# Cells of each group's scores; fewer than of all rows, as groups have fewer.
GROUP_CELLS = 50


def cases(
    data: Data,
    priors: Priors,
    *,
    n_bins: int = 15,
    strategy: Strategy = "quantile",
    closed: str = "right",
    multiclass: str = "top-label",
) -> list[EceCase | GroupedCase]:
    """Cut data into the models to fit.

    Parameters
    ----------
    data : Scores, BinCounts or mapping of str to StreamedCounts
        Scores with labels, one problem's counts, or counts by classifier.
    priors : Priors
        Priors.
    n_bins, strategy, closed, multiclass
        As in `bayescal.fit`.

    Returns
    -------
    list of EceCase or GroupedCase
        One a classifier (and class). Groups are in one case, but for bins of their own.
    """
    if isinstance(data, Scores) and data.group is not None:
        return [
            case
            for task in data.tasks(multiclass)
            for case in _of_groups(task, priors, n_bins, strategy, closed)
        ]
    return [
        EceCase.of(problem, priors)
        for problem in problems(data, priors, n_bins, strategy, closed, multiclass)
    ]


def _of_groups(
    task: Task, priors: Priors, n_bins: int, strategy: Strategy, closed: str
) -> Sequence[EceCase | GroupedCase]:
    """One model for all groups under a smooth curve; bins of their own are not pooled."""
    prior = priors.label_rate
    fine = isinstance(prior, SmoothCurve)
    parts = by_group(task)
    found = [problem_of(part, fine, n_bins, strategy, closed, GROUP_CELLS) for part in parts]
    told = [
        f"group {name} has no labelled row and is left out."
        for name in task.groups
        if name not in {part.coords["group"] for part in parts}
    ]
    if isinstance(prior, SmoothCurve):
        return [GroupedCase.of(found, prior, priors, told)]
    return [EceCase.of(problem, priors, told) for problem in found]


def pairing(
    data: Data,
    cases: Sequence[Any],
    draws: Sequence[Mapping[str, Any]],
    *,
    multiclass: str = "top-label",
    **_: Any,
) -> NDArray[np.float64] | None:
    """Correlation of the classifiers' calibration errors over the rows they share.

    Parameters
    ----------
    data : Scores, BinCounts or mapping of str to StreamedCounts
        What was fitted.
    cases : sequence of EceCase or GroupedCase
        The fits' cases, one a classifier.
    draws : sequence of mapping of str to ndarray of shape (chain, draw, ...)
        What the fits gave.
    multiclass : str
        As in `bayescal.fit`.
    **_
        Options that matter not here.

    Returns
    -------
    ndarray of shape (classifier, classifier), or None
        None for a single classifier, for counts, for several classes and for groups.
    """
    if not isinstance(data, Scores) or data.group is not None:
        return None
    if len(cases) == 1 or len(cases) != data.n_classifiers:
        return None
    found = []
    for task, case, drawn in zip(data.tasks(multiclass), cases, draws, strict=True):
        rates = case.rates.cell_rates(drawn, np.random.default_rng(0))
        sign = np.sign(rates - case.problem.cells.mean_score).mean(axis=(0, 1))
        found.append(influence(task, case.problem.cells, sign))
    return correlation(found)


def describe(
    data: Data,
    *,
    n_bins: int = 15,
    strategy: Strategy = "quantile",
    closed: str = "right",
    multiclass: str = "top-label",
) -> dict[str, Any]:
    """Say what was binned, and how.

    Parameters
    ----------
    data : Scores, BinCounts or mapping of str to StreamedCounts
        What was fitted.
    n_bins, strategy, closed, multiclass
        As in `bayescal.fit`.

    Returns
    -------
    dict
        Root attributes of the result.
    """
    if isinstance(data, BinCounts):
        return _of_counts(data, data.n, (0, 1))
    if isinstance(data, Mapping):
        counts = next(iter(data.values()))
        return _of_counts(counts.bins, counts.n_obs, counts.classes)
    return {
        "n_obs": data.n_obs,
        "n_labeled": data.n_labeled,
        "classes": [str(label) for label in data.classes],
        "multiclass": "binary" if data.is_binary else multiclass,
        "binning_strategy": strategy_name(strategy),
        "n_bins": n_bins if isinstance(strategy, str) else len(np.asarray(strategy)) - 1,
        "closed": closed,
    }


def _of_counts(bins: BinCounts, n_obs: int, classes: Sequence[Label]) -> dict[str, Any]:
    return {
        "n_obs": n_obs,
        "n_labeled": bins.n,
        "classes": [str(label) for label in classes],
        "multiclass": "binary",
        "binning_strategy": bins.strategy,
        "n_bins": bins.n_bins,
        "closed": bins.closed,
    }
