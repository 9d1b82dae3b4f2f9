"""Log loss of rows whose logits are multiplied by a number, with its derivatives, by slice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.checks import check_number
from bayescal.core.quantity import Floats

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


class Sums(NamedTuple):
    """Log loss summed over the rows of each slice, and its derivatives by alpha, (slice,)."""

    value: Floats
    slope: Floats
    curvature: Floats


@dataclass(frozen=True, slots=True, eq=False)
class LabeledRows:
    """Labelled rows in slices; made by `labeled_rows`."""

    gap: Floats  # (class, obs): logits less the largest of the row
    target: Floats  # (obs,): that of the label
    slice: Integers  # (obs,)
    n_slices: int
    weight: Floats | None = None  # (obs,)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def count(self) -> NDArray[np.int64]:
        """Rows of each slice, (slice,)."""
        return np.bincount(self.slice, minlength=self.n_slices)

    def thinned(self, step: int) -> LabeledRows:
        """Every so many rows."""
        weight = None if self.weight is None else self.weight[::step]
        return LabeledRows(
            self.gap[:, ::step], self.target[::step], self.slice[::step], self.n_slices, weight
        )

    def as_one(self) -> LabeledRows:
        """All rows in one slice."""
        return LabeledRows(self.gap, self.target, np.zeros_like(self.slice), 1, self.weight)

    def sums(self, alpha: Floats) -> Sums:
        """Log loss at a number for each slice, (slice,)."""
        found = np.empty((3, self.n))
        rows = max(1, _BLOCK // len(self.gap))
        for start in range(0, self.n, rows):
            at = slice(start, start + rows)
            found[:, at] = _row_losses(self.gap[:, at], self.target[at], alpha[self.slice[at]])
        if self.weight is not None:
            found *= self.weight
        if self.n_slices == 1:
            return Sums(*found.sum(axis=1, keepdims=True))
        return Sums(*(np.bincount(self.slice, each, self.n_slices) for each in found))


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
    return LabeledRows(gap, gap[label, np.arange(len(label))], of, n_slices, weight)


def least_loss(rows: LabeledRows, low: float = ALPHA_MIN, high: float = ALPHA_MAX) -> Floats:
    """Find the number in [low, high] of least log loss in each slice, (slice,).

    Notes
    -----
    Newton's method on a convex function, with bisection of the logarithm where a step leaves the
    bracket or gains too little. A slice whose labels are all the largest logits has no minimum: its
    number is `high`. A slice without rows has a flat loss: 1, or the bound next to it.
    """
    start = np.full(rows.n_slices, min(max(1.0, low), high))
    if rows.n > 2 * _FIRST_ROWS:
        start = least_loss(rows.thinned(rows.n // _FIRST_ROWS), low, high)
    wrong = np.bincount(rows.slice, rows.target < 0, rows.n_slices) > 0
    held = rows.count > 0
    alpha = np.where(held & ~wrong, high, start)
    return _newton(rows, alpha, held & wrong, low, high)


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
