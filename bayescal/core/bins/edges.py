"""Edges of bins: chosen by width or by ranks, checked, and refined."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.bins.weights import weight_units
from bayescal.core.checks import check_choice, check_whole
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.rounding import round_scores

type Strategy = str | ArrayLike
"""``"uniform"``, ``"quantile"``, or the edges themselves."""


STRATEGIES = ("uniform", "quantile")


type OrderStatistics = Callable[[NDArray[np.int64]], NDArray[np.floating]]
"""Takes ranks from 1 on that do not decrease, and returns the scores of those ranks."""


CLOSED = ("right", "left")


_MOST_BINS = 10**6


def check_edges(edges: ArrayLike) -> NDArray[np.float64]:
    """Check that bin edges run from 0 to 1 without a step back; two equal edges are allowed."""
    values = to_doubles(edges, "edges").copy()
    if values.ndim != 1 or len(values) < 2:
        raise InputError(
            f"bin edges must be a list of at least two numbers; got shape {values.shape}. "
            "Pass the inner edges with 0 and 1 around them."
        )
    if values[0] != 0.0 or values[-1] != 1.0:
        raise InputError(
            f"bin edges must run from 0 to 1; got {values[0]:.6g} to {values[-1]:.6g}. "
            "Add the missing ends."
        )
    # Written so that a NaN, for which every comparison is false, is refused.
    if not np.all(steps := np.diff(values) >= 0):
        place = int(np.argmin(steps))
        raise InputError(
            f"bin edges must not decrease; got {values[place + 1]:.6g} after {values[place]:.6g} "
            f"at position {place + 1}. Sort them."
        )
    return values


def strategy_name(strategy: Strategy) -> str:
    """Name a strategy, for a record of the run."""
    return strategy if isinstance(strategy, str) else "edges"


def choose_edges(
    order_statistics: OrderStatistics,
    n: int,
    n_bins: int,
    strategy: Strategy,
) -> NDArray[np.float64]:
    """Bin edges of scores known by their order statistics, (bin + 1,).

    Of weighted scores, `n` and the ranks count units of weight.
    """
    if not isinstance(strategy, str):
        return check_edges(strategy)
    check_choice(strategy, STRATEGIES, "strategy")
    n_bins = check_n_bins(n_bins)
    if strategy == "uniform":
        # Rounded as scores are, so that a score of 2 / 3 meets the edge 10 / 15.
        return round_scores(np.arange(n_bins + 1) / n_bins)
    ranks = quantile_ranks(n, n_bins)
    edges = np.zeros(n_bins + 1)
    edges[-1] = 1.0
    # Rank 0 is no score; its edge is the left end of the first bin.
    known = ranks > 0
    edges[1:-1][known] = order_statistics(ranks[known])
    return edges


def quantile_ranks(n: int, n_bins: int) -> NDArray[np.int64]:
    """Rank the scores that are the inner edges of bins of equal mass, (bin - 1,)."""
    whole, rest = divmod(n, n_bins)
    place = np.arange(1, n_bins, dtype=np.int64)
    # floor(n place / n_bins), of which the product alone may be too large for an integer.
    ranks: NDArray[np.int64] = whole * place + rest * place // n_bins
    return ranks


def check_n_bins(n_bins: int) -> int:
    """Check that a number of bins is a whole number above 0."""
    return check_whole(n_bins, "n_bins", 1, "Pass 15, say.", _MOST_BINS)


def bin_edges(
    score: NDArray[np.floating],
    n_bins: int,
    strategy: Strategy,
    weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Bin edges of scores in memory, (bin + 1,)."""
    if weight is None:
        return choose_edges(lambda ranks: np.sort(score)[ranks - 1], len(score), n_bins, strategy)
    units = weight_units(weight)

    def order_statistics(ranks: NDArray[np.int64]) -> NDArray[np.floating]:
        order = np.argsort(score)
        return score[order[np.searchsorted(np.cumsum(units[order]), ranks)]]

    return choose_edges(order_statistics, int(units.sum()), n_bins, strategy)


def refine(edges: ArrayLike, others: ArrayLike, closed: str = "right") -> NDArray[np.float64]:
    """Unite two sets of edges, so that either set of bins can be merged from the result."""
    first, second = check_edges(edges), check_edges(others)
    union = np.union1d(first, second)
    if closed == "right" and (first[1] == 0.0 or second[1] == 0.0):
        return np.concatenate(([0.0], union))
    if closed == "left" and (first[-2] == 1.0 or second[-2] == 1.0):
        return np.concatenate((union, [1.0]))
    return union
