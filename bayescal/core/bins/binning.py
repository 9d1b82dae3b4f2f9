"""From scores to bins: what each bin holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.edges import (
    CLOSED,
    STRATEGIES,
    Strategy,
    bin_edges,
    check_edges,
    strategy_name,
)
from bayescal.core.bins.optimal_number import check_number, effective_number, resolved_number
from bayescal.core.bins.tally import _weighted_counts, tally
from bayescal.core.checks import check_choice, check_data, check_rows, listing
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.core.tasks import Task


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
            If both are given, or `binning` is no Binning.
        """
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

    def edges(
        self, score: NDArray[np.floating], weight: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
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
        weight: NDArray[np.float64] | None = None,
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
    Uniform width binning (UWB) has the edges b / B. Uniform mass binning (UMB) has as its b-th edge
    the floor(n b / B)-th smallest score, 0 where that is the 0-th, and 1 as its last. Tied scores
    never part, so ties make bins unequal and may leave some empty. Of rows with weights that sum to
    W, the b-th edge of UMB is the smallest score whose rows and those below it weigh at least
    W b / B; of whole weights at least floor(W b / B), as of rows repeated so often.

    References
    ----------
    .. [1] Anonymous authors, "Estimating Expected Calibration Error for Positive-Unlabeled
       Learning", under review for Transactions on Machine Learning Research, 2025, section 2.2.2.
    .. [2] F. Futami and M. Fujisawa, "Information-theoretic Generalization Analysis for Expected
       Calibration Error", NeurIPS 2024, section 2.1. https://arxiv.org/abs/2405.15709

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
    weight: NDArray[np.float64] | None = None,
) -> BinCounts:
    """Count scores and events into given bins, without checking them."""
    checked = check_edges(edges)
    if weight is not None:
        return _weighted_counts(score, event, checked, closed, strategy, weight)
    sums = tally(score, event, checked, closed)
    return BinCounts(checked, sums.rows, sums.positives, sums.mean_score(), closed, strategy)


def fine_counts(
    task: Task, edges: ArrayLike, n_cells: int = 100, closed: str = "right"
) -> BinCounts:
    """Count rows into cells that never straddle a bin edge: one a score, or by quantiles.

    At most `n_cells` distinct scores are a cell each. More of them are cut at their quantiles, and
    rows of exactly 0 and of exactly 1 are cells of their own.
    """
    check_rows(task.n, "the labelled rows")
    seen = DistinctScores(n_cells)
    seen.add(task.score)
    cells = seen.cell_edges(
        edges, lambda: bin_edges(task.score, n_cells, "quantile", task.weight), closed
    )
    return count_into(task.score, task.event, cells, closed, weight=task.weight)
