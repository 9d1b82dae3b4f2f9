"""A curve's coefficients and the class prior together: likelihood, approximate posterior, NUTS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayescal.core.functionals import log_binomial_coefficient, sigmoid
from bayescal.core.quantity import BaseModel, Draws, Floats
from bayescal.curves.cells import pad, padded_size
from bayescal.curves.priors import ROUGH, SMOOTH
from bayescal.curves.rough import CELLS as ROUGH_CELLS
from bayescal.curves.rough import DIMS, VARIABLES, Rough, rough_inputs, rough_logit
from bayescal.curves.smooth import BASIS, CELLS, Smooth
from bayescal.inference import direct
from bayescal.inference.direct import Gaussian, Mapped, Mirrored, Regression, Weighted
from bayescal.quantities.pu_ece.models.case_control import LOWEST, CaseControlCells, SampleSizes
from bayescal.quantities.pu_ece.models.moving_gaussian import FIRST, NEGLIGIBLE, MovingGaussian
from bayescal.quantities.pu_ece.priors import INTERVALS, KNOTS, Cubic, PriorMap
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
        return np.asarray(self.normal[direct.choose(self._share, draws, rng)])


class Tabulated(NamedTuple):
    """A function of the class prior's normal, linear between the points of a grid."""

    normal: Floats  # (point,)
    value: Floats  # (point,)

    def __call__(self, normal: Floats) -> Floats:
        """Values, (...)."""
        return np.interp(normal, self.normal, self.value)


class WithSizes(NamedTuple):
    """A component at class priors, by cells and sizes."""

    curve: Gaussian
    evidence: Floats  # (knot,), logarithm
    off: Floats  # (knot,): by how much it expects more positives than there are


FLAT = Tabulated(KNOTS, np.zeros(len(KNOTS)))
NOTHING = Cubic(np.zeros(len(KNOTS)), np.zeros(len(KNOTS)))

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
# Expected information is not the curvature: the last digits come slowly, and are not needed.
_NEWTON_STEPS = 8
# From a Gaussian nearby fewer do. Whole steps would go back and forth.
_FEW_STEPS, _SHARE = 3, 0.7
# Where label rates come near 1 three are too few: the evidence would be up to 15 nats too small.
# They end where none moves the curve by more than a tenth of a standard deviation.
_SIZES_STEPS, _CLOSE = 8, 0.1
# Of many cells they leave an error of a quarter of a unit.
_EVIDENCE_DRAWS = 200
# Under an uncertain class prior the sizes leave NUTS a narrow bent ridge. Of so much more variance
# it is wide enough, and most of its draws count by what is left out.
_WIDER_SIZES = 4.0
# By how many standard deviations that the sizes leave to the number of positives a class prior that
# is about known moves it. From three on one fit in ten would have divergences.
_ABOUT_KNOWN = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class CurveAndClassPrior:
    """A regression whose last coefficient, also standard normal, is the class prior's.

    The regression may be a stack, as of one roughness each. `beside` is what else counts of the
    class prior, in logarithms: scores 0 and 1, and its tempering. `along` stands for it in NUTS.
    """

    regression: Regression
    prior: PriorMap
    log_ratio: float
    sizes: SampleSizes
    beside: Tabulated = FLAT
    along: Cubic = NOTHING

    def __getitem__(self, place: int | Sequence[int]) -> CurveAndClassPrior:
        """Take one or some of the stack."""
        design = self.regression.design[place]
        return replace(self, regression=replace(self.regression, design=design))

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log-likelihood of cells, sizes and all beside, (..., draw), at (..., draw, basis + 1)."""
        class_prior = self.prior(coef[..., -1])
        cells = self._cells(class_prior[..., None])
        odds = cells.positive_odds(self.regression.logit(coef[..., :-1]))
        either = 1 + odds
        likelihood = np.log(odds) @ cells.positive - np.log(either) @ cells.total
        likelihood += self.sizes.log_density(odds / either, class_prior)
        return np.asarray(likelihood + self.beside(coef[..., -1]))

    @property
    def sized(self) -> bool:
        """Whether NUTS takes the sizes into account.

        They tie the curve to the class prior. One that is about known leaves a narrower Gaussian,
        an uncertain one a narrow bent ridge, along which transitions diverge.
        """
        class_prior, derivative = self.prior(np.zeros(())), self.prior.derivative(np.zeros(()))
        share = self.cells.positive / self.cells.total
        moved = derivative / class_prior * (self.cells.total * share * (1 - share)).sum()
        return bool(moved < _ABOUT_KNOWN * np.sqrt(self.sizes.spread(share)))

    def wider(self, off: float) -> CurveAndClassPrior:
        """Let the sizes say less than they do, where the posterior is `off` from what they say."""
        return replace(self, sizes=self.sizes.widened(_WIDER_SIZES, off))

    def moving_gaussian(self, negligible: float = NEGLIGIBLE, first: int = FIRST) -> MovingGaussian:
        """Find the curve's Gaussian wherever the class prior's normal may be."""
        start = np.zeros(self.regression.design.shape[-1])
        if self.prior.known:
            return MovingGaussian.known(self.follow(np.zeros(2), np.stack([start, start])))
        return MovingGaussian.sought(self._solved, start, negligible, first)

    def _solved(self, normal: Floats, start: Floats) -> tuple[Floats, ...]:
        own = self._sized(self.by_cells(normal, start), normal)
        return normal, self._log_density(own, normal), own.mean, own.root

    def with_sizes(self, normal: Floats, own: Gaussian) -> WithSizes:
        """Find the same by cells and sizes from those by the cells."""
        cells, sized = self._given_cells(normal), self._sized(own, normal)
        spread = np.linalg.norm(self.regression.design @ sized.root, axis=-1)
        off = self._off(cells, sized.mean, spread)[0]
        return WithSizes(sized, self._evidence(sized, normal), off)

    def _evidence(self, own: Gaussian, normal: Floats) -> Floats:
        """Log evidence at class priors, (knot,), by importance sampling from its Gaussian.

        Many cells of few positives each have a skew posterior: Laplace's approximation misses 20
        units, and not alike along the class prior.
        """
        # The same draws at every class prior, which miss about as much at each.
        half = np.random.default_rng(0).standard_normal((_EVIDENCE_DRAWS // 2, own.mean.shape[-1]))
        value = np.concatenate([half, -half])
        coef = own.mean[:, None, :] + value @ np.swapaxes(own.root, -1, -2)
        last = np.broadcast_to(normal[:, None, None], (*coef.shape[:-1], 1))
        weight = self.log_likelihood(np.concatenate([coef, last], axis=-1))
        weight += (np.vecdot(value, value) - np.vecdot(coef, coef)) / 2
        drawn = [Weighted(*both).smoothed() for both in zip(coef, weight, strict=True)]
        return np.array([one.log_evidence for one in drawn]) + own.log_volume

    def follow(
        self, normal: Floats, guide: Floats, start: Floats | Gaussian | None = None
    ) -> Gaussian:
        """Follow the Gaussians of a stack from knot to knot, (knot, ...), by cells and sizes."""
        at = normal.reshape(-1, *[1] * (guide.ndim - 2))[: 1 if self.prior.known else None]
        own = self._sized(self.follow_by_cells(at, guide, start), at)
        return _stacked([own[0]] * len(normal)) if self.prior.known else own

    def follow_by_cells(
        self, at: Floats, guide: Floats, start: Floats | Gaussian | None = None
    ) -> Gaussian:
        """The same by the cells, with their moments matched, at normals (knot, ...).

        `guide` is near the mean, or moves with it; `start` may be better at a known class prior.
        """
        middle = len(at) // 2
        found = {middle: self.by_cells(at[middle], guide[middle] if start is None else start)}
        for knot in (*range(middle + 1, len(at)), *range(middle - 1, -1, -1)):
            near = knot - 1 if knot > middle else knot + 1
            moved = found[near].mean + guide[knot] - guide[near]
            found[knot] = self.by_cells(at[knot], Gaussian(moved, found[near].root))
        return self.matched(at, _stacked([found[knot] for knot in range(len(at))]))

    def sample(
        self,
        gaussian: MovingGaussian,
        draws: int,
        rng: np.random.Generator,
        degrees: float = np.inf,
    ) -> Weighted:
        """Weigh draws of an approximate posterior by the posterior; see `importance_sample`."""
        if self.prior.known:
            return direct.importance_sample(self, gaussian.still, draws, rng, degrees)
        size = gaussian.gaussians.mean.shape[-1] + 1
        standard = Gaussian(np.zeros(size), np.eye(size))
        found = direct.importance_sample(_Placed(self, gaussian), standard, draws, rng, degrees)
        # The curve takes as much memory again, and few of the proposals are kept.
        half = np.array(np.asarray(found.draws)[: -(-draws // 2)])
        proposals = Mapped(Mirrored(half, draws), lambda value: gaussian.placed(value)[0])
        return Weighted(proposals, found.log_weights)

    def sample_stack(
        self, gaussians: Sequence[MovingGaussian], draws: int, rng: np.random.Generator
    ) -> Iterator[Weighted]:
        """Weigh so many draws of each of the stack."""
        if self.prior.known:
            still = _stacked([one.still for one in gaussians])
            found = direct.importance_sample(self, still, draws, rng)
            yield from map(Weighted, np.asarray(found.draws), found.log_weights)
        else:
            for place, one in enumerate(gaussians):
                yield self[place].sample(one, draws, rng)

    def by_cells(self, normal: Floats, start: Floats | Gaussian) -> Gaussian:
        """Find the curve's Gaussian at class priors given by their normals, (...), by the cells.

        A start is (..., basis), or the Gaussian at class priors nearby.
        """
        regression = replace(self.regression, cells=self._given_cells(normal))
        steps = _FEW_STEPS if isinstance(start, Gaussian) else _NEWTON_STEPS
        return direct.variational_gaussian(regression, steps, start, _SHARE)

    def matched(self, normal: Floats, own: Gaussian) -> Gaussian:
        """Match the moments of the cells, of Gaussians by them at class priors' normals, (...)."""
        return direct.moment_matched(replace(self.regression, cells=self._given_cells(normal)), own)

    def _given_cells(self, normal: Floats) -> CaseControlCells:
        """Hold class priors by their normals, (...)."""
        return self._cells(self.prior(normal)[..., None, None])

    def _sized(self, own: Gaussian, normal: Floats) -> Gaussian:
        """Take what the sample sizes say into the Gaussian by the cells.

        Their density is Gaussian where the expected number of positives is linear.
        """
        cells, design = self._given_cells(normal), self.regression.design
        across = design @ own.root
        before, mean = np.vecdot(across, across), own.mean
        spread, pull = np.sqrt(before), np.zeros_like(mean)
        for _ in range(_SIZES_STEPS):
            off, by_logit, variance = self._off(cells, mean, spread)
            reach = np.vecmat(by_logit, across)
            known = variance + np.vecdot(reach, reach)
            missing = off + np.vecdot(own.mean - mean, np.vecmat(by_logit, design))
            pull, last = reach * (missing / known)[..., None], pull
            mean = own.mean - np.matvec(own.root, pull)
            less = np.square(np.matvec(across, reach)) / known[..., None]
            spread = np.sqrt(np.maximum(before - less, 0))
            if np.linalg.norm(pull - last, axis=-1).max() < _CLOSE:
                break
        return Gaussian(mean, _narrowed(own.root, reach / np.sqrt(variance)[..., None]))

    def _off(
        self, cells: CaseControlCells, mean: Floats, spread: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Expected positives less those known, their slope by the logits, and the variance."""
        logit = self.regression.logit(mean[..., None, :]) + spread[..., None, :] * _NODES[:, None]
        share = cells.share(logit)
        rise = cells.total * (_WEIGHTS @ (share * (1 - share) * sigmoid(-logit)))
        share = _WEIGHTS @ share
        return share @ cells.total - self.sizes.n_positive, rise, self.sizes.spread(share)

    def _log_density(self, own: Gaussian, normal: Floats) -> Floats:
        """Log density of the normal, with the curve integrated out by Laplace's approximation."""
        at = np.concatenate([own.mean, normal[..., None]], axis=-1)[..., None, :]
        value = self.log_likelihood(at)[..., 0]
        prior = np.square(own.mean).sum(axis=-1) + normal**2
        return np.asarray(value - prior / 2 + own.log_volume)

    @property
    def cells(self) -> CaseControlCells:
        """Counts of both samples."""
        assert isinstance(self.regression.cells, CaseControlCells)
        return self.regression.cells

    def _cells(self, class_prior: Floats) -> CaseControlCells:
        """Hold the class prior."""
        return replace(self.cells, log_odds=self.log_ratio - np.log(class_prior))


def _narrowed(root: Floats, known: Floats) -> Floats:
    """Multiply triangular roots by the inverse of the Cholesky factor of ``I + known known'``."""
    square = np.square(known)[..., None, :]
    after = 1 + np.cumsum(square, axis=-1)
    so_far = np.cumsum(root * known[..., None, :], axis=-1)
    found = root * after - so_far * known[..., None, :]
    return np.asarray(found / np.sqrt(after * (after - square)))


def _stacked(gaussians: Sequence[Gaussian]) -> Gaussian:
    return Gaussian(
        np.stack([one.mean for one in gaussians]), np.stack([one.root for one in gaussians])
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """Likelihood of values that are standard normal by prior, as about by posterior."""

    target: CurveAndClassPrior
    gaussian: MovingGaussian

    def log_likelihood(self, value: Floats) -> Floats:
        coef, log_volume = self.gaussian.placed(value)
        prior = (np.vecdot(value, value) - np.vecdot(coef, coef)) / 2
        return np.asarray(self.target.log_likelihood(coef) + prior + log_volume)


@dataclass(frozen=True, slots=True, eq=False)
class _Member(BaseModel):
    """A component of the interior cells and the class prior, as NUTS samples them.

    The average draws all components at once, so that there are no direct draws of one.
    """

    joint: CurveAndClassPrior
    whitening: Callable[[], MovingGaussian]  # only NUTS needs it
    component: Smooth | Rough
    # The whitening follows the roughness only about: smaller steps, and longer trajectories.
    target_accept: ClassVar[float] = 0.95
    name: ClassVar[str]
    # Cells are padded to this, or to its doublings.
    least_cells: ClassVar[int]

    @property
    def size(self) -> int:
        """Number of cells, padded."""
        return padded_size(len(self.joint.cells.total), self.least_cells)

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Component and number of cells, padded."""
        return (self.name, self.size)

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the component."""
        return {"curve": self.component.log_prior_excess(draws)}

    def counts(self) -> dict[str, NDArray[Any]]:
        """Counts of both samples, their sizes, and the class prior."""
        sizes = self.joint.sizes
        total, positive = self.joint.cells.total, self.joint.cells.positive
        cells = {
            "total": total,
            "positive": positive,
            "log_coefficient": log_binomial_coefficient(total, positive),
        }
        return {
            **{name: pad(values, self.size) for name, values in cells.items()},
            "log_ratio": np.asarray(self.joint.log_ratio),
            "n_positive": np.asarray(float(sizes.n_positive)),
            "usual_share": np.asarray(sizes.share),
            "least_variance": np.asarray(sizes.variance),
            "wider": np.asarray(sizes.wider),
            "prior_logit": self.joint.prior.value,
            "prior_slope": self.joint.prior.slope,
            "along": self.joint.along.value,
            "along_slope": self.joint.along.slope,
            "along_ends": np.array([self.joint.along.first, self.joint.along.last]),
        }


@dataclass(frozen=True, slots=True, eq=False)
class SmoothMember(_Member):
    """Interior cells under a smooth curve."""

    name: ClassVar[str] = SMOOTH
    least_cells: ClassVar[int] = CELLS
    variables: ClassVar[tuple[str, ...]] = ("coef", "smooth_normal")

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, offset and design, and the Gaussian that whitens."""
        regression = self.joint.regression
        return {
            **self.counts(),
            "offset": pad(regression.offset, self.size),
            "design": pad(regression.design, self.size, BASIS),
            **self.whitening().inputs(BASIS),
        }

    def add_to_model(self) -> Any:
        """``positive ~ Binomial(total, odds rate / class_prior)``, and the sizes."""
        from bayescal.inference.graph import add_data, blended_normal, product

        data = add_data(self.inputs(), _SMOOTH_DIMS)
        normal, centre, roots = _add_class_prior("smooth_normal", data)
        coef = blended_normal("coef", centre, roots, "basis")
        logit = data["offset"] + product(data["design"], coef)
        return _observe(data, logit, normal)


@dataclass(frozen=True, slots=True, eq=False)
class RoughMember(_Member):
    """Interior cells under a smooth curve with a rough part."""

    component: Rough
    name: ClassVar[str] = ROUGH
    least_cells: ClassVar[int] = ROUGH_CELLS
    variables: ClassVar[tuple[str, ...]] = (*VARIABLES, "rough_normal")

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, directions, and the Gaussian that whitens."""
        likely, whitening = self.component.likely_roughness(), self.whitening()
        rough = rough_inputs(self.component, likely, whitening.middle, self.size)
        # There is one for each knot.
        del rough["root"]
        return {**self.counts(), **rough, **whitening.inputs(self.size)}

    def add_to_model(self) -> Any:
        """``positive ~ Binomial(total, odds rate / class_prior)``, and the sizes."""
        from bayescal.inference.graph import add_data, blended_normal

        data = add_data(self.inputs(), {**DIMS, **_dims("interior")})
        normal, centre, roots = _add_class_prior("rough_normal", data)
        logit = rough_logit({**data, "centre": centre, "root": roots}, blended_normal)
        return _observe(data, logit, normal)


def _add_class_prior(name: str, data: dict[str, Any]) -> tuple[Any, Any, tuple[Any, Any, Any]]:
    """Add the class prior's normal; return it, and centre and roots of the curve's whitening."""
    from bayescal.inference.graph import Knots, stretched_normal

    known = (data[key] for key in ("standard", "knots", "rise", "intervals"))
    normal = stretched_normal(name, *known)[0]
    left, part = Knots(data["knots"], data["intervals"]).place(normal)
    width = data["knots"][left + 1] - data["knots"][left]
    centre = _cubic(part, left, data["centre"], width * data["centre_slope"])
    share = part * part * (3 - 2 * part)
    return normal, centre, (data["roots"][left], data["roots"][left + 1], share)


def _observe(data: dict[str, Any], logit: Any, normal: Any) -> Any:
    """Add class prior and counts to the model in context, and what counts beside them.

    Density, sizes and slopes share one exponential and two logarithms a cell of the odds.
    """
    import pymc as pm
    import pytensor.tensor as pt

    logit_prior = cubic_in_graph(normal, data["prior_logit"], data["prior_slope"])
    ends = data["along_ends"]
    along = cubic_in_graph(normal, data["along"], data["along_slope"], ends[0], ends[1])
    pm.Deterministic("class_prior", pm.math.sigmoid(logit_prior))
    log_prior, total = -pt.softplus(-logit_prior), data["total"]
    odds = pt.exp(data["log_ratio"] - log_prior) * pt.sigmoid(pt.maximum(logit, LOWEST))
    share = odds / (1 + odds)
    off = (total * share).sum() - data["n_positive"]
    spread = data["least_variance"] + (total * (share - data["usual_share"]) ** 2).sum()
    variance = data["wider"] * spread
    sizes = -(off**2) / (2 * variance) - pt.log(variance) / 2 - log_prior
    pm.CustomDist(
        "events",
        total,
        odds,
        data["log_coefficient"],
        # A potential would make PyMC warn of draws before the data.
        (sizes + along) / total.shape[0],
        logp=_log_density,
        random=_draw_counts,
        observed=data["positive"],
        dims="interior",
        dtype=total.dtype,
    )
    return pm.math.sigmoid(logit)


def _log_density(value: Any, count: Any, odds: Any, log_coefficient: Any, beside: Any) -> Any:
    import pytensor.tensor as pt

    return log_coefficient + value * pt.log(odds) - count * pt.log1p(odds) + beside


def _draw_counts(count: Any, odds: Any, *_: Any, rng: np.random.Generator, size: Any) -> Any:
    return rng.binomial(count, odds / (1 + odds), size=size)


def _dims(coefficients: str) -> dict[str, Any]:
    return {
        **dict.fromkeys(("total", "positive", "log_coefficient"), "interior"),
        **dict.fromkeys(("prior_logit", "prior_slope", "along", "along_slope"), "knot"),
        **dict.fromkeys(("standard", "knots", "rise"), "place"),
        **dict.fromkeys(("centre", "centre_slope"), ("place", coefficients)),
        "roots": ("place", coefficients, f"{coefficients}_"),
        "along_ends": "end",
    }


_SMOOTH_DIMS: dict[str, Any] = {
    **_dims("basis"),
    "offset": "interior",
    "design": ("interior", "basis"),
}


def cubic_in_graph(
    normal: Any, value: Any, slope: Any, first: Any = -LAST_NORMAL, last: Any = LAST_NORMAL
) -> Any:
    """Compute a `Cubic` in a PyTensor graph."""
    import pytensor.tensor as pt

    step = (last - first) / INTERVALS
    place = pt.clip((normal - first) / step, 0, INTERVALS)
    left = pt.clip(pt.floor(place), 0, INTERVALS - 1).astype("int64")
    return _cubic(place - left, left, value, step * slope)


def _cubic(part: Any, left: Any, value: Any, slope: Any) -> Any:
    """Between two knots, at a share of the way; slopes are by that share."""
    low = (1 + 2 * part) * value[left] + part * slope[left]
    high = (3 - 2 * part) * value[left + 1] - (1 - part) * slope[left + 1]
    return (1 - part) ** 2 * low + part**2 * high
