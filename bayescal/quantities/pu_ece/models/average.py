"""Default prior: the average of components of the curve, with the class prior known or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.quantity import DirectDraws, Draws, Floats, LabelModel
from bayescal.curves.average import Average
from bayescal.curves.cells import pad, padded_size
from bayescal.curves.posterior import CurvePosterior
from bayescal.curves.priors import CALIBRATED, ROUGH, SEGMENTS, SMOOTH, CurveAverage, SmoothCurve
from bayescal.curves.rough import DIMS, VARIABLES, RoughPosterior, rough_inputs, rough_logit
from bayescal.curves.segments import Segments
from bayescal.curves.smooth import BASIS
from bayescal.inference.direct import Gaussian, Weighted, softplus
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.case_control import (
    CaseControlCells,
    SampleSizes,
    draw_boundary,
    draw_joint_masses,
    log_sizes_density,
)
from bayescal.quantities.pu_ece.models.curve_and_class_prior import (
    CurveAndClassPrior,
    MovingGaussian,
    Nodes,
)
from bayescal.quantities.pu_ece.priors import LAST, ClassPrior, PriorMap, logit_in_graph

BOUNDARY_MEAN, BOUNDARY_SPREAD = -4.0, 2.5
"""Logit of the error rate of a score of exactly 0 or 1: wider than with labels, which say more."""
_LOG_ROOT = np.log(2 * np.pi) / 2
_FINE = 201
_ZOOMS = 4
# Log densities below the largest by this much do not matter.
_NEGLIGIBLE = 30.0
# Where the segments' evidence is looked at, in standard deviations about two centres.
_NODES = np.linspace(-2.5, 2.5, 9)
_MATTERS = 0.01
# For each draw kept; label rates near 1 make skewed posteriors.
_PROPOSALS = 6
# The smooth component has longer tails than a Gaussian.
_DEGREES = 5.0
# Rounds of proposals where the weights are uneven, until one draw in so many counts.
_ROUNDS, _LEAST_EFFICIENT = 6, 2
# Few curves of the prior have a mean label rate near the class prior.
_PRIOR_PROPOSALS = 16
_FEWEST_PRIOR_PROPOSALS = 4000


class Population(NamedTuple):
    """Draws of the label rates of all cells and of the class prior."""

    rates: Floats  # (..., cell)
    class_prior: Floats  # (...)

    def taken(self, places: Any) -> Population:
        """Some of the draws, by their index."""
        return Population(self.rates[places], self.class_prior[places])


class ComponentDraws(NamedTuple):
    """Draws under one component, weighted by what its own sampling did not know."""

    population: Population
    wrong: NDArray[np.bool_]  # (..., boundary): which of the scores 0 and 1 are not calibrated
    log_weight: Floats  # (...)
    draws: Draws

    def taken(self, places: Any) -> ComponentDraws:
        """Some of the draws, by their index."""
        return ComponentDraws(
            self.population.taken(places),
            self.wrong[places],
            self.log_weight[places],
            {name: values[places] for name, values in self.draws.items()},
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseControlAverage(Average):
    """Positives and unlabelled rows under `CurveAverage`; made by `CaseControlAverage.joined`.

    Draws are those of `Average`, but for the scores 0 and 1, and a standard normal of the class
    prior under each component, ``smooth_normal`` to ``calibrated_normal``. Importance sampling
    takes into account what the interior cells say of the sample sizes, as ``smooth_sized`` and
    ``rough_sized`` show. NUTS leaves it to the draws' weights: the density of the sizes is narrow
    and bent, and its transitions would diverge.
    """

    problem: PUProblem
    class_prior: PriorMap

    @classmethod
    def joined(
        cls,
        problem: PUProblem,
        prior: CurveAverage | SmoothCurve,
        class_prior: ClassPrior,
        calibrated: float,
    ) -> CaseControlAverage:
        """Join a problem and its components; a smooth curve alone is an average over one."""
        if isinstance(prior, SmoothCurve):
            prior = CurveAverage(curve=prior, rough=0, segments=0)
        found = PriorMap.of(class_prior)
        log_odds = float(problem.log_ratio - np.log(found(np.zeros(1))[0][0]))
        return cls(
            problem.cells.mean_score,
            problem.total.astype(float),
            CaseControlCells(problem.total, problem.positive, log_odds),
            prior,
            calibrated,
            BOUNDARY_MEAN,
            BOUNDARY_SPREAD,
            problem=problem,
            class_prior=found,
        )

    @cached_property
    def smooth_joint(self) -> CurveAndClassPrior:
        """The smooth component of the interior cells."""
        return CurveAndClassPrior(
            self.smooth.regression, self.class_prior, self.problem.log_ratio, self.interior_sizes
        )

    def rough_joint(self, roughness: float) -> CurveAndClassPrior:
        """The rough component at one roughness."""
        return replace(self.smooth_joint, regression=self.rough.at(roughness))

    @cached_property
    def smooth_gaussian(self) -> MovingGaussian:
        """Where the smooth component is."""
        return self.smooth_joint.moving_gaussian(*self.smooth_joint.place())

    @cached_property
    def rough_nodes(self) -> Floats:
        """Values of the roughness over its posterior."""
        return self.rough.nodes()

    @cached_property
    def rough_gaussians(self) -> list[MovingGaussian]:
        """Where the rough component is at each node; about the class prior as the smooth one."""
        smooth = self.smooth_gaussian
        return [
            self.rough_joint(node).moving_gaussian(smooth.middle, smooth.spread)
            for node in self.rough_nodes
        ]

    @cached_property
    def interior_sizes(self) -> SampleSizes:
        """What the sample sizes say of the interior cells."""
        total, number = self.problem.total, self.problem.n_positive
        known = SampleSizes(total, number, number / total.sum())
        return known.at(self.interior, self.problem.positive)

    @property
    def members(self) -> Mapping[str, LabelModel]:
        """Components that NUTS samples."""
        known: dict[str, LabelModel] = {SMOOTH: SmoothMember(self), ROUGH: RoughMember(self)}
        return {name: known[name] for name in self.fitted if name in known}

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Interior cells under every component: importance sampling, and quadrature."""
        found: dict[str, Floats] = {}
        weighted: dict[str, Weighted] = {}
        if SMOOTH in self.fitted:
            smooth = _until_effective(
                lambda: self.smooth_joint.sample(
                    self.smooth_gaussian, _PROPOSALS * draws, rng, _DEGREES
                ),
                draws,
            )
            drawn = smooth.resample(draws, rng)
            found |= {"coef": drawn[:, :-1], "smooth_normal": drawn[:, -1]}
            found["smooth_sized"] = np.ones(draws)
            weighted[SMOOTH] = smooth
        if ROUGH in self.fitted:
            rough, roughness = self._rough_posterior(_PROPOSALS * draws, rng)
            place = rough.resampled_places(draws, rng)
            drawn = rough.draws[place]
            found |= {"z": drawn[:, :-1], "rough_normal": drawn[:, -1]}
            found |= {"roughness": roughness[place], "rough_sized": np.ones(draws)}
            weighted[ROUGH] = rough
        evidence = {name: one.log_evidence for name, one in (weighted | self._exact).items()}
        total = logsumexp(list(evidence.values()))
        matter = [n for n in weighted if np.exp(evidence[n] - total) > _MATTERS]
        return DirectDraws(
            {**found, **self.exact_draws(draws, rng)},
            min((weighted[name].ess for name in matter), default=float(draws)),
            "importance sampling",
            float("nan"),
            max((weighted[name].pareto_k for name in matter), default=float("nan")),
            evidence,
        )

    def completed(self, draws: Draws, rng: np.random.Generator) -> Draws:
        """Take apart what NUTS joined and padded, and add what is drawn exactly."""
        found = dict(draws)
        sizes = {"coef": self.basis.size if self.fitted else 0, "z": len(self.interior)}
        for name, key in ((SMOOTH, "coef"), (ROUGH, "z")):
            if key in found and f"{name}_normal" not in found:
                found[f"{name}_normal"] = found[key][..., -1]
                found[key] = found[key][..., : sizes[key]]
        if all(f"{name}_normal" in found for name in self._exact):
            return found
        shape = next(iter(found.values())).shape[:2]
        exact = self.exact_draws(shape[0] * shape[1], rng)
        return found | {
            name: values.reshape(*shape, *values.shape[1:]) for name, values in exact.items()
        }

    def _rough_posterior(self, draws: int, rng: np.random.Generator) -> RoughPosterior:
        """Importance sampling at nodes of the roughness."""
        nodes, gaussians = self.rough_nodes, self.rough_gaussians
        targets = [self.rough_joint(node) for node in nodes]

        def sample(place: int, number: int) -> Weighted:
            return targets[place].sample(gaussians[place], number, rng)

        return self.rough.sample_nodes(nodes, sample, draws)

    @cached_property
    def _exact(self) -> dict[str, Nodes]:
        """Class prior's normals and their weights under what is not sampled."""
        found = {}
        if self.calibrated or not self.fitted:
            found[CALIBRATED] = self._calibrated()
        if SEGMENTS in self.fitted:
            found[SEGMENTS] = self._segments()
        return found

    def _calibrated(self) -> Nodes:
        """The class prior where the interior cells are calibrated."""
        offset = logit(self.score[self.interior])
        if self.class_prior.known:
            known = self._interior(np.zeros((1, 1))).log_likelihood(offset)
            return Nodes(np.zeros(1), known.sum(axis=-1))
        grid = np.linspace(-LAST, LAST, _FINE)
        for zoom in range(_ZOOMS):
            likelihood = self._interior(grid[:, None]).log_likelihood(offset).sum(axis=-1)
            density = likelihood - grid**2 / 2 - _LOG_ROOT
            kept = np.flatnonzero(density > density.max() - _NEGLIGIBLE)
            low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, _FINE - 1)]
            if zoom < _ZOOMS - 1:
                grid = np.linspace(low, high, _FINE)
        return Nodes(grid, density + np.log(grid[1] - grid[0]))

    def _segments(self) -> Nodes:
        """The class prior under segments: near that of a smooth curve or of no deviation."""
        if self.class_prior.known:
            return Nodes(np.zeros(1), np.array([self.segments.log_evidence]))
        centres = [self._calibrated().moments, (0.0, 1.0)]
        if SMOOTH in self.fitted:
            centres[1] = (self.smooth_gaussian.middle, self.smooth_gaussian.spread)
        normal = np.sort(np.concatenate([mean + spread * _NODES for mean, spread in centres]))
        evidence = np.array([self._segments_at(at).log_evidence for at in normal.tolist()])
        width = np.gradient(normal)
        return Nodes(normal, evidence - normal**2 / 2 - _LOG_ROOT + np.log(width))

    def _segments_at(self, normal: float) -> Segments:
        """Segments at one class prior."""
        if normal not in self._segments_by_normal:
            found = replace(self.segments, cells=self._interior(np.asarray(normal)))
            self._segments_by_normal[normal] = found
        return self._segments_by_normal[normal]

    @cached_property
    def _segments_by_normal(self) -> dict[float, Segments]:
        """Those already worked out: evidence and draws share a table."""
        return {}

    def exact_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of what is not sampled by NUTS."""
        found: dict[str, Floats] = {}
        if CALIBRATED in self._exact:
            found["calibrated_normal"] = self._exact[CALIBRATED].draw(draws, rng)
        if SEGMENTS in self._exact:
            nodes = self._exact[SEGMENTS]
            normal = np.sort(nodes.draw(draws, rng))
            shift, prior = np.zeros((draws, len(self.interior))), np.zeros(draws)
            for at in np.unique(normal) if np.isfinite(nodes.log_evidence) else ():
                rows = normal == at
                drawn = self._segments_at(float(at)).draws(int(rows.sum()), rng)
                shift[rows], prior[rows] = drawn.shift, drawn.log_prior
            order = rng.permutation(draws)
            found |= {"segments_normal": normal[order], "shift": shift[order]}
            found["shift_log_prior"] = prior[order]
        return found

    def _interior(self, normal: Floats) -> CaseControlCells:
        """Likelihood of the interior cells at class priors given by their normals."""
        log_odds = self.problem.log_ratio - np.log(self.class_prior(normal)[0])
        return CaseControlCells(self.problem.total, self.problem.positive, log_odds).at(
            self.interior
        )

    def weighted(self, name: str, draws: Draws, rng: np.random.Generator) -> ComponentDraws:
        """Add the scores of exactly 0 and 1 to draws of the interior cells, and weigh both."""
        normal = draws[f"{name}_normal"]
        class_prior = self.class_prior(normal)[0]
        log_odds = self.problem.log_ratio - np.log(class_prior)
        total, positive = self.problem.total, self.problem.positive
        seen = [
            draw_boundary(score, CaseControlCells(total[place], positive[place], log_odds), rng)
            for place, score in self.boundary_scores.items()
        ]
        right = _stacked([one.log_right for one in seen], normal)
        wrong = _stacked([one.log_wrong for one in seen], normal)
        places = _stacked([one.place for one in seen], normal)
        joint = self.boundary.log_joint(name == CALIBRATED, right, wrong)
        weight, errors = logsumexp(joint, axis=-1), self.boundary.draw(joint, rng)
        rates = self.rates(name, {**draws, "boundary": places}, errors)
        sizes = log_sizes_density(rates, class_prior, total, self.problem.n_positive)
        if f"{name}_sized" in draws:
            # These draws know what the interior cells say of the sizes.
            interior = np.log(rates[..., self.interior].clip(1e-300))
            share = expit(log_odds[..., None] + interior)
            sizes = sizes - self.interior_sizes.log_density(share, class_prior)
        return ComponentDraws(Population(rates, class_prior), errors, weight + sizes, draws)

    def weighted_draws(
        self, draws: Draws, evidence: Mapping[str, float], rng: np.random.Generator
    ) -> dict[str, ComponentDraws]:
        """Those that are possible, with their draws."""
        return {
            name: self.weighted(name, draws, rng)
            for name in self.before
            if np.isfinite(evidence[name])
        }

    @property
    def before(self) -> dict[str, float]:
        """Probabilities of the components before the data."""
        inside = self.boundary.interior_calibrated
        if not self.fitted:
            return {CALIBRATED: 1.0}
        given = {name: (1 - inside) * weight for name, weight in self.prior.weights.items()}
        return {CALIBRATED: inside, **given} if inside else given

    def averaged_population(self, draws: int, rng: np.random.Generator) -> Population:
        """Draws of the average by the direct method, (draw, ...)."""
        direct = self.direct_draws(draws, rng)
        found = self.weighted_draws(direct.draws, direct.evidence, rng)
        logs = [
            one.log_weight + np.log(self.before[name]) + direct.evidence[name]
            for name, one in found.items()
        ]
        rates = np.concatenate([one.population.rates for one in found.values()])
        class_prior = np.concatenate([one.population.class_prior for one in found.values()])
        place = Weighted(rates, np.concatenate(logs)).resampled_places(draws, rng)
        return Population(rates, class_prior).taken(place)

    def prior_population(self, draws: int, rng: np.random.Generator) -> Population:
        """Draws before the data given that some score is not calibrated, the sizes known."""
        number = max(_PRIOR_PROPOSALS * draws, _FEWEST_PRIOR_PROPOSALS)
        rates = CurvePosterior.prior(self, number, rng).miscalibrated.rate[0]
        class_prior = self.class_prior(rng.standard_normal(number))[0]
        total, positives = self.problem.total, self.problem.n_positive
        weight = log_sizes_density(rates, class_prior, total, positives)
        place = Weighted(rates, weight).resampled_places(draws, rng)
        return Population(rates, class_prior).taken(place)

    def masses(self, population: Population, rng: np.random.Generator) -> Floats:
        """Shares of the unlabelled population in the cells."""
        return draw_joint_masses(*population, self.problem.total, self.problem.n_positive, rng)

    def draw_positives(self, population: Population, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw how many rows of each cell are positives, (..., cell)."""
        share = expit(self._positive_logit(population))
        return np.asarray(rng.binomial(self.problem.total, share))

    def log_likelihood(self, population: Population) -> Floats:
        """Log probability of the positives of each cell, (..., cell)."""
        positive, total = self.problem.positive, self.problem.total
        at = self._positive_logit(population)
        ways = log_binomial_coefficient(total, positive)
        return np.asarray(positive * at - total * softplus(at) + ways)

    def _positive_logit(self, population: Population) -> Floats:
        """Logit of the probability that a row is one of the positives, (..., cell)."""
        odds = self.problem.log_ratio - np.log(population.class_prior)
        return np.asarray(odds[..., None] + np.log(np.maximum(population.rates, 1e-300)))


def _until_effective(sample: Callable[[], Weighted], draws: int) -> Weighted:
    """Sample in rounds until enough draws are effective, or the rounds are over."""
    found = sample()
    for _ in range(_ROUNDS - 1):
        if found.smoothed().ess >= draws / _LEAST_EFFICIENT:
            break
        more = sample()
        found = Weighted(
            np.concatenate([found.draws, more.draws]),
            np.concatenate([found.log_weights, more.log_weights]),
        )
    return found.smoothed()


def _stacked(values: list[Floats], like: Floats) -> Floats:
    """One column for each of the scores 0 and 1, (..., boundary)."""
    return np.stack(values, axis=-1) if values else np.zeros((*like.shape, 0))


@dataclass(frozen=True, slots=True, eq=False)
class _Member:
    """A component of the interior cells as NUTS samples it; the class prior comes last."""

    average: CaseControlAverage
    # The whitening follows the roughness only about: smaller steps, and longer trajectories.
    target_accept: ClassVar[float] = 0.95
    max_depth: ClassVar[int] = 10
    name: ClassVar[str]
    # Cells are padded to this, or to its doublings.
    least_cells: ClassVar[int]

    @property
    def size(self) -> int:
        """Number of cells and of the class prior's coefficient, padded."""
        return padded_size(len(self.average.interior) + 1, self.least_cells)

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Component and number of cells, padded."""
        return (self.name, self.size)

    def counts(self) -> dict[str, NDArray[Any]]:
        """Counts of both samples, and the class prior."""
        average, problem = self.average, self.average.problem
        total, positive = problem.total[average.interior], problem.positive[average.interior]
        cells = {
            "total": total,
            "positive": positive,
            "log_coefficient": log_binomial_coefficient(total, positive),
        }
        return {
            **{name: pad(values, self.size) for name, values in cells.items()},
            "sizes": np.asarray(problem.log_ratio),
            "prior_logit": average.class_prior.value,
            "prior_slope": average.class_prior.slope,
        }

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Those of the average."""
        return self.average.direct_draws(draws, rng)

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the component."""
        return {"curve": np.asarray(self.average.component_log_prior(self.name, draws))}


class SmoothMember(_Member):
    """Interior cells under a smooth curve."""

    __slots__ = ()
    name = SMOOTH
    least_cells = 128
    variables: ClassVar[tuple[str, ...]] = ("coef",)

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, offset and design, and the Gaussian that whitens."""
        regression = self.average.smooth.regression
        gaussian = _spread_out(self.average.smooth_joint.gaussian(), BASIS + 1)
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


class RoughMember(_Member):
    """Interior cells under a smooth curve with a rough part."""

    __slots__ = ()
    name = ROUGH
    least_cells = 32
    variables: ClassVar[tuple[str, ...]] = VARIABLES

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, directions, and the Gaussian that whitens."""
        rough = self.average.rough
        likely = rough.likely_roughness()
        gaussian = _spread_out(self.average.rough_joint(likely).gaussian(), self.size)
        return {**self.counts(), **rough_inputs(rough, likely, gaussian, self.size)}

    def add_to_model(self) -> Any:
        """``positive ~ Binomial(total, odds rate / class_prior)``."""
        import pymc as pm

        data = _add_data(self.inputs(), {**_COUNT_DIMS, **DIMS})
        logit = rough_logit(data)
        return _observe(data, logit, pm.modelcontext(None)["z"][-1])


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
