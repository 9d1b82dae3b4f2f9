"""What counts of the class prior beside cells and sizes: the scores 0 and 1, and its tempering."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.special import logsumexp, softmax

from bayescal.core.quantity import Floats
from bayescal.curves.average import log_posterior_weights
from bayescal.curves.cells import BoundaryErrors
from bayescal.curves.priors import ROUGH, SMOOTH
from bayescal.curves.rough import Rough, at_other_spread
from bayescal.inference.direct import Gaussian
from bayescal.quantities.pu_ece.models.curve_and_class_prior import (
    FLAT,
    NOTHING,
    CurveAndClassPrior,
    Tabulated,
    WithSizes,
)
from bayescal.quantities.pu_ece.models.moving_gaussian import NEGLIGIBLE, MovingGaussian, Quantiles
from bayescal.quantities.pu_ece.priors import KNOTS, LAST, Cubic

CLASS_PRIOR_POWER: Final = 0.2
"""Power of the evidence in the posterior of the class prior, chosen on development data."""
# Where what counts is tabulated.
_GRID = np.linspace(-LAST, LAST, 1301)
# Larger differences between knots of NUTS, which are far apart, would shift a sharp peak.
_MOST = 30.0
# By so much, in nats, a class prior is ruled out whatever the power.
_CLIFF = 100.0
TEMPERED: Final = 20.0
"""Most that the log density gains, in nats: class priors ruled out by far more stay so."""


def tempering(normal: Floats, log_evidence: Floats, power: float) -> Tabulated:
    """What lets the evidence at class priors' normals, (point,), count to a power."""
    off = log_evidence - log_evidence[np.argmax(log_evidence - normal**2 / 2)]
    return Tabulated(normal, np.nan_to_num(np.clip((power - 1) * off, -TEMPERED, TEMPERED)))


class AtRoughness(NamedTuple):
    """The rough component at one roughness of those that its evidence is summed over."""

    joint: CurveAndClassPrior
    ratio: Floats  # (basis,): of the directions' standard deviations to those at the likely one
    log_weight: float

    def evidence(self, knots: Floats, likely: Gaussian) -> Floats:
        """Log evidence at the knots, (knot,), from the Gaussians at the likely roughness."""
        own = at_other_spread(likely, self.ratio)
        return self.joint.with_sizes(knots, own).evidence + self.log_weight


def at_roughnesses(
    plain: CurveAndClassPrior, rough: Rough, likely: float, nodes: Floats
) -> list[AtRoughness]:
    """The rough component at nodes of the roughness, evenly spaced in logs."""
    ratios = rough.basis.spread(nodes) / rough.basis.spread(np.asarray(likely))
    weights = rough.log_density(nodes) + np.log(np.log(nodes[1] / nodes[0]))
    joints = [replace(plain, regression=rough.at(node)) for node in nodes.tolist()]
    return list(map(AtRoughness, joints, ratios, weights.tolist()))


@dataclass(frozen=True, eq=False)
class AlongClassPrior:
    """Functions of the class prior's normal, of one problem.

    The data tell the class prior from the calibration error only by what the prior of the curve
    holds likely: a classifier far from calibration looks better under another class prior. Evidence
    therefore counts for the class prior to a `power`: its posterior is its prior times the evidence
    to this power. The evidence is the sum of those of the smooth and of the rough component, by
    importance sampling; that of segments tempers them alone. That of calibration, a spike where the
    class prior is the mean score, would leave the others a dent.
    """

    # Components that NUTS samples, by cells and sizes; the rough one at its likely roughness.
    joints: Mapping[str, CurveAndClassPrior]
    guide: Floats  # (basis, cell): from the smooth component's coefficients to the rough one's
    roughnesses: Sequence[AtRoughness]
    patterns: Callable[[Floats], Floats]  # log evidence of errors at 0 and 1, (..., pattern)
    alone: Floats  # (knot,): log evidence of the sizes, should all scores be 0 or 1
    boundary: BoundaryErrors
    patterns_power: float  # of the evidence of errors at 0 and 1, in their weights
    power: float
    known: bool

    @cached_property
    def _smooth(self) -> MovingGaussian:
        """The smooth component wherever its evidence, tempered, is not negligible."""
        reach = NEGLIGIBLE + TEMPERED / (1 - self.power) if self.power < 1 else NEGLIGIBLE
        return self.joints[SMOOTH].moving_gaussian(min(NEGLIGIBLE / self.power, reach))

    @property
    def knots(self) -> Floats:
        """Class prior's normals at which evidence is computed."""
        return self._smooth.quantiles.normal if SMOOTH in self.joints else KNOTS

    @cached_property
    def _by_cells(self) -> dict[str, Gaussian]:
        """Gaussians of each component's curve at the knots, by the cells."""
        if SMOOTH not in self.joints:
            return {}
        smooth = self.joints[SMOOTH].by_cells(self.knots, self._smooth.gaussians)
        found = {SMOOTH: smooth}
        if ROUGH in self.joints:
            joint = self.joints[ROUGH]
            found[ROUGH] = joint.follow_by_cells(self.knots, smooth.mean @ self.guide)
        return found

    @cached_property
    def _with_sizes(self) -> dict[str, WithSizes]:
        """Each component by cells and sizes."""
        own = self._by_cells.items()
        return {name: self.joints[name].with_sizes(self.knots, one) for name, one in own}

    @cached_property
    def evidence(self) -> dict[str, Floats]:
        """Log evidence of cells and sizes by component, (knot,)."""
        found = {name: own.evidence for name, own in self._with_sizes.items()}
        if ROUGH in found:
            likely = self._by_cells[ROUGH]
            parts = [one.evidence(self.knots, likely) for one in self.roughnesses]
            found[ROUGH] = logsumexp(parts, axis=0)
        return found

    @cached_property
    def tempering(self) -> Tabulated:
        """What lets the evidence count to the power."""
        if self.known or self.power == 1:
            return FLAT
        # Scores of 1 that never err leave a peak between knots.
        ends = self._on_grid + self.boundary.log_prior(interior_calibrated=False)
        fitted = list(self.evidence.values()) or [self.alone]
        evidence = logsumexp(ends, axis=-1) + self._through(logsumexp(fitted, axis=0))(_GRID)
        return tempering(_GRID, evidence, self.power)

    @cached_property
    def _on_grid(self) -> Floats:
        """Log evidence of the patterns of errors at 0 and 1, (point, pattern)."""
        return self.patterns(_GRID)

    @cached_property
    def beside(self) -> dict[bool, Tabulated]:
        """What counts beside cells and sizes, by whether the scores in between are calibrated."""
        return {
            calibrated: Tabulated(_GRID, ends(_GRID) + self.tempering(_GRID))
            for calibrated, ends in self.ends.items()
        }

    @cached_property
    def ends(self) -> dict[bool, Tabulated]:
        """Log evidence of the scores 0 and 1, by whether those in between are calibrated.

        Patterns of errors at 0 and 1 count as their evidence does to the power of the average.
        """
        if self.known or not self.boundary.number:
            return dict.fromkeys((True, False), FLAT)
        density = self._on_grid
        total = logsumexp(density - _GRID[:, None] ** 2 / 2, axis=0)
        found = {}
        for calibrated in (True, False):
            prior = self.boundary.log_prior(calibrated)
            share = log_posterior_weights(np.exp(prior), total, self.patterns_power)
            found[calibrated] = Tabulated(_GRID, logsumexp(share - total + density, axis=-1))
        return found

    def in_nuts(self, name: str) -> CurveAndClassPrior:
        """A component as NUTS takes it: of the sizes some, and a function for all beside.

        Which has what is left of the sizes: the class prior is where all of them leave it.
        """
        joint, found = self._in_nuts[name]
        return replace(joint, along=NOTHING if self.known else self._beside_in_nuts(name, found))

    def _beside_in_nuts(self, name: str, found: WithSizes) -> Cubic:
        beside = self.beside[False]
        log_density = self.evidence[name] + beside(self.knots)
        all_sizes = self._with_sizes[name].evidence
        sizes = self._limited(all_sizes - found.evidence, log_density)
        # Knots as near to each other as the data tell class priors apart.
        grid = np.linspace(self.knots[0], self.knots[-1], len(KNOTS))
        along = beside(grid) - beside(self._likeliest(log_density)) + sizes(grid)
        value = np.clip(along, -_MOST, _MOST)
        slope = PchipInterpolator(grid, value).derivative()(grid)
        return Cubic(value, slope, *grid[[0, -1]].tolist())

    def whitening(self, name: str) -> MovingGaussian:
        """Find where NUTS has a component."""
        quantiles, density = self._smooth.quantiles, self._log_density(name)
        if not self.known:
            quantiles = Quantiles.of(self.knots, density)
        return MovingGaussian(quantiles, self._in_nuts[name][1].curve)

    def _log_density(self, name: str) -> Floats:
        """Log posterior density of the class prior's normal under a component, (knot,)."""
        evidence = self.evidence[name]
        return np.asarray(evidence + self.beside[False](self.knots) - self.knots**2 / 2)

    @cached_property
    def _in_nuts(self) -> dict[str, tuple[CurveAndClassPrior, WithSizes]]:
        """Components with the sizes that NUTS takes, and where those leave them."""
        found = {name: (self.joints[name], own) for name, own in self._with_sizes.items()}
        for name, one in self._by_cells.items():
            if not self.joints[name].sized:
                joint = self.joints[name].wider(self._off(name))
                found[name] = joint, joint.with_sizes(self.knots, one)
        return found

    def _off(self, name: str) -> float:
        """By how much the posterior of a component expects more positives than there are."""
        weight = softmax(self._log_density(name)) * np.gradient(self.knots)
        return float(np.average(self._with_sizes[name].off, weights=weight))

    def _limited(self, value: Floats, log_evidence: Floats) -> Callable[[Floats], Floats]:
        """Pass through values at the knots, limited about that at the likeliest one."""
        off = value - value[self.knots == self._likeliest(log_evidence)]
        return self._through(np.clip(off, -_MOST, _MOST))

    def _through(self, value: Floats) -> Callable[[Floats], Floats]:
        """Pass through values at the knots; constant beyond."""
        # A cliff would make it swing beside the cliff.
        through = CubicSpline(self.knots, np.maximum(value, value.max() - _CLIFF))
        return lambda normal: through(np.clip(normal, self.knots[0], self.knots[-1]))

    def _likeliest(self, log_evidence: Floats) -> Floats:
        """The knot where the posterior is largest, (1,)."""
        place = np.argmax(log_evidence - self.knots**2 / 2)
        return self.knots[place : place + 1]
