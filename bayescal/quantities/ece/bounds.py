"""Theory of the binned estimate: its bias, number of bins, and value under calibration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, Unpack

import numpy as np

from bayescal.core import bin_edges
from bayescal.core.bin_counts import BinCounts
from bayescal.core.bin_edges import STRATEGIES, Strategy
from bayescal.core.binning import Binning, BinningFields
from bayescal.core.checks import (
    MOST_DRAWN,
    check_choice,
    check_data,
    check_number,
    check_rows,
    check_seed,
    check_whole,
)
from bayescal.core.counts import Counts
from bayescal.core.counts_sql import ALONE
from bayescal.core.quantity import Bound, Floats
from bayescal.core.scores import Scores, Task
from bayescal.core.streams import stream
from bayescal.core.text import surely
from bayescal.measures.errors import (
    SIMULATIONS,
    IfCalibrated,
    compared_with_simulated,
    simulated_of_cells,
    simulated_of_rows,
)
from bayescal.quantities.ece.estimator import estimate

_INDEPENDENT = "rows are independent and the bins were not chosen with them"
_DENSITY = "rows are independent and scores have a density (no ties); n >= 2 n_bins"
_LIPSCHITZ = "E[Y | f] is {:g}-Lipschitz in f"
_N_LABELED = "Pass n_labeled."


class Bounds(NamedTuple):
    """Bounds of the binned expected calibration error for fully labelled rows."""

    total_bias: Bound  #: Of ``E |ECE - TCE|``.
    statistical_bias: Bound  #: The part that rows leave.
    binning_bias: Bound  #: The part that bins leave.
    deviation: Bound  #: Of ``|ECE - TCE of the bins|``, with probability 1 - delta.
    optimal_n_bins: Bound  #: Number of bins of the optimal order.
    least_bound_n_bins: Bound  #: Number with the least bound of the total bias.


def bounds(
    n: int,
    n_bins: int = 15,
    strategy: Strategy = "quantile",
    lipschitz: float = 1.0,
    delta: float = 0.1,
) -> Bounds:
    """Bound the bias of the binned expected calibration error.

    Parameters
    ----------
    n : int
        Number of labelled rows.
    n_bins : int, default 15
        Number of bins B; not used when `strategy` gives the edges.
    strategy : {"uniform", "quantile"} or array-like of shape (bin + 1,), default "quantile"
        Bins of equal width (UWB), of equal mass (UMB), or fixed edges.
    lipschitz : float, default 1.0
        Lipschitz constant L of the curve E[Y | f]. A calibrated classifier has 1.
    delta : float, default 0.1
        How improbable it may be that `deviation` fails.

    Returns
    -------
    Bounds
        Each with its kind and its assumption in words. A bias above 1 is vacuous, as errors lie in
        [0, 1]; for UMB with n < 2 B, where the theory says nothing, it is infinite.

    Raises
    ------
    InputError
        If `n` or `n_bins` is no number above 0, `lipschitz` negative, or `delta` not in (0, 1).

    Notes
    -----
    TCE(f_I) is the true calibration error of the binned classifier. With s standing for
    ``sqrt(2 B log 2 / n)`` for UWB and ``sqrt(2 B log 2 / (n - B)) + 2 B / (n - B)`` for UMB:

    - statistical bias <= s, [1]_ Theorem 2, Eq. (9);
    - binning bias <= (1 + L) / B for UWB, (1 + L) (1 / B + s) for UMB, Theorem 3, Eq. (11);
    - total bias <= (1 + L) / B + s for UWB, (1 + L) / B + (2 + L) s for UMB, Corollary 1, Eq. (12).

    The deviation is solved from Eq. (58), ``2**B exp(-n e**2 / 2) = delta``, which gives
    ``e = sqrt(2 (B log 2 + log(1 / delta)) / n)``; Corollary 2 as printed has lost the factor 2
    before ``log(1 / delta)``. For UMB the same step is taken from Eq. (54).

    For fixed edges the proof for UWB holds as it stands, with the widest bin in place of 1 / B. As
    every row falls into exactly one bin, it does not need the scores to have a density.

    For UMB the printed proof treats the number of rows in a bin as random, but it is the mass P_b
    of a bin that is: the bin holds K_b rows by construction, and P_b is a Beta spacing. Directly,
    with m_b the mean of Y - f in the bin, whose variance is at most 1 - m_b**2, and B - 1 rows that
    lie on edges, the statistical bias is at most::

        sum_b E[|m_b| |P_b - K_b / n| + sqrt((1 - m_b**2) K_b) / n] + 2 (B - 1) / n
          <= sum_b sqrt(Var P_b + (E P_b - K_b / n)**2 + K_b / n**2) + 2 (B - 1) / n
          <= sqrt(2 B (n + 1)) / n + 2 (B - 1) / n

    Up to a fifth above Eq. (9) for n far above B, it proves the total bias of Eq. (12).

    The optimal order B = n**(1/3) holds for both kinds of bins. With V, which takes the place of
    1 / n for positive and unlabelled rows, it becomes the order of [2]_.

    References
    ----------
    .. [1] Futami and Fujisawa, NeurIPS 2024, section 3, app. D. https://arxiv.org/abs/2405.15709
    .. [2] The PU-ECE paper, Corollary 1. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.ece.bounds import bounds
    >>> found = bounds(100_000, n_bins=50, strategy="uniform")
    >>> round(found.total_bias.value, 4), found.optimal_n_bins.value
    (0.0663, 47)
    """
    n, n_bins, width = _checked(n, n_bins, strategy, lipschitz, delta)
    by_mass = isinstance(strategy, str) and strategy == "quantile"
    rows = _DENSITY if by_mass else _INDEPENDENT
    curve = f"{rows}; {_LIPSCHITZ.format(lipschitz)}"
    binning, statistical = _biases(n, n_bins, width, by_mass, lipschitz)
    return Bounds(
        Bound(binning + statistical, "upper bound of E |ECE - TCE|", curve),
        Bound(statistical, "upper bound of E |ECE - TCE of the binned classifier|", rows),
        Bound(binning, "upper bound of |TCE - TCE of the binned classifier|, on average", curve),
        Bound(
            _statistical(n, n_bins, by_mass, math.log(1 / delta)),
            "upper bound of |ECE - TCE of the binned classifier| with probability "
            f"{surely(delta)} or more",
            rows,
        ),
        Bound(optimal_n_bins(n), "number of bins of the optimal order, ceil(n^(1/3))", curve),
        Bound(
            least_bound_n_bins(n, "quantile" if by_mass else "uniform", lipschitz),
            "number of bins with the least upper bound of E |ECE - TCE|",
            curve,
        ),
    )


def optimal_n_bins(n: int, class_prior: float | None = None) -> int:
    """Give the number of bins of the order that makes the total bias least: n**(1/3), rounded up.

    Parameters
    ----------
    n : int
        Number of labelled rows.
    class_prior : float, in (0, 1), optional
        Share of positives pi, for the second rule of [2]_: ``(n / pi**2)**(1/3)``, rounded up.

    Returns
    -------
    int
        At least 1. Without a class prior it is what ``n_bins="optimal"`` stands for.

    Raises
    ------
    InputError
        If `n` is no whole number above 0, or the class prior does not lie in (0, 1).

    Notes
    -----
    An order leaves the constant open; 1 is the choice of the experiments of [1]_ (there rounded
    down) and of [2]_ (rounded up). The second rule of [2]_ is for comparisons: its bins are as many
    as PU-ECE has with n positives and infinitely many unlabelled rows,
    ``bayescal.pu_ece.optimal_n_bins``. The number may be passed as `n_bins` wherever bins are
    chosen. `least_bound_n_bins` has the constant of the bound.

    References
    ----------
    .. [1] Futami and Fujisawa, NeurIPS 2024, Eq. (13). https://arxiv.org/abs/2405.15709
    .. [2] The PU-ECE paper, section 5.1. https://openreview.net/forum?id=SvoBtLIrPZ

    Examples
    --------
    >>> from bayescal.quantities.ece.bounds import optimal_n_bins
    >>> optimal_n_bins(1000), optimal_n_bins(1001)
    (10, 11)
    >>> optimal_n_bins(1000, class_prior=0.5)  # 4000**(1/3) = 15.9
    16
    """
    check_whole(n, "n", remedy=_N_LABELED)
    if class_prior is None:
        return bin_edges.optimal_number(n)
    check_number(class_prior, "class_prior", "[1e-9, 1)", "Pass the share of positives.")
    return bin_edges.optimal_number(n / class_prior**2)


def least_bound_n_bins(n: int, strategy: str = "quantile", lipschitz: float = 1.0) -> int:
    """Give the number of bins that makes the upper bound of the total bias least.

    Parameters
    ----------
    n : int
        Number of labelled rows.
    strategy : {"uniform", "quantile"}, default "quantile"
        Bins of equal width or of equal mass.
    lipschitz : float, default 1.0
        Lipschitz constant of the curve E[Y | f].

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    InputError
        If `n` is no whole number above 0, the strategy unknown, or `lipschitz` negative.

    Notes
    -----
    For UWB the bound is least at ``(2 n (1 + L)**2 / log 2)**(1/3)``, which [1]_ rounds down in its
    Figure 1; here the better neighbour is taken. For UMB, whose bound grows faster, the least one
    is not above that. Either bound falls with the number of bins, and then rises.

    References
    ----------
    .. [1] Futami and Fujisawa, NeurIPS 2024, Eq. (12), Figure 1. https://arxiv.org/abs/2405.15709

    Examples
    --------
    >>> from bayescal.quantities.ece.bounds import least_bound_n_bins
    >>> least_bound_n_bins(1000, "uniform"), least_bound_n_bins(1000, "quantile")
    (23, 9)
    """
    check_choice(strategy, STRATEGIES, "strategy")
    n, _, _ = _checked(n, 1, strategy, lipschitz, 0.5)
    least = (2 * n * (1 + lipschitz) ** 2 / math.log(2)) ** (1 / 3)
    by_mass = strategy == "quantile"
    return bin_edges.least_number(
        lambda n_bins: sum(_biases(n, n_bins, 1 / n_bins, by_mass, lipschitz)),
        min(math.ceil(least), n),
    )


def _statistical(n: int, n_bins: int, by_mass: bool, log_odds: float = 0.0) -> float:
    """Eq. (9), or with log(1 / delta) the deviation that Eq. (58) gives."""
    if by_mass and n < 2 * n_bins:
        return math.inf
    free, edge_rows = (n - n_bins, 2 * n_bins) if by_mass else (n, 0)
    return math.sqrt(2 * (n_bins * math.log(2) + log_odds) / free) + edge_rows / free


def _biases(
    n: int, n_bins: int, width: float, by_mass: bool, lipschitz: float
) -> tuple[float, float]:
    """Binning bias, Eq. (11), and statistical bias, Eq. (9); Eq. (12) is their sum."""
    statistical = _statistical(n, n_bins, by_mass)
    return (1 + lipschitz) * (width + (statistical if by_mass else 0.0)), statistical


def _checked(
    n: int, n_bins: int, strategy: Strategy, lipschitz: float, delta: float
) -> tuple[int, int, float]:
    """Check the arguments; return rows, bins and the width that the binning bias goes by."""
    rows = check_whole(n, "n", remedy=_N_LABELED)
    check_number(lipschitz, "lipschitz", "[0, 1e9]", "Pass 1 if in doubt.")
    check_number(delta, "delta", "(0, 1)", "Pass 0.1, say.")
    return rows, *bin_edges.number_and_width(n_bins, strategy)


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
    over classes knows how they depend on each other; of weighted rows classes are drawn one by one,
    as weights may depend on the label. Of more than 50,000 rows without weights, but for that mean,
    and of counts, labels are drawn cell by cell at the mean score: within cells of width 1 / 1024
    or a hundred of equal mass that changes the standard deviation by some .001, in bins more.

    The p-value is ``(1 + k) / (1 + n_simulations)`` with k simulated estimates that reach the
    observed one. It tests calibration within the given bins, and says nothing of how large the
    error is: for that see the posterior of `bayescal.fit`.

    References
    ----------
    .. [1] Bröcker and Smith, consistency resampling, 2007. https://doi.org/10.1175/WAF993.1
    .. [2] J. Vaicenavicius et al., the estimate under calibration as a test, AISTATS 2019.
       https://proceedings.mlr.press/v89/vaicenavicius19a.html

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
        compared_with_simulated(name, values, float(one), prob)
        for (name, values), one in zip(simulated, observed, strict=True)
    ]


def _of_scores(
    data: Scores, binning: Binning, multiclass: str, n: int, seed: int
) -> Iterator[tuple[str, Floats]]:
    """Simulated estimates of each classifier, and class, with their names."""
    for name, group in groupby(data.tasks(multiclass), lambda task: task.coords["classifier"]):
        tasks, joint = list(group), multiclass == "marginal"
        values = _of_tasks(tasks, binning, n, stream(seed, name), joint)
        if joint:
            yield name, values.mean(axis=1)
            continue
        for task, column in zip(tasks, values.T, strict=True):
            yield " / ".join(task.coords.values()), column


# Of more rows labels are drawn by cells, at most so wide: 1 / 1024.
_MANY, _PARTS = 50_000, 1024


def _of_tasks(
    tasks: Sequence[Task], binning: Binning, n: int, rng: np.random.Generator, joint: bool
) -> Floats:
    """Simulated estimates of one classifier's binary problems, (simulation, class)."""
    first = tasks[0]
    many = first.n > _MANY and not joint
    if len(tasks) > 1 and (many or first.weight is not None):
        return np.hstack([_of_tasks([task], binning, n, rng, joint) for task in tasks])
    bins = [binning.count(task.score, event=task.event, weight=task.weight) for task in tasks]
    places = [one.find(task.score) for one, task in zip(bins, tasks, strict=True)]
    if many and first.weight is None:
        cell = places[0] * (_PARTS + 1) + (first.score * _PARTS).astype(np.int64)
        cells, of, count = np.unique(cell, return_inverse=True, return_counts=True)
        score, place = np.bincount(of, first.score) / count, cells // (_PARTS + 1)
        return simulated_of_cells(score, count / first.n, count, place, n, rng)[:, None]
    weight = np.ones(first.n) if first.weight is None else first.weight
    share, ratio = weight / weight.sum(), np.ones(first.n)
    if first.weight is not None:
        # Rows with the event weigh `ratio` times as much, and are the rarer among those drawn.
        ratio = bins[0].label_ratio[0][places[0]]
        share = share / np.where(first.event, ratio, 1)
    scores = [task.score.astype(np.float64) for task in tasks]
    return simulated_of_rows(scores, places, share, n, rng, ratio)


def _of_counts(
    data: BinCounts | Counts,
    binning: Binning | None,
    fields: BinningFields,
    n: int,
    rng: np.random.Generator,
) -> Floats:
    """Simulated estimates from counts by cells, or by bins where there are no others."""
    # Loads more than the bounds need.
    from bayescal.quantities.ece.data import CELLS

    if isinstance(data, BinCounts):
        cells = bins = data
    else:
        own = data.binning if binning is None and not fields else Binning.of(binning, **fields)
        cells, bins = data.cells_of(own, data.n_cells or CELLS), data.bins_of(own)
    check_rows(cells.n, "the labelled rows")
    place, count = cells.place_in(bins.edges), cells.evened().count
    return simulated_of_cells(cells.mean_score, cells.share, count, place, n, rng)
