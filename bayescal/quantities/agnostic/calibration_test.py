"""Is the classifier calibrated? A test of c = 0 by labels drawn from the scores themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.checks import MOST_DRAWN, check_whole, generator
from bayescal.quantities.agnostic.intervals import checked_rows, interval_measure

# Numbers held at once.
_MOST = 1 << 22
# Sums of the same numbers in another order differ by less.
_ROUNDING = 1e-12


class CalibrationTest(NamedTuple):
    """Result of `calibration_test`."""

    c: float
    p_value: float
    simulated: NDArray[np.float64]


def calibration_test(
    score: ArrayLike, *, label: ArrayLike, draws: int = 999, seed: int | None = None
) -> CalibrationTest:
    """Test whether the calibration measure is 0.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores.
    label : array-like of shape (obs,)
        0 and 1, -1 and 1, or booleans.
    draws : int, default 999
        Number of simulated sets of labels.
    seed : int, optional
        Source of randomness; the same seed gives the same result.

    Returns
    -------
    CalibrationTest
        With ``p_value = (1 + number of simulated measures >= c) / (1 + draws)``.

    Raises
    ------
    InputError
        If scores or labels are not such, or `draws` is no whole number above 0.

    Notes
    -----
    c = 0 means P(Y = 1 | f) = f for almost every score, so that the labels given the scores are
    independent Bernoulli(f): labels can be drawn from the hypothesis. Of the measures of the data
    and of the draws each is equally likely to be the largest, so ``P(p_value <= a) <= a`` at any
    number of rows, with equality for a multiple of 1 / (draws + 1) where measures do not tie.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.agnostic.calibration_test import calibration_test
    >>> score = np.linspace(0.05, 0.95, 200)
    >>> round(calibration_test(score, label=score > 0.5, seed=20).p_value, 3)
    0.001
    """
    check_whole(draws, "draws", most=MOST_DRAWN)
    scores, events = checked_rows(score, label)
    found = interval_measure(scores, label=events).c
    simulated = simulated_measures(scores, draws, generator(seed))
    beyond = int((simulated >= found - _ROUNDING).sum())
    return CalibrationTest(found, (1 + beyond) / (1 + draws), simulated)


def simulated_measures(
    score: NDArray[np.floating], draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Measures of labels drawn from the scores, (draws,)."""
    ordered = np.sort(score).astype(np.float64)
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    total = np.cumsum(ordered)[ends]
    found = []
    left = draws
    while left:
        size = min(left, max(1, _MOST // len(ordered)))
        events = rng.random((size, len(ordered))) < ordered
        sums = total - np.cumsum(events, axis=1, dtype=np.int64)[:, ends]
        high, low = sums.max(axis=1), sums.min(axis=1)
        found.append(np.maximum(high, 0) - np.minimum(low, 0))
        left -= size
    return np.concatenate(found) / len(ordered)
