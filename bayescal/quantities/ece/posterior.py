"""From draws to everything a result holds of one classifier, and simulated data for a check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import STRATEGIES, BinCounts
from bayescal.core.calibration_curve.problem import (
    ERRORS,
    Problem,
    curve_scores,
    draw_masses,
    draw_positives,
    error_draws,
    evidence_warnings,
    fingerprint,
    held_cells,
    model_average,
)
from bayescal.core.functionals import log_binomial
from bayescal.core.quantity import (
    CaseArrays,
    DirectDraws,
    Draws,
    Floats,
    bound_values,
    bound_words,
)
from bayescal.quantities.ece.alternatives import log_bayes_factor_jump, probability_calibrated
from bayescal.quantities.ece.bounds import Bounds, bounds
from bayescal.quantities.ece.data import data_warnings
from bayescal.quantities.ece.estimator import estimate
from bayescal.quantities.ece.model import model_of
from bayescal.quantities.ece.models import label_model
from bayescal.quantities.ece.models.base import LabelModel
from bayescal.quantities.ece.models.smooth_curve import Curve
from bayescal.quantities.ece.priors import Priors, SmoothCurve

if TYPE_CHECKING:
    import pymc as pm

type Values = dict[str, Floats]

PRIOR_DRAWS = 1000
# For the probability that a classifier is calibrated.
EVIDENCE_DRAWS = 2000
# Enough for an evidence that only has to be right to a unit or so.
_GENTLE_DRAWS = 500
# Jeffreys' "strong" evidence, as the natural logarithm of a Bayes factor.
_STRONG = float(np.log(10))
# Where calibration is no less probable than this, jumps win by being simple: no flag then.
_MAY_BE_CALIBRATED = 0.05
MONITORED = ("ece", "tce", "mce", "label_rate")
DIMS: Mapping[str, tuple[str, ...]] = {
    "label_rate": ("bin",),
    "gap": ("bin",),
    "confidence": ("bin",),
    "bin_mass": ("bin",),
    "count": ("bin",),
    "positives": ("bin",),
    "bin_edges": ("bin_edge",),
    "calibration_curve": ("point",),
    "curve_score": ("point",),
    "coef": ("basis",),
    "rate": ("padded_bin",),
    "events": ("cell",),
    "cell_count": ("cell",),
    "cell_score": ("cell",),
}


@dataclass(frozen=True, slots=True, eq=False)
class EceCase:
    """One problem under its priors; made by `EceCase.of`."""

    problem: Problem
    priors: Priors
    model: LabelModel
    notes: Sequence[str] = ()
    axes: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    dims: ClassVar[Mapping[str, tuple[str, ...]]] = DIMS
    monitored: ClassVar[tuple[str, ...]] = MONITORED
    # Direct draws for the probability of calibration.
    evidence_draws: ClassVar[int] = EVIDENCE_DRAWS

    @classmethod
    def of(cls, problem: Problem, priors: Priors, notes: Sequence[str] = ()) -> EceCase:
        """Join a problem and its priors; `notes` are warnings from before it was counted."""
        return cls(problem, priors, label_model(problem, priors), notes)

    @property
    def coords(self) -> Mapping[str, str]:
        """Classifier, and class or group where there are several."""
        return self.problem.coords

    @property
    def warnings(self) -> list[str]:
        """Warnings about the data."""
        return [*self.notes, *data_warnings(self.problem)]

    def fingerprint(self) -> str:
        """Hash of the counts, cells and bins."""
        return fingerprint(self.problem, self.problem.cells.positives)

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        return model_of(self.problem, self.model)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        rates, cells = self.model.cell_rates(draws, rng), self.model.compile_key[-1]
        found = collect_arrays(
            self.problem,
            self.priors,
            rates=rates,
            curve=lambda score: self.model.curve(draws, rates, score),
            prior_rates=self.model.prior_rates(PRIOR_DRAWS, rng),
            direct=evidence_of(direct),
            n_cells=cells,
            rng=rng,
        )
        return replace(
            found,
            posterior={**found.posterior, **draws},
            log_prior=self.model.log_prior(draws),
            posterior_predictive=replicated_counts(self.problem, rates, cells, rng),
        )

    def simulate(self, rng: np.random.Generator) -> tuple[EceCase, Values]:
        """Draw label rates from the prior and labels given them, for the scores of this case.

        Notes
        -----
        The model is conditional on the scores. Given them the cells' masses are Dirichlet(count)
        whatever the labels, so that is where the true masses are drawn from: the improper prior
        that they come from is never needed.
        """
        problem, values = simulated(self.problem, self.model.prior_rates(1, rng), rng)
        return EceCase.of(problem, self.priors), values


def evidence_of(direct: DirectDraws | None) -> DirectDraws:
    """The direct draws that `EceCase.evidence_draws` has made sure of."""
    if direct is None:
        raise TypeError("arrays of an ECE case need direct draws, for the evidence")
    return direct


def collect_arrays(
    problem: Problem,
    priors: Priors,
    *,
    rates: Floats,
    curve: Callable[[Floats], Floats],
    prior_rates: Floats,
    direct: DirectDraws,
    n_cells: int,
    rng: np.random.Generator,
) -> CaseArrays:
    """Errors, estimates, bounds and averages of one problem, given draws of its label rates."""
    cells, points = problem.cells, curve_scores(problem)
    posterior = error_draws(problem, rates, _masses(cells, rates.shape[:-1], rng))
    prior_mass = _masses(cells, (1, len(prior_rates)), rng)
    prior = error_draws(problem, prior_rates[None], prior_mass)
    p_calibrated = probability_calibrated(cells, direct.log_evidence, priors.calibrated)
    jump = _log_bayes_factor_jump(problem, priors, direct, rng)
    jump_flag = bool(jump > _STRONG and not p_calibrated >= _MAY_BE_CALIBRATED)
    log_likelihood = log_binomial(cells.positives, cells.count, rates)
    theory = _theory(problem.bins)._asdict()
    return CaseArrays(
        coords=problem.coords,
        posterior={**posterior, "calibration_curve": curve(points)},
        prior={name: prior[name] for name in ERRORS},
        log_likelihood={"events": held_cells(log_likelihood, cells.count, n_cells)},
        observed_data={"events": held_cells(cells.positives, cells.count, n_cells)},
        constant_data={
            "curve_score": points,
            "cell_count": held_cells(cells.count, cells.count, n_cells),
            "cell_score": held_cells(cells.mean_score, cells.count, n_cells),
        },
        point_estimate={
            **estimate(problem.bins)._asdict(),
            "n": problem.bins.n,
            "prevalence": problem.bins.prevalence,
            **({"effective_n": problem.bins.effective_n} if problem.bins.weighted else {}),
        },
        bounds=bound_values(theory),
        bounds_attrs=bound_words(theory),
        model_average=model_average(posterior, p_calibrated),
        diagnostics={
            "importance_ess": direct.ess,
            "pareto_k": direct.pareto_k,
            "log_bayes_factor_jump": jump,
            "jump_flag": jump_flag,
        },
        warnings=_fit_warnings(direct.ess, jump_flag),
    )


def replicated_counts(
    problem: Problem, rates: Floats, n_cells: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Positives of each cell as the model would count them anew, for predictive checks."""
    drawn = draw_positives(problem.cells, rates, rng)
    if not problem.cells.weighted:
        drawn = drawn.astype(np.int32)
    return {"events": held_cells(drawn, problem.cells.count, n_cells)}


def _fit_warnings(ess: float, jump: bool) -> list[str]:
    """What a reader must know of the fit beside its convergence, in sentences."""
    found = evidence_warnings(ess)
    if jump:
        found.append(
            "the data favour a calibration curve that jumps, which the model smooths over. Its "
            "interval may miss; look at the bins, and try strategy='uniform' or more bins."
        )
    return found


def _log_bayes_factor_jump(
    problem: Problem, priors: Priors, direct: DirectDraws, rng: np.random.Generator
) -> float:
    """Weigh jumps against a smooth curve; bins of their own have none that could miss a jump.

    Segments near the diagonal beat a curve that may stray far because they are simpler,
    not because they jump. A curve that strays a quarter as far has to be beaten too.
    """
    prior = priors.label_rate
    if not isinstance(prior, SmoothCurve):
        return float("nan")
    gentle = Curve.of(problem, replace(prior, scale=prior.scale / 4)).direct_draws(
        _GENTLE_DRAWS, rng
    )
    smooth = max(direct.log_evidence, gentle.log_evidence)
    return log_bayes_factor_jump(problem.cells, smooth)


def _theory(bins: BinCounts) -> Bounds:
    """Bounds for bins as they were chosen: those of equal mass follow the scores."""
    known = bins.strategy in STRATEGIES
    n = bins.n if not bins.weighted else max(int(bins.effective_n), 1)
    found = bounds(n, bins.n_bins, bins.strategy if known else bins.edges)
    if not bins.weighted:
        return found
    return Bounds._make(
        one._replace(assumption=f"{one.assumption}; for the effective number of rows, {n}")
        for one in found
    )


def simulated(problem: Problem, rates: Floats, rng: np.random.Generator) -> tuple[Problem, Values]:
    """Labels of one problem for one draw of its cells' rates, and the quantities behind them."""
    again = _relabelled(problem, draw_positives(problem.cells, rates[0], rng))
    mass = _masses(problem.cells, (1, len(rates)), rng)
    drawn = error_draws(problem, rates[None], mass)
    return again, {name: value[0, 0] for name, value in drawn.items()}


def _masses(cells: BinCounts, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    return draw_masses(cells.count, shape, rng, cells.mass)


def _relabelled(problem: Problem, positives: NDArray[Any]) -> Problem:
    old = problem.cells
    cells = replace(old, positives=positives)
    if problem.bins is old:
        return Problem(problem.coords, cells, cells)
    return Problem(problem.coords, cells, cells.merge(problem.bins.edges, problem.bins.strategy))
