"""A curve's coefficients and the class prior together: likelihood, approximate posterior, NUTS."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline
from scipy.linalg import cholesky, solve_triangular
from scipy.special import expit, logsumexp

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.quantity import Draws, Floats
from bayescal.curves.cells import pad, padded_size
from bayescal.curves.priors import ROUGH, SMOOTH
from bayescal.curves.rough import DIMS, VARIABLES, Rough, rough_inputs, rough_logit
from bayescal.curves.smooth import BASIS, Smooth
from bayescal.inference.direct import (
    Gaussian,
    Regression,
    Weighted,
    choose,
    importance_sample,
    softplus,
    variational_gaussian,
)
from bayescal.quantities.pu_ece.models.case_control import CaseControlCells, SampleSizes
from bayescal.quantities.pu_ece.priors import INTERVALS, STEP, PriorMap
from bayescal.quantities.pu_ece.priors import LAST as LAST_NORMAL


class Nodes(NamedTuple):
    """A distribution of the class prior's normal on few points."""

    normal: Floats  # (node,)
    log_weight: Floats  # (node,)

    @property
    def log_evidence(self) -> float:
        """Log of the sum of the weights."""
        return float(logsumexp(self.log_weight))

    @property
    def _share(self) -> Floats:
        return np.exp(self.log_weight - self.log_evidence)

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        mean = self._share @ self.normal
        return float(mean), float(np.sqrt(self._share @ (self.normal - mean) ** 2))

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Draw, as many of each as the weights give."""
        if not np.isfinite(self.log_evidence):
            return np.zeros(draws)
        return np.asarray(self.normal[choose(self._share, draws, rng)])


# How early tails are stretched.
_BEND = 0.5
# Knots of the class prior's normal before they are stretched over its posterior.
LAST = 6
KNOTS = np.linspace(-LAST, LAST, 2 * LAST + 1)


@dataclass(frozen=True, eq=False)
class MovingGaussian:
    """The curve's Gaussian at knots of the class prior's normal, and between them.

    Notes
    -----
    Where the class prior rises, high label rates come near 1: the coefficients' conditional mean
    bends, and their spread changes. Means between knots are cubic. Roots are blended, so that
    their diagonals keep their signs, by shares that are level at the knots.
    """

    middle: float
    spread: float
    gaussians: list[Gaussian]

    @cached_property
    def mean(self) -> CubicHermiteSpline:
        """Mean as a function of the knots' normal."""
        means = np.stack([one.mean for one in self.gaussians])
        return CubicHermiteSpline(KNOTS, means, np.gradient(means, axis=0))

    def placed(self, value: Floats) -> tuple[Floats, Floats]:
        """Coefficients at standard normal values, the normal's last, and the log volume."""
        last = value[:, -1]
        place = np.clip(last, KNOTS[0], KNOTS[-1])
        coef = self.mean(place)
        left = np.minimum((place - KNOTS[0]).astype(int), len(KNOTS) - 2)
        part = place - KNOTS[left]
        share = (part * part * (3 - 2 * part))[:, None]
        log_volume = np.log(self.spread * np.cosh(_BEND * last))
        for knot in np.unique(left).tolist():
            own, low, high = left == knot, self.gaussians[knot].root, self.gaussians[knot + 1].root
            coef[own] += (1 - share[own]) * (value[own, :-1] @ low.T)
            coef[own] += share[own] * (value[own, :-1] @ high.T)
            diagonal = (1 - share[own]) * np.diag(low) + share[own] * np.diag(high)
            log_volume[own] += np.log(np.abs(diagonal)).sum(axis=1)
        return np.column_stack([coef, self.middle + self.spread * stretched(last)]), log_volume


def stretched(value: Floats) -> Floats:
    """Stretch the tails: `value` itself near 0, exponential far out."""
    return np.asarray(np.sinh(_BEND * value) / _BEND)


_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
# Expected information is not the curvature: the last digits come slowly, and are not needed.
_NEWTON_STEPS = 8
_SIZES_STEPS = 3
# Newton's steps of the whitening: to the mode of the class prior's normal, in units of its prior,
# and for the curve at each of them.
_STEPS, _FULL_STEPS, _CLOSE, _LONGEST = 12, 100, 0.05, 1.0
# The class prior has longer tails than a Gaussian, where few positives bound it.
_WIDER = 1.3
# The posterior of the normal is looked for on grids, each about the points of the last one that
# saw some of it, until enough do: sums over points as far apart as its spread are exact.
_POINTS, _ZOOMS, _SEEN, _ENOUGH = 13, 8, 0.02, 4
# How far from the mode the first grid goes, in standard deviations.
_REACH = 12.0
# The normal is no farther out, by its prior, nor where its density is so far below the largest.
_FARTHEST, _NEGLIGIBLE = 5.0, 12.0


@dataclass(frozen=True, slots=True, eq=False)
class CurveAndClassPrior:
    """A regression whose last coefficient, also standard normal, is the class prior's."""

    regression: Regression
    prior: PriorMap
    log_ratio: float
    sizes: SampleSizes

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log-likelihood of cells and sizes, (draw,), at coefficients (draw, basis + 1)."""
        class_prior = self.prior(coef[..., -1])[0]
        cells = self._cells(class_prior[..., None])
        at = cells.positive_logit(self.regression.logit(coef[..., :-1]))
        likelihood = (cells.positive * at - cells.total * softplus(at)).sum(axis=-1)
        return np.asarray(likelihood + self.sizes.log_density(expit(at), class_prior))

    def gaussian(self) -> Gaussian:
        """Find about where the posterior is, the sizes left out: what NUTS whitens by.

        Notes
        -----
        The curve's Gaussian at the mode of the class prior's normal, along which it moves on a
        straight line: the direction, and the normal's variance, are those of the joint expected
        information.
        """
        mean, normal = None, 0.0
        for _ in range(_STEPS):
            cells = self._cells(self.prior(np.asarray([normal]))[0])
            regression = replace(self.regression, cells=cells)
            own = variational_gaussian(regression, _FULL_STEPS, mean)
            mean = own.mean
            slope, precision, path = self._path(regression, own, normal)
            step = float(np.clip(slope / precision, -_LONGEST, _LONGEST))
            if self.prior.known or abs(step) < _CLOSE:
                break
            mean, normal = mean + step * path, normal + step
        size, spread = len(own.mean), _WIDER * precision**-0.5
        root = np.zeros((size + 1, size + 1))
        root[:size, :size], root[:size, -1], root[-1, -1] = own.root, spread * path, spread
        return Gaussian(np.append(own.mean, normal), root)

    def place(self) -> tuple[float, float]:
        """Mean and standard deviation of the class prior's normal, about."""
        if self.prior.known:
            return 0.0, 1.0
        # With very many rows the posterior is a needle, which a grid over the whole prior misses.
        found = self.gaussian()
        centre, reach = float(found.mean[-1]), _REACH * float(found.root[-1, -1])
        grid = np.linspace(max(centre - reach, -_FARTHEST), min(centre + reach, _FARTHEST), _POINTS)
        mean = None
        for _ in range(_ZOOMS):
            density = np.zeros(_POINTS)
            for point, at in enumerate(grid.tolist()):
                own = self._given(at, mean)
                mean, density[point] = own.mean, self._log_density(own, at)
            weight = np.exp(density - density.max())
            kept = np.flatnonzero(weight > _SEEN)
            if len(kept) >= _ENOUGH:
                break
            low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, _POINTS - 1)]
            grid = np.linspace(low, high, _POINTS)
        middle = np.average(grid, weights=weight)
        return float(middle), float(np.sqrt(np.average((grid - middle) ** 2, weights=weight)))

    def moving_gaussian(self, middle: float, spread: float) -> MovingGaussian:
        """Find the curve's Gaussian at knots of the class prior's normal, over its posterior."""
        own = self._given(middle, None)
        if self.prior.known:
            return MovingGaussian(middle, spread, [own] * len(KNOTS))
        normal = np.clip(middle + spread * stretched(KNOTS), -_FARTHEST, _FARTHEST)
        above = self._outwards(own, normal[LAST:])
        below = self._outwards(own, normal[LAST::-1])
        return MovingGaussian(middle, spread, [*below[:0:-1], *above])

    def sample(
        self,
        gaussian: MovingGaussian,
        draws: int,
        rng: np.random.Generator,
        degrees: float = np.inf,
    ) -> Weighted:
        """Weigh draws of an approximate posterior by the posterior; see `importance_sample`."""
        size = len(gaussian.gaussians[0].mean) + 1
        standard = Gaussian(np.zeros(size), np.eye(size))
        found = importance_sample(_Placed(self, gaussian), standard, draws, rng, degrees)
        return Weighted(gaussian.placed(found.draws)[0], found.log_weights)

    def _outwards(self, own: Gaussian, normal: Floats) -> list[Gaussian]:
        """Follow the curve's Gaussian from one normal to the next, as far as the data allow."""
        found, most = list[Gaussian](), -np.inf
        for at in normal.tolist():
            moved = self._given(at, own.mean)
            density = self._log_density(moved, at)
            most = max(most, density)
            if density < most - _NEGLIGIBLE:
                break
            own = moved
            found.append(own)
        return found + [own] * (len(normal) - len(found))

    def _given(self, normal: float, start: Floats | None) -> Gaussian:
        """Find the curve's Gaussian at one class prior.

        Notes
        -----
        That of the cells, then the sizes, whose density is Gaussian where the expected number of
        positives is linear.
        """
        cells = self._cells(self.prior(np.asarray(normal))[0])
        own = variational_gaussian(replace(self.regression, cells=cells), _NEWTON_STEPS, start)
        design = self.regression.design
        across = design @ own.root
        before, mean = np.square(across).sum(axis=1), own.mean
        spread = np.sqrt(before)
        for _ in range(_SIZES_STEPS):
            off, by_logit, variance = self._off(cells, mean, spread)
            reach = across.T @ by_logit
            known = variance + reach @ reach
            missing = off + (own.mean - mean) @ (design.T @ by_logit)
            mean = own.mean - own.root @ reach * (missing / known)
            spread = np.sqrt(np.maximum(before - np.square(across @ reach) / known, 0))
        narrower = cholesky(np.eye(len(mean)) + np.outer(reach, reach) / variance, lower=True)
        return Gaussian(mean, solve_triangular(narrower, own.root.T, lower=True).T)

    def _off(
        self, cells: CaseControlCells, mean: Floats, spread: Floats
    ) -> tuple[float, Floats, float]:
        """Expected positives less those known, their slope by the logits, and the variance."""
        logit = self.regression.logit(mean) + spread * _NODES[:, None]
        share = expit(cells.positive_logit(logit))
        rise = cells.total * (_WEIGHTS @ (share * (1 - share) * expit(-logit)))
        share = _WEIGHTS @ share
        off = float(share @ cells.total - self.sizes.n_positive)
        return off, rise, float(self.sizes.spread(share))

    def _log_density(self, own: Gaussian, normal: float) -> float:
        """Log density of the normal, with the curve integrated out by Laplace's approximation."""
        value = self.log_likelihood(np.append(own.mean, normal)[None])[0]
        volume = np.log(np.abs(np.diag(own.root))).sum()
        return float(value - own.mean @ own.mean / 2 + volume - normal**2 / 2)

    @property
    def cells(self) -> CaseControlCells:
        """Counts of both samples."""
        assert isinstance(self.regression.cells, CaseControlCells)
        return self.regression.cells

    def _cells(self, class_prior: Floats) -> CaseControlCells:
        """Hold the class prior."""
        return replace(self.cells, log_odds=self.log_ratio - np.log(class_prior))

    def _path(
        self, regression: Regression, own: Gaussian, normal: float
    ) -> tuple[float, float, Floats]:
        """Slope and precision of the normal with the curve integrated out, and the curve's path."""
        cells, logit = regression.cells, regression.logit(own.mean)
        assert isinstance(cells, CaseControlCells)
        class_prior, derivative = self.prior(np.asarray(normal))
        rise = float(derivative / class_prior)
        share = expit(cells.positive_logit(logit))
        weight = cells.total * share * (1 - share)
        cross = rise * regression.design.T @ (weight * expit(-logit))
        path = own.root @ (own.root.T @ cross)
        precision = 1 + rise**2 * weight.sum() - cross @ path
        slope = -rise * (cells.positive - cells.total * share).sum() - normal
        # Rounding may take the last digits of a difference of large numbers.
        return float(slope), float(max(precision, 1e-3)), np.asarray(path)


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """Likelihood of values that are standard normal by prior, as about by posterior."""

    target: CurveAndClassPrior
    gaussian: MovingGaussian

    def log_likelihood(self, value: Floats) -> Floats:
        coef, log_volume = self.gaussian.placed(value)
        prior = (np.square(value).sum(axis=1) - np.square(coef).sum(axis=1)) / 2
        return np.asarray(self.target.log_likelihood(coef) + prior + log_volume)


@dataclass(frozen=True, slots=True, eq=False)
class _Member:
    """A component of the interior cells as NUTS samples it; the class prior comes last."""

    joint: CurveAndClassPrior
    # The whitening follows the roughness only about: smaller steps, and longer trajectories.
    target_accept: ClassVar[float] = 0.95
    max_depth: ClassVar[int] = 10
    tune: ClassVar[int] = 300
    # Draws are weighted afterwards, by the sample sizes, and rest on fewer effective ones.
    least_draws: ClassVar[int] = 4000
    name: ClassVar[str]
    # Cells are padded to this, or to its doublings.
    least_cells: ClassVar[int]

    @property
    def size(self) -> int:
        """Number of cells and of the class prior's coefficient, padded."""
        return padded_size(len(self.joint.cells.total) + 1, self.least_cells)

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Component and number of cells, padded."""
        return (self.name, self.size)

    def counts(self) -> dict[str, NDArray[Any]]:
        """Counts of both samples, and the class prior."""
        total, positive = self.joint.cells.total, self.joint.cells.positive
        cells = {
            "total": total,
            "positive": positive,
            "log_coefficient": log_binomial_coefficient(total, positive),
        }
        return {
            **{name: pad(values, self.size) for name, values in cells.items()},
            "sizes": np.asarray(self.joint.log_ratio),
            "prior_logit": self.joint.prior.value,
            "prior_slope": self.joint.prior.slope,
        }

    def direct_draws(self, draws: int, rng: np.random.Generator) -> None:
        """None: the average draws all components at once."""
        return


@dataclass(frozen=True, slots=True, eq=False)
class SmoothMember(_Member):
    """Interior cells under a smooth curve."""

    smooth: Smooth
    name: ClassVar[str] = SMOOTH
    least_cells: ClassVar[int] = 128
    variables: ClassVar[tuple[str, ...]] = ("coef",)

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, offset and design, and the Gaussian that whitens."""
        regression = self.joint.regression
        gaussian = _spread_out(self.joint.gaussian(), BASIS + 1)
        return {
            **self.counts(),
            "offset": pad(regression.offset, self.size),
            "design": pad(regression.design, self.size, BASIS + 1),
            "centre": gaussian.mean,
            "root": gaussian.root,
        }

    def add_to_model(self) -> Any:
        """``positive ~ Binomial(total, odds rate / class_prior)``."""
        from bayescal.inference.graph import whitened_normal

        data = _add_data(self.inputs(), _SMOOTH_DIMS)
        coef = whitened_normal("coef", data["centre"], data["root"], dims="basis")
        logit = data["offset"] + (data["design"] * coef).sum(axis=-1)
        return _observe(data, logit, coef[-1])

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the component."""
        return {"curve": self.smooth.log_prior_excess(draws)}


@dataclass(frozen=True, slots=True, eq=False)
class RoughMember(_Member):
    """Interior cells under a smooth curve with a rough part."""

    rough: Rough
    name: ClassVar[str] = ROUGH
    least_cells: ClassVar[int] = 32
    variables: ClassVar[tuple[str, ...]] = VARIABLES

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, directions, and the Gaussian that whitens."""
        likely = self.rough.likely_roughness()
        joint = replace(self.joint, regression=self.rough.at(likely))
        gaussian = _spread_out(joint.gaussian(), self.size)
        return {**self.counts(), **rough_inputs(self.rough, likely, gaussian, self.size)}

    def add_to_model(self) -> Any:
        """``positive ~ Binomial(total, odds rate / class_prior)``."""
        import pymc as pm

        data = _add_data(self.inputs(), {**_COUNT_DIMS, **DIMS})
        logit = rough_logit(data)
        return _observe(data, logit, pm.modelcontext(None)["z"][-1])

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the component."""
        return {"curve": self.rough.log_prior_excess(draws)}


def _spread_out(gaussian: Gaussian, size: int) -> Gaussian:
    """Put idle coefficients before the last one."""
    place = np.append(np.arange(len(gaussian.mean) - 1), size - 1)
    centre, root = np.zeros(size), np.eye(size)
    centre[place], root[np.ix_(place, place)] = gaussian.mean, gaussian.root
    return Gaussian(centre, root)


def _add_data(inputs: dict[str, NDArray[Any]], dims: dict[str, Any]) -> dict[str, Any]:
    import pymc as pm

    return {name: pm.Data(name, values, dims=dims.get(name)) for name, values in inputs.items()}


def _observe(data: dict[str, Any], logit: Any, normal: Any) -> Any:
    """Add the class prior and the counts to the model in context."""
    import pymc as pm
    import pytensor.tensor as pt

    from bayescal.inference.graph import logit_binomial

    logit_prior = logit_in_graph(normal, data["prior_logit"], data["prior_slope"])
    pm.Deterministic("class_prior", pm.math.sigmoid(logit_prior))
    logit_binomial(
        "events",
        data["total"],
        data["sizes"] - pt.softplus(-logit) + pt.softplus(-logit_prior),
        data["log_coefficient"],
        observed=data["positive"],
        dims="interior",
    )
    return pm.math.sigmoid(logit)


_COUNT_DIMS: dict[str, Any] = {
    "total": "interior",
    "positive": "interior",
    "log_coefficient": "interior",
    "prior_logit": "knot",
    "prior_slope": "knot",
}
_SMOOTH_DIMS: dict[str, Any] = {
    **_COUNT_DIMS,
    "offset": "interior",
    "design": ("interior", "basis"),
    "centre": "basis",
    "root": ("basis", "basis_"),
}


def logit_in_graph(normal: Any, value: Any, slope: Any) -> Any:
    """Compute the logit of the class prior in a PyTensor graph, as `PriorMap` does."""
    import pytensor.tensor as pt

    place = pt.clip((normal + LAST_NORMAL) / STEP, 0, INTERVALS)
    left = pt.clip(pt.floor(place), 0, INTERVALS - 1).astype("int64")
    t = place - left
    low = (1 + 2 * t) * value[left] + t * STEP * slope[left]
    high = (3 - 2 * t) * value[left + 1] - (1 - t) * STEP * slope[left + 1]
    return (1 - t) ** 2 * low + t**2 * high
