"""Likelihood of label rates from two samples: cells, scores of exactly 0 and 1, sample sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayescal.core.columns import Floats
from bayescal.curves.cells import BoundaryScore, score_logit

LOWEST = -700.0
"""Logits are no lower: the exponential of more than 709 is infinite."""


@dataclass(frozen=True, slots=True, eq=False)
class CaseControlCells:
    """Positives of each cell out of positives and unlabelled rows, at known class priors.

    With the probability p of the event, a row is a positive with the odds ``p nP / (nU pi)``.
    """

    total: NDArray[Any]
    positive: NDArray[Any]
    log_odds: Floats | float

    def share(self, logit: Floats) -> Floats:
        """Probability that a row is one of the positives, (..., cell)."""
        odds = np.exp(self.log_odds)
        return np.asarray(odds / (1 + odds + _inverse_odds(logit)))

    def positive_odds(self, logit: Floats) -> Floats:
        """Odds that a row is one of the positives, (..., cell)."""
        return np.asarray(np.exp(self.log_odds) / (1 + _inverse_odds(logit)))

    def log_likelihood(self, logit: Floats) -> Floats:
        """Log-likelihood of each cell, without the binomial coefficients."""
        odds = self.positive_odds(logit)
        return np.asarray(self.positive * np.log(odds) - self.total * np.log(1 + odds))

    def slopes(self, logit: Floats) -> tuple[Floats, Floats]:
        """Derivative of the log-likelihood, and expected information, by the logit."""
        share, other = self.share_and_other(logit)
        expected = self.total * share
        return (self.positive - expected) * other, expected * (1 - share) * other**2

    def share_and_other(self, logit: Floats) -> tuple[Floats, Floats]:
        """Probabilities that a row is one of the positives, and of no event, (..., cell)."""
        other = _inverse_odds(logit)
        odds = np.exp(self.log_odds)
        share = odds / (1 + odds + other)
        other /= 1 + other
        return share, other

    def at(self, cells: NDArray[Any]) -> Self:
        """Take some of the cells."""
        return replace(self, total=self.total[cells], positive=self.positive[cells])


def _inverse_odds(logit: Floats) -> Floats:
    """Odds against the event, in an array of their own."""
    found = np.asarray(np.negative(logit))
    np.minimum(found, -LOWEST, out=found)
    return np.exp(found, out=found)


_STEPS = 40
_CLOSE = 1e-3
# Points of the error rate's distribution, in standard deviations about its mode.
_GRID = np.linspace(-8, 8, 81)


class BoundaryFit(NamedTuple):
    """One score of 0 or 1 at each of the class priors."""

    log_right: Floats  # (...): evidence that it never errs
    log_wrong: Floats  # (...): that it errs, at a rate of its own
    mode: Floats  # (...): of the logit of that rate
    spread: Floats  # (...)
    cumulative: Floats  # (grid, ...)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw logits of the error rate, should the score err, (...)."""
        shape = self.mode.shape
        place = (self.cumulative < rng.random(shape)).sum(axis=0)
        # Within a step of the grid, a sixth of a standard deviation, the density hardly changes.
        at = _GRID[place] + (rng.random(shape) - 0.5) * (_GRID[1] - _GRID[0])
        return np.asarray(self.mode + self.spread * at)


def fit_boundary(score: BoundaryScore, cells: CaseControlCells) -> BoundaryFit:
    """Find the evidence that the score never errs and that it errs, and how often."""
    sign = 1 if score.score == 0 else -1
    shape = np.shape(cells.log_odds)
    mode = np.full(shape, score.mean)
    for _ in range(_STEPS):
        slope, information = cells.slopes(sign * mode)
        precision = information + score.spread**-2
        step = np.clip((sign * slope - (mode - score.mean) / score.spread**2) / precision, -1, 1)
        mode = mode + step
        if np.abs(step).max(initial=0) < _CLOSE:
            break
    spread = precision**-0.5
    grid = mode + spread * _GRID.reshape(-1, *[1] * len(shape))
    density = cells.log_likelihood(sign * grid) - ((grid - score.mean) / score.spread) ** 2 / 2
    log_wrong = logsumexp(density, axis=0) + np.log(spread * (_GRID[1] - _GRID[0]) / score.spread)
    # Next to no positives, whatever the class prior: a rate of next to nothing is not so beside it.
    never = score_logit(np.array(score.score)) - (cells.log_odds if score.score == 0 else 0)
    right = cells.log_likelihood(np.broadcast_to(never, shape))
    cumulative = np.cumsum(np.exp(density - density.max(axis=0)), axis=0)
    cumulative /= cumulative[-1]
    return BoundaryFit(right, log_wrong - np.log(2 * np.pi) / 2, mode, spread, cumulative)


def log_density_of_patterns(
    patterns: NDArray[np.bool_], fits: Sequence[BoundaryFit], shape: tuple[int, ...]
) -> Floats:
    """Log evidence of each pattern of errors at 0 and 1, (..., pattern)."""
    found = np.zeros((*shape, len(patterns)))
    for column, one in enumerate(fits):
        right, wrong = one.log_right[..., None], one.log_wrong[..., None]
        found += np.where(patterns[:, column], wrong, right)
    return found


def choose_rates(
    tries: Sequence[tuple[Floats, Floats]], log_prior: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Choose one of several (boundary, log weight of patterns) for each draw, by its weight."""
    if len(tries) == 1:
        return tries[0]
    boundary, weight = (np.stack(parts) for parts in zip(*tries, strict=True))
    each = logsumexp(weight + log_prior, axis=-1)
    place = np.argmax(each + rng.gumbel(size=each.shape), axis=0)[None]
    mean = logsumexp(each, axis=0) - np.log(len(tries))
    own = np.take_along_axis(each, place, axis=0)[0]
    boundary, weight = (
        np.take_along_axis(one, place[..., None], axis=0)[0] for one in (boundary, weight)
    )
    return boundary, weight + np.where(np.isfinite(own), mean - own, 0)[..., None]


# Few draws at a time: what is in the cache takes a fraction of the time.
_TOGETHER = 128
_TILTS = 60
_CLOSE_TILT = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class SampleSizes:
    """What both sample sizes say of the shares of positives in cells.

    The binomial likelihood leaves the number of positives free. It is given, and the mean label
    rate of the population is the class prior. With masses g / sum(g), where
    ``g ~ Gamma(total) / (1 + odds rate)`` before that, this is ``sum g (rate - class_prior) = 0``,
    whose density is nearly normal: the expected number of positives lies near `n_positive`, by the
    standard deviation that the shares of positives have over all rows. Both together are the
    likelihood of two samples of fixed sizes (J. Qin, Biometrika 85(3), 1998).
    """

    total: NDArray[Any]
    n_positive: float
    share: float
    variance: float = 1.0
    wider: float = 1.0  # how many times the variance counts

    def at(self, cells: NDArray[Any], positive: NDArray[Any]) -> SampleSizes:
        """Take some of the cells; the others hold about the `positive` that were seen there."""
        other = np.setdiff1d(np.flatnonzero(self.total), cells)
        seen, rows = positive[other], self.total[other]
        # Seen counts are Poisson, of variance their mean, at most one more.
        spread = (rows * np.square(seen / rows - self.share)).sum() + (seen + 1).sum()
        rest = self.n_positive - float(seen.sum())
        variance = self.variance + float(spread)
        return SampleSizes(self.total[cells], rest, self.share, variance, self.wider)

    def widened(self, times: float, off: float) -> SampleSizes:
        """Let the variance count so many times.

        What lies `off` from the number of positives is drawn to it as before: a posterior stays.
        """
        return replace(self, wider=times, n_positive=self.n_positive - (times - 1) * off)

    def log_density(self, share: Floats, class_prior: Floats) -> Floats:
        """Log density of the sizes given shares of positives (..., cell), without constants."""
        return self.log_normal(*self.moments(share), class_prior)

    def log_normal(self, expected: Floats, variance: Floats, class_prior: Floats) -> Floats:
        """The same given what `moments` finds, (...)."""
        off = np.square(expected - self.n_positive) / (2 * variance)
        return np.asarray(-off - np.log(variance) / 2 - np.log(class_prior))

    def moments(self, share: Floats) -> tuple[Floats, Floats]:
        """Expected number of positives and its variance, (...)."""
        return share @ self.total, self.spread(share)

    def moments_at(self, rate: Floats, class_prior: Floats) -> tuple[Floats, Floats]:
        """The same at label rates (..., cell)."""
        class_priors = np.broadcast_to(class_prior, rate.shape[:-1])
        rates, found = rate.reshape(class_priors.size, -1 if rate.size else 0), []
        odds = self.share / (1 - self.share) / class_priors.ravel()
        for first in range(0, len(rates), _TOGETHER):
            own = slice(first, first + _TOGETHER)
            share = odds[own, None] * rates[own]
            share /= 1 + share
            found.append(self.moments(share))
        expected, variance = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return expected.reshape(class_priors.shape), variance.reshape(class_priors.shape)

    def spread(self, share: Floats) -> Floats:
        """Variance of the expected number of positives, (...)."""
        off = share - self.share
        spread = self.variance + np.square(off, out=off) @ self.total
        return np.asarray(self.wider * spread)


def log_sizes_density(
    rate: Floats, class_prior: Floats, total: NDArray[Any], n_positive: int
) -> Floats:
    """Log density of the two sample sizes given label rates of all cells, (...).

    See `SampleSizes`; without constants.
    """
    sizes = SampleSizes(total, n_positive, n_positive / total.sum())
    return sizes.log_normal(*sizes.moments_at(rate, class_prior), class_prior)


def sizes_by_rates_of(
    cells: Sequence[int], sizes: SampleSizes, rate: Floats, class_prior: Floats
) -> Callable[[Floats], Floats]:
    """Log density of the sizes as a function of the label rates of some cells, (..., cells).

    Those of the others are fixed, (..., cell), and summed once.
    """
    others, own = sizes.total.copy(), replace(sizes, total=sizes.total[cells], variance=0.0)
    others[cells] = 0
    expected, variance = replace(sizes, total=others).moments_at(rate, class_prior)

    def log_density(of_cells: Floats) -> Floats:
        more, spread = own.moments_at(of_cells, class_prior)
        return sizes.log_normal(expected + more, variance + spread, class_prior)

    return log_density


def joint_masses(
    gamma: Floats, rate: Floats, class_prior: Floats, total: NDArray[Any], n_positive: int
) -> Floats:
    """Shares of the unlabelled population in the cells given the label rates, (..., cell).

    Positives tell of the masses too: the draws ``gamma ~ Gamma(total)`` of the density above,
    tilted until the mean label rate is the class prior. Where no cell's rate is above the class
    prior, or none below it, they are left untilted.
    """
    odds = n_positive / (total.sum() - n_positive)
    draws, rates = gamma.reshape(-1, len(total)), rate.reshape(-1, len(total))
    class_priors = np.broadcast_to(class_prior, rate.shape[:-1]).reshape(-1, 1)
    mass = np.empty(draws.shape)
    for first in range(0, len(draws), _TOGETHER):
        own = slice(first, first + _TOGETHER)
        base, off = 1 + odds / class_priors[own] * rates[own], rates[own] - class_priors[own]
        found = draws[own] / (base + _tilt(draws[own], base, off, total > 0)[:, None] * off)
        np.divide(found, found.sum(axis=-1, keepdims=True), out=mass[own])
    return mass.reshape(rate.shape)


def _tilt(gamma: Floats, base: Floats, off: Floats, nonempty: NDArray[np.bool_]) -> Floats:
    """Solve ``sum gamma off / (base + tilt off) = 0``; 0 where it has no solution, (draw,)."""
    # Positive denominators keep the tilt inside an interval that this squeezes onto (0, 1).
    pull = off[:, nonempty] / base[:, nonempty]
    lowest, highest = pull.min(axis=-1), pull.max(axis=-1)
    possible = (lowest < 0) & (highest > 0)
    low = np.where(possible, -1 / np.where(possible, highest, 1), 0.0)
    high = np.where(possible, -1 / np.where(possible, lowest, -1), 0.0)
    tilt = np.zeros(len(gamma))
    for _ in range(_TILTS):
        ratio = off / (base + tilt[:, None] * off)
        weighted = gamma * ratio
        value, slope = weighted.sum(axis=-1), -np.vecdot(weighted, ratio)
        low, high = np.where(value > 0, tilt, low), np.where(value > 0, high, tilt)
        step = tilt - value / np.where(slope < 0, slope, -1)
        # A draw that is solved stays at an end of its interval.
        moved = np.where((step >= low) & (step <= high), step, (low + high) / 2)
        done = np.abs(moved - tilt).max(initial=0) < _CLOSE_TILT
        tilt = np.where(possible, moved, 0.0)
        if done:
            break
    return tilt
