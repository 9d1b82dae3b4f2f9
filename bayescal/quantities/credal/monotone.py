"""Default prior of label rates: a smooth curve that rises with the score's rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import halfnorm, norm

from bayescal.quantities.credal.family import Draws, Floats
from bayescal.quantities.credal.half_normal import (
    half_normal,
    half_normal_slope,
    half_normal_tensor,
)
from bayescal.quantities.credal.imagined import Imagined, imagine
from bayescal.quantities.credal.priors import MonotoneCurve
from bayescal.quantities.credal.problem import Problem
from bayescal.quantities.credal.splines import SPLINES, i_splines

CELLS: Final = 60
SIZE: Final = 2 + SPLINES
_STEPS: Final = 200
_CLOSE: Final = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class Monotone:
    """A problem under `MonotoneCurve`; made by `Monotone.of`.

    The model's free variables are standard normal, with scale and weights as half-normal functions
    of them: a posterior without corners, which its mode and curvature there whiten.
    """

    problem: Problem
    prior: MonotoneCurve
    design: Floats

    @classmethod
    def of(cls, problem: Problem, prior: MonotoneCurve) -> Monotone:
        """Find the splines of the cells.

        Parameters
        ----------
        problem : Problem
            Counts in 60 cells.
        prior : MonotoneCurve
            Prior of the curve.

        Returns
        -------
        Monotone
            The problem with its design, (curve, cell, spline).
        """
        splines = i_splines(problem.place.ravel()) - 0.5
        return cls(problem, prior, splines.reshape(*problem.place.shape, SPLINES))

    @property
    def structure(self) -> tuple[Any, ...]:
        """Number of curves."""
        return ("monotone", self.problem.n_curves)

    @property
    def variables(self) -> tuple[str, ...]:
        """Intercept, scale and spline weights of each curve."""
        return ("intercept", "spread", "weight")

    @property
    def target_accept(self) -> float:
        """Above NUTS's default: scale times weights make the density bend."""
        return 0.9

    @property
    def max_depth(self) -> int:
        """NUTS's default."""
        return 10

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, design and prior scales, and the Gaussians that whiten the curves."""
        from bayescal.inference.logit_binomial import log_binomial_coefficient

        count, positives = self.problem.count, self.problem.positives
        found = [self.gaussian(curve) for curve in range(self.problem.n_curves)]
        return {
            "design": self.design,
            "count": count,
            "positives": positives,
            "log_coefficient": log_binomial_coefficient(count, positives),
            "prior_scale": np.array([self.prior.intercept, self.prior.spread]),
            "centre": np.stack([mode for mode, _ in found]),
            "root": np.stack([root for _, root in found]),
        }

    def add_to_model(self) -> None:
        """``positives ~ Binomial(count, sigmoid(intercept + design @ (spread weight)))``."""
        import pymc as pm

        from bayescal.inference.block_whitening import whitened_blocks
        from bayescal.inference.logit_binomial import logit_binomial

        data = {
            name: pm.Data(name, values, dims=_DIMS[name]) for name, values in self.inputs().items()
        }
        unit = whitened_blocks("unit", data["centre"], data["root"], dims=("curve", "basis"))
        positive = half_normal_tensor(unit[:, 1:])
        intercept = pm.Deterministic("intercept", data["prior_scale"][0] * unit[:, 0], dims="curve")
        spread = pm.Deterministic("spread", data["prior_scale"][1] * positive[:, 0], dims="curve")
        weight = pm.Deterministic("weight", positive[:, 1:], dims=("curve", "spline"))
        rise = (data["design"] * (spread[:, None] * weight)[:, None, :]).sum(axis=-1)
        logit_binomial(
            "events",
            data["count"],
            intercept[:, None] + rise,
            data["log_coefficient"],
            observed=data["positives"],
            dims=("curve", "cell"),
        )

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Independent draws."""
        curves = self.problem.n_curves
        return {
            "intercept": self.prior.intercept * rng.standard_normal((draws, curves)),
            "spread": self.prior.spread * np.abs(rng.standard_normal((draws, curves))),
            "weight": np.abs(rng.standard_normal((draws, curves, SPLINES))),
        }

    def exact(self, draws: int, rng: np.random.Generator) -> None:
        """There is none: no importance sampler serves this posterior at every size.

        Parameters
        ----------
        draws : int
            Not used.
        rng : numpy.random.Generator
            Not used.
        """

    def cell_prob(self, draws: Draws) -> Floats:
        """Curve at the cells."""
        rise = (self.design @ _coefficients(draws)[..., None])[..., 0]
        return np.asarray(expit(draws["intercept"][..., None] + rise))

    def imagined(self, draws: Draws, rank: Floats) -> Imagined:
        """Curve and bounds at any rank."""
        coefficients, found = _coefficients(draws), []
        for curve, at in enumerate(rank.T):
            rise = coefficients[:, curve] @ (i_splines(at) - 0.5).T
            found.append(imagine(expit(draws["intercept"][:, curve, None] + rise), self.prior.s))
        return Imagined._make(np.stack(parts, axis=-1) for parts in zip(*found, strict=True))

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Normal and half-normal densities."""
        return {
            "intercept": norm.logpdf(draws["intercept"], scale=self.prior.intercept).sum(axis=-1),
            "spread": halfnorm.logpdf(draws["spread"], scale=self.prior.spread).sum(axis=-1),
            "weight": halfnorm.logpdf(draws["weight"]).sum(axis=(-2, -1)),
        }

    def gaussian(self, curve: int) -> tuple[Floats, Floats]:
        """Approximate the posterior of one curve's standard normal variables.

        Parameters
        ----------
        curve : int
            Which curve.

        Returns
        -------
        mode : ndarray of shape (basis,)
            Where the posterior density is largest.
        root : ndarray of shape (basis, basis), upper triangular
            Square root of the inverse of its curvature there, outer products of slopes alone.
        """
        unit = np.zeros(SIZE)
        density, gradient, curvature = self._expansion(unit, curve)
        for _ in range(_STEPS):
            step = np.linalg.solve(curvature, gradient)
            while True:
                found = self._expansion(unit + step, curve)
                if found[0] >= density or np.abs(step).max() < _CLOSE:
                    break
                step = step / 2
            gained = found[0] - density
            unit, (density, gradient, curvature) = unit + step, found
            if gained < _CLOSE:
                break
        # With C' C = curvature, C upper triangular, its inverse is a root of the covariance.
        return unit, np.linalg.inv(np.linalg.cholesky(curvature)).T

    def _expansion(self, unit: Floats, curve: int) -> tuple[float, Floats, Floats]:
        """Log density, its gradient and its (Gauss-Newton) curvature."""
        design, count = self.design[curve], self.problem.count[curve]
        positives = self.problem.positives[curve]
        positive, slope = half_normal(unit[1:]), half_normal_slope(unit[1:])
        spread, weight = self.prior.spread * positive[0], positive[1:]
        logit = self.prior.intercept * unit[0] + spread * (design @ weight)
        jacobian = np.column_stack(
            [
                np.full(len(design), self.prior.intercept),
                self.prior.spread * slope[0] * (design @ weight),
                design * (spread * slope[1:]),
            ]
        )
        rate = expit(logit)
        density = (positives * logit - count * np.logaddexp(0, logit)).sum() - (unit**2).sum() / 2
        gradient = jacobian.T @ (positives - count * rate) - unit
        weighted = jacobian * (count * rate * (1 - rate))[:, None]
        return float(density), gradient, np.eye(SIZE) + jacobian.T @ weighted


def _coefficients(draws: Draws) -> Floats:
    return draws["spread"][..., None] * draws["weight"]


_DIMS: Final = {
    "design": ("curve", "cell", "spline"),
    "count": ("curve", "cell"),
    "positives": ("curve", "cell"),
    "log_coefficient": ("curve", "cell"),
    "prior_scale": None,
    "centre": ("curve", "basis"),
    "root": ("curve", "basis", "basis_"),
}
