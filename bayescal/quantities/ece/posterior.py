"""From draws to everything a result holds of one classifier, and simulated data for a check."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayescal.core.binomial import log_binomial
from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.edges import STRATEGIES
from bayescal.core.calibration_curve.error_draws import curve_scores, draw_masses, error_draws
from bayescal.core.calibration_curve.problem import Problem, pad
from bayescal.core.health import MIN_ESS
from bayescal.core.quantity import (
    CaseArrays,
    DirectDraws,
    Draws,
    Floats,
    bound_values,
    bound_words,
)
from bayescal.quantities.ece.alternatives.calibration_test import probability_calibrated
from bayescal.quantities.ece.alternatives.change_points import log_bayes_factor_jump
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
_ERRORS = ("ece", "tce", "mce")
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

    @classmethod
    def of(cls, problem: Problem, priors: Priors, notes: Sequence[str] = ()) -> EceCase:
        """Join a problem and its priors; `notes` are warnings from before it was counted."""
        return cls(problem, priors, label_model(problem, priors), notes)

    @property
    def coords(self) -> Mapping[str, str]:
        """Classifier, and class or group where there are several."""
        return self.problem.coords

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """None: the case is one classifier's."""
        return {}

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dims of the variables."""
        return DIMS

    @property
    def monitored(self) -> tuple[str, ...]:
        """Errors and label rates."""
        return MONITORED

    @property
    def evidence_draws(self) -> int:
        """Direct draws for the probability of calibration."""
        return EVIDENCE_DRAWS

    @property
    def warnings(self) -> list[str]:
        """Warnings about the data."""
        return [*self.notes, *data_warnings(self.problem)]

    def fingerprint(self) -> str:
        """Hash of the counts, cells and bins."""
        cells, bins = self.problem.cells, self.problem.bins
        digest = hashlib.sha256(repr(sorted(self.coords.items())).encode())
        for array in (cells.edges, cells.count, cells.positives, cells.mean_score, bins.edges):
            digest.update(array.tobytes())
        # Bounds go by how the bins were chosen, steps by the end that bins own.
        digest.update(f"{bins.strategy} {bins.closed}".encode())
        return digest.hexdigest()

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
    posterior = error_draws(problem, rates, draw_masses(cells.count, rates.shape[:-1], rng))
    prior_mass = draw_masses(cells.count, (1, len(prior_rates)), rng)
    prior = error_draws(problem, prior_rates[None], prior_mass)
    p_calibrated = probability_calibrated(cells, direct.log_evidence, priors.calibrated)
    jump = _log_bayes_factor_jump(problem, priors, direct, rng)
    jump_flag = bool(jump > _STRONG and not p_calibrated >= _MAY_BE_CALIBRATED)
    log_likelihood = log_binomial(cells.positives, cells.count, rates)
    theory = _theory(problem.bins)._asdict()
    return CaseArrays(
        coords=problem.coords,
        posterior={**posterior, "calibration_curve": curve(points)},
        prior={name: prior[name] for name in _ERRORS},
        log_likelihood={"events": _held(problem, log_likelihood, n_cells)},
        observed_data={"events": _held(problem, cells.positives, n_cells)},
        constant_data={
            "curve_score": points,
            "cell_count": _held(problem, cells.count, n_cells),
            "cell_score": _held(problem, cells.mean_score, n_cells),
        },
        point_estimate={
            **estimate(problem.bins)._asdict(),
            "n": problem.bins.n,
            "prevalence": problem.bins.positives.sum() / problem.bins.n,
        },
        bounds=bound_values(theory),
        bounds_attrs=bound_words(theory),
        model_average=_model_average(posterior, p_calibrated),
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
) -> dict[str, NDArray[np.int32]]:
    """Positives of each cell as the model would count them anew, for predictive checks."""
    drawn = rng.binomial(problem.cells.count, rates).astype(np.int32)
    return {"events": _held(problem, drawn, n_cells)}


def _held[Scalar: np.generic](
    problem: Problem, values: NDArray[Scalar], n_cells: int
) -> NDArray[Scalar]:
    """Values of the cells that hold rows, then padding: empty cells say nothing, and stop `loo`."""
    held = values[..., np.flatnonzero(problem.cells.count)]
    return pad(held, *held.shape[:-1], n_cells)


def _model_average(posterior: Values, p_calibrated: float) -> dict[str, float]:
    """Means over both alternatives; without a calibrated one, those of the posterior."""
    uncalibrated = 1 - np.nan_to_num(p_calibrated)
    means = {f"{name}_mean": uncalibrated * posterior[name].mean() for name in _ERRORS}
    return {"p_calibrated": p_calibrated, **means}


def _fit_warnings(ess: float, jump: bool) -> list[str]:
    """What a reader must know of the fit beside its convergence, in sentences."""
    found = []
    if ess < MIN_ESS:
        found.append(
            f"the probability of calibration rests on {ess:.0f} effective draws (fewer than "
            f"{MIN_ESS}). Do not rely on it or on the lower ends."
        )
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
    return bounds(bins.n, bins.n_bins, bins.strategy if known else bins.edges)


def simulated(problem: Problem, rates: Floats, rng: np.random.Generator) -> tuple[Problem, Values]:
    """Labels of one problem for one draw of its cells' rates, and the quantities behind them."""
    again = _relabelled(problem, rng.binomial(problem.cells.count, rates[0]))
    mass = draw_masses(problem.cells.count, (1, len(rates)), rng)
    drawn = error_draws(problem, rates[None], mass)
    return again, {name: value[0, 0] for name, value in drawn.items()}


def _relabelled(problem: Problem, positives: NDArray[np.int64]) -> Problem:
    old = problem.cells
    cells = BinCounts(old.edges, old.count, positives, old.mean_score, old.closed, old.strategy)
    if problem.bins is old:
        return Problem(problem.coords, cells, cells)
    return Problem(problem.coords, cells, cells.merge(problem.bins.edges, problem.bins.strategy))
