"""Calibration errors of the predicted class: of all rows, and of the rows of each class."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.binning import Binning, count_into
from bayescal.core.checks import check_choice, check_data, check_is, check_rows
from bayescal.core.columns import MISSING
from bayescal.core.errors import InputError
from bayescal.core.functionals import expected_calibration_error
from bayescal.core.quantity import Floats
from bayescal.core.scores import Scores
from bayescal.core.tasks import top_label
from bayescal.quantities.temperature.logits import predicted_class
from bayescal.quantities.temperature.loss import Integers

BY: Final = ("predicted", "true", "group")
BINNING: Final = Binning(15, "uniform")


class CalibrationErrors(NamedTuple):
    """Expected calibration errors of a classifier's predicted class, and its accuracy.

    Parameters
    ----------
    ece : float, in [0, 1]
        Of all rows: bins hold rows of every class.
    max_ece : float, in [0, 1]
        The largest of the classes that have rows.
    avg_ece : float, in [0, 1]
        Mean over the classes that have rows, unweighted.
    accuracy : float, in [0, 1]
        Share of rows, or of their weight, whose predicted class is the true one.
    class_ece, class_accuracy, class_confidence : ndarray of shape (slice,), in [0, 1]
        Of the rows of each class or group; NaN where there are none.
    rows : ndarray of shape (slice,), int
        Number of rows of each.
    """

    ece: float
    max_ece: float
    avg_ece: float
    accuracy: float
    class_ece: Floats
    class_accuracy: Floats
    class_confidence: Floats
    rows: NDArray[np.int64]


def calibration_errors(
    data: Scores, *, by: str = "predicted", binning: Binning = BINNING
) -> CalibrationErrors:
    """Measure calibration errors class by class.

    Parameters
    ----------
    data : Scores
        Scores of one classifier. Rows without a label are left out. Of weighted rows, shares and
        means are those of the weights; whole ones count as repeated rows.
    by : {"predicted", "true", "group"}, default "predicted"
        Whether the class of a row is the predicted one, the true one, or the group of the scores.
    binning : Binning, default 15 bins of equal width
        Bins, the same in every class.

    Returns
    -------
    CalibrationErrors
        Of all rows and of each class.

    Raises
    ------
    InputError
        If there are several classifiers, no labelled row, or no groups with ``by="group"``.

    Notes
    -----
    ``ECE = sum_b |P(correct | bin b) - mean confidence of bin b| P(bin b)``, in place of which the
    paper prints p for the mean confidence. The class of a row is the predicted one in the paper's
    max-ECE and Avg-ECE (equation 4.1 and section 5.4), the true one in its figures 3 and 4. Errors
    of opposite sign cancel where classes share a bin, so that `ece` may be 0 while every class is
    miscalibrated.

    References
    ----------
    .. [1] Y. Zhao, J. Chen and S. Oymak, "On the Role of Dataset Quality and Heterogeneity in Model
       Confidence", 2020, Definition 2.1, equation (4.1), section 5.4.
       https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.temperature.errors import calibration_errors
    >>> scores = bc.Scores(y_true=[0, 1, 1], y_prob=[[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]])
    >>> found = calibration_errors(scores)
    >>> round(found.ece, 3), found.class_ece.round(3).tolist()
    (0.1, [0.35, 0.4])
    """
    check_data(data, (Scores,), "calibration_errors", "Scores(y_true=..., y_prob=...)")
    check_choice(by, BY, "by")
    check_is(binning, Binning, "binning", "Pass bayescal.Binning(15, 'uniform').")
    if data.n_classifiers != 1:
        raise InputError(
            f"calibration_errors takes one classifier; got {data.n_classifiers}. "
            "Pass data.select(name)."
        )
    known = data.y_true != MISSING
    check_rows(int(known.sum()), "the labelled rows")
    score, event = top_label(data.y_prob[0], data.y_true)
    of, n_slices = _slices(data, by)
    weight = None if data.sample_weight is None else data.sample_weight[known]
    return errors_of(score[known], event[known] == 1, of[known], n_slices, binning, weight)


def _slices(data: Scores, by: str) -> tuple[Integers, int]:
    """The class or group of each row."""
    if by == "predicted":
        return predicted_class(data.y_prob[0]), data.n_classes
    if by == "true":
        return data.y_true, data.n_classes
    if data.group is None:
        raise InputError("by='group' needs groups; the scores have none. Pass group=... to Scores.")
    return data.group, len(data.groups)


def errors_of(
    score: NDArray[np.floating],
    correct: NDArray[np.bool_],
    of: Integers,
    n_slices: int,
    binning: Binning,
    weight: Floats | None = None,
) -> CalibrationErrors:
    """Errors of all rows and of each slice, in the same bins."""
    edges = binning.edges(score, weight)
    count = np.bincount(of, minlength=n_slices)
    found = np.full((3, n_slices), np.nan)
    for k in np.flatnonzero(count):
        held = of == k
        mine = None if weight is None else weight[held]
        bins = count_into(score[held], correct[held], edges, binning.closed, weight=mine)
        found[:, k] = _error(bins), bins.prevalence, bins.share @ bins.mean_score
    return CalibrationErrors(
        binned_error(score, correct, binning, weight),
        float(np.nanmax(found[0])),
        float(np.nanmean(found[0])),
        float(np.average(correct, weights=weight)),
        class_ece=found[0],
        class_accuracy=found[1],
        class_confidence=found[2],
        rows=count,
    )


def binned_error(
    score: NDArray[np.floating],
    correct: NDArray[np.bool_],
    binning: Binning,
    weight: Floats | None = None,
) -> float:
    """Expected calibration error of all rows."""
    return _error(binning.count(score, event=correct, weight=weight))


def _error(bins: BinCounts) -> float:
    rate = bins.positives / np.where(bins.count > 0, bins.count, 1)
    return float(expected_calibration_error(bins.share, rate, bins.mean_score))


def bin_of(score: Floats, binning: Binning, weight: Floats | None = None) -> Integers:
    """The bin of each score, (obs,)."""
    inner = binning.edges(score, weight)[1:-1]
    if binning.closed == "right":
        return np.searchsorted(inner, score, side="left")
    return np.searchsorted(inner, score, side="right")


def top_class(logits: Floats) -> tuple[Floats, Integers]:
    """Probability of the largest logit's class, and which that is, (obs,)."""
    return np.exp(logits.max(axis=1) - logsumexp(logits, axis=1)), predicted_class(logits)
