"""Decisions under each draw of a row's bounds: is its credal set proper, which class is chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.quantity import Floats
from bayescal.quantities.credal.sets.credal_sets import reachable
from bayescal.quantities.credal.sets.decisions import e_admissible, zero_one
from bayescal.quantities.credal.sets.discounting import discount
from bayescal.quantities.credal.sets.intervals import is_proper


class Decisions(NamedTuple):
    """What each credal set decides, (...) and (..., class)."""

    # Whether class probabilities lie between the bounds.
    proper: NDArray[np.bool_]
    # The class whose lower probability is largest: `maximin` under `zero_one` costs.
    decision: NDArray[np.int64]
    # Whether a class is the most probable one for some member: `e_admissible` under such costs.
    admissible: NDArray[np.bool_]


def decide(lower: Floats, upper: Floats) -> Decisions:
    """Decide under bounds of class probabilities, (..., class)."""
    proper = np.asarray(is_proper(lower, upper))
    flat = (lower.reshape(-1, lower.shape[-1]), upper.reshape(-1, upper.shape[-1]))
    low, high = reachable(*discount(*flat))
    admissible = e_admissible(zero_one(lower.shape[-1]), low, high)
    return Decisions(
        proper,
        # The worst expected cost of naming a class is 1 less its lower probability.
        low.argmax(axis=-1).reshape(proper.shape),
        admissible.reshape(lower.shape),
    )


def decide_binary(lower: Floats, upper: Floats) -> Decisions:
    """Decide as `decide` does under bounds of label 1, (...), at a fraction of the cost."""
    return Decisions(
        np.ones(lower.shape, bool),
        # Label 0 has the lower probability 1 - upper, and is the first of equals.
        (lower > 1 - upper).astype(np.int64),
        np.stack([lower <= 0.5, upper >= 0.5], axis=-1),
    )
