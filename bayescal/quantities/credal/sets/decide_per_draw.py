"""What draws of bounds say of a row: is its credal set proper, and which class is chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.quantities.credal.sets.credal_sets import reachable
from bayescal.quantities.credal.sets.decisions import e_admissible, zero_one
from bayescal.quantities.credal.sets.discounting import discount
from bayescal.quantities.credal.sets.intervals import is_proper

type Floats = NDArray[np.float64]


class Joint(NamedTuple):
    """Draws of what holds of credal sets.

    Parameters
    ----------
    proper : ndarray of shape (...), bool
        Whether class probabilities lie between the bounds.
    decision : ndarray of shape (...), int
        The class whose lower probability is largest: `maximin` under `zero_one` costs.
    admissible : ndarray of shape (..., class), bool
        Whether a class is the most probable one for some member: `e_admissible` under such costs.
    """

    proper: NDArray[np.bool_]
    decision: NDArray[np.int64]
    admissible: NDArray[np.bool_]


def joint(lower: Floats, upper: Floats) -> Joint:
    """Look at the credal sets of bounds."""
    proper = np.asarray(is_proper(lower, upper))
    flat = (lower.reshape(-1, lower.shape[-1]), upper.reshape(-1, upper.shape[-1]))
    low, high = reachable(*discount(*flat))
    admissible = e_admissible(zero_one(lower.shape[-1]), low, high)
    return Joint(
        proper,
        # The worst expected cost of naming a class is 1 less its lower probability.
        low.argmax(axis=-1).reshape(proper.shape),
        admissible.reshape(lower.shape),
    )


def joint_binary(lower: Floats, upper: Floats) -> Joint:
    """Look at the credal sets of a binary task, as `joint` does, at a fraction of the cost."""
    return Joint(
        np.ones(lower.shape, bool),
        # Label 0 has the lower probability 1 - upper, and is the first of equals.
        (lower > 1 - upper).astype(np.int64),
        np.stack([lower <= 0.5, upper >= 0.5], axis=-1),
    )
