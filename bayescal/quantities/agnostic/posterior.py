"""From draws of the curve to everything a result holds of one classifier, and simulated data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.calibration_curve.problem import (
    Problem,
    curve_scores,
    draw_masses,
    held_cells,
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
from bayescal.quantities.agnostic.bounds import bounds
from bayescal.quantities.agnostic.data import IntervalProblem, data_warnings
from bayescal.quantities.agnostic.decisions.costs import actual_cost, estimated_cost
from bayescal.quantities.agnostic.decisions.rule import DecisionRule
from bayescal.quantities.agnostic.estimator import estimate
from bayescal.quantities.agnostic.functionals import (
    cost_draws,
    draw_labels,
    measure_draws,
    roc_draws,
    tpr_at,
)
from bayescal.quantities.agnostic.model import model_of
from bayescal.quantities.agnostic.models.smooth_curve import Curve
from bayescal.quantities.agnostic.priors import Priors
from bayescal.quantities.agnostic.roc import roc

if TYPE_CHECKING:
    import pymc as pm

type Values = dict[str, Floats]

PRIOR_DRAWS = 1000
# False positive rates at which ROC curves are kept.
FPR = np.linspace(0, 1, 101)
MONITORED = ("c", "ks", "auc")
DIMS: Mapping[str, tuple[str, ...]] = {
    "calibration_curve": ("point",),
    "curve_score": ("point",),
    "tpr": ("roc_point",),
    "unlabeled_tpr": ("roc_point",),
    "fpr": ("roc_point",),
    "coef": ("basis",),
    "events": ("cell",),
    "cell_count": ("cell",),
    "cell_score": ("cell",),
}


@dataclass(frozen=True, slots=True, eq=False)
class AgnosticCase:
    """One problem under its prior; made by `AgnosticCase.of`."""

    problem: IntervalProblem
    priors: Priors
    rules: Mapping[str, DecisionRule]
    model: Curve
    axes: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    dims: ClassVar[Mapping[str, tuple[str, ...]]] = DIMS
    monitored: ClassVar[tuple[str, ...]] = MONITORED
    # None: there is no alternative to weigh.
    evidence_draws: ClassVar[int] = 0

    @classmethod
    def of(
        cls, problem: IntervalProblem, priors: Priors, rules: Mapping[str, DecisionRule]
    ) -> AgnosticCase:
        """Join a problem and its prior; `rules` are by the names of their costs."""
        return cls(problem, priors, rules, Curve.of(problem.labeled.cells, priors.label_rate))

    @property
    def coords(self) -> Mapping[str, str]:
        """Classifier, and class where there are several."""
        return self.problem.labeled.coords

    @property
    def warnings(self) -> list[str]:
        """Warnings about the data."""
        return data_warnings(self.problem)

    def fingerprint(self) -> str:
        """Hash of the counts and of the rules."""
        return self.problem.fingerprint(self.rules)

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        return model_of(self.problem.labeled, self.model)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        cells, (_, size) = self.problem.labeled.cells, self.model.compile_key
        rates, points = self.model.cell_rates(draws), curve_scores(self.problem.labeled)
        prior = {
            name: value[None] for name, value in self.model.prior_draws(PRIOR_DRAWS, rng).items()
        }
        events = rng.binomial(cells.count, rates).astype(np.int32)
        theory = bounds(self.problem.task.n)._asdict()
        return CaseArrays(
            coords=self.coords,
            posterior={
                **self._implied(draws, rng),
                "calibration_curve": self.model.curve(draws, points),
                **draws,
            },
            prior=self._implied(prior, rng),
            posterior_predictive={"events": held_cells(events, cells.count, size)},
            log_likelihood={
                "events": held_cells(
                    log_binomial(cells.positives, cells.count, rates), cells.count, size
                )
            },
            log_prior=self.model.log_prior(draws),
            observed_data={"events": held_cells(cells.positives, cells.count, size)},
            constant_data={
                "curve_score": points,
                "fpr": FPR,
                "cell_count": held_cells(cells.count, cells.count, size),
                "cell_score": held_cells(cells.mean_score, cells.count, size),
            },
            point_estimate=self._point_estimate(),
            bounds=bound_values(theory),
            bounds_attrs=bound_words(theory),
        )

    def simulate(self, rng: np.random.Generator) -> tuple[AgnosticCase, Values]:
        """Draw a curve from the prior and labels given it, for the scores of this case."""
        drawn = self.model.prior_draws(1, rng)
        cells = self.problem.labeled.cells
        events = rng.binomial(cells.count, self.model.cell_rates(drawn)[0])
        labels = BinCounts(cells.edges, cells.count, events, cells.mean_score, cells.closed)
        problem = replace(self.problem, labeled=Problem(self.coords, labels, labels))
        values = self._implied({name: value[None] for name, value in drawn.items()}, rng)
        new = AgnosticCase.of(problem, self.priors, self.rules)
        return new, {name: value[0, 0] for name, value in values.items()}

    def _implied(self, draws: Draws, rng: np.random.Generator) -> Values:
        """What each draw of the curve implies, of the population and of the unlabelled rows."""
        cells = self.problem.cells
        score, rate = cells.mean_score, self.model.curve(draws, cells.mean_score)
        mass = draw_masses(cells.count, rate.shape[:-1], rng)
        c, ks = measure_draws(score, mass, rate)
        positive, negative = mass * rate, mass * (1 - rate)
        curves = roc_draws(positive, negative)
        found = {"c": c, "ks": ks, "auc": curves.auc, "tpr": tpr_at(curves, FPR)}
        for name, rule in self.rules.items():
            found[name] = cost_draws(rule, score, positive, negative)
        if len(self.problem.unlabeled):
            found |= self._of_unlabeled(score, rate, rng)
        return found

    def _of_unlabeled(self, score: Floats, rate: Floats, rng: np.random.Generator) -> Values:
        """The same of the unlabelled rows, whose labels are drawn."""
        positive, negative = draw_labels(self.problem.unlabeled_count, rate, rng)
        curves = roc_draws(positive, negative)
        found = {"unlabeled_auc": curves.auc, "unlabeled_tpr": tpr_at(curves, FPR)}
        for name, rule in self.rules.items():
            total = cost_draws(rule, score, positive, negative)
            found[f"unlabeled_{name}"] = total / len(self.problem.unlabeled)
        return found

    def _point_estimate(self) -> dict[str, Any]:
        """Figures of the labelled rows, and of the unlabelled ones by their scores alone."""
        task, unlabeled = self.problem.task, self.problem.unlabeled
        found = {**estimate(task)._asdict(), "n": task.n, "prevalence": task.n_positive / task.n}
        both = 0 < task.n_positive < task.n
        found["auc"] = roc(task.score, task.event).auc if both else np.nan
        for name, rule in self.rules.items():
            found[name] = actual_cost(rule, task.score, task.event)
        if len(unlabeled):
            certain = float(unlabeled.mean()) in (0.0, 1.0)
            found["unlabeled_auc"] = np.nan if certain else roc(unlabeled).auc
            for name, rule in self.rules.items():
                found[f"unlabeled_{name}"] = estimated_cost(rule, unlabeled)
        return found
