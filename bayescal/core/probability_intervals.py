"""Arithmetic of credal sets given by bounds of class probabilities, and what they decide.

Arrays are (..., class), bounds in [0, 1] with ``lower <= upper``; nothing is checked here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.columns import Whole
from bayescal.core.quantity import Floats

type Booleans = NDArray[np.bool_]

# What sums of probabilities are known to: some hundred rounded additions.
ROUNDING: Final = 1e-12


class Interval(NamedTuple):
    """Lower and upper ends, of one shape."""

    lower: Floats  #: Lower ends, (..., class).
    upper: Floats  #: Upper ends.


class Decisions(NamedTuple):
    """What each credal set decides, (...) and (..., class)."""

    # Whether class probabilities lie between the bounds.
    proper: Booleans
    # Of the admissible classes the one whose lower probability is largest.
    decision: Whole
    # Whether a class is the most probable one for some member.
    admissible: Booleans


def of_both_classes(low: Floats, high: Floats) -> Interval:
    """Bounds of both classes from those of label 1, (..., class)."""
    return Interval(np.stack([1 - high, low], axis=-1), np.stack([1 - low, high], axis=-1))


def holds_any(low: Floats, high: Floats) -> Booleans:
    """Whether probabilities between the bounds sum to 1, (...)."""
    # For few classes einsum adds twice as fast as sum.
    least, most = (np.einsum("...k->...", bound) for bound in (low, high))
    return np.asarray((least <= 1 + ROUNDING) & (most >= 1 - ROUNDING))


def tightened(low: Floats, high: Floats) -> Interval:
    """Tighten the bounds of proper sets to what their members reach."""
    others_low = low.sum(axis=-1, keepdims=True) - low
    others_high = high.sum(axis=-1, keepdims=True) - high
    # Differences of sums carry their rounding; nothing may leave the bounds given.
    least = np.clip(1 - others_high, low, high)
    return Interval(least, np.clip(1 - others_low, least, high))


def discounted(low: Floats, high: Floats, slack: float = ROUNDING) -> Interval:
    """Widen bounds whose sums pass 1 by more than the slack, as little as possible."""
    new_low, new_high = low.copy(), high.copy()
    above = low.sum(axis=-1) > 1 + slack
    below = high.sum(axis=-1) < 1 - slack
    if above.any():
        new_low[above] -= _delta(low[above], high[above])
    if below.any():
        new_high[below] += _epsilon(low[below], high[below])
    return Interval(new_low, new_high)


def _delta(low: Floats, high: Floats) -> Floats:
    """Solve (8) for sets of shape (obs, class) whose lower bounds sum to 1 or more."""
    largest = np.cumsum(np.sort(high, axis=1)[:, ::-1], axis=1)
    at_once = ((largest[:, 1:] - 1) / np.arange(1, low.shape[1])).max(axis=1)
    t = np.maximum((high - low).max(axis=1), at_once)
    cap = low - np.maximum(0, high - t[:, None])
    return _shares(cap, low.sum(axis=1) - 1 + t, low)


def _epsilon(low: Floats, high: Floats) -> Floats:
    """Solve (9) for sets of shape (obs, class) whose upper bounds sum to 1 or less."""
    width = high - low
    t = np.maximum(width.max(axis=1), (1 - low.sum(axis=1)) / (low.shape[1] - 1))
    cap = np.minimum(1 - high, t[:, None] - width)
    return _shares(cap, 1 - high.sum(axis=1) + t, 1 - high)


def _shares(cap: Floats, total: Floats, most: Floats) -> Floats:
    """Share a total out in proportion to the caps, but for rounding never above them."""
    part = np.maximum(cap, 0)
    caps = part.sum(axis=1)
    # Bounds that are equal and sum to 1 have nothing to share.
    fraction = np.divide(total, caps, out=np.zeros_like(caps), where=caps > 0)
    shares: Floats = np.minimum(part * fraction[:, None], most)
    return shares


def largest_somewhere(low: Floats, high: Floats) -> Booleans:
    """Whether a class is the most probable one for some member of proper sets, (..., class)."""
    kept = np.empty(low.shape, bool)
    for a in range(low.shape[-1]):
        others_low, others_high = (np.delete(bound, a, axis=-1) for bound in (low, high))
        most = np.minimum(high[..., a], 1 - others_low.sum(axis=-1))
        total = most + np.minimum(others_high, most[..., None]).sum(axis=-1)
        kept[..., a] = (others_low.max(axis=-1) <= most + ROUNDING) & (total >= 1 - ROUNDING)
    return kept


def decide(lower: Floats, upper: Floats) -> Decisions:
    """Decide under bounds of class probabilities, which are discounted where they are improper.

    The class of the largest lower probability is `maximin` under costs of 0 and 1. It need not be
    E-admissible: of the bounds .3 to .3 and twice .25 to .45 no member makes the first class the
    most probable one. A class that is ruled out is not decided on.
    """
    low, high = tightened(*discounted(lower, upper))
    admissible = largest_somewhere(low, high)
    decision = np.where(admissible, low, -1.0).argmax(axis=-1)
    return Decisions(holds_any(lower, upper), decision, admissible)


def decide_binary(lower: Floats, upper: Floats) -> Decisions:
    """Decide as `decide` does under bounds of label 1, (...), at a fraction of the cost."""
    return Decisions(
        np.ones(lower.shape, bool),
        # Label 0 has the lower probability 1 - upper, and is the first of equals.
        (lower > 1 - upper).astype(np.int64),
        np.stack([lower <= 0.5, upper >= 0.5], axis=-1),
    )
