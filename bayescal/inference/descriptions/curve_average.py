"""Default prior of label rates: an average over descriptions of the calibration curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayescal.core.calibration_curve.curve_average import ROUGH, SMOOTH, CurveAverage
from bayescal.core.calibration_curve.problem import Problem, padded_size
from bayescal.core.quantity import DirectDraws, Draws, LabelModel
from bayescal.inference.cell_likelihood import BinomialCells
from bayescal.inference.descriptions.described_curve import DescribedCurve
from bayescal.inference.descriptions.rough_curve import RoughCurve
from bayescal.inference.descriptions.smooth_curve import CELLS, Curve


@dataclass(frozen=True, slots=True, eq=False)
class Average:
    """A problem under `CurveAverage`; made by `average_of`."""

    problem: Problem
    described: DescribedCurve
    variables: ClassVar[tuple[str, ...]] = ("description",)
    target_accept: ClassVar[float] = RoughCurve.target_accept
    max_depth: ClassVar[int] = RoughCurve.max_depth

    @property
    def members(self) -> Mapping[str, LabelModel]:
        """Descriptions that NUTS samples."""
        found: dict[str, LabelModel] = {}
        cells, inner = self.problem.cells, self.described.inner
        if SMOOTH in self.described.fitted:
            found[SMOOTH] = Curve(
                self.described.basis,
                self.described.regression,
                cells.count[inner],
                cells.positives[inner],
            )
        if ROUGH in self.described.fitted:
            found[ROUGH] = RoughCurve(self.described, cells.count[inner], cells.positives[inner])
        return found

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of cells, padded."""
        return ("average", padded_size(self.problem.cells.n_bins, CELLS))

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Those of the members."""
        return {
            f"{name}_{key}": value
            for name, model in self.members.items()
            for key, value in model.inputs().items()
        }

    def add_to_model(self) -> Any:
        """Add the last of the members: the rough description, if it is not left out."""
        return list(self.members.values())[-1].add_to_model()

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Posterior of every description."""
        return self.described.direct_draws(draws, rng)

    def completed(self, draws: Draws, rng: np.random.Generator) -> Draws:
        """Cut the padding off draws of NUTS, and add what is drawn exactly."""
        found = dict(draws)
        if "coef" in found:
            found["coef"] = found["coef"][..., : self.described.basis.size]
        if "z" in found:
            found["z"] = found["z"][..., : len(self.described.inner)]
        if "end" in found:
            return found
        shape = next(iter(found.values())).shape[:2]
        exact = self.described.exact_draws(shape[0] * shape[1], rng)
        return found | {
            name: values.reshape(*shape, *values.shape[1:]) for name, values in exact.items()
        }

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density under each description, of completed draws; see `DescribedCurve`."""
        described = self.described
        return {name: np.asarray(described.log_prior(name, draws)) for name in described.fitted}


def average_of(problem: Problem, prior: CurveAverage, calibrated: float) -> Average:
    """Join a problem and its descriptions."""
    cells = problem.cells
    described = DescribedCurve(
        cells.mean_score,
        np.asarray(cells.count, dtype=float),
        BinomialCells(cells.count, cells.positives),
        prior,
        calibrated,
    )
    return Average(problem, described)
