"""From draws under each description of the curve to what a result holds of their average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats
from bayescal.curves.average import Average
from bayescal.curves.cells import (
    ERRORS,
    BinnedMass,
    Problem,
    curve_scores,
    evidence_warnings,
    nonempty_cells,
)
from bayescal.curves.posterior import CurvePosterior
from bayescal.curves.priors import (
    AVERAGED_AXES,
    CALIBRATED,
    COMPONENTS,
    CurveAverage,
)
from bayescal.quantities.ece.models import label_model
from bayescal.quantities.ece.posterior import (
    PRIOR_DRAWS,
    CurveDraws,
    EceCase,
    ProblemCase,
    Values,
    collect_arrays,
    evidence_figures,
    evidence_of,
    masses,
    simulated,
)
from bayescal.quantities.ece.priors import Priors

if TYPE_CHECKING:
    import pymc as pm

# From this weight on an error of the evidence by a factor of ten changes nothing.
_CERTAIN: Final = 0.9999


@dataclass(frozen=True, slots=True, eq=False)
class AveragedCase(ProblemCase):
    """One problem under an average over descriptions."""

    model: Average

    axes: ClassVar[Mapping[str, tuple[str, ...]]] = AVERAGED_AXES

    def build_model(self, member: str = "") -> pm.Model:
        """Build the model of one description, by default the last that has parameters."""
        return self.model.build(member)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        return average_arrays(
            self.problem,
            self.model,
            self.model.completed(draws, rng),
            evidence_of(direct),
            int(np.count_nonzero(self.problem.cells.count)),
            rng,
        )

    def simulate(self, rng: np.random.Generator) -> tuple[AveragedCase, Values]:
        """Draw label rates from the prior and labels given them, for the scores of this case."""
        rates = CurvePosterior.prior(self.model, 1, rng).miscalibrated.rate[0]
        problem, values = simulated(self.problem, rates, rng)
        model = Average.of(problem, self.model.prior, self.model.calibrated)
        return replace(self, problem=problem, model=model), values


def case_of(problem: Problem, priors: Priors, notes: Sequence[str] = ()) -> EceCase | AveragedCase:
    """Join a problem and its priors; `notes` are warnings from before it was counted."""
    if isinstance(priors.label_rate, CurveAverage):
        average = Average.of(problem, priors.label_rate, priors.calibrated)
        return AveragedCase(problem, priors, average, notes)
    return EceCase(problem, priors, label_model(problem, priors), notes)


def average_arrays(
    problem: Problem,
    average: Average,
    draws: Draws,
    direct: DirectDraws,
    n_cells: int,
    rng: np.random.Generator,
) -> CaseArrays:
    """Errors of the average and of each component, their weights and curves."""
    posterior = CurvePosterior.of(average, draws, direct.evidence, rng)
    given, points = posterior.miscalibrated, curve_scores(problem)
    # First, as the average takes its draws from theirs.
    alone = {name: posterior.given(name) for name in (CALIBRATED, *average.fitted)}
    rates = {name: one.rate for name, one in alone.items()}
    means = {name: one.at(points).mean(axis=(0, 1)) for name, one in alone.items()}
    found = collect_arrays(
        problem,
        drawn=CurveDraws(posterior.rate, posterior.at(points)),
        given=CurveDraws(given.rate, given.at(points)),
        calibrated=posterior.calibrated,
        component=posterior.component,
        prior_rates=CurvePosterior.prior(average, PRIOR_DRAWS, rng).miscalibrated.rate[0],
        p_calibrated=average.p_calibrated(direct.evidence),
        n_cells=n_cells,
        rng=rng,
    )
    weights = average.weights(direct.evidence)
    return replace(
        found,
        posterior={**found.posterior, "description": posterior.component},
        descriptions=_errors_by_component(problem, rates, rng),
        log_prior={"curve": posterior.log_prior()},
        model_average={
            **found.model_average,
            "weight": np.array([weights.get(name, 0.0) for name in COMPONENTS]),
            "boundary_calibrated": average.boundary_calibrated(direct.evidence),
            "description_curve": np.stack([means.get(name, points) for name in COMPONENTS]),
            "jump_probability": nonempty_cells(
                average.jump_probability(draws), problem.cells.count, n_cells
            ),
        },
        diagnostics=evidence_figures(direct),
        warnings=[*found.warnings, *_evidence_warnings(weights, direct.ess)],
    )


def _evidence_warnings(weights: Mapping[str, float], ess: float) -> list[str]:
    """Doubt the weights, unless one description has all of it: its evidence may then be rough."""
    return [] if max(weights.values()) > _CERTAIN else evidence_warnings(ess)


def _errors_by_component(
    problem: Problem, rates: Mapping[str, Floats], rng: np.random.Generator
) -> dict[str, Any]:
    """Errors under each component, the scores 0 and 1 averaged, (chain, draw, description)."""
    binned = BinnedMass(problem, masses(problem.cells, rates[CALIBRATED].shape[:-1], rng))
    drawn = {name: binned.errors(rate) for name, rate in rates.items()}
    # One that is left out has no weight; calibration stands in for it.
    return {
        error: np.stack([drawn.get(name, drawn[CALIBRATED])[error] for name in COMPONENTS], -1)
        for error in ERRORS
    }
