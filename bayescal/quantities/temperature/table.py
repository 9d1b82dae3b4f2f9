"""The log likelihood of each class as a table over its log alpha: what the model computes with.

Given the predictions the log likelihood is a sum of one function of one number a class. Tabulated
once, a gradient costs the same whatever the rows.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.loss import ALPHA_MAX, ALPHA_MIN, LabeledRows

NODES: Final = 37
LOW: Final = float(np.log(ALPHA_MIN))
HIGH: Final = float(np.log(ALPHA_MAX))
STEP: Final = (HIGH - LOW) / (NODES - 1)
_HALVINGS: Final = 60


def log_likelihood_table(rows: LabeledRows) -> Floats:
    """Log likelihood and its first two derivatives by the place in the table, (slice, node, 3)."""
    found = np.empty((rows.n_slices, NODES, 3))
    for place, log_alpha in enumerate(np.linspace(LOW, HIGH, NODES)):
        alpha = np.exp(log_alpha)
        value, slope, curvature = rows.sums(np.full(rows.n_slices, alpha))
        found[:, place, 0] = -value
        found[:, place, 1] = -alpha * slope * STEP
        found[:, place, 2] = -(alpha * slope + alpha**2 * curvature) * STEP**2
    return found


class Tabulated(NamedTuple):
    """The table of labelled rows, and how many there are; those of two parts add up."""

    table: Floats  # (slice, node, 3)
    rows: NDArray[np.int64]  # (slice,)

    def plus(self, other: Tabulated) -> Tabulated:
        """Join with the table of other rows."""
        return Tabulated(self.table + other.table, self.rows + other.rows)

    def times(self, factor: Floats) -> Tabulated:
        """Multiply the log likelihood of each slice by a number."""
        return self._replace(table=self.table * factor[:, None, None])


def tabulated(rows: LabeledRows) -> Tabulated:
    """Tabulate and count rows."""
    return Tabulated(log_likelihood_table(rows), rows.count)


def quintic(x: Any, left: Any, right: Any) -> Any:
    """Interpolate between two nodes by the polynomial with their values and derivatives.

    References
    ----------
    .. [1] C. de Boor, "A Practical Guide to Splines", Springer, 1978, chapter I: Hermite
       interpolation.
    """
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
    """Log alphas at which the log likelihood of each class is largest, (slice,).

    It rises before and falls behind: the log loss is convex in alpha.
    """
    low, high = np.full(len(table), LOW), np.full(len(table), HIGH)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rises = derivatives(table, middle)[0] > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return np.asarray(np.where(high == HIGH, high, low))


def _between(table: Floats, log_alpha: Floats) -> tuple[Floats, Any, Any]:
    """Place between two nodes, and what the table holds at both."""
    place = np.clip((log_alpha - LOW) / STEP, 0, NODES - 1)
    node = np.minimum(place.astype(np.intp), NODES - 2)
    of = np.arange(len(table))
    left, right = table[of, node], table[of, node + 1]
    return place - node, np.moveaxis(left, -1, 0), np.moveaxis(right, -1, 0)
