"""How far a calibration curve is from the scores: sizes, quantiles, directions, recalibration.

Each is a function of the cells' label rates (..., cell), scores (cell,) and masses (..., cell);
masses sum to 1. The plug-in ECE that scores would have if they were calibrated is by simulation.

Of recalibration, the best ``sigma(a + b logit s)`` for label rates known by score minimises the
mean Kullback-Leibler divergence, which is convex; scores of exactly 0 or 1 are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core import functionals
from bayescal.core.columns import Floats
from bayescal.core.text import relation
from bayescal.measures.measure import functions_for

type Tensor = Any


def tce(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Mean absolute gap: the true calibration error, ICI or E_avg."""
    return functionals.expected_calibration_error(mass, rate, score)


def emax(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Largest absolute gap of scores that have rows."""
    return functionals.maximum_calibration_error(mass, rate, score)


def l2(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Root of the mean squared gap."""
    return functionals.squared_calibration_error(mass, rate, score) ** 0.5


def eci(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Hundred times the mean squared gap: the estimated calibration index."""
    return 100 * functionals.squared_calibration_error(mass, rate, score)


def e50(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Median absolute gap over rows."""
    return gap_quantile(rate, score, mass, 0.5)


def e90(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Absolute gap that nine rows in ten do not exceed."""
    return gap_quantile(rate, score, mass, 0.9)


def gap_quantile(rate: Tensor, score: Tensor, mass: Tensor, level: float) -> Tensor:
    """Quantile of the absolute gap over rows, the least value that a share `level` reaches."""
    xp = functions_for(rate)
    gap = abs(rate - score)
    order = xp.argsort(gap, axis=-1)
    held = xp.take_along_axis(gap, order, axis=-1)
    reached = xp.cumsum(xp.take_along_axis(mass + 0 * gap, order, axis=-1), axis=-1)
    # Sums of masses are off by rounding.
    place = (reached < level - 1e-12).sum(axis=-1)
    return xp.take_along_axis(held, place[..., None], axis=-1)[..., 0]


def over(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Part of the calibration error where scores are too high."""
    return (mass * (abs(rate - score) - (rate - score))).sum(axis=-1) / 2


def under(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Part of the calibration error where scores are too low."""
    return (mass * (abs(rate - score) + (rate - score))).sum(axis=-1) / 2


def mean_gap(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Mean label rate less the mean score: calibration in the large."""
    return (mass * (rate - score)).sum(axis=-1)


def oe(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Observed over expected events."""
    return (mass * rate).sum(axis=-1) / (mass * score).sum(axis=-1)


def c(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Largest absolute sum of gaps over an interval of scores: Kuiper's statistic, ECCE-R."""
    xp = functions_for(rate)
    sums = xp.cumsum(mass * (score - rate), axis=-1)
    return xp.maximum(sums.max(axis=-1), 0) - xp.minimum(sums.min(axis=-1), 0)


def ks(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Largest absolute sum of gaps over the scores up to a threshold: ECCE-MAD."""
    xp = functions_for(rate)
    return abs(xp.cumsum(mass * (score - rate), axis=-1)).max(axis=-1)


# Bandwidths are powers of this factor; between two of them the error is nearly a power of it.
_STEP: Final = 0.7
# Halvings, in logarithms, of the step in which the error equals its bandwidth.
_HALVINGS: Final = 3
# No bandwidth is smaller; an error as small as that is not smoothed.
_LEAST: Final = 1e-3
# Points of the integral: its integrand has kinks where gaps change their sign.
_PER_BANDWIDTH: Final = 4
# Bandwidths beyond which a kernel is less than rounding, and what is less than that of it.
_REACH, _NOTHING = 9.0, 1e-18
# Points at a time, which few cells are near if the bandwidth is small.
_BLOCK_POINTS: Final = 128


class _End(NamedTuple):
    """A bandwidth, and the smoothed errors at it."""

    width: float
    error: Floats  # (draw,)


def smece(rate: Any, score: Any, mass: Any) -> Floats:
    """Mean absolute gap after smoothing with a reflected Gaussian kernel of the same size."""
    r, m = (np.asarray(values, dtype=np.float64) for values in (rate, mass))
    s = np.asarray(score, dtype=np.float64)
    gap = m * (r - s)
    flat = gap.reshape(-1, gap.shape[-1])
    found = np.abs(flat).sum(axis=-1)
    left = np.flatnonzero(found > _LEAST)
    # Smoothing makes no error larger: the bandwidths above the largest of them are left out.
    wider = _STEP ** np.floor(np.log(found.max(initial=_LEAST)) / np.log(_STEP))
    before = _smoothed(flat[left], s, wider)
    while len(left) and wider > _LEAST:
        width = wider * _STEP
        here = _smoothed(flat[left], s, width)
        done = here >= width
        ends = _End(wider, before[done]), _End(width, here[done])
        found[left[done]] = _crossing(flat[left[done]], s, *ends, _HALVINGS)
        left, before, wider = left[~done], here[~done], width
    found[left] = before
    return np.asarray(found.reshape(gap.shape[:-1]))


def _crossing(gap: Floats, score: Floats, wide: _End, narrow: _End, halvings: int) -> Floats:
    """Where the error equals the bandwidth: halves, then a straight line in logarithms, (draw,)."""
    if not (halvings and len(gap)):
        above, below = (np.log(np.maximum(end.error, 1e-300) / end.width) for end in (narrow, wide))
        share: Floats = above / (above - below)
        return np.asarray(narrow.width * (wide.width / narrow.width) ** share)
    width = float(np.sqrt(wide.width * narrow.width))
    middle = _End(width, _smoothed(gap, score, width))
    found, wider = np.empty(len(gap)), middle.error >= width
    for rows, ends in ((wider, (wide, middle)), (~wider, (middle, narrow))):
        left, right = (_End(end.width, end.error[rows]) for end in ends)
        found[rows] = _crossing(gap[rows], score, left, right, halvings - 1)
    return found


def _smoothed(gap: Floats, score: Floats, width: float) -> Floats:
    """Integral over [0, 1] of the absolute smoothed gap, (draw,)."""
    number = max(32, int(np.ceil(_PER_BANDWIDTH / width)))
    at = (np.arange(number) + 0.5) / number
    kernel = np.zeros((len(score), number))
    for image in (2 * turn + sign * score for turn in (-1, 0, 1) for sign in (1, -1)):
        near = np.abs(image - 0.5) < 0.5 + _REACH * width
        far = -0.5 * ((at - image[near, None]) / width) ** 2
        # Exponentials that underflow take ten times as long.
        kernel[near] += np.exp(np.maximum(far, -700, out=far), out=far)
    # Of a wide kernel more images than these matter: it is made to integrate to 1.
    kernel /= kernel.mean(axis=1, keepdims=True)
    found = np.zeros(len(gap))
    for points in np.array_split(np.arange(number), max(number // _BLOCK_POINTS, 1)):
        near = kernel[:, points].max(axis=1) > _NOTHING
        found += np.abs(gap[:, near] @ kernel[near][:, points]).sum(axis=-1)
    return found / number


# Steps get small after 5 to 10 in ordinary cases; without an end the logits have no best line.
_STEPS: Final = 30
_SMALL: Final = 1e-7
# Draws at a time: their cells stay in the processor's cache from step to step.
_BLOCK_DRAWS: Final = 256


def _in_blocks(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Evaluate numbers some draws at a time; the first axes of what is found may be others."""

    @wraps(function)
    def found(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
        if functions_for(rate) is not np:
            return function(rate, score, mass)
        rates, masses = np.broadcast_arrays(rate, mass)
        number = 1 + rates[..., 0].size // _BLOCK_DRAWS
        flat = (
            np.array_split(np.reshape(one, (-1, len(score))), number) for one in (rates, masses)
        )
        blocks = [function(some, score, own) for some, own in zip(*flat, strict=True)]
        values = np.concatenate(blocks, axis=-1)
        shape = values.shape[:-1] + rates.shape[:-1]
        return values.reshape(shape) if shape else values[0]

    return found


def slope(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Calibration slope: 1 where calibrated, below 1 where scores are too extreme."""
    return _line(rate, score, mass)[1]


def intercept(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Intercept beside the slope: logit of the label rate at a score of 0.5."""
    return _line(rate, score, mass)[0]


@_in_blocks
def citl(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Intercept given a slope of 1: above 0 where scores are too low on the whole."""
    xp = functions_for(rate)
    logit, weight = _inner(score, mass, xp)
    a = _start(rate, weight, xp)
    for _ in range(_STEPS):
        p = 1 / (1 + xp.exp(-(a[..., None] + logit)))
        ratio = (weight * (rate - p)).sum(axis=-1) / (weight * p * (1 - p)).sum(axis=-1)
        # The curvature changes by a factor of e a unit at most: so far lies the root, or farther.
        step = xp.sign(ratio) * xp.log1p(abs(ratio))
        a = a + step
        if xp is np and not (abs(step) > _SMALL).any():
            break
    return _settled(a, step, xp)


@_in_blocks
def _line(rate: Tensor, score: Tensor, mass: Tensor) -> Tensor:
    """Intercept and slope by Newton's method from a slope of 0, (2, ...)."""
    xp = functions_for(rate)
    logit, weight = _inner(score, mass, xp)
    # About their middle: far from it the products of sums below would cancel.
    middle = logit.sum() / ((score > 0) & (score < 1)).sum()
    x = logit - middle
    powers = xp.stack([xp.ones_like(x), x, x**2], axis=1)
    wanted = (weight * rate) @ powers
    a = _start(rate, weight, xp)
    b = 0 * a
    for _ in range(_STEPS):
        p = 1 / (1 + xp.exp(-a[..., None] - b[..., None] * x))
        weighed = weight * p
        off, spread = wanted - weighed @ powers, (weighed * (1 - p)) @ powers
        g0, g1 = off[..., 0], off[..., 1]
        h0, h1, h2 = spread[..., 0], spread[..., 1], spread[..., 2]
        det = h0 * h2 - h1**2
        up, turn = (h2 * g0 - h1 * g1) / det, (h0 * g1 - h1 * g0) / det
        a, b = a + up, b + turn
        step = abs(up) + abs(turn)
        if xp is np and not (step > _SMALL).any():
            break
    # Through a single score there are many lines.
    step = xp.where((weight > 0).sum(axis=-1) > 1, step, xp.nan)
    return xp.stack([_settled(a - b * middle, step, xp), _settled(b, step, xp)])


def _start(rate: Tensor, weight: Tensor, xp: Any) -> Tensor:
    """0, or nearer to an overall rate near 0 or 1, a step a unit away, and not beyond it."""
    overall = xp.log((weight * rate).sum(axis=-1) / (weight * (1 - rate)).sum(axis=-1))
    return overall - xp.clip(overall, -10.0, 10.0)


def _settled(value: Tensor, step: Tensor, xp: Any) -> Tensor:
    """A root that was found, without rounding: where the rates are the scores, exactly 1 or 0."""
    return xp.where(abs(step) <= _SMALL, np.round(value, 12) if xp is np else value, np.nan)


def _inner(score: Tensor, mass: Tensor, xp: Any) -> tuple[Tensor, Tensor]:
    """Logits, and masses that are 0 where there is none."""
    inner = (score > 0) & (score < 1)
    within = xp.where(inner, score, 0.5)
    return xp.log(within / (1 - within)), mass * inner


SIMULATIONS: Final = 1000
# Random numbers that are held at a time.
_BLOCK: Final = 1 << 21
# A simulated estimate that differs from the observed one by less is equal to it.
_ROUNDING: Final = 1e-9


class IfCalibrated(NamedTuple):
    """Plug-in ECE of one case, and what it would be if the case were perfectly calibrated."""

    case: str  #: Classifier, class and group, in words.
    mean: float  #: Expected if the scores were the probabilities of the event.
    lower: float  #: Central range of the same, of probability `prob`.
    upper: float  #: Its upper end.
    p_value: float  #: Probability of one as large as that observed, or larger.
    observed: float  #: Of the labels as they are.
    prob: float  #: Probability of the range.

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
            f"p {relation(self.p_value)}."
        )


def compared_with_simulated(
    case: str, simulated: Floats, observed: float, prob: float
) -> IfCalibrated:
    """Set an observed plug-in ECE beside simulated ones."""
    lower, upper = np.quantile(simulated, ((1 - prob) / 2, (1 + prob) / 2))
    reached = int(np.count_nonzero(simulated >= observed - _ROUNDING))
    # With the observed labels among the simulated ones it is valid at any number of them.
    p_value = (1 + reached) / (1 + len(simulated))
    return IfCalibrated(
        case, float(simulated.mean()), float(lower), float(upper), p_value, observed, prob
    )


def simulated_of_rows(
    scores: Sequence[NDArray[np.floating]],
    places: Sequence[NDArray[np.int64]],
    share: Floats,
    n_simulations: int,
    rng: np.random.Generator,
    ratio: Floats,
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
            both = score[rows] + ratio[rows] * (1 - score[rows])
            high = low + score[rows] / both
            in_bin = np.zeros((len(weight), size))
            in_bin[np.arange(len(weight)), place[rows]] = weight * both
            gap += ((drawn >= low) & (drawn < high)) @ in_bin
            low = high
    return np.asarray(np.abs(gaps).sum(axis=-1).T)


def simulated_of_cells(
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
