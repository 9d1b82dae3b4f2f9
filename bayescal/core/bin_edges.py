"""Edges of bins and cells: how many, chosen by width or by ranks, checked, and refined."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import check_choice, check_whole
from bayescal.core.columns import Floats, Whole, to_doubles
from bayescal.core.errors import InputError
from bayescal.core.intake import round_scores

type Strategy = str | ArrayLike
"""``"uniform"``, ``"quantile"``, or the edges themselves."""


type OrderStatistics = Callable[[Whole], NDArray[np.floating]]
"""Takes ranks from 1 on that do not decrease, and returns the scores of those ranks."""

STRATEGIES: Final = ("uniform", "quantile")
CLOSED: Final = ("right", "left")
OPTIMAL: Final = "optimal"
_MOST_BINS: Final = 10**6
# The cube root is exact for whole numbers below 1e14, and above an effective one's rounding.
_ROUNDING: Final = 1e-14
# Sums of equal weights of many rows differ by less from the number of rows times one.
_EQUAL: Final = 1e-9
# The sum of all weights has at most so many bits.
_TOTAL_BITS: Final = 50
# Sums of units of weight are exact to this share of all, 2**-38; sums of fewer units are exact.
_SAME_BITS: Final = 38
# Parts of the rows of either label that numbers of the rows alone are computed from.
PARTS: Final = 100
# Scores that are not rounded show it in so many rows, and the others need not be sorted.
_FIRST_ROWS: Final = 1 << 12


def evenly(values: NDArray[Any], most: int) -> NDArray[np.intp]:
    """Places of at most so many values, evenly spaced in ascending order."""
    order = np.argsort(values, kind="stable")
    return order[np.linspace(0, len(order) - 1, min(len(order), most)).round().astype(np.intp)]


def check_edges(edges: ArrayLike) -> Floats:
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


def place_in(edges: Floats, score: NDArray[np.floating], closed: str = "right") -> Whole:
    """The bin of each score."""
    inner = edges_as(edges[1:-1], np.result_type(np.asarray(score), np.float32), closed)
    return np.searchsorted(inner, score, side="left" if closed == "right" else "right")


def edges_as(edges: Floats, dtype: np.dtype[np.floating], closed: str) -> NDArray[np.floating]:
    """Inner edges as the scores are: one of .6 meets a float32 of .6, none beside 0 or 1 these."""
    near: NDArray[np.floating] = edges.astype(dtype)
    beside = (near % 1 == 0) & (near != edges)
    return np.where(beside, np.nextafter(near, dtype.type(closed == "left")), near)


def strategy_name(strategy: Strategy) -> str:
    """Name a strategy, for a record of the run."""
    return strategy if isinstance(strategy, str) else "edges"


def choose_edges(
    order_statistics: OrderStatistics, n: int, n_bins: int, strategy: Strategy
) -> Floats:
    """Edges of scores known by their order statistics, (bin + 1,); ranks may be units of weight."""
    if not isinstance(strategy, str):
        return check_edges(strategy)
    check_choice(strategy, STRATEGIES, "strategy")
    n_bins = check_n_bins(n_bins)
    if strategy == "uniform":
        # Rounded as scores are, so that a score of 2 / 3 meets the edge 10 / 15.
        return round_scores(np.arange(n_bins + 1) / n_bins)
    # Weights in small units are rounded: a sum that falls short by no more reaches the rank.
    ranks = quantile_ranks(n, n_bins) - (n >> _SAME_BITS)
    edges = np.zeros(n_bins + 1)
    edges[-1] = 1.0
    # Rank 0 is no score; its edge is the left end of the first bin.
    known = ranks > 0
    edges[1:-1][known] = order_statistics(ranks[known])
    return edges


def quantile_ranks(n: int, n_bins: int) -> Whole:
    """Rank the scores that are the inner edges of bins of equal mass, (bin - 1,)."""
    whole, rest = divmod(n, n_bins)
    place = np.arange(1, n_bins, dtype=np.int64)
    # floor(n place / n_bins), of which the product alone may be too large for an integer.
    ranks: Whole = whole * place + rest * place // n_bins
    return ranks


def check_n_bins(n_bins: int) -> int:
    """Check that a number of bins is a whole number above 0."""
    return check_whole(n_bins, "n_bins", 1, "Pass 15, say.", _MOST_BINS)


def number_and_width(n_bins: int, strategy: Strategy) -> tuple[int, float]:
    """Check bins for bounds: their number, and the largest width; of equal mass, the mean one."""
    if isinstance(strategy, str):
        check_choice(strategy, STRATEGIES, "strategy")
        return (n_bins := check_n_bins(n_bins)), 1 / n_bins
    edges = check_edges(strategy)
    return len(edges) - 1, float(np.diff(edges).max())


def optimal_number(rows: float) -> int:
    """Cube root of a number of rows, or of what they are worth in labelled rows, rounded up."""
    near: int = max(1, round(rows ** (1 / 3)))
    # The floating cube root of a cube may come out above it.
    return near if near**3 >= rows * (1 - _ROUNDING) else near + 1


def least_number(bound: Callable[[int], float], most: int) -> int:
    """Number up to `most` with the least bound, which falls with the number and then rises."""
    return 1 + bisect_left(range(1, most), True, key=lambda n: bound(n + 1) >= bound(n))


def effective_number(rows: int, weight: Floats | None) -> float:
    """Number of rows; of weighted ones the effective number, ``(sum w)**2 / sum w**2``."""
    return rows if weight is None else float(weight.sum() ** 2 / (weight**2).sum())


def check_number(n_bins: int | str) -> int | str:
    """Check that a number of bins is a whole number above 0, or the word for the optimal one."""
    if isinstance(n_bins, str) and n_bins == OPTIMAL:
        return OPTIMAL
    return check_n_bins(n_bins)  # type: ignore[arg-type]  # another word is refused there


def resolved_number(n_bins: int | str, rows: float) -> int:
    """Number of bins of so many rows."""
    return n_bins if isinstance(n_bins, int) else optimal_number(rows)


def bin_edges(
    score: NDArray[np.floating], n_bins: int, strategy: Strategy, weight: Floats | None = None
) -> Floats:
    """Bin edges of scores in memory, (bin + 1,)."""
    if weight is None:
        # Of many ranks, NumPy sorts several times as fast as it parts.
        return choose_edges(lambda ranks: np.sort(score)[ranks - 1], len(score), n_bins, strategy)
    units = weight_units(weight, weight**2, np.ones(len(weight), np.int64))

    def order_statistics(ranks: Whole) -> NDArray[np.floating]:
        order = np.argsort(score)
        return score[order[np.searchsorted(np.cumsum(units[order]), ranks)]]

    return choose_edges(order_statistics, int(units.sum()), n_bins, strategy)


def refine(edges: ArrayLike, others: ArrayLike, closed: str = "right") -> Floats:
    """Unite two sets of edges, so that either set of bins can be merged from the result."""
    first, second = check_edges(edges), check_edges(others)
    union = np.union1d(first, second)
    if closed == "right" and (first[1] == 0.0 or second[1] == 0.0):
        return np.concatenate(([0.0], union))
    if closed == "left" and (first[-2] == 1.0 or second[-2] == 1.0):
        return np.concatenate((union, [1.0]))
    return union


def weight_units(weight: Floats, squares: Floats, rows: Whole) -> Whole:
    """Weights of so many rows as whole numbers, whose sums do not depend on the rows' order.

    The unit is the weight of a row where all are equal, else 1 where all are whole numbers (a row
    of weight 3 ranks as three rows), else about 1e-15 of the sum of all.
    """
    # The squares tell rows of one weight from others of the same mean.
    each = np.concatenate([weight / rows, squares / weight])
    if np.ptp(each) <= _EQUAL * each.max():
        return rows
    bits = math.frexp(float(weight.max(initial=0.0)))[1] + len(weight).bit_length()
    whole = bits <= _TOTAL_BITS and bool((np.floor(weight) == weight).all())
    exponent = 0 if whole else bits - _TOTAL_BITS
    return np.rint(np.ldexp(weight, -exponent)).astype(np.int64)


def cell_edges(
    score: NDArray[np.floating],
    n_cells: int,
    edges: ArrayLike,
    quantiles: Callable[[], Floats],
    closed: str,
) -> Floats:
    """Edges of cells within bins: one a score where these are few, by quantiles otherwise.

    Rows of exactly 0 and of exactly 1 are always cells of their own, as no curve in the logit of
    the score tells what such a row has in common with its neighbours.
    """
    values = _few_scores(score, n_cells)
    if values is not None:
        inner = values[:-1] if closed == "right" else values[1:]
        return refine(edges, _around(inner), closed)
    zero, one = _beside(closed)
    boundary = np.array([zero] * bool((score == 0).any()) + [one] * bool((score == 1).any()))
    return refine(refine(edges, quantiles(), closed), _around(boundary), closed)


def part_edges(
    edges: Floats,
    of_labels: Iterable[tuple[OrderStatistics, int]],
    score: NDArray[np.floating],
    closed: str,
) -> Floats:
    """Edges of parts of cells that hold a hundredth of the rows of either label at most.

    `of_labels` are scores between 0 and 1. Edges are halfway between two of these, so that a rare
    event is not the highest of its part, at the lowest and highest, and around rows of 0 and 1.
    A part whose rows are all of one score ends there, as no threshold parts them. The score of each
    of a few events among very many rows is a part: a hundredth of the others would rank with it.
    """
    labels = [(scores, n) for scores, n in of_labels if n]
    ends = [scores(np.array([1, n])) for scores, n in labels]
    inner, most = [np.array(_beside(closed))], max((n for _, n in labels), default=0)
    for scores, n in labels:
        if 2 * n <= PARTS and PARTS * n < most:
            own = scores(np.arange(1, n + 1))
            inner += [own, np.nextafter(own, own.dtype.type(closed == "left"))]
        else:
            ranks = np.unique(np.maximum(quantile_ranks(n, PARTS), 1))[: n - 1]
            inner.append((scores(ranks).astype(np.float64) + scores(ranks + 1)) / 2)
    inner += [np.array([np.min(ends), np.max(ends)])] if ends else []
    found = refine(edges, _around(np.sort(np.concatenate(inner))), closed)
    values = np.unique(score)
    place = place_in(found, values, closed)
    alone = np.bincount(place)[place] == 1
    own = place[alone] + (closed == "right")
    # A float32 score may be a little beyond the edge of a cell that it meets.
    nearer = np.minimum if closed == "right" else np.maximum
    found[own] = nearer(found[own], values[alone])
    return found


def _beside(closed: str) -> tuple[float, float]:
    """Edges that part the scores 0 and 1 from all others."""
    right = closed == "right"
    return 0.0 if right else np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0) if right else 1.0


def _few_scores(score: NDArray[np.floating], most: int) -> Floats | None:
    """The distinct scores; None where more than so many lie between 0 and 1."""
    for part in (score[:_FIRST_ROWS], score):
        # Adding 0 turns -0.0 into 0.0.
        values = np.unique(part.astype(np.float64) + 0.0)
        if np.count_nonzero((values > 0) & (values < 1)) > most:
            return None
    return values


def _around(inner: Floats) -> Floats:
    return np.concatenate(([0.0], inner, [1.0]))
