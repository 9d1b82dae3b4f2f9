"""A smooth calibration curve over cells of the labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.calibration_curve.problem import pad, padded_size
from bayescal.core.calibration_curve.smooth_curve import CurveBasis, SmoothCurve, curve_basis
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.inference.direct import BinomialRegression, importance_sample, variational_gaussian

CELLS = 128
BASIS = 32
_CELL, _BASIS = ("cell",), ("basis",)
_DIMS = {
    "offset": _CELL,
    "design": ("cell", "basis"),
    "count": _CELL,
    "positives": _CELL,
    "log_coefficient": _CELL,
    "centre": _BASIS,
    "root": ("basis", "basis_"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Counts under `SmoothCurve`; made by `Curve.of`."""

    basis: CurveBasis
    regression: BinomialRegression
    variables: ClassVar[tuple[str, ...]] = ("coef",)
    target_accept: ClassVar[float] = 0.8
    # Three leapfrog steps turn a standard normal by a right angle: a fresh draw of a whitened one.
    max_depth: ClassVar[int] = 2

    @classmethod
    def of(cls, cells: BinCounts, prior: SmoothCurve) -> Curve:
        """Find the basis for the cells."""
        basis = curve_basis(cells.mean_score, cells.count, prior, BASIS)
        offset, design = basis.offset(cells.mean_score), basis.design(cells.mean_score)
        return cls(basis, BinomialRegression(offset, design, cells.count, cells.positives))

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of cells, padded."""
        return ("curve", padded_size(len(self.regression.offset), CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, offset and design, and the Gaussian that whitens the coefficients."""
        _, cells = self.compile_key
        regression, size = self.regression, self.basis.size
        gaussian = variational_gaussian(regression)
        root = np.eye(BASIS)
        root[:size, :size] = gaussian.root
        coefficient = log_binomial_coefficient(regression.count, regression.positives)
        return {
            "offset": pad(regression.offset, cells),
            "design": pad(regression.design, cells, BASIS),
            "count": pad(regression.count, cells),
            "positives": pad(regression.positives, cells),
            "log_coefficient": pad(coefficient, cells),
            "centre": pad(gaussian.mean, BASIS),
            "root": root,
        }

    def add_to_model(self) -> Any:
        """``positives ~ Binomial(count, sigmoid(offset + design @ coef))``."""
        import pymc as pm

        from bayescal.inference.logit_binomial import logit_binomial
        from bayescal.inference.whitening import whitened_normal

        data = {
            name: pm.Data(name, values, dims=_DIMS[name]) for name, values in self.inputs().items()
        }
        coef = whitened_normal("coef", data["centre"], data["root"], dims="basis")
        logit = data["offset"] + (data["design"] * coef).sum(axis=-1)
        observed = data["positives"]
        logit_binomial(
            "events", data["count"], logit, data["log_coefficient"], observed=observed, dims="cell"
        )
        return pm.math.sigmoid(logit)

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling from the variational Gaussian."""
        gaussian = variational_gaussian(self.regression)
        weighted = importance_sample(self.regression, gaussian, 2 * draws, rng)
        coef = pad(weighted.resample(draws, rng), draws, BASIS)
        # Coefficients that the basis does not use keep their prior, as under NUTS.
        coef[:, self.basis.size :] = rng.standard_normal((draws, BASIS - self.basis.size))
        return DirectDraws(
            {"coef": coef},
            weighted.ess,
            "importance sampling",
            weighted.log_evidence,
            weighted.pareto_k,
        )

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Coefficients before the data, (draw, basis)."""
        return {"coef": rng.standard_normal((draws, BASIS))}

    def cell_rates(self, draws: Draws) -> Floats:
        """Curve at the cells' mean scores, (..., cell)."""
        return np.asarray(expit(self.regression.logit(self._used(draws))))

    def curve(self, draws: Draws, score: Floats) -> Floats:
        """Curve at any score, (..., point)."""
        deviation = self._used(draws) @ self.basis.design(score).T
        return np.asarray(expit(self.basis.offset(score) + deviation))

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Standard normal density of each coefficient."""
        return {"coef": -(draws["coef"] ** 2 + np.log(2 * np.pi)) / 2}

    def _used(self, draws: Draws) -> Floats:
        return draws["coef"][..., : self.basis.size]
