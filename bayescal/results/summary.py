"""The tidy table of a result: a row an answer, a metric of a joint one, or a classifier."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import xarray as xr

from bayescal.results import schema
from bayescal.results.intervals import tail
from bayescal.results.kind import kind_of

if TYPE_CHECKING:
    import pandas as pd


def summary(tree: xr.DataTree, prob: float = 0.9) -> pd.DataFrame:
    """Tabulate a result.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    prob : float
        Posterior probability of the intervals, strictly between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        Index `case`, the shortest name that distinguishes the rows. Calibration errors have one row
        a classifier, class and group, with NaN where the result holds no such number:

        ==================  ==========================================================
        classifier          name; then `class` and `group` where there are several
        n                   labelled rows
        ece_point           the paper's point estimate
        ece_mean            posterior mean, averaged over calibrated and miscalibrated
        ece_median          posterior median, averaged likewise
        ece_lower, _upper   interval, see `interval`
        p_calibrated        posterior probability of perfect calibration
        tce_mean            as ece_mean, of the calibration error without bins
        tce_lower, _upper   its interval
        rhat_max, ess_min   worst over the variables
        divergences         number of divergent transitions
        curve               most probable description of the calibration curve, "calibrated",
                            "smooth", "rough" or "segments"; None without two scores between 0
                            and 1. Only where the prior is an average over descriptions
        status              "ok" or "NOT CONVERGED"
        ==================  ==========================================================

        Metrics have one row a classifier (and group) and metric:

        ==================  ==========================================================
        classifier          name; then `group` where there are several
        metric              accuracy, ece, auc, auprc, mce, log_loss, brier or another
        mean, median        of the posterior
        lower, upper        equal-tailed interval
        point               the paper's estimate
        (by method)         reference estimates, such as `ensemble` (under the mean score,
                            without a fit) and `labeled` (on the labelled rows alone)
        rhat_max, ess_min   worst over the metrics of all classifiers
        divergences         number of divergent transitions
        status              "ok", "NOT CONVERGED", or "NO LABELS": the numbers are the
                            prior's
        ==================  ==========================================================

        Class probabilities have one row a classifier; `bayescal.row_table` has their rows:

        ==================  ==========================================================
        classifier          name
        n                   labelled calibration rows
        n_target, n_rows    target rows, and those of them that the result holds
        width               mean width of the bounds of probability `prob`, over rows and classes
        ivap_width          mean of p1 - p0 of the Venn-Abers predictors
        open_share          share of rows with more than one class left open
        improper_share      share of all target rows whose p0 and p1 fit no probabilities
        rhat_max, ess_min   worst over the probabilities
        divergences         number of divergent transitions
        status              "ok" or "NOT CONVERGED"
        ==================  ==========================================================

        Scores and errors are in [0, 1], but for the log loss.

    Raises
    ------
    InputError
        If the tree is not a result, or prob lies outside (0, 1).
    """
    tail(prob)
    return kind_of(tree).summary(tree, prob)


class Window(NamedTuple):
    """What is known of one classifier (in one group) in one window of time."""

    name: str
    n: float
    mean: float
    lower: float
    upper: float
    p_calibrated: float | None
    converged: bool


class Series(NamedTuple):
    """One classifier (in one group) over time."""

    name: str
    windows: list[Window]


def series_of(
    rows: Iterable[tuple[str, str, dict[str, Any]]], order: Iterable[str], var: str = "tce"
) -> list[Series]:
    """Put rows of summaries in order: of each its group ("" for none), its window, and itself."""
    place = {name: at for at, name in enumerate(order)}
    found: dict[tuple[str, str], list[Window]] = {}
    for group, window, row in rows:
        one = Window(
            window,
            row["n"],
            row[f"{var}_mean"],
            row[f"{var}_lower"],
            row[f"{var}_upper"],
            row.get(schema.P_CALIBRATED),
            row["status"] == schema.OK,
        )
        found.setdefault((group, row["classifier"]), []).append(one)
    several = len({classifier for _, classifier in found}) > 1
    return [
        Series(
            " / ".join(filter(None, (group, classifier if several or not group else ""))),
            sorted(windows, key=lambda one: place[one.name]),
        )
        for (group, classifier), windows in sorted(found.items())
    ]
