"""The least loss among calibrated functions: min L subject to c_emp = 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, logit

from bayescal.core.checks import check_call, check_choice, shown
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.quantities.agnostic.calibration.link import Link
from bayescal.quantities.agnostic.calibration.tied_scores import Floats, tied_scores

type Loss = Callable[[Floats], Floats]

# The table of blocks is quadratic in it.
_MOST_SCORES = 2000


def _log_loss(rate: Floats) -> Floats:
    return np.asarray(entr(rate) + entr(1 - rate))


def _squared_loss(rate: Floats) -> Floats:
    return rate * (1 - rate)


def _hinge_loss(rate: Floats) -> Floats:
    # At 0 and 1 the margin is infinite, on the right side in every row.
    inside = (rate > 0) & (rate < 1)
    margin = logit(np.where(inside, rate, 0.5))
    loss = rate * np.maximum(0, 1 - margin) + (1 - rate) * np.maximum(0, 1 + margin)
    return np.where(inside, loss, 0.0)


LOSSES: Final[Mapping[str, Loss]] = {
    "log": _log_loss,
    "squared": _squared_loss,
    "hinge": _hinge_loss,
}
"""Mean loss of rows that all get their own label rate as score."""


class CalibratedMinimum(NamedTuple):
    """The calibrated function with the least loss."""

    link: Link
    loss: float


def least_loss_calibrated(
    score: ArrayLike, *, label: ArrayLike, loss: str | Loss = "log"
) -> CalibratedMinimum:
    """Find the nondecreasing function of the score with the least loss among those of c_emp = 0.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores, of 2,000 distinct values at most.
    label : array-like of shape (obs,)
        0 and 1, -1 and 1, or booleans.
    loss : {"log", "squared", "hinge"} or callable, default "log"
        The loss; the hinge loss is that of the log-odds. A callable takes label rates r, (...), and
        returns the mean loss of rows that have the label rate r and the score r.

    Returns
    -------
    CalibratedMinimum
        The function and its loss.

    Raises
    ------
    InputError
        If scores or labels are not such, the loss is unknown, or there are too many distinct
        scores.

    Notes
    -----
    A nondecreasing function has c_emp = 0 exactly if it is constant on runs of scores, on each of
    them the label rate. The best division into runs whose rates do not fall is found by dynamic
    programming over the last run, in ``m**2 log m`` steps for m distinct scores.

    Where the loss is concave in the rate, as every proper loss is, the solution is isotonic
    regression. The hinge loss is not, and may do better by joining runs.

    References
    ----------
    .. [1] Y. Gao, A. Parameswaran and J. Peng, "On the interpretability of conditional probability
       estimates in the agnostic setting", Electronic Journal of Statistics 11(2), 2017,
       section 3.3.2. https://doi.org/10.1214/17-EJS1376SI

    Examples
    --------
    >>> from bayescal.quantities.agnostic.calibration.partition import least_loss_calibrated
    >>> found = least_loss_calibrated([0.1, 0.2, 0.3, 0.4], label=[0, 1, 0, 1], loss="squared")
    >>> found.link([0.1, 0.2, 0.3, 0.4]).tolist(), found.loss
    ([0.0, 0.5, 0.5, 1.0], 0.125)
    """
    if isinstance(loss, str):
        check_choice(loss, tuple(LOSSES), "loss")
    else:
        check_call(loss, "loss", needed=True)
    measured = partial(_finite_loss, LOSSES[loss] if isinstance(loss, str) else loss)
    tied = tied_scores(score, label)
    size = len(tied.score)
    if size > _MOST_SCORES:
        raise InputError(
            f"score must have {_MOST_SCORES} distinct values at most; got {size}. Round the scores."
        )
    count = np.append(0, np.cumsum(tied.rows))
    positive = np.append(0, np.cumsum(tied.positive))
    starts, rate = _best_runs(count, positive, measured)
    sizes = np.diff(starts, append=size)
    share = np.diff(count[np.append(starts, size)]) / count[-1]
    return CalibratedMinimum(
        Link(tied.score, np.repeat(rate, sizes)), float(share @ measured(rate))
    )


def _finite_loss(loss: Loss, rate: Floats) -> Floats:
    """A loss of the caller's, checked: a NaN would compare as neither less nor more."""
    found: Floats = to_doubles(loss(rate), "loss")
    if found.shape != rate.shape or not np.isfinite(found).all():
        raise InputError(
            f"loss must return a finite number for each of {len(rate)} rates; got {shown(found)}. "
            "Return an array of the same shape."
        )
    return found


def _best_runs(count: np.ndarray, positive: np.ndarray, loss: Loss) -> tuple[np.ndarray, Floats]:
    """Starts and label rates of the best runs; `count` and `positive` are cumulated, (m + 1,)."""
    size = len(count) - 1
    # Of the runs [start, end): label rate, least loss with it as the last run, and start of the
    # run before it.
    rate = np.full((size, size + 1), np.nan)
    best = np.full((size, size + 1), np.inf)
    before = np.zeros((size, size + 1), dtype=np.int64)
    for start in range(size):
        rows = count[start + 1 :] - count[start]
        here = (positive[start + 1 :] - positive[start]) / rows
        rate[start, start + 1 :] = here
        past: Floats = np.zeros(len(here))
        if start:
            order = np.argsort(rate[:start, start], kind="stable")
            rising, losses = rate[order, start], best[order, start]
            leader = _running_argmin(losses)
            allowed = np.searchsorted(rising, here, side="right") - 1
            chosen = np.where(allowed >= 0, leader[allowed], 0)
            past = np.where(allowed >= 0, losses[chosen], np.inf)
            before[start, start + 1 :] = order[chosen]
        best[start, start + 1 :] = past + rows * loss(here)
    end, starts = size, []
    start = int(best[:, size].argmin())
    while True:
        starts.append(start)
        if start == 0:
            break
        start, end = int(before[start, end]), start
    found = np.array(starts[::-1])
    return found, rate[found, np.append(found[1:], size)]


def _running_argmin(values: Floats) -> np.ndarray:
    """Place of the least value so far, (m,)."""
    least = np.minimum.accumulate(values)
    new = np.append(True, values[1:] < least[:-1])
    return np.maximum.accumulate(np.where(new, np.arange(len(values)), 0))
