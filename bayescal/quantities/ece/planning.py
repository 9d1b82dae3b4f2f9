"""The models to fit for given data, and what they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.binning import Binning
from bayescal.core.checks import check_data
from bayescal.core.columns import Label
from bayescal.core.quantity import Plan
from bayescal.core.scores import Scores, Task
from bayescal.quantities.ece.data import Data, by_group, problem_of, problems
from bayescal.quantities.ece.error_correlation import error_correlation
from bayescal.quantities.ece.grouped_posterior import GroupedCase
from bayescal.quantities.ece.posterior import EceCase
from bayescal.quantities.ece.priors import Priors, SmoothCurve

# Cells of each group's scores; fewer than of all rows, as groups have fewer.
GROUP_CELLS = 50


def plan(
    data: Data,
    priors: Priors,
    *,
    binning: Binning | None = None,
    multiclass: str = "top-label",
) -> Plan:
    """Plan the fits of calibration errors.

    Parameters
    ----------
    data : Scores, BinCounts or mapping of str to StreamedCounts
        Scores with labels, one problem's counts, or counts by classifier.
    priors : Priors
        Priors.
    binning : Binning, optional
        Bins of the evaluation. Not used with counts.
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
    bins = Binning.of(binning)
    check_data(data, (Scores, BinCounts, Mapping), "ece", "Scores(y_true=..., y_prob=...)")
    attrs = _attributes(data, bins, multiclass)
    if isinstance(data, Scores) and data.group is not None:
        tasks = data.tasks(multiclass)
        return Plan([case for task in tasks for case in _of_groups(task, priors, bins)], attrs)
    cases = [EceCase.of(problem, priors) for problem in problems(data, priors, bins, multiclass)]
    if not isinstance(data, Scores) or len(cases) == 1 or len(cases) != data.n_classifiers:
        return Plan(cases, attrs)
    return Plan(cases, attrs, partial(error_correlation, data.tasks(multiclass), cases))


def _of_groups(task: Task, priors: Priors, binning: Binning) -> Sequence[EceCase | GroupedCase]:
    """One model for all groups under a smooth curve; independent ones under bins."""
    prior = priors.label_rate
    fine = isinstance(prior, SmoothCurve)
    parts = by_group(task)
    found = [problem_of(part, fine, binning, GROUP_CELLS) for part in parts]
    notes = [
        f"group {name} has no labelled row and is left out."
        for name in task.groups
        if name not in {part.coords["group"] for part in parts}
    ]
    if isinstance(prior, SmoothCurve):
        return [GroupedCase.of(found, prior, priors, notes)]
    return [EceCase.of(problem, priors, notes) for problem in found]


def _attributes(data: Data, binning: Binning, multiclass: str) -> dict[str, Any]:
    """What was binned, and how: root attributes of the result."""
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
        **binning.attrs,
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
