"""A calibration curve that jumps: segments, calibrated, shifted or certain, over all cuts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from bayescal.core.columns import Floats
from bayescal.core.quantity import DirectDraws, Draws
from bayescal.curves.cells import score_logit
from bayescal.inference.direct import BinomialCells, CellLikelihood

BLOCKS, _ROUNDING = 50, 1e-9  # of sums of weights, in blocks
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_LOG_WEIGHTS = np.log(_WEIGHTS) - np.log(2 * np.pi) / 2 + _NODES**2 / 2
# Enough for a mode as far off as two scores at the ends, by 1 a step.
_STEPS = 50
# The nodes need the mode to no more than this, in logits.
_CLOSE = 1e-4
# Points of a shift's distribution, in standard deviations about its mode, and the polynomial
# through the log densities at the nodes. Draws by it differ from those of the densities themselves
# by .003, in total variation, in the worst of the fits tried.
_GRID = np.linspace(_NODES[0], _NODES[-1], 73)
_THROUGH = np.vander(_GRID, len(_NODES)) @ np.linalg.inv(np.vander(_NODES))
# If more of the posterior than this has no shift at all, draws with one are too rare to find.
_ALL_BUT_CALIBRATED = 1 - 1e-6
# What a segment may be. Far shifts make a rate exactly 0 or 1, whatever the score, so that a
# fraction of a row with the other label rules it out.
_CALIBRATED, _NEVER, _ALWAYS, _SHIFTED = range(4)
_FAR = 1e12


class SegmentDraws(NamedTuple):
    """Draws of the shifts, all of them with a shifted segment."""

    shift: Floats  # (draw, cell), in logits
    log_prior: Floats  # (draw,): of the shifts, less its mean before the data


@dataclass(frozen=True, eq=False)
class Segments:
    """Cells in order of their scores, cut into at most 50 blocks that make up segments.

    A segment is calibrated with probability `calibrated`. Else its rate is 0 or 1, with
    probability `certain`, or the logits of its cells are off by one Normal(0, scale) shift. Given
    that not all segments are calibrated: that curve is the calibrated description. All
    segmentations are summed by dynamic programming over their last segment; each shift is
    integrated out by Gauss-Hermite quadrature about its mode.
    """

    score: Floats
    offset: Floats
    rows: NDArray[Any]
    cells: CellLikelihood
    start: float
    scale: float
    certain: float
    # The same cells under a likelihood nearby: its shifts are where Newton's method begins.
    near: Segments | None = None
    calibrated: float = 0.5
    exact: ClassVar[bool] = True

    @cached_property
    def _block(self) -> NDArray[np.int64]:
        """Block of each cell."""
        before = np.cumsum(self.rows) - self.rows
        # Weights that are all equal add up to whole rows but for rounding.
        place = np.floor(before * BLOCKS / self.rows.sum() + _ROUNDING)
        return np.unique(place, return_inverse=True)[1]

    @cached_property
    def _table(self) -> _Table:
        """Every segment of blocks with its cells, shift, and evidence times prior."""
        block = self._block
        first, last = np.triu_indices(int(block[-1]) + 1)
        inside = _Inside.of(block, first, last)
        mode, spread = self._shift(inside)
        fixed = [
            inside.total(self.cells.log_likelihood(self.offset + shift))
            for shift in (0.0, -_FAR, _FAR)
        ]
        at_nodes = self._at_nodes(inside, mode, spread)
        off = logsumexp(at_nodes + _LOG_WEIGHTS[:, None], axis=0) + np.log(spread / self.scale)
        density = np.stack([*fixed, off])
        with np.errstate(divide="ignore"):
            density += np.log(self._kinds)[:, None]
        return _Table(block, first, last, density, mode, spread, at_nodes)

    @property
    def _kinds(self) -> Floats:
        """Prior probabilities of what a segment may be, (kind,)."""
        other = 1 - self.calibrated
        certain = other * self.certain / 2
        return np.array([self.calibrated, certain, certain, other * (1 - self.certain)])

    def _shift(self, inside: _Inside) -> tuple[Floats, Floats]:
        """Mode and approximate standard deviation of each segment's shift, by Newton's method."""
        cells, base = self.cells.at(inside.cell), self.offset[inside.cell]
        mode = np.zeros(len(inside.begins)) if self.near is None else self.near._table.mode
        for _ in range(_STEPS):
            slope, information = cells.slopes(base + mode[inside.segment])
            precision = inside.add(information) + self.scale**-2
            step = (inside.add(slope) - mode / self.scale**2) / precision
            # A logit moves by at most 1 a step: farther out the curvature says nothing.
            mode = mode + np.clip(step, -1, 1)
            if np.abs(step).max() < _CLOSE:
                break
        return mode, precision**-0.5

    def _at_nodes(self, inside: _Inside, mode: Floats, spread: Floats) -> Floats:
        """Log density of each segment's cells and shift, about the mode, (node, segment)."""
        cells, base = self.cells.at(inside.cell), self.offset[inside.cell]
        shift = mode + spread * _NODES[:, None]
        # Point by point: all at once are more than a processor's cache holds.
        found = [inside.add(cells.log_likelihood(base + at[inside.segment])) for at in shift]
        return np.stack(found) - np.square(shift / self.scale) / 2

    @cached_property
    def _forward(self) -> tuple[Floats, list[Floats]]:
        """Log evidence of the blocks up to each one, and cumulated shares of the last start."""
        segment = self._table.square(logsumexp(self._table.log_density, axis=0))
        size = len(segment)
        begins = np.arange(size)
        # A new segment at its first block, but for the first of all, and at none of the others.
        segment += np.log(self.start) * (begins > 0)[:, None]
        segment += np.log1p(-self.start) * np.maximum(begins - begins[:, None], 0)
        total, last = np.zeros(size + 1), []
        for end in range(1, size + 1):
            terms = total[:end] + segment[:end, end - 1]
            share = np.exp(terms - terms.max())
            total[end] = terms.max() + np.log(share.sum())
            last.append(np.cumsum(share / share.sum()))
        return total, last

    @property
    def _log_prior_calibrated(self) -> float:
        """Log prior probability that every segment is calibrated."""
        if not self.calibrated:
            return -np.inf
        other = self._block[-1] * np.log1p(-self.start * (1 - self.calibrated))
        return float(np.log(self.calibrated) + other)

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
        end_of = np.full(number, len(last))
        rows, begins = [], []
        for end in range(len(last), 0, -1):
            own = np.flatnonzero(end_of == end)
            begin = last[end - 1].searchsorted(rng.random(len(own)) * last[end - 1][-1])
            end_of[own] = begin
            rows.append(own)
            begins.append(begin)
        row = np.concatenate(rows)
        ends = np.repeat(np.arange(len(last))[::-1], [len(own) for own in rows])
        place = table.place(np.concatenate(begins), ends)
        kind = _draw_kinds(softmax(table.log_density[:, place], axis=0), len(place), rng)
        off = kind != _CALIBRATED
        row, place, kind = row[off], place[off], kind[off]
        if not len(row):
            return SegmentDraws(np.zeros((0, len(table.block))), np.zeros(0))
        drawn, free = np.where(kind == _NEVER, -_FAR, _FAR), kind == _SHIFTED
        if free.any():
            drawn[free] = self._draw_shifts(place[free], rng)
        first, length = table.first[place], (table.last - table.first + 1)[place]
        shift = np.zeros((number, len(last)))
        shift[np.repeat(row, length), _ranges(first, length)] = np.repeat(drawn, length)
        excess = np.where(free, (1 - np.square(drawn / self.scale)) / 2, 0)
        log_prior = np.bincount(row, excess, number)
        shifted = np.bincount(row, minlength=number) > 0
        return SegmentDraws(shift[shifted][:, table.block], log_prior[shifted])

    def _draw_shifts(self, place: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        """Draw a shift of each segment by the inverse of its distribution on a grid."""
        table = self._table
        segments, which = np.unique(place, return_inverse=True)
        grid = table.mode[segments] + table.spread[segments] * _GRID[:, None]
        density = _THROUGH @ table.at_nodes[:, segments]
        weight = np.exp(density - density.max(axis=0))
        cumulative = np.cumsum((weight[1:] + weight[:-1]) / 2, axis=0)
        cumulative = np.concatenate([np.zeros((1, len(segments))), cumulative / cumulative[-1]])
        # One distribution after the other, each over its own unit of length.
        units = (cumulative + np.arange(len(segments))).T.ravel()
        return np.interp(which + rng.random(len(which)), units, grid.T.ravel())

    def prior_draws(self, number: int, rng: np.random.Generator) -> Draws:
        """Shifts before the data, (draw, cell), none of them 0 everywhere."""
        size, some = int(self._block[-1]) + 1, -np.expm1(self._log_prior_calibrated)
        found = np.zeros((0, len(self.offset)))
        while len(found) < number:
            tries = int((number - len(found)) / some * 1.1) + 20
            start = rng.random((tries, size)) < self.start
            start[:, 0] = True
            segments = int(start.sum())
            kind = _draw_kinds(self._kinds[:, None], segments, rng)
            shift = self.scale * rng.standard_normal(segments)
            shift = np.choose(kind, [0.0, -_FAR, _FAR, shift])
            drawn = shift[np.cumsum(start) - 1].reshape(tries, size)
            found = np.concatenate([found, drawn[drawn.any(axis=1)][:, self._block]])
        return {"shift": found[:number], "shift_log_prior": np.zeros(number)}


class Steps(Segments):
    """Constant rates between jumps; made by `Steps.between`.

    Segments of which none is calibrated, about one logit in place of the scores'.
    """

    @classmethod
    def between(
        cls, score: Floats, cells: BinomialCells, jump: float, level: float, certain: float
    ) -> Steps:
        """Steps about the share of events in all cells, of scores between 0 and 1."""
        count, events = cells.count.sum(), cells.positives.sum()
        offset = np.full(len(score), np.log((events + 1) / (count - events + 1)))
        rows = np.maximum(cells.count, 1)
        return cls(score, offset, rows, cells, jump, level, certain, calibrated=0.0)

    def deviation(self, draws: Draws) -> Floats:
        """Deviation of the cells' logits from the scores', (..., cell)."""
        return np.asarray(super().deviation(draws) + self.offset - score_logit(self.score))

    def deviation_at(self, draws: Draws, score: Floats) -> Floats:
        """Deviation at any score, whose rate is that of the nearest cell, (..., point)."""
        return np.asarray(super().deviation_at(draws, score) + self.offset[0] - score_logit(score))


class _Table(NamedTuple):
    """All segments of blocks: where they are, and what the data say of them."""

    block: NDArray[np.int64]  # (cell,)
    first: NDArray[np.int64]  # (segment,)
    last: NDArray[np.int64]
    log_density: Floats  # (kind, segment)
    mode: Floats  # (segment,): of its shift
    spread: Floats
    at_nodes: Floats  # (node, segment): log densities of shifts about the mode

    def square(self, values: Floats) -> Floats:
        """Values by first and last block; minus infinity where the first comes later."""
        size = int(self.block[-1]) + 1
        table = np.full((size, size), -np.inf)
        table[self.first, self.last] = values
        return table

    def place(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of segments in the order of `triu_indices`."""
        size = int(self.block[-1]) + 1
        return first * size - first * (first - 1) // 2 + last - first


class _Inside(NamedTuple):
    """Which cells lie in which segment, as pairs."""

    cell: NDArray[np.int64]
    segment: NDArray[np.int64]
    begins: NDArray[np.int64]

    @classmethod
    def of(cls, block: NDArray[Any], first: NDArray[Any], last: NDArray[Any]) -> _Inside:
        """Pairs of segments given by their first and last blocks."""
        begin = np.searchsorted(block, first)
        length = np.searchsorted(block, last, side="right") - begin
        segment = np.repeat(np.arange(len(begin)), length)
        return cls(_ranges(begin, length), segment, np.cumsum(length) - length)

    def total(self, values: Floats) -> Floats:
        """Sum a value of each cell over each segment."""
        return self.add(values[self.cell])

    def add(self, values: Floats) -> Floats:
        """Sum a value of each pair over each segment, (..., pair) to (..., segment)."""
        return np.asarray(np.add.reduceat(values, self.begins, axis=-1))


def _draw_kinds(share: Floats, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw what segments are by their probabilities, (kind, segment) or (kind, 1)."""
    return np.asarray((np.cumsum(share, axis=0)[:-1] < rng.random(number)).sum(axis=0))


def _ranges(begin: NDArray[Any], length: NDArray[Any]) -> NDArray[np.int64]:
    """``begin, begin + 1, ...`` of each length, one after the other."""
    ends = np.cumsum(length)
    return np.asarray(np.arange(ends[-1]) + np.repeat(begin - ends + length, length))
