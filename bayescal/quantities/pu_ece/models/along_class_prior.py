"""What counts of the class prior beside cells and sizes: the scores 0 and 1, and its tempering."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import logsumexp

from bayescal.core.quantity import Floats
from bayescal.curves.average import log_posterior_weights
from bayescal.curves.boundary import BoundaryErrors
from bayescal.curves.priors import ROUGH, SMOOTH
from bayescal.quantities.pu_ece.models.curve_and_class_prior import (
    FLAT,
    CurveAndClassPrior,
    Tabulated,
)
from bayescal.quantities.pu_ece.models.moving_gaussian import NEGLIGIBLE, MovingGaussian
from bayescal.quantities.pu_ece.priors import KNOTS, LAST, Cubic

# Where what counts is tabulated.
_GRID = np.linspace(-LAST, LAST, 1301)
# Larger differences do not matter, and between knots of NUTS, which are far apart for the sharp
# peak of many rows, would shift it.
_MOST = 30.0


@dataclass(frozen=True, eq=False)
class AlongClassPrior:
    """Functions of the class prior's normal, of one problem.

    Notes
    -----
    The data tell the class prior from the calibration error only by what the prior of the curve
    holds likely: a classifier far from calibration looks better under another class prior. Evidence
    therefore counts for the class prior as it does for the components, to the `power` of the
    average: the posterior of the class prior is its prior times the evidence to this power. The
    evidence is the sum of those of the smooth component and of the rough one at its likely
    roughness, by Laplace's approximation. That of calibration, a spike where the class prior is the
    mean score, would leave the others a dent there.
    """

    joints: Mapping[str, CurveAndClassPrior]  # components that NUTS samples, by cells and sizes
    guide: Floats  # (basis, cell): from the smooth component's coefficients to the rough one's
    patterns: Callable[[Floats], Floats]  # log evidence of errors at 0 and 1, (..., pattern)
    boundary: BoundaryErrors
    power: float
    known: bool

    @cached_property
    def _smooth(self) -> MovingGaussian:
        """The smooth component wherever its evidence, to the power, is not negligible."""
        return self.joints[SMOOTH].moving_gaussian(NEGLIGIBLE / self.power)

    @property
    def knots(self) -> Floats:
        """Class prior's normals at which evidence is computed."""
        return self._smooth.quantiles.normal if SMOOTH in self.joints else KNOTS

    @cached_property
    def evidence(self) -> dict[str, tuple[Floats, Floats]]:
        """Log evidence by component at the knots: of cells, and of cells and sizes."""
        if SMOOTH not in self.joints:
            return {}
        smooth, *both = self.joints[SMOOTH].evidence_at(self.knots, self._smooth.gaussians)
        found = {SMOOTH: (both[0], both[1])}
        if ROUGH in self.joints:
            near = self.joints[ROUGH].follow(self.knots, smooth.mean @ self.guide)
            found[ROUGH] = self.joints[ROUGH].evidence_at(self.knots, near)[1:]
        return found

    @cached_property
    def tempering(self) -> Tabulated:
        """What lets the evidence count to the power."""
        if self.known or self.power == 1:
            return FLAT
        ends = self.patterns(self.knots) + self.boundary.log_prior(interior_calibrated=False)
        fitted = [sized for _, sized in self.evidence.values()] or [np.zeros(len(self.knots))]
        evidence = logsumexp(ends, axis=-1) + logsumexp(fitted, axis=0)
        return Tabulated(_GRID, self._limited((self.power - 1) * evidence, evidence)(_GRID))

    @cached_property
    def beside(self) -> dict[bool, Tabulated]:
        """What counts beside cells and sizes, by whether the scores in between are calibrated.

        Patterns of errors at 0 and 1 count as their evidence does to the power of the average.
        """
        if self.known or not self.boundary.number:
            return dict.fromkeys((True, False), self.tempering)
        density = self.patterns(_GRID)
        total = logsumexp(density - _GRID[:, None] ** 2 / 2, axis=0)
        found = {}
        for calibrated in (True, False):
            prior = self.boundary.log_prior(calibrated)
            share = log_posterior_weights(np.exp(prior), total, self.power)
            ends = logsumexp(share - total + density, axis=-1)
            found[calibrated] = Tabulated(_GRID, ends + self.tempering(_GRID))
        return found

    def with_sizes(self, name: str) -> Tabulated:
        """What counts beside the cells: of the sizes what they say of a component on average."""
        if self.known:
            return FLAT
        cells, sized = self.evidence[name]
        sizes = self._limited(sized - cells, sized + self.beside[False](self.knots))
        return Tabulated(_GRID, self.beside[False](_GRID) + sizes(_GRID))

    def for_nuts(self, joint: CurveAndClassPrior, name: str) -> CurveAndClassPrior:
        """Let a component know what counts, and the sizes on average unless it knows them."""
        if self.known:
            return joint
        along = self.beside[False] if joint.sized else self.with_sizes(name)
        sized = self.evidence[name][1] + self.beside[False](self.knots)
        value = np.clip(along(KNOTS) - along(self._likeliest(sized)), -_MOST, _MOST)
        slope = PchipInterpolator(KNOTS, value).derivative()(KNOTS)
        return replace(joint, along=Cubic(value, slope))

    def _limited(self, value: Floats, log_evidence: Floats) -> Callable[[Floats], Floats]:
        """Pass through values at the knots, limited about that at the likeliest one."""
        off = value - value[self.knots == self._likeliest(log_evidence)]
        through = PchipInterpolator(self.knots, np.clip(off, -_MOST, _MOST))
        return lambda normal: through(np.clip(normal, self.knots[0], self.knots[-1]))

    def _likeliest(self, log_evidence: Floats) -> Floats:
        """The knot where the posterior is largest, (1,)."""
        place = np.argmax(log_evidence - self.knots**2 / 2)
        return self.knots[place : place + 1]
