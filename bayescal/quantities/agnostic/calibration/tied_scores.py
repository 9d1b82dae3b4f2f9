"""Rows by distinct score: what every method of calibration sees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.quantities.agnostic.intervals import checked_rows

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]


class TiedScores(NamedTuple):
    """Numbers of rows and positives at each distinct score, rising."""

    score: Floats  # (distinct,)
    rows: Integers  # (distinct,)
    positive: Integers  # (distinct,)


def tied_scores(score: ArrayLike, label: ArrayLike) -> TiedScores:
    """Count rows and positives by distinct score."""
    scores, events = checked_rows(score, label)
    distinct, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    positive = np.bincount(place, weights=events, minlength=len(distinct)).astype(np.int64)
    return TiedScores(distinct.astype(np.float64), count.astype(np.int64), positive)
