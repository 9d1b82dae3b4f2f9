"""The paper's numbers: Venn-Abers probabilities of each row, and the credal set they make."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_data
from bayescal.core.quantity import Floats
from bayescal.quantities.credal.credal_sets import discount, is_proper, reachable
from bayescal.quantities.credal.data import CalibrationSplit, curve_rows
from bayescal.quantities.credal.venn_abers import (
    InductiveVennAbers,
    OneVsRest,
    Pair,
    fit_ivap,
    merged,
)


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
    rows are those whose lower bounds sum to more than 1 or upper ones to less. Sections 2.4 and 2.5
    and Algorithm 1 of the paper; the predictors are those of Vovk et al. (2015), section 2.

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
    found = [_of_one(data.select(name)) for name in data.calibration.classifiers]
    if len(found) == 1:
        return found[0]
    return Estimate._make(np.stack(values) for values in zip(*found, strict=True))


def predictor(split: CalibrationSplit) -> InductiveVennAbers | OneVsRest:
    """Fit the Venn-Abers predictor of one classifier: of several classes one against the rest."""
    fits = tuple(
        fit_ivap(rows.score, label=rows.happened, rows=rows.number) for rows in curve_rows(split)
    )
    return fits[0] if split.calibration.is_binary else OneVsRest(fits)


def _of_one(split: CalibrationSplit) -> Estimate:
    pair = predictor(split).predict(split.target.y_prob[0])
    if split.calibration.is_binary:
        return Estimate(*pair, merged(*pair), *pair, np.zeros(split.n_target, bool))
    ends = reachable(*discount(*pair))
    return Estimate(*pair, merged_classes(pair), *ends, ~is_proper(*pair))


def merged_classes(pair: Pair) -> Floats:
    """Merge both probabilities of each class, and make the classes sum to 1, (obs, class)."""
    each = merged(*pair)
    return np.asarray(each / each.sum(axis=1, keepdims=True))
