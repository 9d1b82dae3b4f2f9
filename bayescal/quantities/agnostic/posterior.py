"""From draws of the curve to everything a result holds of one classifier, and simulated data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.functionals import log_binomial
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats, bound_values, bound_words
from bayescal.curves.average import Average, that_matter
from bayescal.curves.cells import (
    Problem,
    curve_scores,
    draw_masses,
    evidence_warnings,
    kept_curve,
    kept_rates,
    nonempty_cells,
    off_boundary,
)
from bayescal.curves.posterior import CurvePosterior
from bayescal.curves.priors import AVERAGED_AXES, CALIBRATED, COMPONENTS
from bayescal.quantities.agnostic.bounds import bounds
from bayescal.quantities.agnostic.data import CELLS, IntervalProblem, data_warnings
from bayescal.quantities.agnostic.decisions import DecisionRule
from bayescal.quantities.agnostic.functionals import (
    PrefixSums,
    RocDraws,
    cost_draws,
    draw_labels,
    roc_draws,
)
from bayescal.quantities.agnostic.priors import Priors

if TYPE_CHECKING:
    import pymc as pm

type Values = dict[str, np.ndarray]

PRIOR_DRAWS = 1000
# Cells of the scores 0 and 1, and the ends of ROC curves.
_MORE_POINTS = 4
# For the weights of the descriptions.
EVIDENCE_DRAWS = 2000
MONITORED = ("c", "ks", "auc")


@dataclass(frozen=True, eq=False)
class WideAverage(Average):
    """An average of whose draws costs and ROC curves take the wide ones alone."""

    def members_to_sample(self, direct: DirectDraws) -> tuple[str, ...]:
        """Members that matter to these."""
        weights = self.weights(direct.evidence)
        total = sum(weights[name] for name in self.members) or 1.0
        return that_matter({name: weights[name] / total for name in self.members}, self.members)


@dataclass(frozen=True, slots=True, eq=False)
class AgnosticCase:
    """One problem under its prior; made by `AgnosticCase.of`."""

    problem: IntervalProblem
    priors: Priors
    rules: Mapping[str, DecisionRule]
    model: Average
    notes: Sequence[str]
    axes: ClassVar[Mapping[str, tuple[str, ...]]] = AVERAGED_AXES
    monitored: ClassVar[tuple[str, ...]] = MONITORED
    evidence_draws: ClassVar[int] = EVIDENCE_DRAWS

    @classmethod
    def of(
        cls,
        problem: IntervalProblem,
        priors: Priors,
        rules: Mapping[str, DecisionRule],
        notes: Sequence[str] = (),
    ) -> AgnosticCase:
        """Join a problem and its prior; `rules` are by the names of their costs."""
        model = WideAverage.of(problem.labeled, priors.label_rate, priors.calibrated)
        return cls(problem, priors, rules, model, notes)

    @property
    def coords(self) -> Mapping[str, str]:
        """Classifier, and class where there are several."""
        return self.problem.labeled.coords

    @property
    def warnings(self) -> list[str]:
        """Warnings about the data."""
        return [*self.notes, *data_warnings(self.problem)]

    def fingerprint(self) -> str:
        """Hash of the counts and of the rules."""
        return self.problem.fingerprint(self.rules)

    def build_model(self, member: str = "") -> pm.Model:
        """Build the model of one description, by default the last that has parameters."""
        return self.model.build(member)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        if direct is None:
            raise TypeError("an average needs direct draws, for the evidence of its descriptions")
        average, evidence = self.model, direct.evidence
        posterior = CurvePosterior.of(average, average.completed(draws, rng), evidence, rng)
        # First, as conditions take their draws from those of components.
        rate_of = {name: self._rate(posterior.given(name)) for name in average.fitted}
        drawn = posterior.wide
        cells, size = self.problem.labeled.cells, self.model.compile_key[-1]
        rates, points = drawn.rate, curve_scores(self.problem.labeled)
        events = rng.binomial(cells.count, rates).astype(np.int32)
        likelihood = log_binomial(cells.positives, cells.count, off_boundary(rates))
        weights = average.weights(evidence)
        given = posterior.miscalibrated
        mass = draw_masses(self.problem.cells.count, posterior.place.shape, rng)
        one = self.problem.all_labeled
        cell_mass = mass if one else draw_masses(cells.count, mass.shape[:-1], rng)
        inside = self._inside(rate_of, mass)
        theory = bounds(self.problem.figures.n)._asdict()
        return CaseArrays(
            coords=self.coords,
            posterior={
                **self._of_population(drawn, mass, rng),
                **self._measures(posterior, inside, mass),
                "calibration_curve": posterior.at(points),
                "description": posterior.component,
            },
            given_miscalibration={
                **self._measures(given, inside, mass),
                "calibration_curve": given.at(points),
            },
            curve={
                **kept_curve(cells.count, posterior.rate, cell_mass, posterior.component, size),
                "given_rate": kept_rates(cells.count, given.rate, size),
            },
            prior=self._implied(CurvePosterior.prior(average, PRIOR_DRAWS, rng).wide, rng),
            posterior_predictive={"events": nonempty_cells(events, cells.count, size)},
            log_likelihood={"events": nonempty_cells(likelihood, cells.count, size)},
            log_prior={"curve": drawn.log_prior()},
            observed_data={"events": nonempty_cells(cells.positives, cells.count, size)},
            constant_data={
                "curve_score": points,
                **self._thresholds(),
                "cell_count": nonempty_cells(cells.count, cells.count, size),
                "cell_score": nonempty_cells(cells.mean_score, cells.count, size),
            },
            point_estimate=self._point_estimate(),
            descriptions=self._by_component(posterior, inside, mass),
            model_average={
                "p_calibrated": average.p_calibrated(evidence),
                "weight": np.array([weights.get(name, 0.0) for name in COMPONENTS]),
                "boundary_calibrated": average.boundary_calibrated(evidence),
            },
            diagnostics={"importance_ess": direct.ess, "pareto_k": direct.pareto_k},
            bounds=bound_values(theory),
            bounds_attrs=bound_words(theory),
            warnings=evidence_warnings(direct.ess),
        )

    def simulate(self, rng: np.random.Generator) -> tuple[AgnosticCase, Values]:
        """Draw a curve from the prior and labels given it, for the scores of this case."""
        drawn = CurvePosterior.prior(self.model, 1, rng).wide
        cells = self.problem.labeled.cells
        events = rng.binomial(cells.count, drawn.rate[0, 0])
        labels = BinCounts(cells.edges, cells.count, events, cells.mean_score, cells.closed)
        problem = replace(self.problem, labeled=Problem(self.coords, labels, labels))
        values = self._implied(drawn, rng)
        new = AgnosticCase.of(problem, self.priors, self.rules)
        return new, {name: value[0, 0] for name, value in values.items()}

    def _thresholds(self) -> dict[str, np.ndarray]:
        """Thresholds of ROC curves, with the labelled rows above them."""
        above = self.problem.above
        found = {
            "roc_threshold": self.problem.threshold,
            "roc_straight": self.problem.straight,
            "positive_above": above.positive,
            "negative_above": above.negative,
        }
        return {name: self._padded(values) for name, values in found.items()}

    def _padded(self, points: np.ndarray, dtype: type | None = None) -> np.ndarray:
        """Repeat the last point, so that the results of all classifiers have as many."""
        size = CELLS + sum(len(rule.thresholds) for rule in self.rules.values()) + _MORE_POINTS
        found = np.empty((*points.shape[:-1], size), dtype or points.dtype)
        found[..., : points.shape[-1]] = points
        found[..., points.shape[-1] :] = points[..., -1:]
        return found

    def _curves(self, curves: RocDraws) -> Values:
        """Rates at the thresholds, in single precision, as there are many."""
        return {name: self._padded(getattr(curves, name), np.float32) for name in ("fpr", "tpr")}

    def _rate(self, curve: CurvePosterior) -> Floats:
        """Label rates in the cells of all rows, (chain, draw, cell)."""
        # Cells of the curve itself are quicker to evaluate.
        return curve.rate if self.problem.all_labeled else curve.at(self.problem.cells.mean_score)

    def _inside(self, rate_of: Mapping[str, Floats], mass: Floats) -> Mapping[str, PrefixSums]:
        """Of each component, the sums over the cells with scores between 0 and 1."""
        score = self.problem.cells.mean_score
        inner = slice(int(score[0] == 0), len(score) - int(score[-1] == 1))
        none = PrefixSums.of(np.zeros((*mass.shape[:-1], 0)))
        return {CALIBRATED: none} | {
            name: PrefixSums.of(mass[..., inner] * (score[inner] - rate[..., inner]))
            for name, rate in rate_of.items()
        }

    def _measures(
        self, curve: CurvePosterior, inside: Mapping[str, PrefixSums], mass: Floats
    ) -> Values:
        """Measures of every draw, exactly 0 where it is calibrated, (chain, draw)."""
        score, names = self.problem.cells.mean_score, self.model.names
        each = [inside.get(name, inside[CALIBRATED]) for name in names]
        own = PrefixSums._make(np.choose(curve.component, part) for part in zip(*each, strict=True))
        ends = {
            end: mass[..., cell] * (end - curve.at(np.array([float(end)]))[..., 0])
            for end, cell in ((0, 0), (1, -1))
            if score[cell] == end
        }
        found = own.between(ends.get(0, 0.0), ends.get(1, 0.0)).measures
        return {name: np.where(curve.calibrated, 0.0, one) for name, one in found.items()}

    def _by_component(
        self, posterior: CurvePosterior, inside: Mapping[str, PrefixSums], mass: Floats
    ) -> Values:
        """Measures under each component, (chain, draw, description); 0 for one left out."""
        drawn = {name: self._measures(posterior.given(name), inside, mass) for name in inside}
        none = dict.fromkeys(("c", "ks"), np.zeros(mass.shape[:-1]))
        each = [drawn.get(name, none) for name in COMPONENTS]
        return {var: np.stack([one[var] for one in each], axis=-1) for var in none}

    def _implied(self, drawn: CurvePosterior, rng: np.random.Generator) -> Values:
        """What each draw of the curve implies, of the population and of the unlabelled rows."""
        cells, rate = self.problem.cells, self._rate(drawn)
        mass = draw_masses(cells.count, rate.shape[:-1], rng)
        measures = PrefixSums.of(mass * (cells.mean_score - rate)).measures
        return {**measures, **self._of_population(drawn, mass, rng)}

    def _of_population(
        self, drawn: CurvePosterior, mass: Floats, rng: np.random.Generator
    ) -> Values:
        """Costs and ROC curves of cells of these masses, and of the unlabelled rows."""
        rate = self._rate(drawn)
        positive = mass * rate
        found = self._costs_and_curves(positive, mass - positive)
        if n := self.problem.figures.n_unlabeled:
            rows = draw_labels(self.problem.unlabeled_count, rate, rng)
            rest = self._costs_and_curves(*(labels / n for labels in rows))
            found |= {f"unlabeled_{name}": values for name, values in rest.items()}
        return found

    def _costs_and_curves(self, positive: Floats, negative: Floats) -> Values:
        """Of the share of the rows that are positive, or negative, in each cell."""
        curves, score = roc_draws(positive, negative), self.problem.cells.mean_score
        found = {n: cost_draws(rule, score, positive, negative) for n, rule in self.rules.items()}
        return {"auc": curves.auc, **self._curves(curves), **found}

    def _point_estimate(self) -> dict[str, Any]:
        """Figures of the labelled rows, and of the unlabelled ones by their scores alone."""
        rows = self.problem.figures
        prevalence = rows.n_positive / rows.n
        found = {**rows.estimate()._asdict(), "n": rows.n, "prevalence": prevalence}
        found["auc"] = rows.auc()
        for name, rule in self.rules.items():
            found[name] = rows.cost(rule)
        if rows.n_unlabeled:
            found["unlabeled_auc"] = rows.unlabeled_auc()
            for name, rule in self.rules.items():
                found[f"unlabeled_{name}"] = rows.unlabeled_cost(rule)
        return found
