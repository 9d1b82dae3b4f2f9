"""One binary problem as the models see it: cells, their bins, and the scores of exactly 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp

from bayescal.core import functionals
from bayescal.core.bin_counts import BinCounts, counts_of_sums
from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.core.quantity import digest_of
from bayescal.inference.direct import BinomialCells, CellLikelihood, zoomed

# Scores of exactly 0 or 1 have no logit; beyond this no count of rows separates them.
EDGE = 1e-9
ERRORS = ("ece", "tce", "mce")
# Two minutes and 3 GB.
MOST_FITTED: Final = 2200
# Places at which a curve is kept.
POINTS = 80


def draw_masses(count: NDArray[Any], shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw the cells' shares of all rows, (*shape, ..., cell), by Rubin's Bayesian bootstrap."""
    gamma = rng.standard_gamma(count.astype(float), size=(*shape, *count.shape))
    # Of far less than one effective row most draws underflow: a bin of them had no mean.
    np.maximum(gamma, 1e-200 * (count > 0), out=gamma)
    return np.asarray(gamma / gamma.sum(axis=-1, keepdims=True))


def weighted_masses(share: Floats, unit: Floats, rates: Floats) -> Floats:
    """Shares of the population from shares of weighted rows and label rates, (..., cell).

    `unit` is what a row without and with the event weighs, (2, ..., cell): the inverse of its
    chance of selection, which of a row of a cell with the rate r is ``(1 - r) / unit[0] + r /
    unit[1]``. Where weights follow the label, mass and rate thus move together: shares of
    Dirichlet draws and rates of Beta draws give the sums of ``w g`` over rows of either label,
    g ~ Exponential(1), of the Bayesian bootstrap.
    """
    without, with_event = 1 / np.where(unit > 0, unit, 1)
    mass = share / (without + rates * (with_event - without))
    return np.asarray(mass / mass.sum(axis=-1, keepdims=True))


def draw_events(count: NDArray[Any], rates: Floats, rng: np.random.Generator) -> NDArray[Any]:
    """Draw the rows of each cell where the event happens, (..., cell).

    Of weighted rows these are effective ones, of which the last may be a part of one.
    """
    whole = np.floor(count).astype(np.int64)
    drawn = rng.binomial(whole, rates)
    if count.dtype.kind == "f":
        drawn = drawn + (count - whole) * (rng.random(drawn.shape) < rates)
    return np.asarray(drawn)


def relabelled(cells: BinCounts, rates: Floats, rng: np.random.Generator) -> BinCounts:
    """The rows of evened cells with labels drawn anew; of weighted rows it tells their sums.

    Rows of a label keep their weight, so that at a rate of the population, (cell,), a share of the
    rows has the event, and a cell weighs what its labels make of it.
    """
    if cells.rows is None:
        return replace(cells, positives=draw_events(cells.count, rates, rng))
    unit, n = cells.unit, cells.mass_count
    chance = np.stack([1 - rates, rates]) / np.where(unit > 0, unit, 1)
    events = draw_events(n, chance[1] / chance.sum(axis=0), rng)
    each = np.stack([n - events, events])
    positive_rows = cells.rows * events / np.where(n > 0, n, 1)
    weight, squares = (unit * each).sum(axis=0), (unit**2 * each).sum(axis=0)
    sums = np.stack([cells.rows, positive_rows, weight, squares, unit[1] * events])
    return counts_of_sums(cells.edges, sums, cells.mean_score, cells.closed, cells.strategy)


def error_draws(problem: Problem, rates: Floats, mass: Floats) -> dict[str, Floats]:
    """Compute calibration errors, label rates and gaps of every draw."""
    return BinnedMass(problem, mass).at(rates).errors(rates)


@dataclass(frozen=True, eq=False)
class BinnedMass:
    """Draws of the cells' masses, and the errors that label rates make of them.

    A bin's rate and confidence are means over its cells weighted by their masses, all from one
    draw. The rate of a bin without mass is the unweighted mean over its cells, by prior and
    neighbours. A mean is linear, so that a bin's gap is the mean of its cells' gaps.
    """

    problem: Problem
    mass: Floats  # (..., cell)

    @cached_property
    def _of_bins(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Masses of the bins, weights of their cells, sums of these, and confidences."""
        support, member = self.problem.support(), self.problem.membership()
        mass = self.mass @ member
        weight = self.mass + (mass == 0) @ member.T
        total = weight @ support
        scores = weight @ (self.problem.cells.mean_score[:, None] * support)
        return mass, weight, total, scores / total

    def at(self, rates: Floats) -> BinnedMass:
        """Masses from shares of rows: those of weighted rows depend on the rates."""
        cells = self.problem.cells
        if not cells.weighted:
            return self
        return replace(self, mass=weighted_masses(self.mass, cells.unit, rates))

    def errors(self, rates: Floats) -> dict[str, Floats]:
        """Calibration errors, label rates and gaps at label rates of the cells."""
        mass, weight, total, confidence = self._of_bins
        of_cells = rates - self.problem.cells.mean_score
        gap = (weight * of_cells) @ self.problem.support() / total
        return {
            "ece": functionals.expected_calibration_error(mass, gap, 0.0),
            "tce": np.vecdot(self.mass, np.abs(of_cells, out=of_cells)),
            "mce": functionals.maximum_calibration_error(mass, gap, 0.0),
            "label_rate": confidence + gap,
            "gap": gap,
        }


def curve_scores(problem: Problem) -> Floats:
    """Scores at which the calibration curve is kept, (point,)."""
    held = problem.cells.mean_score[problem.cells.count > 0]
    low, high = held.min(), held.max()
    even = np.linspace(low, high, POINTS // 2)
    start, stop = logit(np.clip([low, high], EDGE, 1 - EDGE))
    logits = np.linspace(start, stop, POINTS - POINTS // 2)
    return np.sort(np.append(even, np.clip(expit(logits), low, high)))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Counts of one classifier (and class), fine enough for a curve, with the bins above them."""

    coords: Mapping[str, str]
    cells: BinCounts
    bins: BinCounts
    parts: BinCounts | None = None  # of cells; None where rows are not known by their scores

    def __post_init__(self) -> None:
        """Refuse more cells than memory and patience hold."""
        if self.cells.n_bins > MOST_FITTED:
            raise InputError(
                f"a calibration curve is fitted to at most {MOST_FITTED} cells; the "
                f"{self.bins.n_bins} bins are cut into {self.cells.n_bins}. Time and memory grow "
                "faster than their square: pass fewer bins, or count rows into fewer cells "
                "(n_cells). Estimates without a posterior take any number."
            )

    def membership(self) -> Floats:
        """Which cells make up which bin, (cell, bin)."""
        table = np.zeros((self.cells.n_bins, self.bins.n_bins))
        table[np.arange(self.cells.n_bins), self.cells.place_in(self.bins.edges)] = 1
        return table

    def support(self) -> Floats:
        """Which cells give the rate of which bin, (cell, bin)."""
        table = self.membership()
        held, every = np.flatnonzero(table.any(axis=0)), np.arange(self.bins.n_bins)
        if self.bins.closed == "right":
            source = held[np.searchsorted(held, every, side="right") - 1]
        else:
            source = held[np.searchsorted(held, every, side="left")]
        return np.asarray(table[:, source])


def pad[Scalar: np.generic](values: NDArray[Scalar], *shape: int) -> NDArray[Scalar]:
    """Append zeros up to a shape, so that one compiled model serves all sizes below it."""
    return np.pad(
        values, [(0, size - have) for size, have in zip(shape, values.shape, strict=True)]
    )


def padded_size(n: int, smallest: int) -> int:
    """Round a number of cells up to the next doubling of the smallest size."""
    size = smallest
    while size < n:
        size *= 2
    return size


def in_a_row(places: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Places as a slice where each follows the one before: what is taken is then not copied."""
    if len(places) and places[-1] - places[0] + 1 == len(places):
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def fingerprint(problem: Problem, positives: NDArray[Any]) -> str:
    """Hash of the counts, cells and bins."""
    cells, bins = problem.cells, problem.bins
    every = [cells.edges, cells.count, positives, cells.mean_score, cells.mass, bins.edges]
    every += [cells.rows, cells.positive_rows]
    if (parts := problem.parts) is not None:
        every += [parts.edges, parts.count, parts.positives, parts.mean_score, parts.mass]
    # Bounds go by how the bins were chosen, steps by the end that bins own.
    return digest_of(repr(sorted(problem.coords.items())), *every, f"{bins.strategy} {bins.closed}")


def score_logit(score: Floats) -> Floats:
    """Logit of scores, finite also at 0 and 1, (...)."""
    return np.asarray(logit(np.clip(score, EDGE, 1 - EDGE)))


# Rates of less than exp(-699) are 0.
_LEAST_LOGIT, _ZERO = -700.0, -699.0
# The largest number below 1 has the logit 36.7.
_ONE = 37.0


def rate_logit(rate: Floats) -> Floats:
    """Logit of rates, finite also at 0 and 1, from which `logit_rate` takes them back, (...)."""
    return np.asarray(np.clip(logit(rate), _LEAST_LOGIT, _ONE))


def logit_rate(at: Floats) -> Floats:
    """Rates of logits, exactly 0 and 1 where the logits are those of `rate_logit`, (...)."""
    return np.where(at <= _ZERO, 0.0, expit(at))


def off_boundary(rate: Floats) -> Floats:
    """Label rates in a likelihood: where a score of 0 or 1 never errs, as near to it as evidence.

    An error there is next to impossible, not impossible, or a draw would have no likelihood.
    """
    return np.where(rate <= 0, EDGE, np.where(rate >= 1, 1 - EDGE, rate))


def labelled(cells: object) -> BinomialCells:
    """Take cells as counts of labels, which they must be for NUTS."""
    if not isinstance(cells, BinomialCells):
        raise TypeError("these cells count no labels")
    return cells


def padded_counts(cells: object, size: int) -> dict[str, NDArray[Any]]:
    """Counts of labels as a model's data, padded."""
    known = labelled(cells)
    coefficient = functionals.log_binomial_coefficient(known.count, known.positives)
    counts = {"count": known.count, "positives": known.positives, "log_coefficient": coefficient}
    return {name: pad(values, size) for name, values in counts.items()}


# Prior probability, should some score not be calibrated, that only scores of 0 or 1 are not. At
# 0.05 rows of such a score that are all right hardly move P(calibrated): 100 of them to .54.
ONLY_BOUNDARY = 0.05


@dataclass(frozen=True, eq=False)
class BoundaryErrors:
    """Prior of the scores 0 and 1, which has one probability for "every score is calibrated".

    Should some score not be calibrated, those between 0 and 1 are calibrated with probability
    `ONLY_BOUNDARY`, and then one of the scores 0 and 1 errs, or both. Otherwise each of the two is
    calibrated with probability `calibrated`, independently.
    """

    number: int
    calibrated: float
    inside: bool

    @property
    def only(self) -> float:
        """Probability that the scores inside are calibrated, given that some score is not."""
        if not self.inside:
            return 1.0
        return ONLY_BOUNDARY if self.number and self.calibrated else 0.0

    @property
    def interior_calibrated(self) -> float:
        """Probability that the scores inside are calibrated."""
        return self.calibrated + (1 - self.calibrated) * self.only

    @cached_property
    def patterns(self) -> NDArray[np.bool_]:
        """Which of the scores err, (pattern, boundary); in the first pattern none does."""
        places = np.arange(2**self.number)[:, None] >> np.arange(self.number)
        return np.asarray(places & 1 == 1)

    def log_prior(self, interior_calibrated: bool) -> Floats:
        """Log probabilities of the patterns, given whether the scores inside are calibrated."""
        apart = np.where(self.patterns, 1 - self.calibrated, self.calibrated).prod(axis=1)
        if interior_calibrated and self.interior_calibrated:
            some = (1 - self.calibrated) * self.only * apart / max(1 - apart[0], 1e-300)
            some[0] = self.calibrated
            apart = some / self.interior_calibrated
        with np.errstate(divide="ignore"):
            return np.log(apart)


_GRID_POINTS = 400
# Reach of the first grid about its centre, in prior standard deviations: as far as the posterior of
# a hundred million rows, all of them errors or none.
_REACH = 13.0


@dataclass(frozen=True, eq=False)
class BoundaryScore:
    """One cell whose score is exactly 0 or 1.

    The error is the event at score 0 and its absence at score 1. Calibrated scores never err.
    """

    score: float
    cells: CellLikelihood
    mean: float
    spread: float

    @property
    def log_calibrated(self) -> float:
        """Log-likelihood of a score that never errs."""
        return float(self.cells.log_likelihood(score_logit(np.array([self.score]))).sum())

    def log_density(self, place: Floats) -> Floats:
        """Log of likelihood times prior at logits of the error rate, (...)."""
        sign = 1 if self.score == 0 else -1
        likelihood = self.cells.log_likelihood(sign * place[..., None]).sum(axis=-1)
        standard = (place - self.mean) / self.spread
        return np.asarray(likelihood - standard**2 / 2 - np.log(self.spread * np.sqrt(2 * np.pi)))

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        """Grid of the logit of the error rate where the posterior is, with its log density."""
        grid = self.mean + self.spread * np.linspace(-_REACH, _REACH, _GRID_POINTS)
        return zoomed(self.log_density, grid, 40)

    @property
    def log_evidence(self) -> float:
        """Log marginal likelihood of an error rate of its own."""
        grid, density = self._grid
        return float(logsumexp(density) + np.log(grid[1] - grid[0]))

    def draws(self, number: int, rng: np.random.Generator) -> Floats:
        """Draw logits of the error rate, given that there is one, (draw,)."""
        grid, density = self._grid
        weight = np.exp(density - density.max())
        cumulative = np.concatenate([[0], np.cumsum((weight[1:] + weight[:-1]) / 2)])
        return np.interp(rng.random(number), cumulative / cumulative[-1], grid)

    def prior_draws(self, number: int, rng: np.random.Generator) -> Floats:
        """Draw logits of the error rate before the data, (draw,)."""
        return rng.normal(self.mean, self.spread, number)

    def log_prior(self, place: Floats) -> Floats:
        """Log prior density less its mean, (...)."""
        return np.asarray((1 - np.square((place - self.mean) / self.spread)) / 2)

    def event_rate(self, place: Floats) -> Floats:
        """Probability of the event at logits of the error rate."""
        error: Floats = expit(place)
        return error if self.score == 0 else 1 - error
