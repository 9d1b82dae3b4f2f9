"""From draws to everything a result holds of one classifier, and simulated data for a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from bayescal.core import quantity
from bayescal.core.bins.edges import STRATEGIES
from bayescal.core.plausibility import contradiction, reversed_signs
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats, bound_values, bound_words
from bayescal.curves.average import member_model
from bayescal.curves.cells import (
    ERRORS,
    curve_scores,
    error_draws,
    evidence_warnings,
    fingerprint,
    model_average,
    nonempty_cells,
)
from bayescal.curves.priors import (
    AVERAGED_AXES,
    CALIBRATED,
    COMPONENTS,
    SEGMENTS,
    CurveAverage,
    SmoothCurve,
)
from bayescal.inference.direct import Weighted, choose
from bayescal.quantities.pu_ece.bounds import Bounds, bounds_or_infinite
from bayescal.quantities.pu_ece.class_prior import class_prior_curve, data_warnings
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.estimator import of_counts
from bayescal.quantities.pu_ece.models.average import CaseControlAverage, ComponentDraws, Population
from bayescal.quantities.pu_ece.models.mixture_bins import Bins
from bayescal.quantities.pu_ece.priors import Priors

if TYPE_CHECKING:
    import pymc as pm


PRIOR_DRAWS = 1000
# For the probability that a classifier is calibrated.
EVIDENCE_DRAWS = 2000
MONITORED = ("ece", "tce", "mce", "label_rate", "class_prior")


@dataclass(frozen=True, slots=True, eq=False)
class ProblemCase:
    """One problem under its priors; `case_of` makes the right kind."""

    problem: PUProblem
    priors: Priors
    model: quantity.LabelModel
    axes: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    monitored: ClassVar[tuple[str, ...]] = MONITORED
    # Direct draws for the probability of calibration.
    evidence_draws: ClassVar[int] = EVIDENCE_DRAWS

    @property
    def coords(self) -> Mapping[str, str]:
        """Where the case stands in a result."""
        return self.problem.unlabeled.coords

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings about the sampling of the positives, or about the class prior."""
        cells = self.problem.cells
        signs = reversed_signs(cells.mean_score, cells.count, self.problem.positive)
        return [*data_warnings(self.problem, self.priors), *signs]

    def fingerprint(self) -> str:
        """Hash of the counts, cells and bins."""
        return fingerprint(self.problem.unlabeled, self.problem.positive)

    def common_arrays(
        self, posterior: Mapping[str, Floats], rng: np.random.Generator
    ) -> CaseArrays:
        """What a result holds under any model: data, estimate, theory, sensitivity."""
        problem, theory = self.problem, _bounds(self.problem, self.priors)._asdict()
        return CaseArrays(
            coords=self.coords,
            posterior=posterior,
            observed_data={"events": self.nonempty(problem.positive)},
            constant_data={
                "curve_score": curve_scores(problem.unlabeled),
                "cell_count": self.nonempty(problem.total),
                "cell_score": self.nonempty(problem.cells.mean_score),
            },
            point_estimate=_estimate(problem, self.priors),
            bounds=bound_values(theory),
            bounds_attrs=bound_words(theory),
            sensitivity=class_prior_curve(problem, self.priors, rng),
        )

    def nonempty[Scalar: np.generic](self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Values of the cells that hold rows, then padding: empty cells say nothing."""
        return nonempty_cells(values, self.problem.total, self.model.compile_key[-1])


@dataclass(frozen=True, slots=True, eq=False)
class BinsCase(ProblemCase):
    """One problem with a label rate a bin."""

    model: Bins

    def build_model(self) -> pm.Model:
        """Build the model, unsampled: label rates of cells, their masses, counts, and errors."""
        import pymc as pm

        from bayescal.curves.error_model import add_errors

        cells = self.model.compile_key[-1]
        coords = {"cell": np.arange(cells), "bin": np.arange(self.problem.unlabeled.bins.n_bins)}
        with pm.Model(coords=coords) as model:
            rate, mass = self.model.add_to_model()
            add_errors(self.problem.unlabeled, rate, mass, cells)
        return model

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own statistics."""
        points = curve_scores(self.problem.unlabeled)
        posterior = self.quantities(draws, rng)
        prior_draws = self.model.prior_draws(PRIOR_DRAWS, rng)
        prior = self.quantities({name: v[None] for name, v in prior_draws.items()}, rng)
        replicated = self.model.draw_positives(draws, rng).astype(np.int32)
        return replace(
            self.common_arrays(posterior, rng),
            posterior={**posterior, "calibration_curve": self.model.curve(draws, points), **draws},
            prior={name: prior[name] for name in (*ERRORS, "class_prior")},
            posterior_predictive={"events": self.nonempty(replicated)},
            log_likelihood={"events": self.nonempty(self.model.log_likelihood(draws))},
            log_prior=self.model.log_prior(draws),
            model_average=model_average(posterior, np.nan),
            diagnostics={"importance_ess": np.nan, "pareto_k": np.nan},
        )

    def quantities(self, draws: Draws, rng: np.random.Generator) -> dict[str, Floats]:
        """Calibration errors, label rates, gaps and class prior of every draw."""
        rates = self.model.cell_rates(draws)
        found = error_draws(self.problem.unlabeled, rates, self.model.masses(draws, rng))
        return {**found, "class_prior": self.model.class_prior(draws)}

    def simulate(self, rng: np.random.Generator) -> tuple[BinsCase, dict[str, Floats]]:
        """Draw parameters from the prior and counts from the model.

        Notes
        -----
        Both samples are drawn.
        """
        draws = {name: v[None] for name, v in self.model.prior_draws(1, rng).items()}
        values = {name: v[0, 0] for name, v in self.quantities(draws, rng).items()}
        problem = self.model.draw_problem(draws, rng)
        return replace(self, problem=problem, model=replace(self.model, problem=problem)), values


def _estimate(problem: PUProblem, priors: Priors) -> dict[str, Any]:
    """Estimate at the mean of the class prior."""
    bins = problem.unlabeled.bins
    found = of_counts(
        bins.count,
        problem.positive_in_bins(),
        bins.mean_score,
        bins.edges,
        priors.class_prior_mean,
    )
    return {
        **found._asdict(),
        "n": problem.n_positive + problem.n_unlabeled,
        "class_prior": priors.class_prior_mean,
    }


def _bounds(problem: PUProblem, priors: Priors) -> Bounds:
    """Bounds for bins as they were chosen: those of equal mass follow the scores."""
    bins = problem.unlabeled.bins
    return bounds_or_infinite(
        problem.n_positive,
        problem.n_unlabeled,
        priors.class_prior_mean,
        bins.n_bins,
        bins.strategy if bins.strategy in STRATEGIES else bins.edges,
    )


_MATTERS = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class AveragedCase(ProblemCase):
    """One problem under an average over components of the curve."""

    model: CaseControlAverage

    axes: ClassVar[Mapping[str, tuple[str, ...]]] = AVERAGED_AXES

    def build_model(self, member: str = "") -> pm.Model:
        """Build the model of one component, by default the last that has parameters."""
        return member_model(self.model.members, member)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own statistics."""
        if direct is None:
            raise TypeError("an average needs the evidence of its components")
        weights = Weights.of(self.model, direct, rng)
        averaged = Averaged.of(self.model, self.model.completed(draws, rng), weights, rng)
        population = averaged.population()
        errors = self._errors(population, rng)
        posterior = {**errors, "class_prior": population.class_prior}
        points = curve_scores(self.problem.unlabeled)
        replicated = self.model.draw_positives(population, rng)
        common = self.common_arrays(posterior, rng)
        return replace(
            common,
            posterior={
                **posterior,
                "calibration_curve": averaged.average(averaged.curves(points)),
                "description": averaged.chosen,
            },
            prior=self._prior(rng),
            descriptions=self._by_component(averaged, rng),
            posterior_predictive={"events": self.nonempty(replicated.astype(np.int32))},
            log_likelihood={"events": self.nonempty(self.model.log_likelihood(population))},
            log_prior=averaged.log_prior(),
            model_average={
                **model_average(posterior, weights.p_calibrated),
                **averaged.summary(points),
                "jump_probability": self.nonempty(averaged.jump_probability()),
            },
            diagnostics={"importance_ess": weights.ess, "pareto_k": weights.pareto_k},
            warnings=[
                *common.warnings,
                *evidence_warnings(weights.ess),
                *self._contradiction(averaged, population, rng),
            ],
        )

    def _errors(self, population: Population, rng: np.random.Generator) -> dict[str, Floats]:
        mass = self.model.masses(population, rng)
        return error_draws(self.problem.unlabeled, population.rates, mass)

    def _by_component(self, averaged: Averaged, rng: np.random.Generator) -> dict[str, Any]:
        """Errors under each component, (chain, draw, description)."""
        found = {name: self._errors(one.population, rng) for name, one in averaged.own.items()}
        # One that is left out has no weight; another stands in for it.
        spare = next(iter(found.values()))
        return {
            error: np.stack([found.get(name, spare)[error] for name in COMPONENTS], axis=-1)
            for error in ERRORS
        }

    def _prior(self, rng: np.random.Generator) -> dict[str, Floats]:
        population = self.model.prior_population(PRIOR_DRAWS, rng).taken(None)
        errors = self._errors(population, rng)
        return {**{name: errors[name] for name in ERRORS}, "class_prior": population.class_prior}

    def _contradiction(
        self, averaged: Averaged, population: Population, rng: np.random.Generator
    ) -> list[str]:
        """Compare the plug-in estimate with that of rows drawn from the posterior."""
        p_calibrated = averaged.weights.p_calibrated
        if p_calibrated > 0:
            right = rng.random(population.class_prior.shape) < p_calibrated
            calibrated = averaged.own[CALIBRATED].population.class_prior
            population = Population(
                np.where(right[..., None], self.problem.cells.mean_score, population.rates),
                np.where(right, calibrated, population.class_prior),
            )
        drawn = self._plug_in(self.model.draw_positives(population, rng))
        return contradiction(float(self._plug_in(self.problem.positive)), drawn)

    def _plug_in(self, positive: NDArray[Any]) -> Floats:
        """Plug-in estimate if these of the rows in the cells were the positives, (...)."""
        member = self.problem.unlabeled.membership()
        unlabeled = self.problem.total - positive
        r = positive @ member / np.maximum(positive.sum(axis=-1, keepdims=True), 1)
        scores = (unlabeled * self.problem.cells.mean_score) @ member
        mean = scores / np.maximum(unlabeled.sum(axis=-1, keepdims=True), 1)
        return np.asarray(np.abs(self.priors.class_prior_mean * r - mean).sum(axis=-1))

    def simulate(
        self, rng: np.random.Generator
    ) -> tuple[BinsCase | AveragedCase, dict[str, Floats]]:
        """Draw parameters from the prior and positives from the model.

        Notes
        -----
        The model is conditional on the rows of each cell, positive and unlabelled, and on the
        sizes of both samples: positives are drawn given both.
        """
        population = self.model.prior_population(1, rng).taken(None)
        values = {**self._errors(population, rng), "class_prior": population.class_prior}
        positive = self.model.draw_positives(population, rng)[0, 0]
        again = case_of(self.problem.relabelled(positive), self.priors)
        return again, {name: value[0, 0] for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class Weights:
    """Posterior probabilities of the components, and of no error at all."""

    by_component: Mapping[str, float]
    right: float  # of no error at 0 and 1, should the interior be calibrated
    p_calibrated: float
    boundary: NDArray[np.float64]  # (boundary,): that each of the scores 0 and 1 is calibrated
    ess: float
    pareto_k: float

    @classmethod
    def of(
        cls, model: CaseControlAverage, direct: DirectDraws, rng: np.random.Generator
    ) -> Weights:
        """Weigh by evidence: that of the interior, of the scores 0 and 1 and of the sizes."""
        found = model.weighted_draws(direct.draws, direct.evidence, rng)
        pools = {n: Weighted(one.population.rates, one.log_weight) for n, one in found.items()}
        logs = {
            name: np.log(model.before[name]) + direct.evidence[name] + pool.log_evidence
            for name, pool in pools.items()
        }
        total = logsumexp(list(logs.values()))
        weights = {name: float(np.exp(value - total)) for name, value in logs.items()}
        shares = {name: softmax(one.log_weight) for name, one in found.items()}
        boundary = [weights[n] * (shares[n] @ ~one.wrong) for n, one in found.items()]
        right, p_calibrated = 0.0, float("nan")
        if model.calibrated:
            if CALIBRATED in found:
                right = float(shares[CALIBRATED] @ ~found[CALIBRATED].wrong.any(axis=-1))
            p_calibrated = weights.get(CALIBRATED, 0.0) * right
        matter = [pools[name] for name, weight in weights.items() if weight >= _MATTERS]
        tails = [one.pareto_k for one in matter if np.ptp(one.log_weights) > 0]
        tails = [tail for tail in (direct.pareto_k, *tails) if np.isfinite(tail)]
        return cls(
            weights,
            right,
            p_calibrated,
            np.sum(boundary, axis=0),
            min(direct.ess, *(one.ess for one in matter)),
            max(tails, default=float("nan")),
        )


@dataclass(frozen=True, eq=False)
class Averaged:
    """Draws of all components, and which of them each draw of the average has."""

    model: CaseControlAverage
    own: Mapping[str, ComponentDraws]
    some_error: ComponentDraws | None  # should only the scores 0 and 1 not be calibrated
    chosen: NDArray[np.int64]  # (chain, draw)
    weights: Weights

    @classmethod
    def of(
        cls, model: CaseControlAverage, draws: Draws, weights: Weights, rng: np.random.Generator
    ) -> Averaged:
        """Weigh the draws of each component, and draw the components."""
        own: dict[str, ComponentDraws] = {}
        some = None
        for name in weights.by_component:
            found = model.weighted(name, draws, rng)
            own[name] = found.taken(resampled_places(found.log_weight, rng))
            if name == CALIBRATED and found.wrong.shape[-1]:
                wrong = np.where(found.wrong.any(axis=-1), found.log_weight, -np.inf)
                some = found.taken(resampled_places(wrong, rng))
        mixture = np.array([weights.by_component.get(name, 0.0) for name in COMPONENTS])
        mixture[0] *= 1 - weights.right
        shape = next(iter(own.values())).log_weight.shape
        chosen = choose(mixture / mixture.sum(), int(np.prod(shape)), rng).reshape(shape)
        return cls(model, own, some, chosen, weights)

    def average(self, values: Mapping[str, Floats]) -> Floats:
        """Take each draw from the component that it has."""
        found = np.empty_like(next(iter(values.values())))
        for number, name in enumerate(COMPONENTS):
            if name in values:
                found[self.chosen == number] = values[name][self.chosen == number]
        return found

    def population(self) -> Population:
        """Draws of the average, given that some score is not calibrated."""
        given = dict(self.own)
        if self.some_error is not None:
            given[CALIBRATED] = self.some_error
        return Population(
            self.average({name: one.population.rates for name, one in given.items()}),
            self.average({name: one.population.class_prior for name, one in given.items()}),
        )

    def curves(self, score: Floats) -> dict[str, Floats]:
        """Calibration curve under each component, (chain, draw, point)."""
        none = {"boundary": np.zeros((*self.chosen.shape, 0))}
        return {
            name: self.model.curve(name, {**one.draws, **none}, score)
            for name, one in self.own.items()
        }

    def log_prior(self) -> dict[str, Floats]:
        """Log prior density of curve and class prior under the component of each draw."""
        zero = np.zeros(self.chosen.shape)
        of_curve = {
            name: zero + self.model.component_log_prior(name, one.draws)
            for name, one in self.own.items()
        }
        found = {"curve": self.average(of_curve)}
        if not self.model.class_prior.known:
            normals = {name: one.draws[f"{name}_normal"] for name, one in self.own.items()}
            found["class_prior"] = self.model.class_prior.log_density(self.average(normals))
        return found

    def summary(self, points: Floats) -> dict[str, NDArray[np.float64]]:
        """Weights and mean curves of the components, and of the scores 0 and 1."""
        curves = {name: curve.mean(axis=(0, 1)) for name, curve in self.curves(points).items()}
        boundary = np.full(2, np.nan)
        seen = [int(one.score) for one in self.model.boundary_scores.values()]
        boundary[seen] = self.weights.boundary
        weights = self.weights.by_component
        return {
            "boundary_calibrated": boundary,
            "weight": np.array([weights.get(name, 0.0) for name in COMPONENTS]),
            "description_curve": np.stack([curves.get(name, points) for name in COMPONENTS]),
        }

    def jump_probability(self) -> Floats:
        """Probability under segments that the curve jumps just below each cell, (cell,)."""
        segments = self.own.get(SEGMENTS)
        return self.model.jump_probability(segments.draws if segments else {})


def resampled_places(
    log_weight: Floats, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of weighted draws, resampled in each chain in its order, (chain, draw) each.

    A chain without weight keeps its draws.
    """
    chains, number = log_weight.shape
    top = log_weight.max(axis=1, keepdims=True)
    weight = np.where(np.isfinite(top), np.exp(log_weight - np.where(np.isfinite(top), top, 0)), 1)
    ladder = (np.arange(number) + rng.random((chains, 1))) / number
    total = np.cumsum(weight, axis=1)
    places = [
        np.searchsorted(one / one[-1], steps) for one, steps in zip(total, ladder, strict=True)
    ]
    return np.arange(chains)[:, None], np.minimum(np.array(places), number - 1)


def case_of(problem: PUProblem, priors: Priors) -> BinsCase | AveragedCase:
    """Join a problem and its priors."""
    prior = priors.label_rate
    if isinstance(prior, CurveAverage | SmoothCurve):
        model = CaseControlAverage.joined(problem, prior, priors.class_prior, priors.calibrated)
        return AveragedCase(problem, priors, model)
    return BinsCase(problem, priors, Bins.of(problem, prior, priors.class_prior))
