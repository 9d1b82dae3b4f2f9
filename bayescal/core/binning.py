"""From scores to bins: what each bin holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.bin_counts import BinCounts
from bayescal.core.checks import check_choice, check_rows
from bayescal.core.counting import tally
from bayescal.core.edges import CLOSED, Strategy, bin_edges, check_edges, refine, strategy_name
from bayescal.core.errors import InputError
from bayescal.core.scores import Scores
from bayescal.core.tasks import Task

__all__ = ["BinCounts", "bin_edges", "bin_scores", "count_into", "fine_counts", "single_task"]


def bin_scores(
    scores: Scores | Task,
    *,
    n_bins: int = 15,
    strategy: Strategy = "uniform",
    closed: str = "right",
) -> BinCounts:
    """Sum up the labelled rows of one binary problem by bins of the score.

    Parameters
    ----------
    scores : Scores or Task
        One binary classifier. Rows without a label are left out.
    n_bins : int, default 15
        Number of bins; not used when `strategy` gives the edges.
    strategy : {"uniform", "quantile"} or array-like of shape (bin + 1,), default "uniform"
        Bins of equal width, bins of equal mass, or these edges.
    closed : {"right", "left"}, default "right"
        ``"right"``: bins are (low, high], and the first holds 0 as well. ``"left"``: bins are
        [low, high), and the last holds 1 as well.

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
    never part, so ties make bins unequal and may leave some empty.

    References
    ----------
    .. [1] "Estimating Expected Calibration Error for Positive-Unlabeled Learning", Transactions on
       Machine Learning Research, 2025, section 3.1.
    .. [2] F. Futami and M. Fujisawa, "Information-theoretic Generalization Analysis for Expected
       Calibration Error", NeurIPS 2024, section 2.1. https://arxiv.org/abs/2405.15709

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 0, 1, 1], y_prob=[0.1, 0.4, 0.5, 0.9])
    >>> bins = bc.bin_scores(scores, n_bins=2)
    >>> bins.count.tolist(), bins.positives.tolist()
    ([3, 1], [1, 1])
    """
    task = single_task(scores)
    check_choice(closed, CLOSED, "closed")
    check_rows(task.n, "the labelled rows")
    edges = bin_edges(task.score, n_bins, strategy)
    return count_into(task.score, task.event, edges, closed, strategy_name(strategy))


def single_task(scores: Scores | Task) -> Task:
    """Take the binary problem out of scores that hold just one."""
    if isinstance(scores, Task):
        return scores
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
) -> BinCounts:
    """Count scores and events into given bins, without asking whether they are valid."""
    checked = check_edges(edges)
    sums = tally(score, event, checked, closed)
    mean_score = sums.score_sum / np.maximum(sums.rows, 1)
    return BinCounts(checked, sums.rows, sums.positives, mean_score, closed, strategy)


def fine_counts(
    task: Task, edges: ArrayLike, n_cells: int = 100, closed: str = "right"
) -> BinCounts:
    """Count rows into cells that follow the scores' quantiles and never straddle a bin edge."""
    check_rows(task.n, "the labelled rows")
    quantiles = bin_edges(task.score, min(n_cells, task.n), "quantile")
    cells = refine(edges, quantiles, closed)
    return count_into(task.score, task.event, cells, closed)
