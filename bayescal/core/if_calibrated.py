"""The binned plug-in ECE that the same scores would have if they were calibrated, by simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

SIMULATIONS: Final = 1000
# Random numbers that are held at a time.
_BLOCK: Final = 1 << 21
# A simulated estimate that differs from the observed one by less is equal to it.
_ROUNDING: Final = 1e-9


class IfCalibrated(NamedTuple):
    """Plug-in ECE of one case, and what it would be if the case were perfectly calibrated."""

    case: str
    mean: float  # expected if the scores were the probabilities of the event
    lower: float  # central range of the same, of probability `prob`
    upper: float
    p_value: float  # probability of one as large as that observed, or larger
    observed: float
    prob: float

    @property
    def text(self) -> str:
        """Say it in a sentence."""
        digits = max(3, 1 - math.floor(math.log10(max(self.upper, 1e-6))))
        mean, lower, upper, observed = (
            f"{one:.{digits}f}" for one in (self.mean, self.lower, self.upper, self.observed)
        )
        return (
            f"If it were perfectly calibrated, the plug-in ECE of these scores would be {mean} on "
            f"average ({100 * self.prob:.6g}%: {lower} to {upper}); observed {observed}, "
            f"p = {self.p_value:.2g}."
        )


def compared(case: str, simulated: Floats, observed: float, prob: float) -> IfCalibrated:
    """Set an observed plug-in ECE beside simulated ones."""
    lower, upper = np.quantile(simulated, ((1 - prob) / 2, (1 + prob) / 2))
    reached = int(np.count_nonzero(simulated >= observed - _ROUNDING))
    # With the observed labels among the simulated ones it is valid at any number of them.
    p_value = (1 + reached) / (1 + len(simulated))
    return IfCalibrated(
        case, float(simulated.mean()), float(lower), float(upper), p_value, observed, prob
    )


def of_rows(
    scores: Sequence[NDArray[np.floating]],
    places: Sequence[NDArray[np.int64]],
    share: Floats,
    n_simulations: int,
    rng: np.random.Generator,
) -> Floats:
    """Plug-in ECE of labels drawn row by row, one class or none each, (simulation, class)."""
    size = max(int(place.max()) for place in places) + 1
    gaps = np.empty((len(scores), n_simulations, size))
    for gap, score, place in zip(gaps, scores, places, strict=True):
        gap[:] = -np.bincount(place, share * score, size)
    step = max(_BLOCK // n_simulations, 1)
    for start in range(0, len(share), step):
        rows = slice(start, start + step)
        weight = share[rows]
        drawn = rng.random((n_simulations, len(weight)))
        low = np.zeros(len(weight))
        for gap, score, place in zip(gaps, scores, places, strict=True):
            high = low + score[rows]
            in_bin = np.zeros((len(weight), size))
            in_bin[np.arange(len(weight)), place[rows]] = weight
            gap += ((drawn >= low) & (drawn < high)) @ in_bin
            low = high
    return np.asarray(np.abs(gaps).sum(axis=-1).T)


def of_cells(
    score: Floats,
    share: Floats,
    count: NDArray[Any],
    place: NDArray[np.int64],
    n_simulations: int,
    rng: np.random.Generator,
) -> Floats:
    """Plug-in ECE of labels drawn cell by cell at their mean scores, (simulation,).

    Of weighted rows `count` is the effective number. A whole number of rows next to it is drawn,
    whose deviations are scaled to the variance of the weighted rate, ``score (1 - score) / count``.
    """
    held = count > 0
    score, share, count, place = score[held], share[held], count[held], place[held]
    rows = np.maximum(np.rint(count), 1).astype(np.int64)
    scale = share * np.sqrt(rows / count)
    in_bin = np.zeros((len(score), int(place.max()) + 1))
    in_bin[np.arange(len(score)), place] = 1.0
    found = np.empty(n_simulations)
    step = max(_BLOCK // len(score), 1)
    for start in range(0, n_simulations, step):
        part = found[start : start + step]
        drawn = rng.binomial(rows, score, (len(part), len(score)))
        part[:] = np.abs((scale * (drawn / rows - score)) @ in_bin).sum(axis=-1)
    return found
