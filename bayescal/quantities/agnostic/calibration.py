"""Calibration methods that make the measure 0, or as small as a class of functions allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import isotonic_regression, linprog
from scipy.special import entr, logit

from bayescal.core.bin_counts import TiedRows
from bayescal.core.checks import check_call, check_choice, check_flag, check_same_length, shown
from bayescal.core.columns import to_doubles
from bayescal.core.errors import InputError
from bayescal.core.intake import check_same_order, round_scores, to_probabilities
from bayescal.core.quantity import Floats
from bayescal.quantities.agnostic.estimator import checked_rows, checked_scores


def isotonic_calibration(score: ArrayLike, *, label: ArrayLike) -> Link:
    """Calibrate by isotonic regression of the labels on the scores.

    Section 3.3.3 and Algorithm 1 of the paper.

    Parameters
    ----------
    score : array-like of shape (obs,), in [0, 1]
        Scores.
    label : array-like of shape (obs,)
        0 and 1, -1 and 1, or booleans.

    Returns
    -------
    Link
        The calibrating function.

    Notes
    -----
    Algorithm 1: slopes of the greatest convex minorant of cumulated labels, tied scores pooled
    first. On the rows fitted to, c_emp of the result is 0, and no nondecreasing function has a
    smaller ``max |sum of labels - values|`` over runs of rows (Claims 5 and 6).

    Examples
    --------
    >>> import bayescal as bc
    >>> link = bc.agnostic.isotonic_calibration([0.1, 0.2, 0.3, 0.4], label=[0, 1, 0, 1])
    >>> link([0.1, 0.2, 0.3, 0.4]).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    tied = tied_scores(score, label)
    starts = isotonic_regression(tied.positives / tied.rows, weights=tied.rows).blocks[:-1]
    # Quotients of sums, rounded once, so that the sums of blocks agree to rounding.
    value = np.add.reduceat(tied.positives, starts) / np.add.reduceat(tied.rows, starts)
    sizes = np.diff(starts, append=len(tied.score))
    return Link(tied.score, np.repeat(value, sizes))


class Minimum(NamedTuple):
    """The best function of a class."""

    link: Link  #: The function.
    objective: float  #: What was minimised, at it.


def minimise_measure(
    score: ArrayLike,
    *,
    label: ArrayLike,
    basis: ArrayLike | None = None,
    nondecreasing: bool = True,
) -> Minimum:
    """Find the function of the score with the least calibration measure in a class.

    Section 3.3.3 and the proof of Claim 5 of the paper.

    Parameters
    ----------
    score, label
        As for `isotonic_calibration`.
    basis : array-like of shape (obs, k), optional
        Functions of each row's score, of which the function is a linear combination; rows of equal
        scores must have equal values. By default any value at each distinct score.
    nondecreasing : bool, default True
        Whether the function may not fall.

    Returns
    -------
    Minimum
        The function and its objective.

    Raises
    ------
    InputError
        If scores or labels are not such, `basis` does not fit, or no combination lies in [0, 1].

    Notes
    -----
    The objective is ``max_{a,b} |sum_{a < i <= b} (y_i - g_i)| / n`` with the rows in the order of
    their scores. It is c_emp of the result where g rises strictly, and a bound of it where g is
    nondecreasing. With xi_1 and xi_2 for how far the prefix sums of g fall below and rise above
    those of y, it is ``xi_1 + xi_2``, a linear programme in the coefficients.

    Examples
    --------
    >>> import bayescal as bc
    >>> found = bc.agnostic.minimise_measure([0.1, 0.2, 0.3, 0.4], label=[0, 1, 0, 1])
    >>> round(found.objective, 6)
    0.125
    """
    check_flag(nondecreasing, "nondecreasing")
    tied = tied_scores(score, label)
    value, total = _free(tied) if basis is None else _combined(tied, score, basis)
    size = value.shape[1]
    n = int(tied.rows.sum())
    wanted = np.cumsum(tied.positives) / n
    ones, none = np.ones((len(wanted), 1)), np.zeros((len(wanted), 1))
    # The columns of the coefficients, of xi_1 and of xi_2, and what each row is at most.
    limits = [
        [total, none, -ones],
        [-total, -ones, none],
        [value, None, None],
        [-value, None, None],
    ]
    ends = [wanted, -wanted, np.ones(len(wanted)), np.zeros(len(wanted))]
    if nondecreasing:
        limits.append([value[:-1] - value[1:], None, None])
        ends.append(np.zeros(len(wanted) - 1))
    found = linprog(
        np.append(np.zeros(size), [1.0, 1.0]),
        A_ub=sparse.block_array(limits, format="csr"),
        b_ub=np.concatenate(ends),
        bounds=[(None, None)] * size + [(0, None)] * 2,
        method="highs",
    )
    if found.x is None:
        raise InputError(
            "some combination of the basis must lie in [0, 1] and rise as required; none does. "
            "Add a constant column to basis."
        )
    g = np.clip(value @ found.x[:size], 0.0, 1.0)
    return Minimum(Link(tied.score, g), float(found.fun))


def _free(tied: TiedRows) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Values and prefix sums from the prefix sums themselves: few entries, unlike the reverse."""
    size, n = len(tied.score), int(tied.rows.sum())
    total = sparse.eye_array(size, format="csr")
    steps = total - sparse.eye_array(size, k=-1, format="csr")
    return sparse.csr_array(sparse.diags_array(n / tied.rows) @ steps), total


def _combined(
    tied: TiedRows, score: ArrayLike, basis: ArrayLike
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Values and prefix sums of the combinations of a basis."""
    columns = to_doubles(basis, "basis")
    if columns.ndim != 2 or not np.isfinite(columns).all():
        raise InputError(
            f"basis must be finite numbers of shape (obs, k); got shape {columns.shape}. Pass a "
            "column for each function."
        )
    check_same_length(np.size(score), "score", len(columns), "basis")
    check_same_order(basis=basis, score=score)
    distinct, first, place = np.unique(
        checked_scores(score, "score"), return_index=True, return_inverse=True
    )
    values: Floats = columns[first]
    if (values[place] != columns).any():
        row = int((values[place] != columns).any(axis=1).argmax())
        raise InputError(
            f"basis must be a function of the score; rows of score {distinct[place[row]]:g} "
            f"differ, at row {row}. Compute it from the score."
        )
    share = tied.rows / tied.rows.sum()
    return sparse.csr_array(values), sparse.csr_array(np.cumsum(share[:, None] * values, axis=0))


type Loss = Callable[[Floats], Floats]

# The table of blocks is quadratic in it.
_MOST_SCORES = 2000


def _hinge_loss(rate: Floats) -> Floats:
    # At 0 and 1 the margin is infinite, on the right side in every row.
    inside = (rate > 0) & (rate < 1)
    margin = logit(np.where(inside, rate, 0.5))
    loss = rate * np.maximum(0, 1 - margin) + (1 - rate) * np.maximum(0, 1 + margin)
    return np.where(inside, loss, 0.0)


LOSSES: Final[Mapping[str, Loss]] = {
    "log": lambda rate: np.asarray(entr(rate) + entr(1 - rate)),
    "squared": lambda rate: rate * (1 - rate),
    "hinge": _hinge_loss,
}
"""Mean loss of rows that all get their own label rate as score."""


class CalibratedMinimum(NamedTuple):
    """The calibrated function with the least loss."""

    link: Link  #: The function.
    loss: float  #: Its mean loss.


def least_loss_calibrated(
    score: ArrayLike, *, label: ArrayLike, loss: str | Loss = "log"
) -> CalibratedMinimum:
    """Find the nondecreasing function of the score with the least loss among those of c_emp = 0.

    Section 3.3.2 of the paper.

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
        If scores, labels or the loss are not such, or there are too many distinct scores.

    Notes
    -----
    A nondecreasing function has c_emp = 0 exactly if it is constant on runs of scores, on each of
    them the label rate. The best division into runs whose rates do not fall is found by dynamic
    programming over the last run, in ``m**2 log m`` steps for m distinct scores.

    Where the loss is concave in the rate, as every proper loss is, the solution is isotonic
    regression. The hinge loss is not, and may do better by joining runs.

    Examples
    --------
    >>> import bayescal as bc
    >>> score, label = [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]
    >>> found = bc.agnostic.least_loss_calibrated(score, label=label, loss="squared")
    >>> found.link(score).tolist(), found.loss
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
    positive = np.append(0, np.cumsum(tied.positives))
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
    # Of the runs [start, end): label rate, least loss with it as the last, and start before it.
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
    starts, end = [int(best[:, size].argmin())], size
    while (start := starts[-1]) > 0:
        starts.append(int(before[start, end]))
        end = start
    found = np.array(starts[::-1])
    return found, rate[found, np.append(found[1:], size)]


def _running_argmin(values: Floats) -> np.ndarray:
    """Place of the least value so far, (m,)."""
    least = np.minimum.accumulate(values)
    new = np.append(True, values[1:] < least[:-1])
    return np.maximum.accumulate(np.where(new, np.arange(len(values)), 0))


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A function of the score, known at the scores that it was fitted to.

    Parameters
    ----------
    score : ndarray of shape (distinct,), in [0, 1]
        Scores, rising.
    value : ndarray of shape (distinct,), in [0, 1]
        Calibrated scores. Between two scores the function is a straight line, beyond them constant.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> bc.agnostic.Link(np.array([0.25, 0.75]), np.array([0.5, 1.0]))([0.0, 0.5, 0.75]).tolist()
    [0.5, 0.75, 1.0]
    """

    score: NDArray[np.floating]
    value: Floats

    def __call__(self, score: ArrayLike) -> Floats:
        """Calibrate scores in [0, 1], (...)."""
        given, known = (to_probabilities(one, "score") for one in (score, self.score))
        # As those of a fit are: a last digit more is another value where the function is steep.
        at, nodes = round_scores(np.atleast_1d(given)), round_scores(known)
        return np.asarray(np.interp(at, nodes, self.value)).reshape(given.shape)


def tied_scores(score: ArrayLike, label: ArrayLike) -> TiedRows:
    """Count rows and positives by distinct score."""
    scores, events = checked_rows(score, label)
    distinct, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    positive = np.bincount(place, weights=events, minlength=len(distinct)).astype(np.int64)
    return TiedRows(distinct.astype(np.float64), count.astype(np.int64), positive)
