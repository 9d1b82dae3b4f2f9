"""From scores to bins: what each bin holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.bin_counts import BinCounts, TiedRows
from bayescal.core.bin_edges import (
    CLOSED,
    STRATEGIES,
    OrderStatistics,
    Strategy,
    bin_edges,
    cell_edges,
    check_edges,
    check_number,
    edges_as,
    effective_number,
    part_edges,
    resolved_number,
    strategy_name,
)
from bayescal.core.checks import check_choice, check_data, check_known, check_rows, listing
from bayescal.core.columns import Floats, Whole
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores, Task

# Scores that are sorted at a time.
_BLOCK_BYTES: Final = 1 << 18


class BinningFields(TypedDict, total=False):
    """The fields of `Binning` as keyword arguments."""

    n_bins: int | str
    strategy: Strategy
    closed: str


@dataclass(frozen=True, slots=True)
class Binning:
    """How scores are put into bins: the one default of every function that bins.

    Parameters
    ----------
    n_bins : int or "optimal", default 15
        Number of bins; not used when `strategy` gives the edges. ``"optimal"`` is the cube root of
        the number of rows (of weighted ones the effective number), rounded up, the order that makes
        the bias of the estimate least; for positive and unlabelled rows it is
        `bayescal.pu_ece.optimal_n_bins`.
    strategy : {"quantile", "uniform"} or array-like of shape (bin + 1,), default "quantile"
        Bins of equal mass, bins of equal width, or these edges, which are not rounded as scores
        are: write 0.666666666667 where a score of 2 / 3 is to meet its edge.
    closed : {"right", "left"}, default "right"
        ``"right"``: bins are (low, high], and the first holds 0 as well. ``"left"``: bins are
        [low, high), and the last holds 1 as well.

    Raises
    ------
    InputError
        If a field is none of these.

    Examples
    --------
    >>> import bayescal as bc
    >>> bc.Binning(n_bins=10).attrs
    {'binning_strategy': 'quantile', 'n_bins': 10, 'closed': 'right'}
    >>> bc.Binning(n_bins="optimal").resolve(1000).n_bins
    10
    """

    n_bins: int | str = 15
    strategy: Strategy = "quantile"
    closed: str = "right"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", check_number(self.n_bins))
        check_choice(self.closed, CLOSED, "closed")
        if isinstance(self.strategy, str):
            check_choice(self.strategy, STRATEGIES, "strategy")
        else:
            edges = check_edges(self.strategy)
            object.__setattr__(self, "strategy", tuple(edges.tolist()))
            object.__setattr__(self, "n_bins", len(edges) - 1)

    @classmethod
    def of(cls, binning: Binning | None, **fields: Unpack[BinningFields]) -> Binning:
        """Take a binning, or make one of fields given by keyword; not both.

        Parameters
        ----------
        binning : Binning or None
            A binning.
        **fields
            `n_bins`, `strategy` and `closed`.

        Returns
        -------
        Binning
            The binning; the default one if nothing is given.

        Raises
        ------
        InputError
            If both are given, a field is unknown, or `binning` is no Binning.
        """
        for name in fields:
            check_known(name, tuple(BinningFields.__annotations__), "option", "a binning")
        if binning is None:
            return cls(**fields)
        if not isinstance(binning, Binning):
            raise InputError(
                f"binning must be a Binning; got {type(binning).__name__}. "
                "Pass bayescal.Binning(n_bins=15, strategy='quantile')."
            )
        if fields:
            raise InputError(
                f"binning cannot be combined with {listing(fields)}. Set them in Binning(...)."
            )
        return binning

    @property
    def attrs(self) -> dict[str, str | int]:
        """What a result says of its bins."""
        return {
            "binning_strategy": strategy_name(self.strategy),
            "n_bins": self.n_bins,
            "closed": self.closed,
        }

    def resolve(self, rows: float) -> Binning:
        """Put the number of bins in the place of ``"optimal"``.

        Parameters
        ----------
        rows : float, above 0
            Number of rows, or of what they are worth in labelled rows.

        Returns
        -------
        Binning
            With a whole number of bins; the same if it had one.
        """
        return replace(self, n_bins=resolved_number(self.n_bins, rows))

    def edges(self, score: NDArray[np.floating], weight: Floats | None = None) -> Floats:
        """Choose edges for these scores.

        Parameters
        ----------
        score : ndarray of shape (obs,), in [0, 1]
            Scores.
        weight : ndarray of shape (obs,), optional
            Weights of the rows, above 0.

        Returns
        -------
        ndarray of shape (bin + 1,)
            From 0 to 1.
        """
        n_bins = resolved_number(self.n_bins, effective_number(len(score), weight))
        return bin_edges(score, n_bins, self.strategy, weight)

    def count(
        self,
        score: NDArray[np.floating],
        *,
        event: NDArray[np.generic],
        weight: Floats | None = None,
    ) -> BinCounts:
        """Count rows into the bins of their own scores.

        Parameters
        ----------
        score : ndarray of shape (obs,), in [0, 1]
            Scores.
        event : ndarray of shape (obs,), bool or int
            1 where the event happened, else 0.
        weight : ndarray of shape (obs,), optional
            Weights of the rows, above 0.

        Returns
        -------
        BinCounts
            Counts, positives and mean scores.
        """
        edges = self.edges(score, weight)
        return count_into(score, event, edges, self.closed, strategy_name(self.strategy), weight)


BINNING_FIELDS: Final = tuple(BinningFields.__annotations__)


def bin_scores(
    scores: Scores | Task, binning: Binning | None = None, **fields: Unpack[BinningFields]
) -> BinCounts:
    """Sum up the labelled rows of one binary problem by bins of the score.

    Parameters
    ----------
    scores : Scores or Task
        One binary classifier. Rows without a label are left out.
    binning : Binning, optional
        Bins; by default 15 of equal mass.
    **fields
        `n_bins`, `strategy` and `closed` of a `Binning`, instead of `binning`.

    Returns
    -------
    BinCounts
        Counts, positives and mean score of every bin, empty ones kept.

    Raises
    ------
    InputError
        If `scores` holds several classifiers or classes, or no labelled row.

    Notes
    -----
    Uniform width binning (UWB) has the edges b / B, rounded as scores are. Uniform mass binning
    (UMB) has as its b-th edge the floor(n b / B)-th smallest score, 0 where that is the 0-th, and 1
    as its last. Tied scores never part, so ties make bins unequal and may leave some empty. Of rows
    with weights that sum to W, the b-th edge of UMB is the smallest score whose rows and those
    below it weigh at least W b / B; of whole weights at least floor(W b / B), as of rows repeated
    so often. Rows of one weight have the edges of rows without.

    References
    ----------
    .. [1] The PU-ECE paper, section 2.2.2. https://openreview.net/forum?id=SvoBtLIrPZ
    .. [2] Futami and Fujisawa, NeurIPS 2024, section 2.1. https://arxiv.org/abs/2405.15709

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 0, 1, 1], y_prob=[0.1, 0.4, 0.5, 0.9])
    >>> bins = bc.bin_scores(scores, n_bins=2, strategy="uniform")
    >>> bins.count.tolist(), bins.positives.tolist()
    ([3, 1], [1, 1])
    """
    task = single_task(scores)
    check_rows(task.n, "the labelled rows")
    return Binning.of(binning, **fields).count(task.score, event=task.event, weight=task.weight)


def single_task(scores: Scores | Task) -> Task:
    """Take the binary problem out of scores that hold just one."""
    if isinstance(scores, Task):
        return scores
    check_data(scores, (Scores,), "bin_scores", "Scores(y_true=..., y_prob=...)")
    if scores.n_classifiers > 1:
        raise InputError(
            f"bins are those of one classifier; got {scores.n_classifiers}. "
            f"Take one with .select({scores.classifiers[0]!r})."
        )
    if not scores.is_binary:
        raise InputError(
            f"bins are those of one binary problem; got {scores.n_classes} classes. "
            f"Take .top_label(), or .one_vs_rest({scores.classes[0]!r})."
        )
    return scores.tasks()[0]


def count_into(
    score: NDArray[np.floating],
    event: NDArray[np.generic],
    edges: ArrayLike,
    closed: str = "right",
    strategy: str = "edges",
    weight: Floats | None = None,
) -> BinCounts:
    """Count scores and events into given bins, without checking them."""
    checked = check_edges(edges)
    if weight is not None:
        positive = event != 0
        weights = np.stack([weight * ~positive, weight * positive, weight**2])
        rows = TiedRows(score, np.ones(len(score), np.int64), positive.astype(np.int64), weights)
        return rows.count(checked, closed, strategy)
    sums = tally(score, event, checked, closed)
    return BinCounts(checked, sums.rows, sums.positives, sums.mean_score(), closed, strategy)


def fine_counts(
    task: Task, edges: ArrayLike, n_cells: int = 100, closed: str = "right"
) -> BinCounts:
    """Count rows into cells within bins: one a score where they are few, else by quantiles."""
    check_rows(task.n, "the labelled rows")

    def quantiles() -> Floats:
        return bin_edges(task.score, n_cells, "quantile", task.weight)

    cells = cell_edges(task.score, n_cells, edges, quantiles, closed)
    return count_into(task.score, task.event, cells, closed, weight=task.weight)


def part_counts(task: Task, cells: BinCounts) -> BinCounts:
    """Count the rows of cells by parts that hold few rows of either label."""

    def ranked(label: int) -> tuple[OrderStatistics, int]:
        own = np.sort(task.score[(task.event == label) & (task.score > 0) & (task.score < 1)])
        return lambda ranks: own[ranks - 1], len(own)

    edges = part_edges(cells.edges, map(ranked, (0, 1)), task.score, cells.closed)
    return count_into(task.score, task.event, edges, cells.closed, weight=task.weight)


class Tally(NamedTuple):
    """Sums by bin."""

    rows: Whole  # (bin,)
    positives: Whole  # (bin,)
    score_sum: Floats  # (bin,)
    lowest: Floats  # (bin,); infinite in an empty bin
    highest: Floats  # (bin,); -1 in an empty bin

    def mean_score(self) -> Floats:
        """Mean scores, (bin,), NaN in an empty bin; where all scores are equal, that score."""
        mean = self.score_sum / np.maximum(self.rows, 1)
        # The quotient of sums may leave the range of the scores by its rounding.
        inside = np.minimum(np.maximum(mean, self.lowest), self.highest)
        return np.where(self.rows > 0, inside, np.nan)


def tally(
    score: NDArray[np.floating], event: NDArray[np.generic], edges: Floats, closed: str
) -> Tally:
    """Count rows, events and scores by bins."""
    dtype: np.dtype[np.floating] = np.dtype("f4" if score.dtype == np.float32 else "f8")
    keys = _edge_keys(edges_as(edges[1:-1], dtype, closed), closed)
    side: Literal["left", "right"] = "right" if closed == "right" else "left"
    n_bins = len(edges) - 1
    size = np.zeros(2 * n_bins, np.int64)
    score_sum = np.zeros(2 * n_bins, np.float64)
    lowest, highest = np.full(2 * n_bins, np.inf), np.full(2 * n_bins, -1.0)
    rows = _BLOCK_BYTES // dtype.itemsize
    buffer, sign = np.empty(rows, dtype), np.empty(rows, keys.dtype)
    for start in range(0, len(score), rows):
        stop = min(start + rows, len(score))
        block = buffer[: stop - start]
        key = _sort_block(score[start:stop], event[start:stop], block, sign[: stop - start])
        ends = np.concatenate(([0], np.searchsorted(key, keys, side=side), [stop - start]))
        here = np.diff(ends)
        held = here > 0
        size += here
        # reduceat sums from each start to the next one, which is right once empty bins are out.
        score_sum[held] += np.add.reduceat(block, ends[:-1][held], dtype=np.float64)
        # With the event, a score stands in its block with a minus sign.
        lowest[held] = np.minimum(lowest[held], np.abs(block[ends[:-1][held]]))
        highest[held] = np.maximum(highest[held], np.abs(block[ends[1:][held] - 1]))
    positives, negatives = size.reshape(2, n_bins)
    return Tally(
        positives + negatives,
        positives,
        np.abs(score_sum).reshape(2, n_bins).sum(axis=0),
        lowest.reshape(2, n_bins).min(axis=0),
        highest.reshape(2, n_bins).max(axis=0),
    )


def _sort_block(
    score: NDArray[np.floating],
    event: NDArray[np.generic],
    block: NDArray[np.floating],
    sign: NDArray[np.signedinteger],
) -> NDArray[np.signedinteger]:
    """Write the scores into `block`, those with the event negative, and sort it as integers."""
    # Read as integers, floats >= 0 keep their order, with or without the sign bit, which is first.
    np.add(score, 0, out=block, casting="same_kind")  # and -0.0, whose sign bit is set, becomes 0
    key = block.view(sign.dtype)
    np.left_shift(event, 8 * sign.itemsize - 1, out=sign, dtype=sign.dtype, casting="unsafe")
    np.bitwise_or(key, sign, out=key)
    key.sort()
    return key


def _edge_keys(inner: NDArray[np.floating], closed: str) -> NDArray[np.signedinteger]:
    """Integers that part a sorted block into the bins of events, then those of the rest."""
    key = inner.view(f"i{inner.itemsize}")
    lowest = np.iinfo(key.dtype).min
    between = np.array([-1 if closed == "right" else 0], key.dtype)
    return np.concatenate((key | lowest, between, key))
