"""From draws to everything a result holds of one classifier, and simulated data for a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core import quantity
from bayescal.core.bin_counts import BinCounts
from bayescal.core.bin_edges import STRATEGIES
from bayescal.core.functionals import log_binomial
from bayescal.core.plausibility import contradiction
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats
from bayescal.curves.average import Average, with_evidence
from bayescal.curves.cells import (
    ERRORS,
    BinnedMass,
    Problem,
    curve_scores,
    draw_events,
    draw_masses,
    error_draws,
    fingerprint,
    off_boundary,
    relabelled,
    score_logit,
)
from bayescal.curves.posterior import (
    CurvePosterior,
    by_component,
    evidence_warnings,
    kept_curve,
    kept_data,
    kept_rates,
    mean_curves,
    nonempty_cells,
)
from bayescal.curves.priors import AVERAGED_AXES, CALIBRATED, COMPONENTS, SMOOTH, CurveAverage
from bayescal.inference.direct import choose
from bayescal.quantities.ece.bounds import Bounds, bounds
from bayescal.quantities.ece.data import data_warnings
from bayescal.quantities.ece.estimator import estimate
from bayescal.quantities.ece.model import LabelModel, label_model, model_of
from bayescal.quantities.ece.priors import Priors

if TYPE_CHECKING:
    import pymc as pm


def log_calibrated(cells: BinCounts) -> float:
    """Log-likelihood of the counts if each cell's label rate is its mean score."""
    eta = score_logit(cells.mean_score)
    return float((cells.positives * eta - cells.count * np.logaddexp(0, eta)).sum())


def probability_calibrated(cells: BinCounts, log_evidence: float, prior: float) -> float:
    """Posterior probability that the classifier is calibrated.

    With B the Bayes factor, the ratio of the two marginal likelihoods, it is
    ``prior B / (prior B + 1 - prior)``.
    """
    if prior == 0:
        return float("nan")
    return float(expit(log_calibrated(cells) - log_evidence + logit(prior)))


# From this weight on an error of the evidence by a factor of ten changes nothing.
_CERTAIN: Final = 0.9999


type Values = dict[str, Floats]

PRIOR_DRAWS = 1000
# For the probability that a classifier is calibrated.
EVIDENCE_DRAWS = 2000
# Gaps of less than this are none.
ROUNDING = 1e-12
MONITORED = ("ece", "tce", "mce", "label_rate")


@dataclass(frozen=True, slots=True, eq=False)
class ProblemCase:
    """One problem under its priors; `case_of` makes the right kind."""

    problem: Problem
    priors: Priors
    model: quantity.LabelModel
    notes: Sequence[str] = ()
    axes: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    monitored: ClassVar[tuple[str, ...]] = MONITORED
    # Direct draws for the probability of calibration.
    evidence_draws: ClassVar[int] = EVIDENCE_DRAWS

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


@dataclass(frozen=True, slots=True, eq=False)
class EceCase(ProblemCase):
    """One problem under one prior of its label rates."""

    model: LabelModel

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        return model_of(self.problem, self.model)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        rates, cells = self.model.cell_rates(draws, rng), self.problem.cells
        given = CurveDraws(rates, self.model.curve(draws, rates, curve_scores(self.problem)))
        before, n_cells = self.model.prior_rates(PRIOR_DRAWS, rng), np.count_nonzero(cells.count)
        found = self.arrays_of(given, before, with_evidence(direct), int(n_cells), rng)
        densities: dict[str, Any] = {}
        if self.priors.calibrated:
            # Those of the curve that may be calibrated, which has no parameters then.
            curved = found.curve["component"] != COMPONENTS.index(CALIBRATED)
            densities["log_likelihood"] = found.log_likelihood["events"].sum(axis=-1)
            densities["log_prior"] = np.where(curved, self.model.log_prior_excess(draws), 0)
        return replace(
            found,
            posterior={**found.posterior, **draws},
            curve={**found.curve, **densities},
            log_prior=self.model.log_prior(draws),
        )

    def arrays_of(
        self,
        given: CurveDraws,
        prior_rates: Floats,
        direct: DirectDraws,
        n_cells: int,
        rng: np.random.Generator,
    ) -> CaseArrays:
        """Weigh the calibrated alternative against one curve, and collect draws of both."""
        p_calibrated = probability_calibrated(
            self.problem.cells, direct.log_evidence, self.priors.calibrated
        )
        right, shape = float(np.nan_to_num(p_calibrated)), given.rate.shape[:2]
        # The other random numbers are those of a fit without a calibrated alternative.
        chosen = choose(np.array([1 - right, right]), int(np.prod(shape)), rng.spawn(1)[0])
        calibrated = chosen.reshape(shape) == 1
        scores = self.problem.cells.mean_score, curve_scores(self.problem)
        both = zip(scores, given, strict=True)
        drawn = CurveDraws(*(np.where(calibrated[..., None], s, v) for s, v in both))
        component = np.where(calibrated, *map(COMPONENTS.index, (CALIBRATED, SMOOTH)))
        doubts = evidence_warnings(direct.ess) if self.priors.calibrated else []
        found = collect_arrays(
            self.problem,
            MixedDraws(drawn, given, calibrated, component),
            draw_shares(self.problem, shape, rng),
            prior_rates,
            n_cells,
            rng,
        )
        return replace(
            found,
            model_average={"p_calibrated": p_calibrated},
            diagnostics=direct.figures,
            warnings=[*found.warnings, *doubts],
        )

    def simulate(self, rng: np.random.Generator) -> tuple[EceCase, Values]:
        """Draw label rates from the prior and labels given them, for the scores of this case.

        The model is conditional on the scores. Given them the cells' masses are Dirichlet(count)
        whatever the labels, and are drawn from it: their improper prior is not needed.
        """
        problem, values = simulated(self.problem, self.model.prior_rates(1, rng), rng)
        again = replace(self, problem=problem, model=label_model(problem, self.priors))
        return again, values


def draw_shares(problem: Problem, shape: tuple[int, ...], rng: np.random.Generator) -> BinnedMass:
    """Draw the shares of rows in the cells."""
    return BinnedMass(problem, draw_masses(problem.cells.mass_count, shape, rng))


class CurveDraws(NamedTuple):
    """Draws of a curve: label rates of the cells, and probabilities at `curve_scores`."""

    rate: Floats  # (chain, draw, cell)
    curve: Floats  # (chain, draw, point)


class MixedDraws(NamedTuple):
    """Draws of a curve that may be calibrated, and the same given that some score is not."""

    drawn: CurveDraws  # the scores themselves where it is calibrated
    given: CurveDraws
    calibrated: NDArray[np.bool_]  # (chain, draw)
    component: NDArray[np.int64]  # (chain, draw): places in `COMPONENTS`


def collect_arrays(
    problem: Problem,
    mixed: MixedDraws,
    share: BinnedMass,
    prior_rates: Floats,
    n_cells: int,
    rng: np.random.Generator,
) -> CaseArrays:
    """Errors of one problem by draws of its label rates, and what the data alone say."""
    cells, (drawn, given, calibrated, component) = problem.cells, mixed
    binned, of_given = share.at(drawn.rate), share.at(given.rate)
    posterior = binned.errors(drawn.rate)
    for name in (*ERRORS, "gap"):
        # Exactly, and not up to rounding.
        posterior[name][calibrated] = 0.0
    prior_share = draw_masses(cells.mass_count, (1, len(prior_rates)), rng)
    prior = error_draws(problem, prior_rates[None], prior_share)
    replicated = draw_events(cells.count, drawn.rate, rng)
    replicated = replicated if cells.weighted else replicated.astype(np.int32)
    gap = given.rate - cells.mean_score
    # A segment without shift is off by rounding, in no direction.
    direction = ((gap > ROUNDING).astype(float) - (gap < -ROUNDING)).mean(axis=(0, 1))
    log_likelihood = log_binomial(cells.positives, cells.count, off_boundary(drawn.rate))
    given_mass = {}
    if cells.weighted:
        given_mass = {"given_mass": kept_rates(cells.count, of_given.mass, n_cells)}
    posterior["calibration_curve"] = drawn.curve
    bins = problem.bins
    figures = {**estimate(bins)._asdict(), "n": bins.n, "prevalence": bins.prevalence}
    if bins.weighted:
        figures["effective_n"] = bins.effective_n
    found = kept_data(problem, n_cells, posterior, figures, _theory(bins)._asdict())
    gap_direction = {"gap_direction": nonempty_cells(direction, cells.count, n_cells)}
    return replace(
        found,
        prior={name: prior[name] for name in ERRORS},
        log_likelihood={"events": nonempty_cells(log_likelihood, cells.count, n_cells)},
        constant_data={**found.constant_data, **gap_direction},
        posterior_predictive={"events": nonempty_cells(replicated, cells.count, n_cells)},
        given_miscalibration={**of_given.errors(given.rate), "calibration_curve": given.curve},
        curve={
            **kept_curve(cells.count, drawn.rate, given.rate, binned.mass, component, n_cells),
            **given_mass,
        },
        warnings=contradiction_warnings(problem, replicated),
    )


def contradiction_warnings(problem: Problem, replicated: NDArray[Any]) -> list[str]:
    """Say so where rows drawn from the posterior have another plug-in estimate than these rows.

    A posterior predictive check by the plug-in estimate over the cells, whose bias it takes into
    account. In bins, neighbours that are off in opposite directions would cancel.
    """
    cells = problem.cells
    drawn, seen = (_plug_in(cells, found) for found in (replicated, cells.positives))
    return contradiction(seen, drawn, "" if cells is problem.bins else " over cells of scores")


def _plug_in(cells: BinCounts, positives: NDArray[Any]) -> Floats:
    """Plug-in estimate of the error from counts of positives by cell, (...)."""
    off = positives - cells.count * cells.mean_score
    return np.asarray(np.abs(off) @ (cells.share / np.maximum(cells.count, 1)))


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
    cells = relabelled(problem.cells, rates[0], rng)
    fine = problem.bins is not problem.cells
    bins = cells.merge(problem.bins.edges, problem.bins.strategy) if fine else cells
    share = draw_masses(problem.cells.mass_count, (1, len(rates)), rng)
    drawn = error_draws(problem, rates[None], share)
    again = Problem(problem.coords, cells.evened(), bins)
    return again, {name: value[0, 0] for name, value in drawn.items()}


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
            with_evidence(direct),
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
    alone = {name: posterior.given(name) for name in average.possible}
    rates = {name: one.rate for name, one in alone.items()}
    means = mean_curves(alone, points)
    prior_rates = CurvePosterior.prior(average, PRIOR_DRAWS, rng).miscalibrated.rate[0]
    share = draw_shares(problem, posterior.place.shape, rng)
    mixed = MixedDraws(
        CurveDraws(posterior.rate, posterior.at(points)),
        CurveDraws(given.rate, given.at(points)),
        posterior.calibrated,
        posterior.component,
    )
    found = collect_arrays(problem, mixed, share, prior_rates, n_cells, rng)
    weighed = average.weighed(direct.evidence)
    # Where one description has all of the weight, its evidence may be rough.
    doubts = [] if weighed["weight"].max() > _CERTAIN else evidence_warnings(direct.ess)
    return replace(
        found,
        posterior={**found.posterior, "description": posterior.component},
        # The scores 0 and 1 averaged.
        descriptions=by_component({n: share.at(r).errors(r) for n, r in rates.items()}),
        log_prior={"curve": posterior.log_prior()},
        model_average={
            **weighed,
            "description_curve": means,
            "jump_probability": nonempty_cells(
                average.jump_probability(draws), problem.cells.count, n_cells
            ),
        },
        diagnostics=direct.figures,
        warnings=[*found.warnings, *doubts],
    )
