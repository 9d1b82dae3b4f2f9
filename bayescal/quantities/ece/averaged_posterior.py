"""From draws under each description of the curve to what a result holds of their average."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats
from bayescal.curves.average import Average, choose, member_model
from bayescal.curves.cells import (
    ERRORS,
    Problem,
    curve_scores,
    error_draws,
    evidence_warnings,
    nonempty_cells,
)
from bayescal.curves.priors import (
    AVERAGED_AXES,
    CALIBRATED,
    COMPONENTS,
    SMOOTH,
    CurveAverage,
)
from bayescal.quantities.ece.models import label_model
from bayescal.quantities.ece.posterior import (
    PRIOR_DRAWS,
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
        return member_model(self.model.members, member)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        described = self.model
        return average_arrays(
            self.problem,
            described,
            self.model.completed(draws, rng),
            evidence_of(direct),
            self.model.compile_key[-1],
            rng,
        )

    def simulate(self, rng: np.random.Generator) -> tuple[AveragedCase, Values]:
        """Draw label rates from the prior and labels given them, for the scores of this case."""
        rates = self.model.prior_rates(1, rng)
        problem, values = simulated(self.problem, rates, rng)
        described = self.model
        model = Average.of(problem, described.prior, described.calibrated)
        return replace(self, problem=problem, model=model), values


def case_of(problem: Problem, priors: Priors, notes: Sequence[str] = ()) -> EceCase | AveragedCase:
    """Join a problem and its priors; `notes` are warnings from before it was counted."""
    if isinstance(priors.label_rate, CurveAverage):
        average = Average.of(problem, priors.label_rate, priors.calibrated)
        return AveragedCase(problem, priors, average, notes)
    return EceCase(problem, priors, label_model(problem, priors), notes)


@dataclass(frozen=True, eq=False)
class Averaged:
    """Draws of all descriptions, and which of them each draw of the average has."""

    described: Average
    draws: Draws
    weights: Mapping[str, float]
    chosen: NDArray[np.int64]  # (chain, draw)
    some_error: NDArray[np.bool_]  # (chain, draw, end), where the interior cells are calibrated
    errors: Mapping[str, NDArray[np.bool_]]  # (chain, draw, end)

    @classmethod
    def of(
        cls,
        described: Average,
        draws: Draws,
        weights: Mapping[str, float],
        rng: np.random.Generator,
    ) -> Averaged:
        """Draw the descriptions and the errors of the scores 0 and 1."""
        shape = draws["boundary"].shape[:2]
        chosen = choose(described.mixture(weights), int(np.prod(shape)), rng).reshape(shape)
        errors = {name: described.draw_errors(name, shape, rng) for name in _present(described)}
        some = described.draw_some_error(shape, rng)
        return cls(described, draws, weights, chosen, some, errors)

    def rates(self) -> dict[str, Floats]:
        """Label rates of the cells under each description, (chain, draw, cell)."""
        return {
            name: self.described.rates(name, self.draws, error)
            for name, error in self.errors.items()
        }

    def average(self, values: Mapping[str, Floats]) -> Floats:
        """Take each draw from the description that it has."""
        found = values[CALIBRATED].copy()
        for number, name in enumerate(COMPONENTS):
            if name in values:
                own = self.chosen == number
                found[own] = values[name][own]
        return found

    def average_rates(self, rates: Mapping[str, Floats]) -> Floats:
        """Label rates of the cells, given that some score is not calibrated."""
        calibrated = self.described.rates(CALIBRATED, self.draws, self.some_error)
        return self.average({**rates, CALIBRATED: calibrated})

    def curves(self, score: Floats) -> dict[str, Floats]:
        """Calibration curve under each description, (chain, draw, point)."""
        return {name: self.described.curve(name, self.draws, score) for name in self.errors}

    def log_prior(self) -> Floats:
        """Log prior density of the parameters of the description that each draw has."""
        zero = np.zeros(self.chosen.shape)
        return self.average(
            {
                name: zero + self.described.component_log_prior(name, self.draws)
                for name in self.errors
            }
        )


def _present(described: Average) -> list[str]:
    """Descriptions that are not left out; calibrated always."""
    return [name for name in COMPONENTS if name in (CALIBRATED, *described.fitted)]


def average_arrays(
    problem: Problem,
    described: Average,
    draws: Draws,
    direct: DirectDraws,
    n_cells: int,
    rng: np.random.Generator,
    smooth: Callable[[Floats], Floats] | None = None,
) -> CaseArrays:
    """Errors of the average and of each description, their weights and curves.

    `smooth` gives the smooth curve at scores where it is not of these rows alone, (chain, draw,
    point).
    """
    weights = described.weights(direct.evidence)
    averaged = Averaged.of(described, draws, weights, rng)
    p_calibrated = described.p_calibrated(weights)
    rates, points = averaged.rates(), curve_scores(problem)
    curves = averaged.curves(points)
    if smooth is not None and SMOOTH in described.fitted:
        rates[SMOOTH][..., described.interior] = smooth(
            problem.cells.mean_score[described.interior]
        )
        curves[SMOOTH] = smooth(points)
    found = collect_arrays(
        problem,
        rates=averaged.average_rates(rates),
        curve=averaged.average(curves),
        prior_rates=described.prior_rates(PRIOR_DRAWS, rng),
        p_calibrated=p_calibrated,
        n_cells=n_cells,
        rng=rng,
    )
    means = {name: curve.mean(axis=(0, 1)) for name, curve in curves.items()}
    return replace(
        found,
        posterior={**found.posterior, "description": averaged.chosen},
        descriptions=_errors_by_description(problem, rates, rng),
        log_prior={"curve": averaged.log_prior()},
        model_average={
            **found.model_average,
            "weight": np.array([weights.get(name, 0.0) for name in COMPONENTS]),
            "boundary_calibrated": described.boundary_calibrated(weights),
            "description_curve": np.stack([means.get(name, points) for name in COMPONENTS]),
            "jump_probability": nonempty_cells(
                described.jump_probability(draws), problem.cells.count, n_cells
            ),
        },
        diagnostics=evidence_figures(direct),
        warnings=[*found.warnings, *_evidence_warnings(weights, direct.ess)],
    )


def _evidence_warnings(weights: Mapping[str, float], ess: float) -> list[str]:
    """Doubt the weights, unless one description has all of it: its evidence may then be rough."""
    return [] if max(weights.values()) > _CERTAIN else evidence_warnings(ess)


def _errors_by_description(
    problem: Problem, rates: Mapping[str, Floats], rng: np.random.Generator
) -> dict[str, Any]:
    """Errors under each description, the scores 0 and 1 averaged, (chain, draw, description)."""
    mass = masses(problem.cells, rates[CALIBRATED].shape[:2], rng)
    drawn = {name: error_draws(problem, values, mass) for name, values in rates.items()}
    # One that is left out has no weight; calibration stands in for it.
    return {
        error: np.stack([drawn.get(name, drawn[CALIBRATED])[error] for name in COMPONENTS], -1)
        for error in ERRORS
    }
