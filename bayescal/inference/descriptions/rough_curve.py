"""The rough description of a calibration curve, as NUTS samples it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayescal.core.calibration_curve.problem import pad, padded_size
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.quantity import DirectDraws, Draws
from bayescal.inference.descriptions.described_curve import DescribedCurve
from bayescal.inference.descriptions.rough_graph import DIMS, VARIABLES, rough_inputs, rough_logit
from bayescal.inference.direct import variational_gaussian

CELLS = 32


@dataclass(frozen=True, slots=True, eq=False)
class RoughCurve:
    """Cells with scores between 0 and 1 under a smooth curve with a rough part."""

    described: DescribedCurve
    count: NDArray[Any]
    positives: NDArray[Any]
    variables: ClassVar[tuple[str, ...]] = VARIABLES
    # The whitening follows the roughness only about: smaller steps, and longer trajectories.
    target_accept: ClassVar[float] = 0.9
    max_depth: ClassVar[int] = 10

    @property
    def size(self) -> int:
        """Number of cells, padded."""
        return padded_size(len(self.described.inner), CELLS)

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of cells, padded."""
        return ("rough", self.count.dtype.kind, self.size)

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, and what the rough description needs."""
        coefficient = log_binomial_coefficient(self.count, self.positives)
        counts = {
            "count": self.count,
            "positives": self.positives,
            "log_coefficient": coefficient,
        }
        rough = self.described.rough
        likely = rough.likely_roughness()
        gaussian = variational_gaussian(rough.at(likely))
        return {
            **{name: pad(values, self.size) for name, values in counts.items()},
            **rough_inputs(rough, likely, gaussian, self.size),
        }

    def add_to_model(self) -> Any:
        """``positives ~ Binomial(count, sigmoid(offset + vectors @ (spread * z)))``."""
        import pymc as pm

        from bayescal.inference.logit_binomial import logit_binomial

        data = {
            name: pm.Data(name, values, dims=DIMS.get(name, "inner"))
            for name, values in self.inputs().items()
        }
        logit = rough_logit(data)
        logit_binomial(
            "events",
            data["count"],
            logit,
            data["log_coefficient"],
            observed=data["positives"],
            dims="inner",
        )
        return pm.math.sigmoid(logit)

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling at nodes of the roughness."""
        return self.described.direct_draws(draws, rng)

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the description."""
        return {"curve": np.asarray(self.described.log_prior("rough", draws))}
