"""The plug-in ECE that scores would have if they were perfectly calibrated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Unpack

import numpy as np

from bayescal.core.bin_counts import BinCounts
from bayescal.core.binning import Binning, BinningFields
from bayescal.core.checks import (
    MOST_DRAWN,
    check_data,
    check_number,
    check_rows,
    check_seed,
    check_whole,
)
from bayescal.core.counts import Counts
from bayescal.core.counts_sql import ALONE
from bayescal.core.if_calibrated import (
    SIMULATIONS,
    Floats,
    IfCalibrated,
    compared,
    of_cells,
    of_rows,
)
from bayescal.core.scores import Scores, Task
from bayescal.core.streams import stream
from bayescal.quantities.ece.data import CELLS
from bayescal.quantities.ece.estimator import estimate


def expected_if_calibrated(
    data: Scores | BinCounts | Counts | Mapping[str, Counts],
    binning: Binning | None = None,
    *,
    multiclass: str = "top-label",
    prob: float = 0.9,
    n_simulations: int = SIMULATIONS,
    seed: int = 0,
    **fields: Unpack[BinningFields],
) -> list[IfCalibrated]:
    """Compute what the plug-in ECE of the same scores would be if they were calibrated.

    Parameters
    ----------
    data : Scores, BinCounts, Counts, CountTable or mapping of str to Counts
        As for `bayescal.ece.estimate`.
    binning : Binning, optional
        Bins; by default 15 of equal mass, or those of `Counts`.
    multiclass : {"top-label", "class-wise", "marginal"}, default "top-label"
        As for `bayescal.ece.estimate`.
    prob : float, in (0, 1), default 0.9
        Probability of the range.
    n_simulations : int, default 1000
        Simulated sets of labels.
    seed : int, default 0
        The same seed gives the same numbers.
    **fields
        `n_bins`, `strategy` and `closed` of a `Binning`, instead of `binning`.

    Returns
    -------
    list of IfCalibrated
        One a classifier, and a class with ``multiclass="class-wise"``: named tuples with `case`,
        `mean`, `lower`, `upper`, `p_value` and `observed`, and a sentence as `text`.

    Raises
    ------
    InputError
        If there is no labelled row, or an option is unknown or out of its range.

    Notes
    -----
    Labels are drawn as ``y ~ Bernoulli(score)``, row by row, with the rows' own scores and weights,
    and the estimate of `bayescal.ece.estimate` is computed from each set of labels in the same
    bins, which depend on the scores alone. Of several classes each row is of one, so that the mean
    over classes knows how they depend on each other. Of counts, labels are drawn cell by cell at
    the mean score: within a hundred cells of equal mass that changes the standard deviation by a
    part in a thousand or so, within bins by more.

    The p-value is ``(1 + k) / (1 + n_simulations)`` with k simulated estimates that reach the
    observed one. It tests calibration within the given bins, and says nothing of how large the
    error is: for that see the posterior of `bayescal.fit`.

    References
    ----------
    .. [1] J. Bröcker and L. A. Smith, "Increasing the Reliability of Reliability Diagrams", Weather
       and Forecasting 22(3), 2007, 651-661: consistency resampling.
       https://doi.org/10.1175/WAF993.1
    .. [2] J. Vaicenavicius, D. Widmann, C. Andersson, F. Lindsten, J. Roll and T. B. Schön,
       "Evaluating model calibration in classification", AISTATS 2019, PMLR 89: the estimate under
       calibration as a test. https://proceedings.mlr.press/v89/vaicenavicius19a.html

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("calibrated").scores(1000, seed=1)
    >>> found = bc.ece.expected_if_calibrated(scores)[0]
    >>> found.lower < found.mean < found.upper
    True
    """
    check_number(prob, "prob", "(0, 1)", "Pass 0.9 for 90%.")
    n = check_whole(n_simulations, "n_simulations", most=MOST_DRAWN)
    seed = check_seed(seed)
    kinds = (Scores, BinCounts, Counts, Mapping)
    check_data(data, kinds, "expected_if_calibrated", "Scores(y_true=..., y_prob=...)", Counts)
    found = estimate(data, binning, multiclass=multiclass, **fields)
    if isinstance(data, Scores):
        simulated = _of_scores(data, Binning.of(binning, **fields), multiclass, n, seed)
    else:
        table = data if isinstance(data, Mapping) else {ALONE: data}
        simulated = (
            (name, _of_counts(counts, binning, fields, n, stream(seed, name)))
            for name, counts in table.items()
        )
    observed = np.ravel(found.ece)
    return [
        compared(name, values, float(one), prob)
        for (name, values), one in zip(simulated, observed, strict=True)
    ]


def _of_scores(
    data: Scores, binning: Binning, multiclass: str, n: int, seed: int
) -> Iterator[tuple[str, Floats]]:
    """Simulated estimates of each classifier, and class, with their names."""
    for name, group in groupby(data.tasks(multiclass), lambda task: task.coords["classifier"]):
        tasks = list(group)
        values = _of_tasks(tasks, binning, n, stream(seed, name))
        if multiclass == "marginal":
            yield name, values.mean(axis=1)
            continue
        for task, column in zip(tasks, values.T, strict=True):
            yield " / ".join(task.coords.values()), column


def _of_tasks(tasks: Sequence[Task], binning: Binning, n: int, rng: np.random.Generator) -> Floats:
    """Simulated estimates of one classifier's binary problems, (simulation, class)."""
    first = tasks[0]
    bins = [binning.count(task.score, event=task.event, weight=task.weight) for task in tasks]
    places = [one.find(task.score) for one, task in zip(bins, tasks, strict=True)]
    weight = np.ones(first.n) if first.weight is None else first.weight
    return of_rows([task.score for task in tasks], places, weight / weight.sum(), n, rng)


def _of_counts(
    data: BinCounts | Counts,
    binning: Binning | None,
    fields: BinningFields,
    n: int,
    rng: np.random.Generator,
) -> Floats:
    """Simulated estimates from counts by cells, or by bins where there are no others."""
    if isinstance(data, BinCounts):
        cells = bins = data
    else:
        own = data.binning if binning is None and not fields else Binning.of(binning, **fields)
        cells, bins = data.cells_of(own, data.n_cells or CELLS), data.bins_of(own)
    check_rows(cells.n, "the labelled rows")
    place = cells.place_in(bins.edges)
    return of_cells(cells.mean_score, cells.share, cells.count, place, n, rng)
