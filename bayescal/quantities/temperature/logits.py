"""Logits of rows, and their log loss when they are multiplied by a number a class.

Given the predictions the log likelihood is a sum of one function of one number a class. Tabulated
once, a gradient costs the same whatever the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import logsumexp

from bayescal.core.checks import check_choice, check_number, check_rows
from bayescal.core.columns import to_floats
from bayescal.core.errors import InputError, warn_caller
from bayescal.core.intake import Column, probabilities
from bayescal.core.quantity import Floats
from bayescal.core.scores import predicted_class

INPUTS: Final = ("logits", "probabilities")
_ROUNDING: Final = 1e-6
_LEAST: Final = float(np.log(np.finfo(np.float64).tiny))


def as_logits(values: Any, scale: str, name: str = "X") -> Floats:
    """Check logits, or take those of probabilities, (obs, class); one column is of class 1."""
    check_choice(scale, INPUTS, "scale")
    if scale == "logits":
        return _checked(values, name)
    found = probabilities(Column(name, values))
    if found.ndim == 1:
        found = np.column_stack([1 - found, found])
    return log_probabilities(found)


def places_of(names: Sequence[str], wanted: Iterable[object]) -> list[int] | None:
    """Where among the names the wanted ones are, in their order; None if they are not the same."""
    order = [str(name) for name in wanted]
    if sorted(names) != sorted(order):
        return None
    return [names.index(name) for name in order]


def _checked(values: Any, name: str) -> Floats:
    found = np.asarray(to_floats(values, name), np.float64)
    if found.ndim > 2 or (found.ndim == 2 and found.shape[1] == 0):
        raise InputError(
            f"{name} must have shape (obs,) or (obs, class); got {found.shape}. "
            "Pass a logit for each class."
        )
    check_rows(len(found), name)
    bad = ~np.isfinite(found)
    if bad.any():
        row = int(bad.reshape(len(bad), -1).any(axis=1).argmax())
        value = np.atleast_1d(found[row])[np.atleast_1d(bad[row])][0]
        got, remedy = "NaN", "Drop the row."
        if np.isinf(value):
            got = value
        if value == np.inf:
            remedy = "Drop the row, or take the largest finite logit of the classifier."
        raise InputError(f"{name} must hold finite logits; got {got} at row {row}. {remedy}")
    if found.ndim == 1 or found.shape[1] == 1:
        column = found.reshape(-1)
        return np.column_stack([np.zeros_like(column), column])
    if found.min() >= 0 and np.abs(found.sum(axis=1) - 1).max() < _ROUNDING:
        warn_of(
            f"{name} look like probabilities, as each row sums to 1, but are taken as logits. "
            "Pass their logarithms if they are."
        )
    return found


def warn_of(text: str | None) -> None:
    """Warn where the package was called, if of anything."""
    if text:
        warn_caller(text, UserWarning)


def finite_logits(logits: Floats) -> Floats:
    """Logits with the logarithm of the least number in place of -inf, (obs, class)."""
    least = logits.max(axis=1, keepdims=True) + _LEAST
    return np.where(logits == -np.inf, least, logits)


def masked_logits(values: Any, name: str) -> tuple[Floats, NDArray[np.bool_]]:
    """Check logits as a fit does: finite ones, and where the probability is 0, (obs, class)."""
    given = np.asarray(to_floats(values, name), np.float64)
    if given.ndim == 2 and given.shape[1] > 1:
        masked = (given == -np.inf) & np.isfinite(given.max(axis=1, keepdims=True))
        return _checked(np.where(masked, finite_logits(given), given), name), masked
    found = _checked(np.nan_to_num(given, nan=np.nan, posinf=-_LEAST, neginf=_LEAST), name)
    column = given.reshape(-1)
    return found, np.column_stack([column == np.inf, column == -np.inf])


def log_probabilities(prob: NDArray[np.floating]) -> Floats:
    """Logarithms, with the smallest number of the type in place of 0, (...)."""
    return np.asarray(np.log(np.maximum(prob, np.finfo(prob.dtype).tiny), dtype=np.float64))


def warn_of_zeros(logits: Floats, label: Integers, scale: str) -> None:
    """Say so where the probability of a label is 0, which no number changes."""
    ends = [np.log(np.finfo(dtype).tiny, dtype=np.float64) for dtype in (np.float32, np.float64)]
    zero = np.isin(logits[np.arange(len(label)), label], ends)
    if scale == "probabilities" and zero.any():
        warn_of(
            f"the label of a row should have a probability above 0; it is 0 at row "
            f"{int(zero.argmax())} ({int(zero.sum())} such rows), which flattens all others. Clip "
            "probabilities from below, as by half of the least other one."
        )


def scores_of_0(logits: Floats, gap: Floats) -> NDArray[np.bool_]:
    """Which logits stand for a probability of 0; `gap` is to the largest of the row."""
    # The probability of the largest is 1 / 22,000 at least.
    narrow = np.log(np.finfo(np.float32).tiny, dtype=np.float64)
    return np.asarray((gap < _LEAST + 10) | (logits == narrow))


type Integers = NDArray[np.integer]

ALPHA_MIN: Final = 0.01
ALPHA_MAX: Final = 100.0
# Numbers of a block that stay in a core's cache through the passes over it.
_BLOCK: Final = 1 << 14
MOST_STEPS: Final = 200
# Relative: Newton's method squares it once more.
LAST_STEP: Final = 1e-7
# Rows that a first solution takes; of more, every so many.
_FIRST_ROWS: Final = 1 << 16


def check_alpha_bounds(low: float, high: float) -> None:
    """Check that bounds of the numbers that multiply logits are above 0 and in order."""
    check_number(low, "alpha_min", "(0, inf)", "Pass 0.01.")
    check_number(high, "alpha_max", f"({low}, inf)", "Pass 100.")


@dataclass(frozen=True, slots=True, eq=False)
class LabeledRows:
    """Labelled rows in slices; made by `labeled_rows`."""

    gap: Floats  # (class, obs): logits less the largest of the row
    target: Floats  # (obs,): that of the label
    slice: Integers  # (obs,)
    n_slices: int
    weight: Floats  # (obs,)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def told(self) -> NDArray[np.bool_]:
        """Which slices have a row of unequal logits, as no number changes equal ones, (slice,)."""
        unequal = self.gap.min(axis=0, initial=0.0) < 0
        return np.bincount(self.slice, unequal, self.n_slices) > 0

    def thinned(self, step: int) -> LabeledRows:
        """Every so many rows."""
        by_row = self.target[::step], self.slice[::step], self.n_slices, self.weight[::step]
        return LabeledRows(self.gap[:, ::step], *by_row)

    def as_one(self) -> LabeledRows:
        """All rows in one slice."""
        return LabeledRows(self.gap, self.target, np.zeros_like(self.slice), 1, self.weight)

    def sums(self, alpha: Floats) -> Floats:
        """Log loss at a number for each slice, and its first two derivatives, (3, slice)."""
        found = np.empty((3, self.n))
        rows = max(1, _BLOCK // len(self.gap))
        for start in range(0, self.n, rows):
            at = slice(start, start + rows)
            found[:, at] = _row_losses(self.gap[:, at], self.target[at], alpha[self.slice[at]])
        found *= self.weight
        if self.n_slices == 1:
            return np.asarray(found.sum(axis=1, keepdims=True))
        return np.stack([np.bincount(self.slice, each, self.n_slices) for each in found])

    def squared_slopes(self, alpha: Floats) -> Floats:
        """Squared slopes of the rows' log likelihood, weighted by w and w**2, (2, slice)."""
        squares = _row_losses(self.gap, self.target, alpha[self.slice])[1] ** 2
        by = (self.weight * squares, self.weight**2 * squares)
        return np.stack([np.bincount(self.slice, each, self.n_slices) for each in by])


def _row_losses(gap: Floats, target: Floats, alpha: Floats) -> tuple[Floats, Floats, Floats]:
    """Log loss and derivatives of each row: mean and variance of the gap under the softmax."""
    weight = np.exp(gap * alpha)
    total = weight.sum(axis=0)
    weight *= gap
    mean = weight.sum(axis=0) / total
    weight *= gap
    square = weight.sum(axis=0) / total
    return np.log(total) - alpha * target, mean - target, square - mean**2


def labeled_rows(
    logits: Floats, label: Integers, of: Integers, n_slices: int, weight: Floats | None = None
) -> LabeledRows:
    """Rows of logits, (obs, class), with their labels, slices and weights, (obs,)."""
    gap = np.ascontiguousarray(logits.T, dtype=np.float64)
    gap = gap - gap.max(axis=0)
    weight = np.ones(len(label)) if weight is None else weight
    return LabeledRows(gap, gap[label, np.arange(len(label))], of, n_slices, weight)


def least_loss(rows: LabeledRows, low: float = ALPHA_MIN, high: float = ALPHA_MAX) -> Floats:
    """Find the number in [low, high] of least log loss in each slice, (slice,).

    It is `high` where labels are the largest logits, and about 1 where all rows' are equal.
    """
    start = np.full(rows.n_slices, min(max(1.0, low), high))
    if rows.n > 2 * _FIRST_ROWS:
        start = least_loss(rows.thinned(rows.n // _FIRST_ROWS), low, high)
    wrong = np.bincount(rows.slice, rows.target < 0, rows.n_slices) > 0
    alpha = np.where(rows.told & ~wrong, high, start)
    return _newton(rows, alpha, wrong, low, high)


def _newton(
    rows: LabeledRows, alpha: Floats, open_: NDArray[np.bool_], low: float, high: float
) -> Floats:
    """Solve the open slices, each inside a bracket of its own."""
    below, above = np.full_like(alpha, low), np.full_like(alpha, high)
    last = np.full_like(alpha, np.inf)
    for _ in range(MOST_STEPS):
        _, slope, curvature = rows.sums(alpha)
        below, above = np.where(slope <= 0, alpha, below), np.where(slope >= 0, alpha, above)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = -slope / curvature
        inside = (alpha + step > below) & (alpha + step < above)
        gains = inside & (np.abs(step) < last / 2)
        new = np.where(gains, alpha + step, np.sqrt(below * above))
        last = np.abs(new - alpha)
        alpha = np.where(open_, new, alpha)
        open_ = open_ & (last > LAST_STEP * alpha)
        if not open_.any():
            break
    at_end = np.where(alpha < low * (1 + 10 * LAST_STEP), low, alpha)
    return np.asarray(np.where(alpha > high * (1 - 10 * LAST_STEP), high, at_end))


def logit_of_top(logits: Floats) -> Floats:
    """Log odds of the largest logit's class against all others, (obs,)."""
    rest = logits.copy()
    rest[np.arange(len(logits)), predicted_class(logits)] = -np.inf
    return np.asarray(logits.max(axis=1) - logsumexp(rest, axis=1))


def undetermined(
    rows: LabeledRows, alpha: float, low: float, high: float, loss: str = "log loss"
) -> str:
    """Say so where rows do not determine a number, or its least loss lies beyond its range."""
    if not rows.told.any():
        return (
            "X must have unequal logits in some row for labels to say how sure they are; all are "
            f"equal. The number is {alpha:g}, and changes nothing. Check the columns of X."
        )
    return at_end(alpha, low, high, loss) if (rows.target < 0).any() else ""


def at_end(alpha: float, low: float, high: float, loss: str = "log loss") -> str:
    """Say so where a number is an end of its range."""
    if not np.isclose(alpha, (low, high), rtol=1e-9, atol=0).any():
        return ""
    return (
        f"the number that multiplies logits is {alpha:g}, an end of its range: the {loss} falls "
        "further beyond. Check that X and y belong together, and the scale of X."
    )


NODES: Final = 37
LOW: Final = float(np.log(ALPHA_MIN))
HIGH: Final = float(np.log(ALPHA_MAX))
STEP: Final = (HIGH - LOW) / (NODES - 1)
_HALVINGS: Final = 60


def tabulated(rows: LabeledRows) -> Floats:
    """Log likelihood and its first two derivatives by the place in a table, (slice, node, 3)."""
    found = np.empty((rows.n_slices, NODES, 3))
    for place, log_alpha in enumerate(np.linspace(LOW, HIGH, NODES)):
        alpha = np.exp(log_alpha)
        value, slope, curvature = rows.sums(np.full(rows.n_slices, alpha))
        found[:, place, 0] = -value
        found[:, place, 1] = -alpha * slope * STEP
        found[:, place, 2] = -(alpha * slope + alpha**2 * curvature) * STEP**2
    return found


def quintic(x: Any, left: Any, right: Any) -> Any:
    """Hermite's interpolation between two nodes with values and two derivatives."""
    y, d, s = left
    rise = right[0] - y - d - s / 2
    turn = right[1] - d - s
    bend = right[2] - s
    cubic = 10 * rise - 4 * turn + bend / 2
    fourth = -15 * rise + 7 * turn - bend
    fifth = 6 * rise - 3 * turn + bend / 2
    return y + x * (d + x * (s / 2 + x * (cubic + x * (fourth + x * fifth))))


def look_up(table: Floats, log_alpha: Floats) -> Floats:
    """Log likelihood of each class at log alphas, (..., slice); flat beyond the table."""
    return np.asarray(quintic(*_between(table, log_alpha)))


def derivatives(table: Floats, log_alpha: Floats) -> tuple[Floats, Floats]:
    """First two derivatives of the log likelihood of each class, (..., slice)."""
    x, left, right = _between(table, log_alpha)
    # A cubic that meets the derivatives at the nodes.
    y, d, z, e = left[1], left[2], right[1], right[2]
    square, cubic = 3 * (z - y) - 2 * d - e, 2 * (y - z) + d + e
    first = y + x * (d + x * (square + x * cubic))
    return first / STEP, (d + x * (2 * square + 3 * x * cubic)) / STEP**2


def peak(table: Floats) -> Floats:
    """Log alphas at which the log likelihood, which rises and then falls, is largest, (slice,)."""
    low, high = np.full(len(table), LOW), np.full(len(table), HIGH)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rises = derivatives(table, middle)[0] > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return np.asarray(np.where(high == HIGH, high, low))


def _between(table: Floats, log_alpha: Floats) -> tuple[Floats, list[Floats], list[Floats]]:
    """Place between two nodes, and what the table holds at both, each (..., slice)."""
    place = np.clip((log_alpha - LOW) / STEP, 0, NODES - 1)
    node = np.minimum(place.astype(np.intp), NODES - 2)
    left = node + NODES * np.arange(len(table))
    right = left + 1
    # Column by column: a tenth of the time of an index of rows.
    columns = np.moveaxis(table, -1, 0).reshape(3, -1)
    return place - node, [c.take(left) for c in columns], [c.take(right) for c in columns]


class ClassWise(NamedTuple):
    """The number of each slice, (slice,), and the shared one."""

    alpha: Floats
    shared: float


def class_wise(
    rows: LabeledRows, gamma: float = np.inf, low: float = ALPHA_MIN, high: float = ALPHA_MAX
) -> ClassWise:
    """Find the numbers of least log loss that differ from a shared one by at most `gamma`."""
    choices = "Pass 0 for one number, infinity for a number a class."
    gamma = check_number(gamma, "gamma", "[0, inf]", choices)
    pooled = float(least_loss(rows.as_one(), low, high)[0])
    own, told = least_loss(rows, low, high), rows.told
    shared = _shared(rows, own, gamma, pooled) if told.any() and np.isfinite(gamma) else pooled
    alpha = np.where(told, np.clip(own, shared - gamma, shared + gamma), shared)
    return ClassWise(alpha, shared)


def _shared(rows: LabeledRows, own: Floats, gamma: float, pooled: float) -> float:
    """The shared number: a root of the derivative, which rises."""
    if gamma == 0:
        return pooled
    told = rows.told
    kept = own[told]
    first, last = float(kept.min()), float(kept.max())
    if last - first <= 2 * gamma:
        return float(np.clip(pooled, last - gamma, first + gamma))

    def slope(shared: float) -> float:
        lower, upper = shared - gamma, shared + gamma
        clipped = (own < lower) | (own > upper)
        at = np.where(own < lower, lower, np.where(own > upper, upper, own))
        return float(rows.sums(at)[1, clipped & told].sum())

    # At the first end no class is clipped from below, at the last none from above: their slopes
    # are of opposite sign, unless they are 0 but for rounding.
    ends = first + gamma, last - gamma
    if slope(ends[0]) >= 0:
        return ends[0]
    if slope(ends[1]) <= 0:
        return ends[1]
    return float(brentq(slope, *ends, xtol=1e-14, rtol=1e-14))
