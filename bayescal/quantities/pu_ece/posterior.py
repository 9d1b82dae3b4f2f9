"""From draws to everything a result holds of one classifier, and simulated data for a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayescal.core import quantity
from bayescal.core.bins.edges import STRATEGIES
from bayescal.core.calibration_curve.problem import (
    ERRORS,
    curve_scores,
    error_draws,
    fingerprint,
    held_cells,
    model_average,
)
from bayescal.core.plausibility import reversed_signs
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats, bound_values, bound_words
from bayescal.quantities.pu_ece.bounds import Bounds, bounds_or_infinite
from bayescal.quantities.pu_ece.class_prior.scar_check import data_warnings
from bayescal.quantities.pu_ece.class_prior.sensitivity import class_prior_curve
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.estimator import of_counts
from bayescal.quantities.pu_ece.model import model_of_bins
from bayescal.quantities.pu_ece.models.mixture_bins import Bins
from bayescal.quantities.pu_ece.priors import Priors

if TYPE_CHECKING:
    import pymc as pm

PRIOR_DRAWS = 1000
# For the probability that a classifier is calibrated.
EVIDENCE_DRAWS = 2000
DIMS: Mapping[str, tuple[str, ...]] = {
    "label_rate": ("bin",),
    "exceeds_one": ("bin",),
    "gap": ("bin",),
    "confidence": ("bin",),
    "bin_mass": ("bin",),
    "positive_mass": ("bin",),
    "negative_mass": ("bin",),
    "count": ("bin",),
    "positive_count": ("bin",),
    "bin_edges": ("bin_edge",),
    "calibration_curve": ("point",),
    "curve_score": ("point",),
    "coef": ("basis",),
    "events": ("cell",),
    "sensitivity/class_prior": ("class_prior_point",),
    "sensitivity/ece": ("class_prior_point",),
    "envelope_lower": ("class_prior_point",),
    "envelope_upper": ("class_prior_point",),
    "sensitivity/tce_lower": ("class_prior_point",),
    "sensitivity/tce_mean": ("class_prior_point",),
    "sensitivity/tce_upper": ("class_prior_point",),
    "cell_count": ("cell",),
    "cell_score": ("cell",),
}
MONITORED = ("ece", "tce", "mce", "label_rate", "class_prior")


@dataclass(frozen=True, slots=True, eq=False)
class ProblemCase:
    """One problem under its priors; `averaged_posterior.case_of` makes the right kind."""

    problem: PUProblem
    priors: Priors
    model: quantity.LabelModel
    axes: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    dims: ClassVar[Mapping[str, tuple[str, ...]]] = DIMS
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
            observed_data={"events": self.held(problem.positive)},
            constant_data={
                "curve_score": curve_scores(problem.unlabeled),
                "cell_count": self.held(problem.total),
                "cell_score": self.held(problem.cells.mean_score),
            },
            point_estimate=_estimate(problem, self.priors),
            bounds=bound_values(theory),
            bounds_attrs=bound_words(theory),
            sensitivity=class_prior_curve(problem, self.priors, rng),
        )

    def held[Scalar: np.generic](self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Values of the cells that hold rows, then padding: empty cells say nothing."""
        return held_cells(values, self.problem.total, self.model.compile_key[-1])


@dataclass(frozen=True, slots=True, eq=False)
class BinsCase(ProblemCase):
    """One problem with a label rate a bin."""

    model: Bins

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        return model_of_bins(self.problem, self.model)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        points = curve_scores(self.problem.unlabeled)
        posterior = self.quantities(draws, rng)
        prior_draws = self.model.prior_draws(PRIOR_DRAWS, rng)
        prior = self.quantities({name: v[None] for name, v in prior_draws.items()}, rng)
        replicated = self.model.draw_positives(draws, rng).astype(np.int32)
        return replace(
            self.common_arrays(posterior, rng),
            posterior={**posterior, "calibration_curve": self.model.curve(draws, points), **draws},
            prior={name: prior[name] for name in (*ERRORS, "class_prior")},
            posterior_predictive={"events": self.held(replicated)},
            log_likelihood={"events": self.held(self.model.log_likelihood(draws))},
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
