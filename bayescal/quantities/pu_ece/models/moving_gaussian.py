"""The curve's Gaussian as it moves along the class prior, and the class prior's own quantiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator
from scipy.linalg import block_diag
from scipy.special import ndtri

from bayescal.core.quantity import Floats
from bayescal.curves.cells import pad
from bayescal.inference.direct import Gaussian, around

_MOST = 24
# Where knots are sought, and how many there are at first.
_FARTHEST, FIRST = 5.0, 9
# Intervals are halved where log density, or mean in deviations, is so far from their line.
_OFF = 2.0
# Where the density jumps, halving a gap would never end.
_NARROWEST = 1e-6
NEGLIGIBLE = 9.0
"""Log densities this far below the largest do not matter."""
# Densities that are fainter would be 0, and slopes there infinite.
_FAINTEST = 700.0
# Power of the class prior's density that is stretched to a normal one: tails stay within reach.
_WIDER = 0.7
# Points between two knots at which the density is summed.
_FINE = 20


class Quantiles(NamedTuple):
    """A rising function through knots: from a standard normal to the class prior's normal.

    Rational quadratic (C. Durkan et al., NeurIPS 2019, section 3.1), and linear beyond the knots.
    """

    standard: Floats  # (knot,)
    normal: Floats  # (knot,)
    slope: Floats  # (knot,)

    @classmethod
    def of(cls, normal: Floats, log_density: Floats) -> Quantiles:
        """Stretch a density, given at knots, to a standard normal one."""
        steps = np.arange(_FINE * (len(normal) - 1) + 1) / _FINE
        fine = np.interp(steps, np.arange(len(normal)), normal)
        log_density = np.maximum(log_density - log_density.max(), -_FAINTEST)
        density = np.exp(_WIDER * PchipInterpolator(normal, log_density)(fine))
        mass = np.diff(fine) * (density[1:] + density[:-1]) / 2
        # The ends hold a little, too.
        mass = np.concatenate([mass[:1], mass, mass[-1:]])
        total = mass.sum()
        below, above = np.cumsum(mass)[:-1:_FINE], np.cumsum(mass[::-1])[:-1:_FINE][::-1]
        standard = np.where(below < above, ndtri(below / total), -ndtri(above / total))
        at = density[::_FINE] / total
        return cls(standard, normal, np.exp(-(standard**2) / 2) / np.sqrt(2 * np.pi) / at)

    def left(self, value: Floats) -> NDArray[np.int64]:
        """Place of the knot to the left."""
        return np.searchsorted(self.standard[1:-1], value)

    def __call__(self, value: Floats) -> tuple[Floats, Floats]:
        """Normal and its derivative, (...)."""
        left = self.left(value)
        low, high = self.slope[left], self.slope[left + 1]
        width = self.standard[left + 1] - self.standard[left]
        rise = self.normal[left + 1] - self.normal[left]
        inside = value.clip(self.standard[0], self.standard[-1])
        t = (inside - self.standard[left]) / width
        mean, both = rise / width, t * (1 - t)
        below = mean + (low + high - 2 * mean) * both
        normal = self.normal[left] + rise * (mean * t**2 + low * both) / below
        slope = mean**2 * (high * t**2 + 2 * mean * both + low * (1 - t) ** 2) / below**2
        return normal + slope * (value - inside), slope


@dataclass(frozen=True, eq=False)
class MovingGaussian:
    """A map of standard normal values to the curve's coefficients and the class prior's normal.

    Where the class prior rises, high label rates come near 1: the coefficients' conditional mean
    bends, and their spread changes. The class prior itself may have a peak there, and a plateau
    below it. Means between knots are cubic. Roots are blended, so that their diagonals keep their
    signs, by shares that are level at the knots.
    """

    quantiles: Quantiles
    gaussians: Gaussian  # stacked by knot

    @classmethod
    def known(cls, gaussians: Gaussian) -> MovingGaussian:
        """Stay where a known class prior puts the curve: two knots that are alike."""
        ends = np.array([-1.0, 1.0])
        return cls(Quantiles(ends, ends, np.ones(2)), gaussians)

    @classmethod
    def sought(
        cls,
        solve: Callable[[Floats, Floats], Sequence[Floats]],
        start: Floats,
        negligible: float = NEGLIGIBLE,
        first: int = FIRST,
    ) -> MovingGaussian:
        """Place knots where the class prior's density and the curve need them.

        ``solve(normal, mean)`` gives normals, log density, and means and roots of the curve's
        Gaussians, sought from `mean`, at first `start`. None are where the density is negligible.
        """
        found = solve(np.linspace(-_FARTHEST, _FARTHEST, first), np.tile(start, (first, 1)))
        off = np.full(first - 1, np.inf)
        while True:
            density = found[1]
            low, high = around(density, negligible)
            wide = np.diff(found[0])[low:high] > _NARROWEST
            place = low + np.flatnonzero(wide & (off[low:high] > _OFF))
            left = _MOST - (high - low + 1)
            if not len(place) or left <= 0:
                break
            # The worst of them, in order.
            place = np.sort(place[np.argsort(-off[place], kind="stable")[:left]])
            normal, line, mean = ((one[place] + one[place + 1]) / 2 for one in found[:3])
            new = solve(normal, mean)
            missed = np.linalg.solve(new[3], (new[2] - mean)[..., None])[..., 0]
            off[place] = np.maximum(np.abs(new[1] - line), np.linalg.norm(missed, axis=-1))
            off = np.insert(off, place, off[place])
            found = [
                np.insert(one, place + 1, more, axis=0)
                for one, more in zip(found, new, strict=True)
            ]
        normal, density, mean, root = (one[low : high + 1] for one in found)
        return cls(Quantiles.of(normal, density), Gaussian(mean, root))

    @cached_property
    def still(self) -> Gaussian:
        """The Gaussian at a known class prior, with its normal last."""
        mean, root = self.gaussians.mean[0], block_diag(self.gaussians.root[0], 1.0)
        return Gaussian(np.append(mean, 0.0), root)

    @property
    def middle(self) -> Gaussian:
        """The Gaussian at the knot nearest to the middle of the class prior."""
        return self.gaussians[int(np.abs(self.quantiles.standard).argmin())]

    def inputs(self, size: int) -> dict[str, NDArray[Any]]:
        """Arrays of a model, padded to so many coefficients and to the most knots."""
        knots, basis = self.gaussians.mean.shape
        roots = np.tile(np.eye(size), (_MOST, 1, 1))
        roots[:knots, :basis, :basis] = self.gaussians.root
        centre, more = self.gaussians.mean, (0, _MOST - knots)
        # Nothing lies beyond the last knot, however often it is repeated.
        names = zip(("standard", "knots", "rise"), self.quantiles, strict=True)
        return {
            **{name: np.pad(values, more, "edge") for name, values in names},
            "intervals": np.asarray(float(knots - 1)),
            "centre": pad(centre, _MOST, size),
            "centre_slope": pad(np.gradient(centre, self.quantiles.normal, axis=0), _MOST, size),
            "roots": roots,
        }

    @cached_property
    def _mean(self) -> CubicHermiteSpline:
        normal, mean = self.quantiles.normal, self.gaussians.mean
        return CubicHermiteSpline(normal, mean, np.gradient(mean, normal, axis=0))

    def placed(self, value: Floats) -> tuple[Floats, Floats]:
        """Coefficients at standard normal values, the normal's last, and the log volume."""
        (_, normal, _), root = self.quantiles, self.gaussians.root
        # In the order of the knots, so that a root's rows are next to each other.
        order = np.argsort(value[:, -1], kind="stable")
        standard, last = value[order, :-1], value[order, -1]
        at, rise = self.quantiles(last)
        left = self.quantiles.left(last)
        part = ((at - normal[left]) / (normal[left + 1] - normal[left])).clip(0, 1)
        share = (part * part * (3 - 2 * part))[:, None]
        coef = self._mean(at.clip(normal[0], normal[-1]))
        # Rows between two knots are those of both roots.
        begins = np.searchsorted(left, np.arange(-1, len(root) + 1))
        for knot in np.flatnonzero(begins[2:] > begins[:-2]).tolist():
            own = slice(begins[knot], begins[knot + 2])
            weight = np.where(left[own, None] == knot, 1 - share[own], share[own])
            coef[own] += weight * (standard[own] @ root[knot].T)
        diagonal = np.diagonal(root, 0, -2, -1)
        blended = (1 - share) * diagonal[left] + share * diagonal[left + 1]
        back = np.argsort(order)
        log_volume = np.log(rise) + np.log(np.abs(blended)).sum(axis=1)
        return np.column_stack([coef, at])[back], log_volume[back]
