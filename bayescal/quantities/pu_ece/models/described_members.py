"""The smooth and the rough description with the class prior, as NUTS samples them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayescal.core.calibration_curve.problem import pad, padded_size
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.quantity import DirectDraws, Draws
from bayescal.inference.descriptions.described_curve import BASIS
from bayescal.quantities.pu_ece.models.along import LAST
from bayescal.quantities.pu_ece.models.along_graph import (
    ALONG_DIMS,
    NormalInGraph,
    along_inputs,
    padded_roots,
)
from bayescal.quantities.pu_ece.models.prior_map import logit_in_graph

if TYPE_CHECKING:
    from bayescal.quantities.pu_ece.models.average import Average

SMOOTH_CELLS = 128
ROUGH_CELLS = 32


@dataclass(frozen=True, slots=True, eq=False)
class SmoothMember:
    """Inner cells under a smooth curve, with the class prior."""

    average: Average
    variables: ClassVar[tuple[str, ...]] = ("coef", "smooth_normal")
    target_accept: ClassVar[float] = 0.98
    max_depth: ClassVar[int] = 10

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of cells, padded."""
        return ("smooth", padded_size(len(self.average.described.inner), SMOOTH_CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, offset and design, the class prior, and the Gaussians that whiten."""
        cells, regression = self.compile_key[-1], self.average.described.regression
        smooth = replace(self.average.smooth, sizes=None)
        along = smooth.along(*smooth.place())
        return {
            **_counts(self.average, cells),
            "offset": pad(regression.offset, cells),
            "design": pad(regression.design, cells, BASIS),
            **along_inputs(along, BASIS),
            "roots": padded_roots(along, BASIS),
        }

    def add_to_model(self) -> Any:
        """``positive ~ Binomial(total, odds rate / class_prior)``."""
        from bayescal.inference.whitening import whitened_normal

        data = _add_data(self.inputs(), _SMOOTH_DIMS)
        along = NormalInGraph.add("smooth_normal", data)
        coef = whitened_normal("coef", along.mean, along.root, dims="basis")
        logit = data["offset"] + (data["design"] * coef).sum(axis=-1)
        return _observe(data, logit, along.normal)

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Those of the average."""
        return self.average.direct_draws(draws, rng)

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the description."""
        return {"curve": np.asarray(self.average.described.log_prior("smooth", draws))}


@dataclass(frozen=True, slots=True, eq=False)
class RoughMember:
    """Inner cells under a smooth curve with a rough part, with the class prior."""

    average: Average
    variables: ClassVar[tuple[str, ...]] = ("z", "roughness", "rough_normal")
    # The whitening follows the roughness only about: smaller steps, and longer trajectories.
    target_accept: ClassVar[float] = 0.95
    max_depth: ClassVar[int] = 10

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of cells, padded."""
        return ("rough", padded_size(len(self.average.described.inner), ROUGH_CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, directions, the class prior, and the Gaussians that whiten."""
        from bayescal.inference.descriptions.rough_graph import rough_inputs

        size, rough = self.compile_key[-1], self.average.described.rough
        likely = rough.likely_roughness()
        place = replace(self.average.smooth, sizes=None).place()
        along = replace(self.average.rough_at(likely), sizes=None).along(*place)
        followed = rough_inputs(rough, likely, along.gaussians[LAST], size)
        # The mean follows the class prior.
        del followed["centre"]
        return {
            **_counts(self.average, size),
            **followed,
            **along_inputs(along, size),
            "log_scales": pad(along.log_scale, *along.log_scale.shape[:2], size),
        }

    def add_to_model(self) -> Any:
        """``positive ~ Binomial(total, odds rate / class_prior)``."""
        from bayescal.inference.descriptions.rough_graph import DIMS, rough_logit

        data = _add_data(self.inputs(), {**_DIMS, **DIMS, **ALONG_DIMS})
        along = NormalInGraph.add("rough_normal", data)
        logit = rough_logit(data, along.mean, along.scale)
        return _observe(data, logit, along.normal)

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Those of the average."""
        return self.average.direct_draws(draws, rng)

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the description."""
        return {"curve": np.asarray(self.average.described.log_prior("rough", draws))}


def _counts(average: Average, size: int) -> dict[str, NDArray[Any]]:
    inner, problem, prior = average.described.inner, average.problem, average.prior
    total, positive = problem.total[inner], problem.positive[inner]
    return {
        "total": pad(total, size),
        "positive": pad(positive, size),
        "log_coefficient": pad(log_binomial_coefficient(total, positive), size),
        "log_ratio": np.asarray(average.sizes),
        "prior_logit": prior.value,
        "prior_slope": prior.slope,
    }


def _add_data(inputs: dict[str, NDArray[Any]], dims: dict[str, Any]) -> dict[str, Any]:
    import pymc as pm

    return {name: pm.Data(name, values, dims=dims.get(name)) for name, values in inputs.items()}


def _observe(data: dict[str, Any], logit: Any, normal: Any) -> Any:
    """Add the class prior and the counts to the model in context."""
    import pymc as pm
    import pytensor.tensor as pt

    from bayescal.inference.logit_binomial import logit_binomial

    logit_prior = logit_in_graph(normal, data["prior_logit"], data["prior_slope"])
    pm.Deterministic("class_prior", pm.math.sigmoid(logit_prior))
    logit_binomial(
        "events",
        data["total"],
        data["log_ratio"] - pt.softplus(-logit) + pt.softplus(-logit_prior),
        data["log_coefficient"],
        observed=data["positive"],
        dims="inner",
    )
    return pm.math.sigmoid(logit)


_DIMS: dict[str, Any] = {
    "total": "inner",
    "positive": "inner",
    "log_coefficient": "inner",
    "prior_logit": "knot",
    "prior_slope": "knot",
}
_SMOOTH_DIMS: dict[str, Any] = {
    **_DIMS,
    "offset": "inner",
    "design": ("inner", "basis"),
    **ALONG_DIMS,
}
