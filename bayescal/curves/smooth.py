"""A smooth calibration curve: the score's logit plus a Gaussian process, in a fixed basis.

A curve is its offset (the score's own logit, so that no deviation means calibrated) plus
``design @ coef`` with standard normal coefficients; intercept and slope may have longer tails.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.curves.cells import Problem, labelled, pad, padded_counts, padded_size, score_logit
from bayescal.curves.priors import SmoothCurve
from bayescal.inference.direct import (
    BinomialCells,
    CellLikelihood,
    Gaussian,
    Joined,
    Mapped,
    Regression,
    Weighted,
    importance_sample,
    laplace_evidence,
    variational_gaussian,
)

# Quantile cells cut at the default bins are 110.
CELLS = 112
BASIS = 32
# Directions with less variance than this share of the largest change no curve visibly.
_RELATIVE_VARIANCE = 1e-3
# Proposals for each draw where two leave less than one effective.
_MORE = 10
# Quadrature of an exponential variate.
_NODES, _WEIGHTS = np.polynomial.laguerre.laggauss(64)


@dataclass(frozen=True, slots=True)
class CurveBasis:
    """Basis in which a smooth curve is linear; made by `curve_basis`."""

    curve: SmoothCurve
    spread: float
    places: Floats  # (m,)
    loadings: Floats  # (m, k)

    @property
    def size(self) -> int:
        """Number of coefficients: intercept, slope and k directions."""
        return 2 + int(self.loadings.shape[1])

    def design(self, score: Floats) -> Floats:
        """What each coefficient adds to the logit at these scores, (m, size)."""
        offset = score_logit(score)
        process = self.curve.kernel(offset / self.spread, self.places) @ self.loadings
        return self.curve.scale * np.column_stack([np.ones_like(offset), offset, process])


def curve_basis(score: Floats, count: NDArray[Any], curve: SmoothCurve, size: int) -> CurveBasis:
    """Find the leading directions of the process over cells of scores.

    The directions are the eigenvectors of the kernel matrix over the cells (Karhunen-Loeve at the
    cells' scores); between cells they are extended by the kernel itself (Nystrom).
    """
    held = count > 0
    offset = score_logit(score[held])
    mean = np.average(offset, weights=count[held])
    variance = np.average((offset - mean) ** 2, weights=count[held])
    # Scores that are all equal have no spread; any unit serves then, as only one place is seen.
    spread = float(np.sqrt(variance)) if variance > 1e-12 else 1.0
    places = offset / spread
    values, vectors = np.linalg.eigh(curve.kernel(places, places))
    kept = np.flatnonzero(values > _RELATIVE_VARIANCE * values[-1])[::-1][: size - 2]
    return CurveBasis(curve, spread, places, vectors[:, kept] / np.sqrt(values[kept]))


class Line(NamedTuple):
    """Prior of intercept and slope: with probability `steep` both are `steepness` times as wide."""

    steep: float = 0.0
    steepness: float = 4.0

    @property
    def scales(self) -> dict[float, float]:
        """Prior probabilities of the standard deviations."""
        return {1.0: 1 - self.steep, self.steepness: self.steep} if self.steep else {1.0: 1.0}

    def log_ratio(self, half_square: Floats) -> Floats:
        """Log density over that of standard normals, by half of their sum of squares, (...)."""
        terms = [
            np.log(share / scale**2) + (1 - scale**-2) * half_square
            for scale, share in self.scales.items()
        ]
        return np.asarray(logsumexp(terms, axis=0))

    @property
    def mean_log_density(self) -> float:
        """Mean of the log density before the data, less the constant of the normal one."""
        # Half of the sum of two squares is exponential.
        return sum(
            share * float(_WEIGHTS @ (self.log_ratio(scale**2 * _NODES) - scale**2 * _NODES))
            for scale, share in self.scales.items()
        )


NORMAL: Final = Line()


class Part(NamedTuple):
    """The posterior at one scale of the line, in coefficients of scale 1 times `unit`."""

    unit: Floats  # (basis,)
    log_share: float
    regression: Regression
    gaussian: Gaussian

    @property
    def log_evidence(self) -> float:
        """About the log of its prior probability times the evidence."""
        return self.log_share + float(laplace_evidence(self.regression, self.gaussian))

    def sample(self, draws: int, total: int, rng: np.random.Generator) -> Weighted:
        """Its share of `total` proposals for all parts."""
        found = importance_sample(self.regression, self.gaussian, draws, rng)
        weight = self.log_share + np.log(total / draws)
        coef = Mapped(found.draws, lambda rows: rows * self.unit)
        return Weighted(coef, found.log_weights + weight)


@dataclass(frozen=True, eq=False)
class Smooth:
    """Cells under `SmoothCurve`: a component of an average, or a model of its own."""

    basis: CurveBasis
    regression: Regression
    line: Line = NORMAL
    exact: ClassVar[bool] = False
    variables: ClassVar[tuple[str, ...]] = ("coef",)
    target_accept: ClassVar[float] = 0.8
    # Whitened: only the size of the steps has to be found.
    tune: ClassVar[int] = 100

    @classmethod
    def of(cls, problem: Problem, prior: SmoothCurve) -> Smooth:
        """Find the basis for labelled cells."""
        cells = problem.cells
        basis = curve_basis(cells.mean_score, cells.count, prior, BASIS)
        return cls.over(basis, cells.mean_score, BinomialCells(cells.count, cells.positives))

    @classmethod
    def over(
        cls, basis: CurveBasis, score: Floats, cells: CellLikelihood, line: Line = NORMAL
    ) -> Smooth:
        """Join cells and a basis."""
        return cls(basis, Regression(score_logit(score), basis.design(score), cells), line)

    @cached_property
    def parts(self) -> list[Part]:
        """The posterior at each scale of the line."""
        found = []
        for scale, share in self.line.scales.items():
            unit = np.ones(self.basis.size)
            unit[:2] = scale
            regression = replace(self.regression, design=self.regression.design * unit)
            gaussian = variational_gaussian(regression)
            found.append(Part(unit, float(np.log(share)), regression, gaussian))
        return found

    @property
    def max_depth(self) -> int:
        """Of a normal line three leapfrog steps: a right angle, to a fresh draw.

        The whitened posterior is close to a standard normal. Longer trajectories end on the other
        side: signs alternate, sizes persist. Steep lines have long tails, and take longer ones.
        """
        return 3 if self.line.steep else 2

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Whole or effective rows, and the number of cells, padded."""
        count = labelled(self.regression.cells).count
        return ("curve", count.dtype.kind, padded_size(len(count), CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, offset and design, and the Gaussian that whitens the coefficients."""
        cells = self.compile_key[-1]
        regression, size = self.regression, self.basis.size
        likely = max(self.parts, key=lambda part: part.log_evidence)
        root = np.eye(BASIS)
        root[:size, :size] = likely.unit[:, None] * likely.gaussian.root
        return {
            **padded_counts(regression.cells, cells),
            "offset": pad(regression.offset, cells),
            "design": pad(regression.design, cells, BASIS),
            "steep": np.asarray(self.line.steep),
            "steepness": np.asarray(self.line.steepness),
            "centre": pad(likely.unit * likely.gaussian.mean, BASIS),
            "root": root,
        }

    def add_to_model(self) -> Any:
        """``positives ~ Binomial(count, sigmoid(offset + design @ coef))``."""
        from bayescal.inference.graph import add_data, observe_counts, product, whitened_line

        data = add_data(self.inputs(), _DIMS)
        line = data["steep"], data["steepness"]
        coef = whitened_line("coef", line, data["centre"], data["root"], dims="basis")
        return observe_counts(data, data["offset"] + product(data["design"], coef), "cell")

    def sample(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling from the variational Gaussian at each scale of the line.

        Rates near 0 or 1 of a steep curve have a skew posterior, which takes more proposals.
        """
        for proposals in (2 * draws, _MORE * draws):
            weighted = self._weighted(proposals, rng)
            if weighted.ess >= draws:
                break
        return weighted.direct_draws({"coef": weighted.resample(draws, rng)})

    def _weighted(self, proposals: int, rng: np.random.Generator) -> Weighted:
        likely = softmax([part.log_evidence for part in self.parts])
        # No part is left without proposals: its evidence is a guess.
        shares = (likely + 1 / len(self.parts)) / 2
        numbers = np.ceil(proposals * shares).astype(int)
        total = int(numbers.sum())
        each = zip(self.parts, numbers.tolist(), strict=True)
        found = [part.sample(number, total, rng) for part, number in each]
        coef, logs = Joined([one.draws for one in found]), [one.log_weights for one in found]
        return Weighted(coef, np.concatenate(logs)).smoothed()

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """The same; coefficients that the basis does not use keep their prior, as under NUTS."""
        found = self.sample(draws, rng)
        coef = pad(found.draws["coef"], draws, BASIS)
        coef[:, self.basis.size :] = rng.standard_normal((draws, BASIS - self.basis.size))
        return replace(found, draws={"coef": coef})

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Standard normal coefficients, but for those of the line."""
        coef = rng.standard_normal((draws, self.basis.size))
        if self.line.steep:
            steep = rng.random((draws, 1)) < self.line.steep
            coef[:, :2] *= np.where(steep, self.line.steepness, 1.0)
        return {"coef": coef}

    def prior_rates(self, draws: int, rng: np.random.Generator) -> Floats:
        """Curves of standard normal coefficients."""
        return self.cell_rates(self.prior_draws(draws, rng), rng)

    def deviation(self, draws: Draws) -> Floats:
        """Deviation of the cells' logits, (..., cell)."""
        return np.asarray(self._used(draws) @ self.regression.design.T)

    def deviation_at(self, draws: Draws, score: Floats) -> Floats:
        """Deviation at any score, (..., point)."""
        return np.asarray(self._used(draws) @ self.basis.design(score).T)

    def cell_rates(self, draws: Draws, rng: np.random.Generator) -> Floats:
        """Curve at the cells' mean scores."""
        return np.asarray(expit(self.regression.offset + self.deviation(draws)))

    def curve(self, draws: Draws, rates: Floats, score: Floats) -> Floats:
        """Curve at any score."""
        return np.asarray(expit(score_logit(score) + self.deviation_at(draws, score)))

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Standard normal density of each coefficient."""
        return {"coef": -(draws["coef"] ** 2 + np.log(2 * np.pi)) / 2}

    def log_prior_excess(self, draws: Draws) -> Floats:
        """Log prior density of all coefficients, less its mean before the data, (...)."""
        coef = self._used(draws)
        process = (1 - coef[..., 2:] ** 2).sum(axis=-1) / 2
        line = np.square(coef[..., :2]).sum(axis=-1) / 2
        return np.asarray(process + self.line.log_ratio(line) - line - self.line.mean_log_density)

    def _used(self, draws: Draws) -> Floats:
        return draws["coef"][..., : self.basis.size]


_DIMS: dict[str, str | tuple[str, ...] | None] = {
    **dict.fromkeys(("steep", "steepness")),
    **dict.fromkeys(("count", "positives", "log_coefficient", "offset"), "cell"),
    "design": ("cell", "basis"),
    "centre": "basis",
    "root": ("basis", "basis_"),
}
