"""Segments of the curve at several class priors, drawn where the sample sizes allow them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.quantity import Draws, Floats
from bayescal.curves.segments import Segments
from bayescal.inference.direct import Weighted
from bayescal.quantities.pu_ece.models.case_control import CaseControlCells, SampleSizes
from bayescal.quantities.pu_ece.models.curve_and_class_prior import Nodes, Tabulated
from bayescal.quantities.pu_ece.priors import PriorMap

_LOG_ROOT = np.log(2 * np.pi) / 2
# Of so large a share of effective draws a tilt would not make many more.
_ENOUGH = 0.2
# Far from the draws their mean and variance say little: a tilt goes so many deviations at a time.
_ROUNDS, _FARTHEST = 8, 3.0
# A tilt that moves the mean by less, in standard deviations, is as good as the next.
_CLOSE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class TiltedCells(CaseControlCells):
    """Cells whose likelihood is multiplied by ``exp(tilt * expected number of positives)``."""

    tilt: float = 0.0

    def log_likelihood(self, logit: Floats) -> Floats:
        """Log-likelihood of each cell, without the binomial coefficients."""
        share = expit(self.positive_logit(logit))
        plain = CaseControlCells.log_likelihood(self, logit)
        return np.asarray(plain + self.tilt * self.total * share)

    def slopes(self, logit: Floats) -> tuple[Floats, Floats]:
        """Derivative of the log-likelihood, and expected information without the tilt."""
        slope, information = CaseControlCells.slopes(self, logit)
        share = expit(self.positive_logit(logit))
        return slope + self.tilt * self.total * share * (1 - share) * expit(-logit), information

    def at(self, cells: NDArray[Any]) -> TiltedCells:
        """Take some of the cells."""
        return replace(self, total=self.total[cells], positive=self.positive[cells])


class _Drawn(NamedTuple):
    """Draws under one tilt, with what they imply of the sample sizes."""

    draws: Draws
    expected: Floats  # (draw,): number of positives
    log_weight: Floats  # (draw,): of the sizes, less the tilt
    spread: float  # mean variance of the expected number given the sizes

    @property
    def enough(self) -> bool:
        """Whether the sizes leave enough of the draws."""
        return Weighted(self.expected, self.log_weight).ess >= _ENOUGH * len(self.expected)


@dataclass(frozen=True, eq=False)
class SegmentsByClassPrior:
    """Segments at the nodes of the class prior's normal.

    Notes
    -----
    Segments are summed cell by cell, and the density of the sample sizes is one of all cells: draws
    of segments do not know it. Where it leaves few of them, as under a known class prior, cells
    are tilted by ``exp(t n)``, where n is the expected number of positives, a sum over cells. The
    tilt t moves the mean of n, by Newton's method, to where the sizes' normal density would. Draws
    say what they know of the sizes, so that the weights count nothing twice.
    """

    segments: Segments
    cells: Callable[[Floats], CaseControlCells]  # at class priors given by their normals
    class_prior: PriorMap
    sizes: SampleSizes
    beside: Tabulated
    normal: Floats  # (node,)
    _found: dict[tuple[float, float], Segments] = field(default_factory=dict)

    def nodes(self, tilt: float = 0.0) -> Nodes:
        """Log evidence at the nodes, with the prior's weights."""
        evidence = [self._at(normal, tilt).log_evidence for normal in self.normal.tolist()]
        if self.class_prior.known:
            return Nodes(self.normal, np.array(evidence))
        width = np.log(np.gradient(self.normal))
        known = self.beside(self.normal) - self.normal**2 / 2 - _LOG_ROOT + width
        return Nodes(self.normal, evidence + known)

    def _at(self, normal: float, tilt: float) -> Segments:
        """Segments at one class prior, near those worked out before."""
        if (normal, tilt) not in self._found:
            near = next(reversed(self._found.values()), None)
            own = self.cells(np.asarray(normal))
            if tilt:
                own = TiltedCells(own.total, own.positive, own.log_odds, tilt)
            self._found[normal, tilt] = replace(self.segments, cells=own, near=near)
        return self._found[normal, tilt]

    def draw(self, number: int, rng: np.random.Generator) -> Draws:
        """Shifts, normals of the class prior, and the log density that they know."""
        tilt, first = 0.0, self.nodes()
        nodes, found = first, self._draw(first, tilt, number, rng)
        for _ in range(_ROUNDS if np.isfinite(first.log_evidence) else 0):
            step = self._step(found, tilt)
            if found.enough or abs(step) * found.expected.std() < _CLOSE:
                break
            further = self.nodes(tilt + step)
            # Under such a tilt no segment would have a shift.
            if not np.isfinite(further.log_evidence):
                break
            tilt, nodes = tilt + step, further
            found = self._draw(nodes, tilt, number, rng)
        known = self.beside(found.draws["segments_normal"]) + tilt * found.expected
        # The evidence stays that of the nodes without a tilt.
        gain = nodes.log_evidence - first.log_evidence if tilt else 0.0
        return {**found.draws, "segments_known": known - gain}

    def _step(self, found: _Drawn, tilt: float) -> float:
        """Newton's step to the tilt under which the expected number has the mean that it needs."""
        off = self.sizes.n_positive - found.expected.mean() - tilt * found.spread
        step = off / (found.expected.var() + found.spread)
        limit = _FARTHEST / max(found.expected.std(), 1e-9)
        return float(np.clip(step, -limit, limit))

    def _draw(self, nodes: Nodes, tilt: float, number: int, rng: np.random.Generator) -> _Drawn:
        """Draw under one tilt."""
        normal = np.sort(nodes.draw(number, rng))
        shift, prior = np.zeros((number, len(self.segments.offset))), np.zeros(number)
        for at in np.unique(normal) if np.isfinite(nodes.log_evidence) else ():
            rows = normal == at
            drawn = self._at(float(at), tilt).draws(int(rows.sum()), rng)
            shift[rows], prior[rows] = drawn.shift, drawn.log_prior
        order = rng.permutation(number)
        normal, shift, prior = normal[order], shift[order], prior[order]
        share = expit(self.cells(normal[:, None]).positive_logit(self.segments.offset + shift))
        expected = share @ self.sizes.total
        weight = self.sizes.log_density(share, self.class_prior(normal)[0]) - tilt * expected
        draws = {"segments_normal": normal, "shift": shift, "shift_log_prior": prior}
        return _Drawn(draws, expected, weight, float(self.sizes.spread(share).mean()))
