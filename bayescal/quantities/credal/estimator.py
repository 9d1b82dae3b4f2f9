"""The paper's numbers: Venn-Abers probabilities of each row, and the credal set they make."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_data
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.credal_sets import discount, is_proper, reachable
from bayescal.quantities.credal.data import CalibrationSplit, labeled_rows
from bayescal.quantities.credal.venn_abers import Pair, fit_ivap, fit_one_vs_rest, merged


class Estimate(NamedTuple):
    """Point estimates, each with a leading dim ``classifier`` where there is more than one.

    Parameters
    ----------
    p0, p1 : ndarray of shape (..., obs) or (..., obs, class), in [0, 1]
        Probability of the positive class, or of each class against the rest, by a fit in which the
        row is not of it, and by one in which it is. Not a coverage interval (see `bounds`).
    prob : ndarray of shape (..., obs) or (..., obs, class), in [0, 1]
        Both merged, ``p1 / (1 - p0 + p1)``; of several classes divided by their sum.
    prob_lower, prob_upper : ndarray of shape (..., obs) or (..., obs, class), in [0, 1]
        Least and largest probability in the credal set of p0 and p1, discounted where it was
        improper. For binary scores p0 and p1 themselves.
    improper : ndarray of shape (..., obs), bool
        Where no class probabilities lie between p0 and p1; never for binary scores.
    """

    p0: Floats
    p1: Floats
    prob: Floats
    prob_lower: Floats
    prob_upper: Floats
    improper: NDArray[np.bool_]


def estimate(data: CalibrationSplit) -> Estimate:
    """Calibrate target scores by inductive Venn-Abers predictors.

    Parameters
    ----------
    data : CalibrationSplit
        Labelled calibration rows, and target rows.

    Returns
    -------
    Estimate
        A named tuple. The cost is that of sorting the calibration scores and looking up the others.

    Notes
    -----
    Several classes are calibrated one against the rest, which need not fit together: `improper`
    rows are those whose lower bounds sum to more than 1 or upper ones to less. The predictors are
    those of Vovk, Petej and Fedorova (2015), section 2; the sets of several classes those of the
    paper, sections 2.4 and 2.5 and Algorithm 1 (`bayescal.credal.REFERENCES`).

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.quantities.credal.data import CalibrationSplit
    >>> from bayescal.quantities.credal.estimator import estimate
    >>> calibration = bc.Scores(y_true=[0, 1, 0, 1], y_prob=[0.1, 0.4, 0.6, 0.9])
    >>> found = estimate(CalibrationSplit(calibration=calibration, target=[0.5]))
    >>> found.p0.round(3).tolist(), found.p1.round(3).tolist(), found.prob.round(3).tolist()
    ([0.333], [0.667], [0.5])
    """
    remedy = "CalibrationSplit(calibration=..., target=...)"
    check_data(data, (CalibrationSplit,), "estimate", remedy)
    scores, label = labeled_rows(data)
    of_one = _binary if data.calibration.is_binary else _of_classes
    found = [
        of_one(score, label, target, data.rows)
        for score, target in zip(scores, data.target.y_prob, strict=True)
    ]
    if len(found) == 1:
        return found[0]
    return Estimate._make(np.stack(values) for values in zip(*found, strict=True))


def _binary(
    score: NDArray[np.floating],
    label: NDArray[np.int32],
    target: NDArray[np.floating],
    rows: NDArray[np.int64] | None,
) -> Estimate:
    p0, p1 = fit_ivap(score, label=label, rows=rows).predict(target)
    return Estimate(p0, p1, merged(p0, p1), p0, p1, np.zeros(len(p0), bool))


def _of_classes(
    score: NDArray[np.floating],
    label: NDArray[np.int32],
    target: NDArray[np.floating],
    rows: NDArray[np.int64] | None,
) -> Estimate:
    p0, p1 = fit_one_vs_rest(score, label=label, rows=rows).predict(target)
    lower, upper = reachable(*discount(p0, p1))
    return Estimate(p0, p1, merged_classes(Pair(p0, p1)), lower, upper, ~is_proper(p0, p1))


def merged_classes(pair: Pair) -> Floats:
    """Merge both probabilities of each class, and make the classes sum to 1, (obs, class)."""
    each = merged(*pair)
    return np.asarray(each / each.sum(axis=1, keepdims=True))
