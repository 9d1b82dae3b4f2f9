"""Scores of exactly 0 and 1 at many class priors at once: the evidence and the error rates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, logsumexp

from bayescal.core.calibration_curve.smooth_curve import EDGE
from bayescal.inference.descriptions.end_scores import EndScore
from bayescal.quantities.pu_ece.models.case_control import CaseControlCells

type Floats = NDArray[np.float64]

_STEPS = 40
_CLOSE = 1e-3
# Points of the error rate's distribution, in standard deviations about its mode.
_GRID = np.linspace(-8, 8, 81)


class EndDraws(NamedTuple):
    """One score at each of the class priors."""

    log_right: Floats  # (...)
    log_wrong: Floats  # (...)
    place: Floats  # (...): logit of the error rate, should it be wrong


def draw_end(end: EndScore, cells: CaseControlCells, rng: np.random.Generator) -> EndDraws:
    """Find the evidence that the score never errs and that it errs, and draw how often."""
    sign = 1 if end.score == 0 else -1
    shape = np.shape(cells.log_odds)
    mode = np.full(shape, end.mean)
    for _ in range(_STEPS):
        slope, information = cells.slopes(sign * mode)
        precision = information + end.spread**-2
        step = np.clip((sign * slope - (mode - end.mean) / end.spread**2) / precision, -1, 1)
        mode = mode + step
        if np.abs(step).max(initial=0) < _CLOSE:
            break
    spread = precision**-0.5
    grid = mode + spread * _GRID.reshape(-1, *[1] * len(shape))
    density = cells.log_likelihood(sign * grid) - ((grid - end.mean) / end.spread) ** 2 / 2
    log_wrong = logsumexp(density, axis=0) + np.log(spread * (_GRID[1] - _GRID[0]) / end.spread)
    cumulative = np.cumsum(np.exp(density - density.max(axis=0)), axis=0)
    cumulative /= cumulative[-1]
    held = (cumulative < rng.random(shape)).sum(axis=0)
    # Within a step of the grid, a sixth of a standard deviation, the density hardly changes.
    at = _GRID[held] + (rng.random(shape) - 0.5) * (_GRID[1] - _GRID[0])
    right = cells.log_likelihood(np.full(shape, logit(np.clip(end.score, EDGE, 1 - EDGE))))
    return EndDraws(right, log_wrong - np.log(2 * np.pi) / 2, mode + spread * at)
