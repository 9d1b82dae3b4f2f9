"""Default prior: the average of components of the curve, with the class prior known or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, logsumexp

from bayescal.core.functionals import log_binomial_coefficient, sigmoid
from bayescal.core.quantity import DirectDraws, Draws, Floats, LabelModel
from bayescal.curves.average import Average, in_chains, log_posterior_weights, that_matter
from bayescal.curves.cells import off_boundary
from bayescal.curves.posterior import CurvePosterior
from bayescal.curves.priors import CALIBRATED, ROUGH, SEGMENTS, SMOOTH, CurveAverage, SmoothCurve
from bayescal.curves.rough import Rough, at_other_spread, between_nodes
from bayescal.curves.smooth import CurveBasis
from bayescal.inference.direct import (
    Gaussian,
    Joined,
    Mapped,
    Weighted,
    places_in_chains,
    softplus,
    until_effective,
    zoomed,
)
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.along_class_prior import (
    CLASS_PRIOR_POWER,
    AlongClassPrior,
    AtRoughness,
    at_roughnesses,
)
from bayescal.quantities.pu_ece.models.case_control import (
    BoundaryFit,
    CaseControlCells,
    SampleSizes,
    choose_rates,
    fit_boundary,
    joint_masses,
    log_density_of_patterns,
    log_sizes_density,
    sizes_by_rates_of,
)
from bayescal.quantities.pu_ece.models.curve_and_class_prior import (
    CurveAndClassPrior,
    Nodes,
    RoughMember,
    SmoothMember,
)
from bayescal.quantities.pu_ece.models.moving_gaussian import MovingGaussian
from bayescal.quantities.pu_ece.models.tilted_segments import SegmentsByClassPrior
from bayescal.quantities.pu_ece.priors import KNOTS, LAST, LOG_ROOT, ClassPrior, PriorMap

_FINE = 201
# Log densities below the largest by this much do not matter.
_NEGLIGIBLE = 30.0
# Where the segments' evidence is looked at, in standard deviations about two centres.
_NODES = np.linspace(-2.5, 2.5, 9)
# The smooth component has longer tails than a Gaussian.
_DEGREES = 5.0
# Rounds of proposals, for each draw kept; label rates near 1 make skewed posteriors.
_ROUNDS = np.array([1, 1, 2, 4, 8, 16, 16])
# Effective draws: for the evidence, for each draw kept, and for each that is of the component.
_LEAST_EFFECTIVE, _SHARE_EFFECTIVE, _EFFECTIVE = 500, 0.5, 3.0
# Gaussians of the rough component are sought at every third node, and blended between them.
_EVERY = 3
# Proposals need fewer knots of the class prior than its evidence.
_FIRST_KNOTS = 5
# Few curves of the prior have a mean label rate near the class prior.
_PRIOR_PROPOSALS = 16
_FEWEST_PRIOR_PROPOSALS = 4000
# Error rates of 0 and 1 that are tried for each draw.
_TRIES = 8
# Parameters of the components, beside the class prior and the scores 0 and 1.
_VARIABLES: dict[str, tuple[str, ...]] = {
    CALIBRATED: (),
    SMOOTH: ("coef",),
    ROUGH: ("z", "roughness"),
    SEGMENTS: ("shift", "shift_log_prior"),
}
# What NUTS draws together with the class prior's normal.
_JOINED = {SMOOTH: "coef", ROUGH: "z"}


class Population(NamedTuple):
    """Draws of the label rates of all cells and of the class prior."""

    rates: Floats  # (..., cell)
    class_prior: Floats  # (...)


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseControlAverage(Average):
    """Positives and unlabelled rows under `CurveAverage`; made by `CaseControlAverage.joined`.

    Draws are those of `Average`, but for the scores 0 and 1, and a standard normal of the class
    prior under each component, ``smooth_normal`` to ``calibrated_normal``. Direct draws take into
    account what the interior cells say of the sample sizes, and what counts of the class prior
    beside them: the log density of it is ``smooth_known`` to ``calibrated_known``. NUTS takes the
    sizes for less certain than they are, unless the class prior is about known.
    """

    problem: PUProblem
    class_prior: PriorMap
    class_prior_power: float = CLASS_PRIOR_POWER
    # Wide class priors leave a peak and a plateau: chains of some must be longer.
    lengths: ClassVar[tuple[int, ...]] = (1, 4, 16)
    # The same problem at a class prior nearby: saves steps to the rough component of a known one.
    near: CaseControlAverage | None = None

    @classmethod
    def joined(
        cls,
        problem: PUProblem,
        prior: CurveAverage | SmoothCurve,
        class_prior: ClassPrior,
        calibrated: float,
        near: CaseControlAverage | None = None,
    ) -> CaseControlAverage:
        """Join a problem and its components; a smooth curve alone is an average over one."""
        if isinstance(prior, SmoothCurve):
            prior = CurveAverage(curve=prior, rough=0, segments=0, linear=0, steep=0)
        found = PriorMap.of(class_prior)
        log_odds = float(problem.log_ratio - np.log(found(np.zeros(1))[0]))
        return cls(
            problem.cells.mean_score,
            problem.total.astype(float),
            CaseControlCells(problem.total, problem.positive, log_odds),
            prior,
            calibrated,
            problem=problem,
            class_prior=found,
            near=near,
        )

    @cached_property
    def basis(self) -> CurveBasis:
        """Basis of the smooth part, that of the problem nearby."""
        return super().basis if self.near is None else self.near.basis

    @cached_property
    def rough(self) -> Rough:
        """The rough component, of the directions of the problem nearby."""
        if self.near is None:
            return super().rough
        return replace(self.near.rough, cells=self.cells.at(self.interior))

    @cached_property
    def _plain_joint(self) -> CurveAndClassPrior:
        """The smooth component of the interior cells, by cells and sizes alone."""
        ratio, sizes = self.problem.log_ratio, self.interior_sizes
        return CurveAndClassPrior(self.smooth.regression, self.class_prior, ratio, sizes)

    @cached_property
    def smooth_joint(self) -> CurveAndClassPrior:
        """The smooth component of the interior cells."""
        return replace(self._plain_joint, beside=self.along.beside[False])

    @cached_property
    def rough_joint(self) -> CurveAndClassPrior:
        """The rough component at each node of the roughness."""
        return self._rough_joint(self._rough_spread)

    def _rough_joint(self, spread: Floats) -> CurveAndClassPrior:
        """The rough component for each row of standard deviations of the directions."""
        design = self.rough.basis.vectors * spread[:, None, :]
        return replace(
            self.smooth_joint, regression=replace(self.smooth_joint.regression, design=design)
        )

    @cached_property
    def smooth_gaussian(self) -> MovingGaussian:
        """Where the smooth component is."""
        return self.smooth_joint.moving_gaussian(first=_FIRST_KNOTS)

    @cached_property
    def rough_nodes(self) -> Floats:
        """Values of the roughness over its posterior."""
        return self.rough.nodes()

    @cached_property
    def rough_gaussians(self) -> list[MovingGaussian]:
        """Where the rough component is at each node; about the class prior as the smooth one."""
        own = between_nodes(self._rough_knots, self._rough_spread, _EVERY)
        return [MovingGaussian(self.smooth_gaussian.quantiles, one) for one in own]

    @cached_property
    def _rough_knots(self) -> Gaussian:
        """Gaussians of the rough component at some nodes, (knot, node, ...).

        Its curve is sought near that of the smooth component, or as far from it as under `near`.
        """
        smooth, spread = self.smooth_gaussian, self._rough_spread[::_EVERY]
        guide = (smooth.gaussians.mean @ self.rough.basis.smooth.T)[..., None, :] / spread
        start = None
        if self.near is not None:
            other, own = self.near.smooth_gaussian, self.class_prior(np.zeros(()))
            knot = np.abs(self.near.class_prior(other.quantiles.normal) - own).argmin()
            ratio = spread / self.near._rough_spread[::_EVERY]
            before = at_other_spread(self.near._rough_knots[knot], ratio)
            guided = other.gaussians.mean[knot] @ self.rough.basis.smooth.T / spread
            start = Gaussian(before.mean + guide[0] - guided, before.root)
        return self._rough_joint(spread).follow(smooth.quantiles.normal, guide, start)

    @property
    def _rough_spread(self) -> Floats:
        """Standard deviations of the directions at each node, (node, cell)."""
        return np.asarray(self.rough.basis.spread(self.rough_nodes))

    @cached_property
    def interior_sizes(self) -> SampleSizes:
        """What the sample sizes say of the interior cells."""
        return self._sizes_of_all.at(self.interior, self.problem.positive)

    @property
    def _sizes_of_all(self) -> SampleSizes:
        total, number = self.problem.total, self.problem.n_positive
        return SampleSizes(total, number, number / total.sum())

    @cached_property
    def along(self) -> AlongClassPrior:
        """What counts of the class prior, as a function of it."""
        joints: dict[str, CurveAndClassPrior] = {}
        guide = np.zeros((0, 0))
        roughnesses: list[AtRoughness] = []
        if len(self.interior):
            joints[SMOOTH] = self._plain_joint
        if ROUGH in self.fitted:
            plain, rough, likely = self._plain_joint, self.rough, float(np.median(self.rough_nodes))
            joints[ROUGH] = replace(plain, regression=rough.at(likely))
            guide = rough.basis.smooth.T / rough.basis.spread(np.asarray(likely))
            roughnesses = at_roughnesses(plain, rough, likely, self.rough_nodes[::_EVERY])
        settings = self.power, self.class_prior_power, self.class_prior.known
        # Rates of 0 and 1 that fit the cells fit the sizes: of these the factor 1 / pi is left.
        alone = -np.log(self.class_prior(KNOTS))
        return AlongClassPrior(
            joints, guide, roughnesses, self._patterns, alone, self.boundary, *settings
        )

    def _patterns(self, normal: Floats) -> Floats:
        """Log evidence of each pattern of errors at 0 and 1 at class priors, (..., pattern)."""
        fits = self._boundary_fits(normal)
        return log_density_of_patterns(self.boundary.patterns, fits, normal.shape)

    def _log_odds(self, normal: Floats) -> Floats:
        """Log odds that a row with the event is one of the positives."""
        return np.asarray(self.problem.log_ratio - np.log(self.class_prior(normal)))

    def _boundary_fits(self, normal: Floats) -> list[BoundaryFit]:
        """The scores 0 and 1 at class priors given by their normals."""
        total, positive = self.problem.total, self.problem.positive
        log_odds = self._log_odds(normal)
        return [
            fit_boundary(score, CaseControlCells(total[place], positive[place], log_odds))
            for place, score in self.boundary_scores.items()
        ]

    @property
    def members(self) -> Mapping[str, LabelModel]:
        """Components that NUTS samples."""
        found: dict[str, LabelModel] = {}
        whitening = self.along.whitening
        if SMOOTH in self.fitted:
            joint = self.along.in_nuts(SMOOTH)
            found[SMOOTH] = SmoothMember(joint, partial(whitening, SMOOTH), self.smooth)
        if ROUGH in self.fitted:
            joint = self.along.in_nuts(ROUGH)
            found[ROUGH] = RoughMember(joint, partial(whitening, ROUGH), self.rough)
        return found

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Interior cells under every component, importance sampling and quadrature; evidence."""
        weighted = self._proposed(draws, rng)
        found: dict[str, Floats] = {}
        if SMOOTH in weighted:
            own = weighted[SMOOTH].resample(draws, rng)
            found |= {"coef": own[:, :-1], "smooth_normal": own[:, -1]}
        if ROUGH in weighted:
            own = weighted[ROUGH].resample(draws, rng)
            found |= {"z": own[:, :-2], "rough_normal": own[:, -2], "roughness": own[:, -1]}
        exact, segments = self._exactly(draws, rng)
        weighted |= segments
        found |= exact
        found |= {f"{name}_known": self._known(name, found) for name in weighted}
        return self._of_states(found, weighted, rng)

    def shortened(self, name: str, draws: Draws, number: int, rng: np.random.Generator) -> Draws:
        """Resample long chains of a member by what they left out."""
        own = self._apart(name, draws)
        known = self._known(name, own)
        places = places_in_chains(known - own[f"{name}_known"], rng, number)
        return {key: values[places] for key, values in (own | {f"{name}_known": known}).items()}

    def _known(self, name: str, draws: Draws) -> Floats:
        """Log density of the sizes, by the interior cells, and of all beside, (...)."""
        beside = self._segments.beside if name == SEGMENTS else self.along.beside[False]
        return self._sizes(name, draws, self.interior_sizes) + beside(draws[f"{name}_normal"])

    def _sizes(self, name: str, draws: Draws, sizes: SampleSizes) -> Floats:
        """Log density of the sizes, by the interior cells, (...)."""
        logit = self.components[name].deviation(draws) + self._offset
        return self._sizes_at(draws[f"{name}_normal"], logit, sizes)

    def _sizes_at(self, normal: Floats, logit: Floats, sizes: SampleSizes) -> Floats:
        """The same at logits of the interior cells, (..., interior)."""
        share = self._interior(normal[..., None]).share(logit)
        return sizes.log_density(share, self.class_prior(normal))

    def completed(self, draws: Draws, rng: np.random.Generator) -> Draws:
        """Take apart what NUTS joined and padded, and add what is drawn exactly."""
        found = dict(draws)
        for name in (SMOOTH, ROUGH):
            if _JOINED[name] in found and f"{name}_known" not in found:
                found |= self._apart(name, draws)
        return found if "calibrated_normal" in found else found | self.beside_nuts(found, rng)

    def _apart(self, name: str, draws: Draws) -> dict[str, Floats]:
        """Parameters of a member as NUTS draws them, without padding; what they know beside."""
        key, cells = _JOINED[name], len(self.interior)
        size = {SMOOTH: self.basis.size, ROUGH: cells}[name] if cells else 0
        own = {other: draws[other] for other in _VARIABLES[name]}
        own |= {key: draws[key][..., :size], f"{name}_normal": draws[f"{name}_normal"][..., 0]}
        joint = self.along.in_nuts(name)
        known = self._sizes(name, own, joint.sizes) + joint.along.at(own[f"{name}_normal"])
        return {**own, f"{name}_known": known}

    def _proposed(self, draws: int, rng: np.random.Generator) -> dict[str, Weighted]:
        """Importance sampling of the components that need it.

        A few proposals give the evidence; more follow where a component fills many of the draws.
        """
        rounds = {
            name: sample(max(draws, 2 * _LEAST_EFFECTIVE), rng)
            for name, sample in ((SMOOTH, self._smooth_rounds), (ROUGH, self._rough_rounds))
            if name in self.fitted
        }
        if not rounds:
            return {}
        least = max(_SHARE_EFFECTIVE * draws, _LEAST_EFFECTIVE)
        first = {name: until_effective(one, least) for name, one in rounds.items()}
        known = {name: (first | self._exact)[name].log_evidence for name in self.fitted}
        before = np.array([self.prior_weights[name] for name in known])
        log_share = log_posterior_weights(before, np.array(list(known.values())), self.power)
        needed = dict(zip(known, _EFFECTIVE * draws * np.exp(log_share), strict=True))
        return {n: until_effective(rounds[n], needed[n], one) for n, one in first.items()}

    def _smooth_rounds(self, draws: int, rng: np.random.Generator) -> Iterator[Weighted]:
        """The smooth component, in rounds of proposals."""
        found: list[Weighted] = []
        for number in draws * _ROUNDS:
            found.append(self.smooth_joint.sample(self.smooth_gaussian, number, rng, _DEGREES))
            weights = np.concatenate([one.log_weights for one in found])
            yield Weighted(Joined([one.draws for one in found]), weights).smoothed()

    def _rough_rounds(self, draws: int, rng: np.random.Generator) -> Iterator[Weighted]:
        """The rough component, the roughness last, in rounds of proposals at its nodes."""

        def sample(places: Sequence[int], number: int) -> Iterator[Weighted]:
            gaussians = [self.rough_gaussians[place] for place in places]
            found = self.rough_joint[places].sample_stack(gaussians, number, rng)
            for value, one in zip(self.rough_nodes[places], found, strict=True):
                beside = partial(np.pad, pad_width=((0, 0), (0, 1)), constant_values=value)
                yield replace(one, draws=Mapped(one.draws, beside))

        return (w for w, _ in self.rough.sample_nodes(self.rough_nodes, sample, draws * _ROUNDS))

    @cached_property
    def _exact(self) -> dict[str, Nodes]:
        """Class prior's normals and their weights under what is not sampled."""
        found = {CALIBRATED: self._calibrated}
        if SEGMENTS in self.fitted:
            found[SEGMENTS] = self._segments.nodes()
        return found

    @cached_property
    def _calibrated(self) -> Nodes:
        """The class prior where the interior cells are calibrated."""
        offset = logit(self.score[self.interior])
        if self.class_prior.known:
            known = self._interior(np.zeros((1, 1))).log_likelihood(offset)
            return Nodes(np.zeros(1), known.sum(axis=-1))

        def log_density(normal: Floats) -> Floats:
            likelihood = self._interior(normal[:, None]).log_likelihood(offset).sum(axis=-1)
            beside = self._calibrated_known(normal)
            return np.asarray(likelihood - normal**2 / 2 - LOG_ROOT + beside)

        grid, density = zoomed(log_density, np.linspace(-LAST, LAST, _FINE), _NEGLIGIBLE)
        return Nodes(grid, density + np.log(grid[1] - grid[0]))

    def _calibrated_known(self, normal: Floats) -> Floats:
        """Log density of the sizes and of all beside where the interior cells are calibrated."""
        beside = self.along.beside[True](normal)
        return self._sizes_at(normal, self._offset, self.interior_sizes) + beside

    @cached_property
    def _segments(self) -> SegmentsByClassPrior:
        """Segments at class priors near that of a smooth curve or of no deviation."""
        normal = np.zeros(1)
        if not self.class_prior.known:
            mean, spread = self._calibrated.moments
            other = self.smooth_gaussian.quantiles(_NODES)[0] if SMOOTH in self.fitted else _NODES
            wide = spread * self.class_prior_power**-0.5
            normal = np.sort(np.concatenate([mean + wide * _NODES, other]))
        return SegmentsByClassPrior(
            self.segments,
            self._interior,
            self.class_prior,
            self.interior_sizes,
            self.along.ends[False],
            self.class_prior_power,
            self._plain_joint.sized,
            normal,
        )

    def exact_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of what is not sampled by NUTS."""
        found, segments = self._exactly(draws, rng)
        return found | {f"{name}_known": self._known(name, found) for name in segments}

    def _exactly(
        self, draws: int, rng: np.random.Generator
    ) -> tuple[dict[str, Floats], dict[str, Weighted]]:
        """Draws of what is not sampled by NUTS, and what those of segments were chosen from."""
        normal = self._calibrated.draw(draws, rng)
        known = 0 * normal if self.class_prior.known else self._calibrated_known(normal)
        found = {"calibrated_normal": normal, "calibrated_known": known}
        if SEGMENTS not in self.fitted:
            return found, {}
        drawn, weighted = self._segments.draw(draws, rng)
        return {**found, **drawn}, {SEGMENTS: weighted}

    def _interior(self, normal: Floats) -> CaseControlCells:
        """Likelihood of the interior cells at class priors given by their normals."""
        positive = self.problem.positive.astype(float)
        return CaseControlCells(self.rows, positive, self._log_odds(normal)).at(self.interior)

    def rates(self, name: str, draws: Draws, errs: NDArray[np.bool_]) -> Floats:
        """Label rates of all cells; each component has error rates of 0 and 1 of its own."""
        own = draws.get(f"{name}_boundary", draws["boundary"])
        return super().rates(name, {**draws, "boundary": own}, errs)

    def weighted(self, name: str, draws: Draws, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw error rates of 0 and 1, (..., boundary), and weigh all but the interior cells.

        The log weight, (..., pattern), is for each pattern of errors at 0 and 1. Rates do not know
        the sample sizes: of several for each draw one is chosen by them.
        """
        normal = draws[f"{name}_normal"]
        fits, sizes, tries = self._boundary_fits(normal), self._sizes_of_patterns(name, draws), []
        density = log_density_of_patterns(self.boundary.patterns, fits, normal.shape)
        tempering = self._segments.tempering if name == SEGMENTS else self.along.tempering
        density += tempering(normal)[..., None]
        if (known := draws.get(f"{name}_known")) is not None:
            density -= known[..., None]
        for _ in range(_TRIES if fits else 1):
            drawn = [one.draw(rng) for one in fits]
            boundary = np.stack(drawn, axis=-1) if fits else np.zeros((*normal.shape, 0))
            tries.append((boundary, density + sizes(boundary)))
        return choose_rates(tries, self.boundary.log_prior(interior_calibrated=False), rng)

    def _sizes_of_patterns(self, name: str, draws: Draws) -> Callable[[Floats], Floats]:
        """Log density of the sizes, (..., pattern), by error rates of 0 and 1, (..., boundary)."""
        class_prior, ends = self.class_prior(draws[f"{name}_normal"]), list(self.boundary_scores)
        none = np.zeros((*class_prior.shape, len(ends)))
        rates = self.rates(name, {**draws, "boundary": none}, none > 0)
        sizes = sizes_by_rates_of(ends, self._sizes_of_all, rates, class_prior)
        score, patterns = self.score[ends], self.boundary.patterns

        def log_density(boundary: Floats) -> Floats:
            rate = sigmoid(boundary * (1 - 2 * score))
            return np.stack([sizes(np.where(one, rate, score)) for one in patterns], axis=-1)

        return log_density

    def log_likelihood_of_states(self, evidence: Mapping[str, Any]) -> Floats:
        """Log evidence of the states, (state,), from that of each component's patterns."""
        return np.concatenate([evidence[name] for name in self.possible])

    def _of_states(
        self, draws: Draws, weighted: Mapping[str, Weighted], rng: np.random.Generator
    ) -> DirectDraws:
        """Evidence by component and pattern: of the interior, of the scores 0 and 1, of sizes."""
        weights = {name: self.weighted(name, draws, rng)[1] for name in self.possible}
        interior: dict[str, Weighted | Nodes] = {**weighted, **self._exact}
        found: dict[str, Any] = {
            name: interior[name].log_evidence + logsumexp(weight, axis=0) - np.log(len(weight))
            for name, weight in weights.items()
        }
        share = self.weights(found)
        # What is drawn is weighed once more: a component is as good as the worse of both.
        pools = {
            name: [Weighted(weight, logsumexp(joint, axis=-1)), *filter(None, [weighted.get(name)])]
            for name, weight, joint in self._joint(weights, found)
            if name in that_matter(share, self.possible)
        }
        ess = np.array([min(one.ess for one in own) for own in pools.values()])
        right = float(np.nan_to_num(self.p_calibrated(found)))
        # Upper ends of intervals rest on the draws given that some score is not calibrated.
        part = np.array([[share[n], share[n] - right * (n == CALIBRATED)] for n in pools])
        missing = (np.square(part / [1, max(1 - right, 1e-9)]) / ess[:, None]).sum(axis=0).max()
        every = [one for own in pools.values() for one in own if np.ptp(one.log_weights) > 0]
        tail = max((one.pareto_k for one in every), default=float("nan"))
        return DirectDraws(draws, 1 / missing, "importance sampling", float("nan"), tail, found)

    def _joint(
        self, weights: Mapping[str, Floats], evidence: Mapping[str, Any]
    ) -> Iterator[tuple[str, Floats, Floats]]:
        """Log posterior weights of draws and patterns of each component, (..., pattern)."""
        log_states = self.log_weights(evidence).reshape(len(self.possible), -1)
        for (name, weight), log_share in zip(weights.items(), log_states, strict=True):
            total = logsumexp(weight, axis=tuple(range(weight.ndim - 1)))
            yield name, weight, log_share + weight - np.where(np.isfinite(total), total, 0)

    def posterior(
        self, draws: Draws, evidence: Mapping[str, Any], rng: np.random.Generator
    ) -> CurvePosterior:
        """Weigh completed draws of all components, and join them by their posterior weights."""
        found, boundary, weights = dict(draws), {}, {}
        for name in self.possible:
            boundary[name], weights[name] = self.weighted(name, draws, rng)
        log_weights = []
        for name, _, joint in self._joint(weights, evidence):
            marginal = logsumexp(joint, axis=-1)
            places = places_in_chains(marginal, rng)
            for key in (*_VARIABLES[name], f"{name}_normal"):
                found[key] = draws[key][places]
            found[f"{name}_boundary"] = boundary[name][places]
            given = joint[places] - np.where(np.isfinite(marginal), marginal, 0)[places][..., None]
            log_weights.append(given + logsumexp(marginal))
        found["boundary"] = found["calibrated_boundary"]
        return CurvePosterior.weighed(self, found, np.concatenate(log_weights, axis=-1), rng)

    def direct_posterior(self, draws: int, rng: np.random.Generator) -> CurvePosterior:
        """Draws of the average by the direct method, (1, draw)."""
        direct = self.direct_draws(draws, rng)
        return self.posterior(in_chains(direct.draws, (1, draws)), direct.evidence, rng)

    def population(self, curve: CurvePosterior) -> Population:
        """Label rates and class prior of each draw."""
        return Population(curve.rate, self.class_prior(self.class_prior_normal(curve)))

    def class_prior_normal(self, curve: CurvePosterior) -> Floats:
        """Standard normal of the class prior of each draw, under its component."""
        found = np.empty(curve.component.shape)
        for number in np.unique(curve.component).tolist():
            own = curve.component == number
            found[own] = curve.draws[f"{self.names[number]}_normal"][own]
        return found

    def log_prior_of(self, curve: CurvePosterior) -> dict[str, Floats]:
        """Log prior density of curve and class prior under the component of each draw."""
        found = {"curve": curve.log_prior()}
        if not self.class_prior.known:
            found["class_prior"] = self.class_prior.log_density(self.class_prior_normal(curve))
        return found

    def prior_population(self, draws: int, rng: np.random.Generator) -> Population:
        """Draws before the data if some score is not calibrated, the sizes known, (1, draw)."""
        number = max(_PRIOR_PROPOSALS * draws, _FEWEST_PRIOR_PROPOSALS)
        rates = self.prior_rates(number, rng)
        class_prior = self.class_prior(rng.standard_normal(number))
        total, positives = self.problem.total, self.problem.n_positive
        weight = log_sizes_density(rates, class_prior, total, positives)
        place = Weighted(rates, weight).resampled_places(draws, rng)
        return Population(rates[None, place], class_prior[None, place])

    def draw_gammas(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """What the masses of any population are made of, (*shape, cell)."""
        return np.asarray(rng.standard_gamma(self.rows, (*shape, len(self.rows))))

    def masses(self, population: Population, gamma: Floats) -> Floats:
        """Shares of the unlabelled population in the cells, (..., cell)."""
        total, positives = self.problem.total, self.problem.n_positive
        return joint_masses(gamma, *population, total, positives)

    def draw_positives(self, population: Population, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw how many rows of each cell are positives, (..., cell)."""
        return rng.binomial(self.problem.total, sigmoid(self._positive_logit(population)))

    def log_likelihood(self, population: Population) -> Floats:
        """Log probability of the positives of each cell, (..., cell)."""
        positive, total = self.problem.positive, self.problem.total
        at = self._positive_logit(population._replace(rates=off_boundary(population.rates)))
        ways = log_binomial_coefficient(total, positive)
        return np.asarray(positive * at - total * softplus(at) + ways)

    def _positive_logit(self, population: Population) -> Floats:
        """Logit of the probability that a row is one of the positives, (..., cell)."""
        odds = self.problem.log_ratio - np.log(population.class_prior)
        return np.asarray(odds[..., None] + np.log(np.maximum(population.rates, 1e-300)))
