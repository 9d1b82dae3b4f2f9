"""A calibration curve that jumps: segments, calibrated or shifted, over all ways to cut."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from bayescal.core.quantity import DirectDraws, Draws
from bayescal.inference.direct import CellLikelihood

type Floats = NDArray[np.float64]

BLOCKS = 50
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_LOG_WEIGHTS = np.log(_WEIGHTS) - np.log(2 * np.pi) / 2 + _NODES**2 / 2
# Enough for a mode as far off as two scores at the ends, by 1 a step.
_STEPS = 50
# The nodes need the mode to no more than this, in logits.
_CLOSE = 1e-4
# Points of a shift's distribution, in standard deviations about its mode.
_GRID = np.linspace(-7, 7, 57)
# If more of the posterior than this has no shift at all, draws with one are too rare to find.
_ALL_BUT_CALIBRATED = 1 - 1e-6


class SegmentDraws(NamedTuple):
    """Draws of the shifts, all of them with a shifted segment."""

    shift: Floats  # (draw, cell), in logits
    log_prior: Floats  # (draw,): of the shifts, less its mean before the data


@dataclass(frozen=True, eq=False)
class Segments:
    """Cells in order of their scores, cut into at most 50 blocks that make up segments.

    Notes
    -----
    A segment is calibrated with probability 1/2, else the logits of its cells are off by one
    Normal(0, scale) shift. Given that not all segments are calibrated: that curve is the calibrated
    description. All segmentations are summed by dynamic programming over their last segment; each
    shift is integrated out by Gauss-Hermite quadrature about its mode.
    """

    score: Floats
    offset: Floats
    rows: NDArray[Any]
    cells: CellLikelihood
    start: float
    scale: float
    exact: ClassVar[bool] = True

    @cached_property
    def _table(self) -> _Table:
        """Every segment of blocks with its cells, evidence and shift."""
        before = np.cumsum(self.rows) - self.rows
        _, block = np.unique(np.floor(before * BLOCKS / self.rows.sum()), return_inverse=True)
        first, last = np.triu_indices(int(block[-1]) + 1)
        begin = np.searchsorted(block, first)
        length = np.searchsorted(block, last, side="right") - begin
        ends = np.cumsum(length)
        inside = _Inside(
            # One entry a cell of a segment, segment by segment.
            cell=np.arange(ends[-1]) + np.repeat(begin - ends + length, length),
            segment=np.repeat(np.arange(len(begin)), length),
            begins=ends - length,
        )
        calibrated = inside.total(self.cells.log_likelihood(self.offset))
        mode, spread = self._shift(inside)
        return _Table(block, first, last, calibrated, self._off(inside, mode, spread), mode, spread)

    def _shift(self, inside: _Inside) -> tuple[Floats, Floats]:
        """Mode and approximate standard deviation of each segment's shift, by Newton's method."""
        cells, base = self.cells.at(inside.cell), self.offset[inside.cell]
        mode = np.zeros(len(inside.begins))
        for _ in range(_STEPS):
            slope, information = cells.slopes(base + mode[inside.segment])
            precision = inside.add(information) + self.scale**-2
            step = (inside.add(slope) - mode / self.scale**2) / precision
            # A logit moves by at most 1 a step: farther out the curvature says nothing.
            mode = mode + np.clip(step, -1, 1)
            if np.abs(step).max() < _CLOSE:
                break
        return mode, precision**-0.5

    def _off(self, inside: _Inside, mode: Floats, spread: Floats) -> Floats:
        """Log evidence of each segment with a shift."""
        cells, base = self.cells.at(inside.cell), self.offset[inside.cell]
        terms = []
        for node, log_weight in zip(_NODES, _LOG_WEIGHTS, strict=True):
            at = mode + spread * node
            likelihood = inside.add(cells.log_likelihood(base + at[inside.segment]))
            terms.append(likelihood - (at / self.scale) ** 2 / 2 + log_weight)
        return np.asarray(logsumexp(terms, axis=0) + np.log(spread / self.scale))

    @cached_property
    def _forward(self) -> tuple[Floats, list[Floats]]:
        """Log evidence of the blocks up to each one, and probabilities of the last start."""
        segment = self._table.square(np.logaddexp(self._table.calibrated, self._table.off))
        segment -= np.log(2)
        size = len(segment)
        total, last = np.zeros(size + 1), []
        for end in range(1, size + 1):
            begins = np.arange(end)
            log_prior = np.log(self.start) * (begins > 0)
            log_prior += np.log1p(-self.start) * (end - begins - 1)
            terms = total[:end] + log_prior + segment[:end, end - 1]
            total[end] = logsumexp(terms)
            last.append(np.exp(terms - total[end]))
        return total, last

    @property
    def _log_prior_calibrated(self) -> float:
        """Log prior probability that every segment is calibrated."""
        size = self._table.block[-1]
        return float(np.log(0.5) + size * np.log1p(-self.start / 2))

    @property
    def _share_calibrated(self) -> float:
        """Posterior probability that every segment is calibrated."""
        whole = self.cells.log_likelihood(self.offset).sum()
        return float(np.exp(self._log_prior_calibrated + whole - self._forward[0][-1]))

    @property
    def log_evidence(self) -> float:
        """Log marginal likelihood given that not all segments are calibrated."""
        prior = -np.expm1(self._log_prior_calibrated)
        share = 1 - self._share_calibrated
        if share <= 1 - _ALL_BUT_CALIBRATED:
            return -np.inf
        return float(self._forward[0][-1] + np.log(share) - np.log(prior))

    def sample(self, number: int, rng: np.random.Generator) -> DirectDraws:
        """Draws of the shifts; without shift where the data leave none."""
        if np.isfinite(self.log_evidence):
            shift, log_prior = self.draws(number, rng)
        else:
            shift, log_prior = np.zeros((number, len(self.offset))), np.zeros(number)
        found = {"shift": shift, "shift_log_prior": log_prior}
        return DirectDraws(found, float(number), "quadrature", self.log_evidence)

    def deviation(self, draws: Draws) -> Floats:
        """Deviation of the cells' logits, (..., cell)."""
        return draws["shift"]

    def deviation_at(self, draws: Draws, score: Floats) -> Floats:
        """Deviation at any score, that of the nearest cell, (..., point)."""
        near = np.searchsorted((self.score[1:] + self.score[:-1]) / 2, score)
        return np.asarray(draws["shift"][..., near])

    def log_prior_excess(self, draws: Draws) -> Floats:
        """Log prior density of the shifts, less its mean before the data, (...)."""
        return draws["shift_log_prior"]

    def draws(self, number: int, rng: np.random.Generator) -> SegmentDraws:
        """Draw from the posterior by backward sampling, given a shifted segment."""
        if not np.isfinite(self.log_evidence):
            raise ValueError("all segments are calibrated for certain")
        found: list[SegmentDraws] = []
        have = 0
        while have < number:
            tries = int((number - have) / (1 - self._share_calibrated) * 1.1) + 20
            # Not all at once where most draws are calibrated.
            one = self._backward(min(tries, 20 * number), rng)
            found.append(one)
            have += len(one.shift)
        shift, log_prior = (np.concatenate(parts)[:number] for parts in zip(*found, strict=True))
        return SegmentDraws(shift, log_prior)

    def _backward(self, number: int, rng: np.random.Generator) -> SegmentDraws:
        """Sample segmentations from the last block to the first; keep those with a shift."""
        table, (_, last) = self._table, self._forward
        shift = np.zeros((number, len(self.offset)))
        log_prior, shifted = np.zeros(number), np.zeros(number, dtype=bool)
        at_end = {len(last): np.arange(number)}
        for end in range(len(last), 0, -1):
            rows = at_end.pop(end, np.arange(0))
            cumulative = np.cumsum(last[end - 1])
            begins = np.searchsorted(cumulative, rng.random(len(rows)) * cumulative[-1])
            for begin in np.unique(begins):
                own = rows[begins == begin]
                place = table.place(int(begin), end - 1)
                inside = slice(*np.searchsorted(table.block, [begin, end]))
                off = own[rng.random(len(own)) >= table.probability_calibrated(place)]
                drawn = self._draw_shift(place, inside, len(off), rng)
                shift[off, inside] = drawn[:, None]
                log_prior[off] -= (np.square(drawn / self.scale) - 1) / 2
                shifted[off] = True
                at_end[int(begin)] = np.append(at_end.get(int(begin), np.arange(0)), own)
        return SegmentDraws(shift[shifted], log_prior[shifted])

    def _draw_shift(
        self, place: int, inside: slice, number: int, rng: np.random.Generator
    ) -> Floats:
        """Draw a segment's shift by the inverse of its distribution on a grid."""
        grid = self._table.mode[place] + self._table.spread[place] * _GRID
        cells = self.cells.at(np.arange(inside.start, inside.stop))
        density = cells.log_likelihood(self.offset[inside] + grid[:, None]).sum(axis=-1)
        density = density - np.square(grid / self.scale) / 2
        weight = np.exp(density - density.max())
        cumulative = np.concatenate([[0], np.cumsum((weight[1:] + weight[:-1]) / 2)])
        return np.asarray(np.interp(rng.random(number), cumulative / cumulative[-1], grid))

    def prior_draws(self, number: int, rng: np.random.Generator) -> Draws:
        """Shifts before the data, (draw, cell), none of them 0 everywhere."""
        block = self._table.block
        size = int(block[-1]) + 1
        found = np.zeros((0, len(self.offset)))
        while len(found) < number:
            start = rng.random((2 * number, size)) < self.start
            start[:, 0] = False
            segment = np.cumsum(start, axis=1)
            shift = self.scale * rng.standard_normal((2 * number, size))
            shift[rng.random((2 * number, size)) < 0.5] = 0.0
            drawn = np.take_along_axis(shift, segment, axis=1)[:, block]
            found = np.concatenate([found, drawn[drawn.any(axis=1)]])
        return {"shift": found[:number], "shift_log_prior": np.zeros(number)}


class _Table(NamedTuple):
    """All segments of blocks: where they are, and what the data say of them."""

    block: NDArray[np.int64]  # (cell,)
    first: NDArray[np.int64]  # (segment,)
    last: NDArray[np.int64]
    calibrated: Floats
    off: Floats
    mode: Floats
    spread: Floats

    def square(self, values: Floats) -> Floats:
        """Values by first and last block; minus infinity where the first comes later."""
        size = int(self.block[-1]) + 1
        table = np.full((size, size), -np.inf)
        table[self.first, self.last] = values
        return table

    def place(self, first: int, last: int) -> int:
        """Number of a segment in the order of `triu_indices`."""
        size = int(self.block[-1]) + 1
        return first * size - first * (first - 1) // 2 + last - first

    def probability_calibrated(self, place: int) -> float:
        """Probability that a segment is calibrated rather than shifted."""
        return float(expit(self.calibrated[place] - self.off[place]))


class _Inside(NamedTuple):
    """Which cells lie in which segment, as pairs."""

    cell: NDArray[np.int64]
    segment: NDArray[np.int64]
    begins: NDArray[np.int64]

    def total(self, values: Floats) -> Floats:
        """Sum a value of each cell over each segment."""
        return self.add(values[self.cell])

    def add(self, values: Floats) -> Floats:
        """Sum a value of each pair over each segment."""
        return np.asarray(np.add.reduceat(values, self.begins))
