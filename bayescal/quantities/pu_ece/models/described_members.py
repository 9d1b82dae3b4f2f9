"""The smooth and the rough description with the class prior, as NUTS samples them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayescal.core.calibration_curve.problem import pad, padded_size
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.quantity import DirectDraws, Draws
from bayescal.inference.descriptions.described_curve import BASIS
from bayescal.inference.direct import Gaussian
from bayescal.quantities.pu_ece.models.prior_map import logit_in_graph

if TYPE_CHECKING:
    from bayescal.quantities.pu_ece.models.average import Average

SMOOTH_CELLS = 128
ROUGH_CELLS = 32


@dataclass(frozen=True, slots=True, eq=False)
class SmoothMember:
    """Inner cells under a smooth curve; the last coefficient is the class prior's."""

    average: Average
    variables: ClassVar[tuple[str, ...]] = ("coef",)
    target_accept: ClassVar[float] = 0.95
    max_depth: ClassVar[int] = 10

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of cells, padded."""
        return ("smooth", padded_size(len(self.average.described.inner), SMOOTH_CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, offset and design, the class prior, and the Gaussian that whitens."""
        cells, regression = self.compile_key[-1], self.average.described.regression
        gaussian = _spread_out(self.average.smooth.gaussian(), BASIS + 1)
        return {
            **_counts(self.average, cells),
            "offset": pad(regression.offset, cells),
            "design": pad(regression.design, cells, BASIS + 1),
            "centre": gaussian.mean,
            "root": gaussian.root,
        }

    def add_to_model(self) -> Any:
        """``positive ~ Binomial(total, odds rate / class_prior)``."""
        from bayescal.inference.whitening import whitened_normal

        data = _add_data(self.inputs(), _SMOOTH_DIMS)
        coef = whitened_normal("coef", data["centre"], data["root"], dims="basis")
        logit = data["offset"] + (data["design"] * coef).sum(axis=-1)
        return _observe(data, logit, coef[-1])

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Those of the average."""
        return self.average.direct_draws(draws, rng)

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the description."""
        return {"curve": np.asarray(self.average.described.log_prior("smooth", draws))}


@dataclass(frozen=True, slots=True, eq=False)
class RoughMember:
    """Inner cells under a smooth curve with a rough part; the last `z` is the class prior's."""

    average: Average
    variables: ClassVar[tuple[str, ...]] = ("z", "roughness")
    # The whitening follows the roughness only about: smaller steps, and longer trajectories.
    target_accept: ClassVar[float] = 0.95
    max_depth: ClassVar[int] = 10

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of cells and of the class prior's coefficient, padded."""
        return ("rough", padded_size(len(self.average.described.inner) + 1, ROUGH_CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, directions, the class prior, and the Gaussian that whitens."""
        from bayescal.inference.descriptions.rough_graph import rough_inputs

        size, rough = self.compile_key[-1], self.average.described.rough
        likely = rough.likely_roughness()
        gaussian = _spread_out(self.average.rough_at(likely).gaussian(), size)
        return {
            **_counts(self.average, size),
            **rough_inputs(rough, likely, gaussian, size),
        }

    def add_to_model(self) -> Any:
        """``positive ~ Binomial(total, odds rate / class_prior)``."""
        import pymc as pm

        from bayescal.inference.descriptions.rough_graph import DIMS, rough_logit

        data = _add_data(self.inputs(), {**_DIMS, **DIMS})
        logit = rough_logit(data)
        return _observe(data, logit, pm.modelcontext(None)["z"][-1])

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Those of the average."""
        return self.average.direct_draws(draws, rng)

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the description."""
        return {"curve": np.asarray(self.average.described.log_prior("rough", draws))}


def _spread_out(gaussian: Gaussian, size: int) -> Gaussian:
    """Put idle coefficients before the last one."""
    place = np.append(np.arange(len(gaussian.mean) - 1), size - 1)
    centre, root = np.zeros(size), np.eye(size)
    centre[place], root[np.ix_(place, place)] = gaussian.mean, gaussian.root
    return Gaussian(centre, root)


def _counts(average: Average, size: int) -> dict[str, NDArray[Any]]:
    inner, problem, prior = average.described.inner, average.problem, average.prior
    total, positive = problem.total[inner], problem.positive[inner]
    return {
        "total": pad(total, size),
        "positive": pad(positive, size),
        "log_coefficient": pad(log_binomial_coefficient(total, positive), size),
        "sizes": np.asarray(average.sizes),
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
        data["sizes"] - pt.softplus(-logit) + pt.softplus(-logit_prior),
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
    "centre": "basis",
    "root": ("basis", "basis_"),
}
