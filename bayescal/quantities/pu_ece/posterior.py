"""From draws to everything a result holds of one classifier, and simulated data for a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayescal.core import quantity
from bayescal.core.bin_edges import STRATEGIES
from bayescal.core.plausibility import contradiction, reversed_signs
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats, bound_values, bound_words
from bayescal.curves.cells import (
    ERRORS,
    curve_scores,
    error_draws,
    evidence_warnings,
    fingerprint,
    kept_curve,
    kept_rates,
    nonempty_cells,
)
from bayescal.curves.posterior import CurvePosterior
from bayescal.curves.priors import (
    AVERAGED_AXES,
    CALIBRATED,
    COMPONENTS,
    CurveAverage,
    SmoothCurve,
)
from bayescal.quantities.pu_ece.bounds import Bounds, bounds_or_infinite
from bayescal.quantities.pu_ece.class_prior import class_prior_curve, data_warnings, moved
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.estimator import of_counts
from bayescal.quantities.pu_ece.models.average import CaseControlAverage, Population
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
            model_average={"p_calibrated": np.nan},
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


@dataclass(frozen=True, slots=True, eq=False)
class AveragedCase(ProblemCase):
    """One problem under an average over components of the curve."""

    model: CaseControlAverage

    axes: ClassVar[Mapping[str, tuple[str, ...]]] = AVERAGED_AXES

    def build_model(self, member: str = "") -> pm.Model:
        """Build the model of one component, by default the last that has parameters."""
        return self.model.build(member)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own statistics."""
        if direct is None:
            raise TypeError("an average needs the evidence of its components")
        model, points = self.model, curve_scores(self.problem.unlabeled)
        states, ess = direct.evidence, direct.ess
        every = model.posterior(model.completed(draws, rng), states, rng)
        given, alone = every.miscalibrated, {name: every.given(name) for name in model.possible}
        population, miscalibrated = model.population(every), model.population(given)
        mass = model.masses(population, rng)
        errors = error_draws(self.problem.unlabeled, population.rates, mass)
        for name in (*ERRORS, "gap"):
            # Exactly, and not up to rounding.
            errors[name][every.calibrated] = 0.0
        posterior = {**errors, "class_prior": population.class_prior}
        replicated = model.draw_positives(population, rng)
        common = self.common_arrays(posterior, rng)
        weights = model.weights(states)
        means = {name: one.at(points).mean(axis=(0, 1)) for name, one in alone.items()}
        given_mass, size = model.masses(miscalibrated, rng), model.compile_key[-1]
        return replace(
            common,
            posterior={
                **posterior,
                "calibration_curve": every.at(points),
                "description": every.component,
            },
            given_miscalibration={
                **error_draws(self.problem.unlabeled, miscalibrated.rates, given_mass),
                "class_prior": miscalibrated.class_prior,
                "calibration_curve": given.at(points),
            },
            curve={
                **kept_curve(self.problem.total, population.rates, mass, every.component, size),
                "given_rate": kept_rates(self.problem.total, miscalibrated.rates, size),
                "given_mass": kept_rates(self.problem.total, given_mass, size),
            },
            prior=self._prior(rng),
            descriptions=self._by_component(alone, rng),
            posterior_predictive={"events": self.nonempty(replicated.astype(np.int32))},
            log_likelihood={"events": self.nonempty(model.log_likelihood(population))},
            log_prior=model.log_prior_of(every),
            model_average={
                "p_calibrated": model.p_calibrated(states),
                "boundary_calibrated": model.boundary_calibrated(states),
                "weight": np.array([weights.get(name, 0.0) for name in COMPONENTS]),
                "description_curve": np.stack([means.get(name, points) for name in COMPONENTS]),
                "jump_probability": self.nonempty(model.jump_probability(every.draws)),
            },
            diagnostics={"importance_ess": ess, "pareto_k": direct.pareto_k},
            warnings=[
                *common.warnings,
                # An error of a log evidence moves the log weights by its power times as much.
                *evidence_warnings(ess / model.power**2),
                *moved(self.priors, population.class_prior, model.class_prior_normal(every)),
                *self._contradiction(replicated),
            ],
        )

    def _errors(self, population: Population, rng: np.random.Generator) -> dict[str, Floats]:
        mass = self.model.masses(population, rng)
        return error_draws(self.problem.unlabeled, population.rates, mass)

    def _by_component(
        self, curves: Mapping[str, CurvePosterior], rng: np.random.Generator
    ) -> dict[str, Any]:
        """Errors under each component, (chain, draw, description)."""
        found = {
            name: self._errors(self.model.population(curve), rng) for name, curve in curves.items()
        }
        # One that is left out has no weight; calibration stands in for it.
        return {
            error: np.stack([found.get(n, found[CALIBRATED])[error] for n in COMPONENTS], axis=-1)
            for error in ERRORS
        }

    def _prior(self, rng: np.random.Generator) -> dict[str, Floats]:
        population = self.model.prior_population(PRIOR_DRAWS, rng).taken(None)
        errors = self._errors(population, rng)
        return {**{name: errors[name] for name in ERRORS}, "class_prior": population.class_prior}

    def _contradiction(self, replicated: NDArray[np.int64]) -> list[str]:
        """Compare the plug-in estimate with that of rows drawn from the posterior."""
        drawn = self._plug_in(replicated)
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


def case_of(problem: PUProblem, priors: Priors) -> BinsCase | AveragedCase:
    """Join a problem and its priors."""
    prior = priors.label_rate
    if isinstance(prior, CurveAverage | SmoothCurve):
        model = CaseControlAverage.joined(problem, prior, priors.class_prior, priors.calibrated)
        return AveragedCase(problem, priors, model)
    return BinsCase(problem, priors, Bins.of(problem, prior, priors.class_prior))
