"""Where the edges of bins lie: equal width, equal mass, given, and the union of two sets."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_choice
from bayescal.core.errors import InputError

type Strategy = str | ArrayLike
"""``"uniform"``, ``"quantile"``, or the edges themselves."""

STRATEGIES = ("uniform", "quantile")
type OrderStatistics = Callable[[NDArray[np.int64]], NDArray[np.floating]]
"""Takes ranks from 1 on that do not decrease, and returns the scores of those ranks."""

CLOSED = ("right", "left")


def check_edges(edges: ArrayLike) -> NDArray[np.float64]:
    """Check that bin edges run from 0 to 1 without a step back; two equal edges are allowed.

    Parameters
    ----------
    edges : array-like of shape (bin + 1,)
        Bin edges.

    Returns
    -------
    ndarray of shape (bin + 1,)
        The edges as float64.

    Raises
    ------
    InputError
        If they do not start at 0, do not end at 1, or decrease.

    Examples
    --------
    >>> from bayescal.core.edges import check_edges
    >>> check_edges([0.1, 0.5, 1])
    Traceback (most recent call last):
    ...
    bayescal.core.errors.InputError: bin edges must run from 0 to 1; got 0.1 to 1. \
Add the missing ends.
    """
    values = np.array(edges, dtype=np.float64)
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
    """Name a strategy, for a record of the run.

    Parameters
    ----------
    strategy : {"uniform", "quantile"} or array-like
        The strategy.

    Returns
    -------
    str
        ``"uniform"``, ``"quantile"`` or ``"edges"``.

    Examples
    --------
    >>> from bayescal.core.edges import strategy_name
    >>> strategy_name([0, 0.5, 1])
    'edges'
    """
    return strategy if isinstance(strategy, str) else "edges"


def choose_edges(
    order_statistics: OrderStatistics,
    n: int,
    n_bins: int,
    strategy: Strategy,
) -> NDArray[np.float64]:
    """Bin edges of scores that only their order statistics are asked of.

    Parameters
    ----------
    order_statistics : callable
        Takes ranks from 1 to `n` that do not decrease, and returns the scores of those ranks.
    n : int
        Number of scores.
    n_bins : int
        Number of bins.
    strategy : {"uniform", "quantile"} or array-like of shape (bin + 1,)
        The strategy.

    Returns
    -------
    ndarray of shape (bin + 1,)
        Edges from 0 to 1.

    Raises
    ------
    InputError
        If `n_bins` is no whole number above 0, or the strategy is unknown.
    """
    if not isinstance(strategy, str):
        return check_edges(strategy)
    check_choice(strategy, STRATEGIES, "strategy")
    n_bins = check_n_bins(n_bins)
    if strategy == "uniform":
        return np.arange(n_bins + 1) / n_bins
    ranks = quantile_ranks(n, n_bins)
    edges = np.zeros(n_bins + 1)
    edges[-1] = 1.0
    # Rank 0 is no score; its edge is the left end of the first bin.
    known = ranks > 0
    edges[1:-1][known] = order_statistics(ranks[known])
    return edges


def quantile_ranks(n: int, n_bins: int) -> NDArray[np.int64]:
    """Rank the scores that are the inner edges of bins of equal mass.

    Parameters
    ----------
    n : int
        Number of scores.
    n_bins : int
        Number of bins.

    Returns
    -------
    ndarray of shape (bin - 1,)
        Ranks floor(n b / n_bins) for b = 1, ..., n_bins - 1: from 0, which is no score, to `n`.

    Examples
    --------
    >>> from bayescal.core.edges import quantile_ranks
    >>> quantile_ranks(10, 4).tolist()
    [2, 5, 7]
    """
    ranks: NDArray[np.int64] = n * np.arange(1, n_bins, dtype=np.int64) // n_bins
    return ranks


def check_n_bins(n_bins: int) -> int:
    """Check that a number of bins is a whole number above 0.

    Parameters
    ----------
    n_bins : int
        The number.

    Returns
    -------
    int
        The same.

    Raises
    ------
    InputError
        If it is not.
    """
    try:
        number = operator.index(n_bins)
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"n_bins must be a whole number >= 1; got {n_bins!r}. Pass 15, say.")
    return number


def bin_edges(score: NDArray[np.floating], n_bins: int, strategy: Strategy) -> NDArray[np.float64]:
    """Bin edges of scores in memory.

    Parameters
    ----------
    score : ndarray of shape (obs,)
        Scores in [0, 1].
    n_bins : int
        Number of bins.
    strategy : {"uniform", "quantile"} or array-like of shape (bin + 1,)
        The strategy; see `bin_scores`.

    Returns
    -------
    ndarray of shape (bin + 1,)
        Edges from 0 to 1.

    Raises
    ------
    InputError
        If `n_bins` is no whole number above 0, or the strategy is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.core.edges import bin_edges
    >>> bin_edges(np.array([0.9, 0.1, 0.2, 0.4]), 2, "quantile").tolist()
    [0.0, 0.2, 1.0]
    """
    return choose_edges(lambda ranks: np.sort(score)[ranks - 1], len(score), n_bins, strategy)


def refine(edges: ArrayLike, others: ArrayLike, closed: str = "right") -> NDArray[np.float64]:
    """Unite two sets of edges, so that either set of bins can be merged from the result.

    Parameters
    ----------
    edges, others : array-like of shape (bin + 1,)
        Edges from 0 to 1, repeated ones allowed.
    closed : {"right", "left"}, default "right"
        Which end belongs to a bin.

    Returns
    -------
    ndarray
        The edges of both, each once; except that the closed end, 0 or 1, stands twice where it
        does so in `edges` or `others`, as the rows at exactly 0 or 1 are then a bin.

    Examples
    --------
    >>> from bayescal.core.edges import refine
    >>> refine([0, 0, 0.5, 0.5, 1], [0, 0.2, 1]).tolist()
    [0.0, 0.0, 0.2, 0.5, 1.0]
    """
    first, second = check_edges(edges), check_edges(others)
    union = np.union1d(first, second)
    if closed == "right" and (first[1] == 0.0 or second[1] == 0.0):
        return np.concatenate(([0.0], union))
    if closed == "left" and (first[-2] == 1.0 or second[-2] == 1.0):
        return np.concatenate((union, [1.0]))
    return union
