"""Default prior: an average over descriptions of the curve, the class prior known or not."""

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
from bayescal.curves.average import Average as CurveComponents
from bayescal.curves.cells import pad, padded_size
from bayescal.curves.priors import CALIBRATED, ROUGH, SEGMENTS, SMOOTH, CurveAverage, SmoothCurve
from bayescal.curves.rough import RoughPosterior
from bayescal.curves.segments import Segments
from bayescal.curves.smooth import BASIS
from bayescal.inference.direct import Gaussian, Weighted
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.case_control import (
    CaseControlCells,
    SampleSizes,
    draw_end,
    draw_joint_masses,
    log_sizes_density,
)
from bayescal.quantities.pu_ece.models.curve_and_class_prior import Along, CurveAndClassPrior, Nodes
from bayescal.quantities.pu_ece.priors import LAST, ClassPrior, PriorMap, logit_in_graph

CELLS = 128
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
# The smooth description has longer tails than a Gaussian.
_DEGREES = 5.0
# Rounds of proposals where the weights are uneven, until one draw in so many counts.
_ROUNDS, _LEAST_EFFICIENT = 6, 2
# Few curves of the prior have a mean label rate near the class prior.
_PRIOR_PROPOSALS = 16
_FEWEST_PRIOR_PROPOSALS = 4000


class Joint(NamedTuple):
    """Draws of all cells' label rates under one description, weighted by what else is known."""

    rates: Floats  # (..., cell)
    class_prior: Floats  # (...)
    error: NDArray[np.bool_]  # (..., end)
    log_weight: Floats  # (...)

    def taken(self, places: Any) -> Joint:
        """Some of the draws, by their index."""
        return Joint(
            self.rates[places],
            self.class_prior[places],
            self.error[places],
            self.log_weight[places],
        )


@dataclass(frozen=True, eq=False)
class Average:
    """A problem under `CurveAverage`; made by `Average.of`.

    Draws are those of `CurveComponents`, and a standard normal of the class prior under each
    description, ``smooth_normal`` to ``calibrated_normal``. Importance sampling takes into account
    what the interior cells say of the sample sizes: ``smooth_sized`` and ``rough_sized`` say so.
    NUTS leaves it to the draws' weights: the density of the sizes is narrow and bent, and its
    transitions would diverge.
    """

    problem: PUProblem
    described: CurveComponents
    prior: PriorMap
    variables: ClassVar[tuple[str, ...]] = ("description",)
    target_accept: ClassVar[float] = 0.95
    max_depth: ClassVar[int] = 10

    @classmethod
    def of(
        cls,
        problem: PUProblem,
        prior: CurveAverage | SmoothCurve,
        class_prior: ClassPrior,
        calibrated: float,
    ) -> Average:
        """Join a problem and its descriptions; a smooth curve alone is an average over one."""
        if isinstance(prior, SmoothCurve):
            prior = CurveAverage(curve=prior, rough=0, segments=0)
        found = PriorMap.of(class_prior)
        median = found(np.zeros(1))[0]
        sizes = np.log(problem.n_positive / problem.n_unlabeled)
        cells = CaseControlCells(problem.total, problem.positive, float(sizes - np.log(median[0])))
        rows = problem.total.astype(float)
        described = CurveComponents(
            problem.cells.mean_score, rows, cells, prior, calibrated, BOUNDARY_MEAN, BOUNDARY_SPREAD
        )
        return cls(problem, described, found)

    @property
    def sizes(self) -> float:
        """Log of positives over unlabelled rows."""
        return float(np.log(self.problem.n_positive / self.problem.n_unlabeled))

    @cached_property
    def smooth(self) -> CurveAndClassPrior:
        """The smooth description of the interior cells."""
        return CurveAndClassPrior(
            self.described.regression, self.prior, self.sizes, self.interior_sizes
        )

    def rough_at(self, roughness: float) -> CurveAndClassPrior:
        """The rough description at one roughness."""
        regression = self.described.rough.at(roughness)
        return CurveAndClassPrior(regression, self.prior, self.sizes, self.interior_sizes)

    @cached_property
    def smooth_along(self) -> Along:
        """Where the smooth description is."""
        return self.smooth.along(*self.smooth.place())

    @cached_property
    def rough_nodes(self) -> Floats:
        """Values of the roughness over its posterior."""
        return self.described.rough.nodes()

    @cached_property
    def rough_along(self) -> list[Along]:
        """Where the rough description is at each node; about the class prior as the smooth one."""
        smooth = self.smooth_along
        return [
            self.rough_at(node).along(smooth.middle, smooth.spread) for node in self.rough_nodes
        ]

    @cached_property
    def interior_sizes(self) -> SampleSizes:
        """What the sample sizes say of the interior cells."""
        total, number = self.problem.total, self.problem.n_positive
        known = SampleSizes(total, number, number / total.sum())
        return known.at(self.described.interior, self.problem.positive)

    @property
    def members(self) -> Mapping[str, LabelModel]:
        """Descriptions that NUTS samples."""
        known: dict[str, LabelModel] = {SMOOTH: SmoothMember(self), ROUGH: RoughMember(self)}
        return {name: known[name] for name in self.described.fitted if name in known}

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
        """Inner cells under every description: importance sampling, and quadrature."""
        found: dict[str, Floats] = {}
        weighted: dict[str, Weighted] = {}
        if SMOOTH in self.described.fitted:
            smooth = _until_effective(
                lambda: self.smooth.sample(self.smooth_along, _PROPOSALS * draws, rng, _DEGREES),
                draws,
            )
            drawn = smooth.resample(draws, rng)
            found |= {"coef": drawn[:, :-1], "smooth_normal": drawn[:, -1]}
            found["smooth_sized"] = np.ones(draws)
            weighted[SMOOTH] = smooth
        if ROUGH in self.described.fitted:
            rough, roughness = self._rough_posterior(_PROPOSALS * draws, rng)
            place = rough.resampled_places(draws, rng)
            drawn = rough.draws[place]
            found |= {"z": drawn[:, :-1], "rough_normal": drawn[:, -1]}
            found["roughness"] = roughness[place]
            found["rough_sized"] = np.ones(draws)
            weighted[ROUGH] = rough
        evidence = {name: one.log_evidence for name, one in weighted.items()}
        exact = self._exact
        evidence |= {name: one.log_evidence for name, one in exact.items()}
        matter = [n for n, one in weighted.items() if _share(evidence, n) > _MATTERS]
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
        if "smooth_normal" in found or "rough_normal" in found:
            return found
        for name, key, size in (
            (SMOOTH, "coef", self.described.basis.size if self.described.fitted else 0),
            (ROUGH, "z", len(self.described.interior)),
        ):
            if key in found:
                found[f"{name}_normal"] = found[key][..., -1]
                found[key] = found[key][..., :size]
        if not found:
            raise TypeError("draws of no description have no shape")
        if "calibrated_normal" in found or "segments_normal" in found:
            return found
        shape = next(iter(found.values())).shape[:2]
        exact = self.exact_draws(shape[0] * shape[1], rng)
        return found | {
            name: values.reshape(*shape, *values.shape[1:]) for name, values in exact.items()
        }

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density under each description, of completed draws; see `CurveComponents`."""
        described = self.described
        return {
            name: np.asarray(described.component_log_prior(name, draws))
            for name in described.fitted
        }

    def _rough_posterior(self, draws: int, rng: np.random.Generator) -> RoughPosterior:
        """Importance sampling at nodes of the roughness."""
        nodes, along = self.rough_nodes, self.rough_along
        targets = [self.rough_at(node) for node in nodes]

        def sample(place: int, number: int) -> Weighted:
            return targets[place].sample(along[place], number, rng)

        return self.described.rough.sample_nodes(nodes, sample, draws)

    @cached_property
    def _exact(self) -> dict[str, Nodes]:
        """Class prior's normals and their weights under what is not sampled."""
        found = {}
        if self.described.calibrated or not self.described.fitted:
            found[CALIBRATED] = self._calibrated()
        if SEGMENTS in self.described.fitted:
            found[SEGMENTS] = self._segments()
        return found

    def _calibrated(self) -> Nodes:
        """The class prior where the interior cells are calibrated."""
        interior = self.described.interior
        offset = logit(self.described.score[interior])
        if self.prior.known:
            value = self._cells(np.zeros((1, 1))).at(interior).log_likelihood(offset).sum(axis=-1)
            return Nodes(np.zeros(1), value)
        grid = np.linspace(-LAST, LAST, _FINE)
        for zoom in range(_ZOOMS):
            likelihood = self._cells(grid[:, None]).at(interior).log_likelihood(offset).sum(axis=-1)
            density = likelihood - grid**2 / 2 - _LOG_ROOT
            held = np.flatnonzero(density > density.max() - _NEGLIGIBLE)
            low, high = grid[max(held[0] - 1, 0)], grid[min(held[-1] + 1, _FINE - 1)]
            if zoom < _ZOOMS - 1:
                grid = np.linspace(low, high, _FINE)
        return Nodes(grid, density + np.log(grid[1] - grid[0]))

    def _segments(self) -> Nodes:
        """The class prior under segments: near that of a smooth curve or of no deviation."""
        if self.prior.known:
            return Nodes(np.zeros(1), np.array([self.described.segments.log_evidence]))
        centres = [self._calibrated().moments]
        if SMOOTH in self.described.fitted:
            centres.append((self.smooth_along.middle, self.smooth_along.spread))
        else:
            centres.append((0.0, 1.0))
        normal = np.sort(np.concatenate([mean + spread * _NODES for mean, spread in centres]))
        evidence = np.array([self._segments_at(at).log_evidence for at in normal.tolist()])
        width = np.gradient(normal)
        return Nodes(normal, evidence - normal**2 / 2 - _LOG_ROOT + np.log(width))

    def _segments_at(self, normal: float) -> Segments:
        """Segments at one class prior."""
        if normal not in self._segments_by_normal:
            cells = self._cells(np.asarray(normal)).at(self.described.interior)
            found = replace(self.described.segments, cells=cells)
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
            shift, prior = np.zeros((draws, len(self.described.interior))), np.zeros(draws)
            for at in np.unique(normal) if np.isfinite(nodes.log_evidence) else ():
                rows = normal == at
                drawn = self._segments_at(float(at)).draws(int(rows.sum()), rng)
                shift[rows], prior[rows] = drawn.shift, drawn.log_prior
            order = rng.permutation(draws)
            found |= {"segments_normal": normal[order], "shift": shift[order]}
            found["shift_log_prior"] = prior[order]
        return found

    def _cells(self, normal: Floats) -> CaseControlCells:
        """Likelihood of the cells at class priors given by their normals."""
        log_odds = self.sizes - np.log(self.prior(normal)[0])
        return CaseControlCells(self.problem.total, self.problem.positive, log_odds)

    def joint(self, name: str, draws: Draws, rng: np.random.Generator) -> Joint:
        """Add the scores of exactly 0 and 1 to draws of the interior cells, and weigh both."""
        normal = draws[f"{name}_normal"]
        class_prior = self.prior(normal)[0]
        log_odds = self.sizes - np.log(class_prior)
        wrong, right, places = [], [], []
        for place, end in self.described.boundary_scores.items():
            total, positive = self.problem.total[place], self.problem.positive[place]
            own = draw_end(end, CaseControlCells(total, positive, log_odds), rng)
            wrong.append(own.log_wrong)
            right.append(own.log_right)
            places.append(own.place)
        boundary = self.described.boundary
        joint = boundary.log_joint(
            name == CALIBRATED, _stacked(right, normal), _stacked(wrong, normal)
        )
        weight, error = logsumexp(joint, axis=-1), boundary.draw(joint, rng)
        ends = _stacked(places, normal)
        rates = self.described.rates(name, {**draws, "boundary": ends}, error)
        sizes = log_sizes_density(rates, class_prior, self.problem.total, self.problem.n_positive)
        if f"{name}_sized" in draws:
            # These draws know what the interior cells say of the sizes.
            interior = np.log(rates[..., self.described.interior].clip(1e-300))
            share = expit(log_odds[..., None] + interior)
            sizes = sizes - self.interior_sizes.log_density(share, class_prior)
        return Joint(rates, class_prior, error, weight + sizes)

    def averaged_joint(self, draws: int, rng: np.random.Generator) -> Joint:
        """Draws of the average by the direct method, (draw, ...)."""
        direct = self.direct_draws(draws, rng)
        pools, logs = [], []
        for name, before in self.prior_weights.items():
            if np.isfinite(direct.evidence[name]):
                joint = self.joint(name, direct.draws, rng)
                pools.append(joint)
                logs.append(joint.log_weight + np.log(before) + direct.evidence[name])
        all_of_them = Joint(*(np.concatenate(parts) for parts in zip(*pools, strict=True)))
        place = Weighted(all_of_them.rates, np.concatenate(logs)).resampled_places(draws, rng)
        return all_of_them.taken(place)

    @property
    def prior_weights(self) -> dict[str, float]:
        """Probabilities of the descriptions before the data."""
        inside = self.described.boundary.interior_calibrated
        if not self.described.fitted:
            return {CALIBRATED: 1.0}
        given = {n: (1 - inside) * w for n, w in self.described.prior.weights.items()}
        return {CALIBRATED: inside, **given} if inside else given

    def prior_joint(self, draws: int, rng: np.random.Generator) -> Joint:
        """Draws before the data given that some score is not calibrated, the sizes known."""
        number = max(_PRIOR_PROPOSALS * draws, _FEWEST_PRIOR_PROPOSALS)
        rates = self.described.prior_rates(number, rng)
        class_prior = self.prior(rng.standard_normal(number))[0]
        total, positives = self.problem.total, self.problem.n_positive
        weight = log_sizes_density(rates, class_prior, total, positives)
        place = Weighted(rates, weight).resampled_places(draws, rng)
        error = np.zeros((number, 0), dtype=bool)
        return Joint(rates, class_prior, error, weight).taken(place)

    def masses(self, joint: Joint, rng: np.random.Generator) -> Floats:
        """Shares of the unlabelled population in the cells."""
        return draw_joint_masses(
            joint.rates, joint.class_prior, self.problem.total, self.problem.n_positive, rng
        )


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
    """One column for each of the scores 0 and 1, (..., end)."""
    return np.stack(values, axis=-1) if values else np.zeros((*like.shape, 0))


def _share(evidence: Mapping[str, float], name: str) -> float:
    """Share of a description among those with parameters, if all were as likely before."""
    return float(np.exp(evidence[name] - logsumexp(list(evidence.values()))))


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
        return ("smooth", padded_size(len(self.average.described.interior), SMOOTH_CELLS))

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
        from bayescal.inference.graph import whitened_normal

        data = _add_data(self.inputs(), _SMOOTH_DIMS)
        coef = whitened_normal("coef", data["centre"], data["root"], dims="basis")
        logit = data["offset"] + (data["design"] * coef).sum(axis=-1)
        return _observe(data, logit, coef[-1])

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Those of the average."""
        return self.average.direct_draws(draws, rng)

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the description."""
        return {"curve": np.asarray(self.average.described.component_log_prior("smooth", draws))}


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
        return ("rough", padded_size(len(self.average.described.interior) + 1, ROUGH_CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, directions, the class prior, and the Gaussian that whitens."""
        from bayescal.curves.rough import rough_inputs

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

        from bayescal.curves.rough import DIMS, rough_logit

        data = _add_data(self.inputs(), {**_DIMS, **DIMS})
        logit = rough_logit(data)
        return _observe(data, logit, pm.modelcontext(None)["z"][-1])

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Those of the average."""
        return self.average.direct_draws(draws, rng)

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density of the description."""
        return {"curve": np.asarray(self.average.described.component_log_prior("rough", draws))}


def _spread_out(gaussian: Gaussian, size: int) -> Gaussian:
    """Put idle coefficients before the last one."""
    place = np.append(np.arange(len(gaussian.mean) - 1), size - 1)
    centre, root = np.zeros(size), np.eye(size)
    centre[place], root[np.ix_(place, place)] = gaussian.mean, gaussian.root
    return Gaussian(centre, root)


def _counts(average: Average, size: int) -> dict[str, NDArray[Any]]:
    interior, problem, prior = average.described.interior, average.problem, average.prior
    total, positive = problem.total[interior], problem.positive[interior]
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


_DIMS: dict[str, Any] = {
    "total": "interior",
    "positive": "interior",
    "log_coefficient": "interior",
    "prior_logit": "knot",
    "prior_slope": "knot",
}
_SMOOTH_DIMS: dict[str, Any] = {
    **_DIMS,
    "offset": "interior",
    "design": ("interior", "basis"),
    "centre": "basis",
    "root": ("basis", "basis_"),
}
