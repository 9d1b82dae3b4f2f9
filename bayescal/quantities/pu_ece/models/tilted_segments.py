"""Segments of the curve at several class priors, drawn where the sample sizes allow them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bayescal.core.quantity import Draws, Floats
from bayescal.curves.segments import Segments
from bayescal.inference.direct import Weighted
from bayescal.quantities.pu_ece.models.along_class_prior import tempering
from bayescal.quantities.pu_ece.models.case_control import CaseControlCells, SampleSizes
from bayescal.quantities.pu_ece.models.curve_and_class_prior import Nodes, Tabulated
from bayescal.quantities.pu_ece.priors import LOG_ROOT, PriorMap

# Of so large a share of effective draws a tilt would not make many more.
_ENOUGH = 0.2
# Far from the draws their mean and variance say little: a tilt goes so many deviations at a time.
_ROUNDS, _FARTHEST = 8, 3.0
# A tilt that moves the mean by less, in standard deviations, is as good as the next.
_CLOSE = 0.1
# The mean density of the sizes is that of so many draws at every third node, where these count.
_PILOT, _EVERY, _COUNT = 2000, 3, 10
# Where it leaves less than a quarter of the draws, so many more are drawn, and chosen from.
_MORE = 4


@dataclass(frozen=True, slots=True, eq=False)
class TiltedCells(CaseControlCells):
    """Cells whose likelihood is multiplied by ``exp(tilt * expected number of positives)``."""

    tilt: float = 0.0

    def log_likelihood(self, logit: Floats) -> Floats:
        """Log-likelihood of each cell, without the binomial coefficients."""
        odds = self.positive_odds(logit)
        plain = self.positive * np.log(odds) - self.total * np.log(1 + odds)
        return np.asarray(plain + self.tilt * self.total * (odds / (1 + odds)))

    def slopes(self, logit: Floats) -> tuple[Floats, Floats]:
        """Derivative of the log-likelihood, and expected information without the tilt."""
        share, other = self.share_and_other(logit)
        expected = self.total * share
        free = expected * (1 - share)
        slope = (self.positive - expected + self.tilt * free) * other
        return slope, free * other**2


class _Drawn(NamedTuple):
    """Draws under one tilt, with what they imply of the sample sizes."""

    draws: Draws
    expected: Floats  # (draw,): number of positives
    log_weight: Floats  # (draw,): of the sizes, less the tilt
    spread: float  # mean variance of the expected number given the sizes

    @property
    def weighted(self) -> Weighted:
        """Weights, and places to find the draws by."""
        return Weighted(np.arange(len(self.expected), dtype=float), self.log_weight)


@dataclass(frozen=True, eq=False)
class SegmentsByClassPrior:
    """Segments at the nodes of the class prior's normal.

    Segments are summed cell by cell, and the density of the sample sizes is one of all cells: draws
    of segments do not know it. A node of the class prior counts by its mean over segments drawn
    there, and draws are weighed by it. Where it leaves few of them, under a class prior that is
    known or about known, cells are tilted by ``exp(t n)``, where n is the expected number of
    positives, a sum over cells. The tilt t moves the mean of n, by Newton's method, to where the
    sizes' normal density would.
    """

    segments: Segments
    cells: Callable[[Floats], CaseControlCells]  # at class priors given by their normals
    class_prior: PriorMap
    sizes: SampleSizes
    ends: Tabulated  # log evidence of the scores 0 and 1
    power: float  # of the evidence, in the posterior of the class prior
    tilted: bool  # whether one tilt suits all class priors
    normal: Floats  # (node,)
    _found: dict[tuple[float, float], Segments] = field(default_factory=dict)
    _nodes: dict[float, tuple[Nodes, Floats]] = field(default_factory=dict)

    def nodes(self) -> Nodes:
        """Log evidence of cells and sizes at the nodes, with the prior's weights."""
        return self._tilted(0.0)[0]

    def _tilted(self, tilt: float) -> tuple[Nodes, Floats]:
        """Nodes under a tilt, and at each the log mean of the weights of its draws, (node,)."""
        if tilt not in self._nodes:
            own, sizes = self._by_cells(tilt), self._mean_sizes(tilt)
            known = np.zeros(len(self.normal))
            if not self.class_prior.known:
                width = np.log(np.gradient(self.normal))
                known = self.beside.value - self.normal**2 / 2 - LOG_ROOT + width
            self._nodes[tilt] = Nodes(self.normal, own + sizes + known), sizes
        return self._nodes[tilt]

    @cached_property
    def beside(self) -> Tabulated:
        """What counts beside cells and sizes: the scores 0 and 1, and the tempering."""
        return Tabulated(self.normal, self.ends(self.normal) + self.tempering.value)

    @cached_property
    def tempering(self) -> Tabulated:
        """What lets the evidence of segments count to the power."""
        if self.class_prior.known or self.power == 1:
            return Tabulated(self.normal, np.zeros(len(self.normal)))
        evidence = self._by_cells(0.0) + self._mean_sizes(0.0) + self.ends(self.normal)
        return tempering(self.normal, evidence, self.power)

    def _by_cells(self, tilt: float) -> Floats:
        """Log evidence of the cells at the nodes, (node,)."""
        return np.array([self._at(normal, tilt).log_evidence for normal in self.normal.tolist()])

    def _mean_sizes(self, tilt: float) -> Floats:
        """Log mean weight of a few draws at some of the nodes, and between these, (node,)."""
        places = np.unique(np.r_[: len(self.normal) : _EVERY, len(self.normal) - 1])
        rng, found = np.random.default_rng(0), []
        for normal in self.normal[places].tolist():
            if np.isfinite(self._at(normal, tilt).log_evidence):
                drawn = self._drawn(np.full(_PILOT, normal), tilt, rng)
                found.append(self._mean_weight(drawn, normal, tilt))
            else:
                found.append(0.0)
        return np.interp(self.normal, self.normal[places], found)

    def _mean_weight(self, drawn: _Drawn, normal: float, tilt: float) -> float:
        """Log mean weight of draws at one class prior.

        Where few of them count, as if the expected number of positives were normal: their mean
        would be that of the draws nearest to the sizes. Elsewhere it need not be: it may be skew.
        """
        if drawn.weighted.ess >= _COUNT:
            return drawn.weighted.log_evidence
        mean, own = drawn.expected.mean(), drawn.expected.var()
        off, variance = mean - tilt * own - self.sizes.n_positive, own + drawn.spread
        density = -(off**2) / (2 * variance) - np.log(variance) / 2
        class_prior = self.class_prior(np.asarray(normal))
        return float(density + tilt * (tilt * own / 2 - mean) - np.log(class_prior))

    def _at(self, normal: float, tilt: float) -> Segments:
        """Segments at one class prior, near those worked out before."""
        if (normal, tilt) not in self._found:
            near = next(reversed(self._found.values()), None)
            own = self.cells(np.asarray(normal))
            if tilt:
                own = TiltedCells(own.total, own.positive, own.log_odds, tilt)
            self._found[normal, tilt] = replace(self.segments, cells=own, near=near)
        return self._found[normal, tilt]

    def draw(self, number: int, rng: np.random.Generator) -> tuple[Draws, Weighted]:
        """Shifts and normals of the class prior, and what they were chosen from."""
        tilt, found = 0.0, self._draw(0.0, number, rng)
        for _ in range(_ROUNDS if self.tilted and np.isfinite(self.nodes().log_evidence) else 0):
            step = self._step(found, tilt)
            enough = found.weighted.ess >= _ENOUGH * number
            if enough or abs(step) * found.expected.std() < _CLOSE:
                break
            # Under such a tilt no segment would have a shift.
            if not np.isfinite(self._tilted(tilt + step)[0].log_evidence):
                break
            tilt += step
            found = self._draw(tilt, number, rng)
        if found.weighted.ess < number / 4:
            found = self._draw(tilt, _MORE * number, rng)
        weighted = found.weighted.smoothed()
        places = weighted.resampled_places(number, rng)
        return {name: one[places] for name, one in found.draws.items()}, weighted

    def _step(self, found: _Drawn, tilt: float) -> float:
        """Newton's step to the tilt under which the expected number has the mean that it needs."""
        off = self.sizes.n_positive - found.expected.mean() - tilt * found.spread
        step = off / (found.expected.var() + found.spread)
        limit = _FARTHEST / max(found.expected.std(), 1e-9)
        return float(np.clip(step, -limit, limit))

    def _draw(self, tilt: float, number: int, rng: np.random.Generator) -> _Drawn:
        """Draw under one tilt; the mean weight is the evidence."""
        nodes, sizes = self._tilted(tilt)
        normal = rng.permutation(nodes.draw(number, rng))
        found = self._drawn(normal, tilt, rng)
        mean = np.interp(normal, self.normal, sizes)
        return found._replace(log_weight=found.log_weight - mean + nodes.log_evidence)

    def _drawn(self, normal: Floats, tilt: float, rng: np.random.Generator) -> _Drawn:
        """Draw under one tilt at given class priors; without shift where the data leave none."""
        number = len(normal)
        shift, prior = np.zeros((number, len(self.segments.offset))), np.zeros(number)
        expected, variance = np.empty(number), np.empty(number)
        for at in np.unique(normal).tolist():
            own, rows = self._at(at, tilt), np.flatnonzero(normal == at)
            if np.isfinite(own.log_evidence):
                drawn = own.draws(len(rows), rng)
                shift[rows], prior[rows] = drawn.shift, drawn.log_prior
            share = self.cells(np.asarray(at)).share(self.segments.offset + shift[rows])
            expected[rows], variance[rows] = self.sizes.moments(share)
        weight = self.sizes.log_normal(expected, variance, self.class_prior(normal))
        draws = {"segments_normal": normal, "shift": shift, "shift_log_prior": prior}
        return _Drawn(draws, expected, weight - tilt * expected, float(variance.mean()))
