"""The model, the cases to fit, and from draws of their curves to the arrays of a result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayescal.core.bin_counts import BinCounts
from bayescal.core.checks import check_choice, check_data, check_is
from bayescal.core.count_table import CountTable, without_groups
from bayescal.core.counts import Counts
from bayescal.core.counts_sql import ALONE
from bayescal.core.errors import InputError
from bayescal.core.functionals import log_binomial
from bayescal.core.plausibility import class_signs
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats, Plan, Variable
from bayescal.core.scores import Scores, alike_scores
from bayescal.curves.average import Average, for_nuts, weighing, with_evidence
from bayescal.curves.cells import Problem, curve_scores, draw_masses, off_boundary
from bayescal.curves.posterior import (
    CurvePosterior,
    evidence_warnings,
    kept_curve,
    kept_data,
    nonempty_cells,
)
from bayescal.curves.priors import AVERAGED_AXES, CALIBRATED, COMPONENTS
from bayescal.curves.shared_rows import shared_rows
from bayescal.quantities.agnostic import VARIABLES
from bayescal.quantities.agnostic.bounds import bounds
from bayescal.quantities.agnostic.data import (
    CELLS,
    IntervalProblem,
    checked,
    checked_unlabeled,
    data_warnings,
    named_rules,
    one_label_warnings,
    problem_of,
    problem_of_rows,
    problems,
    rows_of,
)
from bayescal.quantities.agnostic.decisions import DecisionRule
from bayescal.quantities.agnostic.estimator import Estimate
from bayescal.quantities.agnostic.functionals import (
    PrefixSums,
    SharedRows,
    correlations,
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
_LEAST_RATE, _MOST_RATE = 1e-300, np.nextafter(1.0, 0.0)
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
        shares = {name: weights[name] / total for name in self.members}
        return for_nuts(shares, self.members)


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
        direct, average = with_evidence(direct), self.model
        posterior = CurvePosterior.of(average, average.completed(draws, rng), direct.evidence, rng)
        # First, as conditions take their draws from those of components.
        rate_of = {name: self._rate(posterior.given(name)) for name in average.fitted}
        drawn, given = posterior.wide, posterior.miscalibrated
        cells, size = self.problem.labeled.cells, self.model.compile_key[-1]
        rates, points = drawn.rate, curve_scores(self.problem.labeled)
        events = rng.binomial(cells.count, rates).astype(np.int32)
        likelihood, of_average = (
            log_binomial(cells.positives, cells.count, off_boundary(rate))
            for rate in (rates, posterior.rate)
        )
        mass = draw_masses(self.problem.cells.count, posterior.place.shape, rng)
        one = self.problem.all_labeled
        cell_mass = mass if one else draw_masses(cells.count, mass.shape[:-1], rng)
        inside = self._inside(rate_of, mass)
        population = self._of_population(drawn, mass, rng)
        unlabeled = population.get("unlabeled_auc"), self.problem.figures.n_unlabeled
        population |= self._measures(posterior, inside, mass)
        population |= {
            "calibration_curve": posterior.at(points),
            "description": posterior.component,
        }
        return replace(
            self._of_data(population),
            given_miscalibration={
                **self._measures(given, inside, mass),
                "calibration_curve": given.at(points),
            },
            curve={
                **kept_curve(
                    cells.count, posterior.rate, given.rate, cell_mass, posterior.component, size
                ),
                "log_likelihood": of_average.sum(axis=-1),
                "log_prior": posterior.log_prior(),
            },
            prior=self._implied(CurvePosterior.prior(average, PRIOR_DRAWS, rng).wide, rng),
            posterior_predictive={"events": nonempty_cells(events, cells.count, size)},
            log_likelihood={"events": nonempty_cells(likelihood, cells.count, size)},
            log_prior={"curve": drawn.log_prior()},
            descriptions=self._by_component(posterior, inside, mass),
            model_average=average.weighed(direct.evidence),
            diagnostics=direct.figures,
            warnings=[*evidence_warnings(direct.ess), *one_label_warnings(*unlabeled)],
        )

    def _of_data(self, posterior: Values) -> CaseArrays:
        """What a result holds whatever the draws, with the thresholds of ROC curves."""
        problem, theory = self.problem.labeled, bounds(self.problem.figures.n)._asdict()
        size, estimate = self.model.compile_key[-1], self._point_estimate()
        found = kept_data(problem, size, posterior, estimate, theory)
        scores = {"curve_score": found.constant_data["curve_score"], **self._thresholds()}
        return replace(found, constant_data={**scores, **found.constant_data})

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
        """Thresholds of ROC curves: whether each is reached straight, and labelled rows above."""
        problem, above = self.problem, self.problem.above
        found = {
            "roc_threshold": np.append(problem.cells.edges[:0:-1], -np.inf),
            "roc_straight": np.append(True, problem.one_score[::-1]),
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
        # A rate that rounds to 0 or 1 everywhere would leave no ROC curve.
        rate = np.clip(self._rate(drawn), _LEAST_RATE, _MOST_RATE)
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
        # In single precision, as there are many.
        rates = {name: self._padded(getattr(curves, name), np.float32) for name in ("fpr", "tpr")}
        return {"auc": curves.auc, **rates, **found}

    def _point_estimate(self) -> dict[str, Any]:
        """Figures of the labelled rows, and of the unlabelled ones by their scores alone."""
        rows = self.problem.figures
        found: dict[str, Any] = {
            name: np.float64(getattr(rows.measure, name)) for name in Estimate._fields
        }
        found |= {"n": rows.n, "prevalence": rows.n_positive / rows.n, "auc": rows.auc}
        found |= zip(self.rules, rows.costs, strict=True)
        if rows.n_unlabeled:
            unlabeled = [f"unlabeled_{name}" for name in ("auc", *self.rules)]
            found |= zip(unlabeled, (rows.unlabeled_auc, *rows.unlabeled_costs), strict=True)
        return found


def plan(
    data: Scores | Counts | Mapping[str, Counts],
    priors: Priors,
    *,
    unlabeled: Any = None,
    decision: DecisionRule | Mapping[str, DecisionRule] | None = None,
    multiclass: str = "top-label",
) -> Plan:
    """Plan the fits of calibration curves.

    Parameters
    ----------
    data : Scores, Counts, CountTable or mapping of str to Counts
        Scores with labels, where rows without count as unlabelled ones; or counts by classifier.
    priors : Priors
        Priors.
    unlabeled : Scores or array-like of shape (obs,), optional
        More scores of the same population, whose labels are not used; not with counts.
    decision : DecisionRule or mapping of str to DecisionRule, optional
        A rule whose cost is estimated as ``cost``, or several by name, as ``cost_<name>``.
    multiclass : {"top-label", "class-wise"}, default "top-label"
        How several classes become binary problems; see `bayescal.agnostic.estimate`.

    Returns
    -------
    Plan
        A case a classifier (and class), and how metrics correlate over shared rows, if known.

    Raises
    ------
    InputError
        If the data are of another class, hold no labelled row, weights or groups, or unlabelled
        rows or rules are not such.
    """
    kinds = (Scores, Counts, Mapping)
    check_data(data, kinds, "agnostic", "Scores(y_true=..., y_prob=...)", Counts)
    data = {ALONE: data} if isinstance(data, Counts) else data
    check_is(priors, Priors, "priors", "Pass bayescal.agnostic.Priors().")
    check_choice(multiclass, ("top-label", "class-wise"), "multiclass")
    rules = named_rules(decision)
    if isinstance(data, Mapping):
        return _of_counts(data, priors, rules, unlabeled)
    if (more := checked_unlabeled(unlabeled, data)) is not None:
        data, more = alike_scores(data, more)
    rows = rows_of(checked(data), more, multiclass, list(rules.values()))
    cases = [
        AgnosticCase.of(
            problem_of_rows(one, list(rules.values())),
            priors,
            rules,
            class_signs(data, one.task.coords["classifier"]),
        )
        for one in rows
    ]
    n_obs = data.n_obs + (0 if more is None else more.n_obs)
    shared = rows if data.n_classifiers > 1 else []
    return _plan(cases, data, n_obs, "binary" if data.is_binary else multiclass, shared)


def _plan(
    cases: Sequence[AgnosticCase],
    data: Scores | Counts,
    n_obs: int,
    multiclass: str,
    rows: Sequence[SharedRows],
) -> Plan:
    """Plan cases, whose classifiers are compared over rows that they share, if there are any."""
    priors, rules = cases[0].priors, cases[0].rules
    attrs = {
        "n_obs": n_obs,
        "n_labeled": data.n_labeled,
        "classes": [str(label) for label in data.classes],
        "multiclass": multiclass,
        # Of rows without a label it is what their scores imply.
        "point_label": f"estimate from {'labels or scores' if data.n_labeled < n_obs else 'rows'}",
        "sections": ["costs"],
        "decision": json.dumps({name: rule.describe() for name, rule in rules.items()}),
        **weighing(priors.label_rate),
    }
    if rows:
        attrs["pairing"], labeled = "shared rows", [case.problem.labeled for case in cases]
        shared = shared_rows([one.task for one in rows], labeled)
        return Plan(cases, attrs, partial(correlations, cases, rows), _variables(rules), shared)
    if len({case.coords["classifier"] for case in cases}) > 1:
        attrs["pairing"] = "independent"
    return Plan(cases, attrs, None, _variables(rules))


def _of_counts(
    data: Mapping[str, Counts], priors: Priors, rules: Mapping[str, DecisionRule], unlabeled: Any
) -> Plan:
    """Plan the fits of counted rows."""
    if unlabeled is not None:
        raise InputError(
            "unlabeled cannot be added to counts. Count rows without a label with the others: "
            "their label is missing."
        )
    data = without_groups(data, "agnostic")
    for counts in data.values():
        if counts.weighted:
            raise InputError(
                "agnostic cannot use sample weights; got counts of weighted rows. Count the rows "
                "without weights."
            )
    cases = [
        AgnosticCase.of(problem_of(name, counts, list(rules.values())), priors, rules)
        for name, counts in data.items()
    ]
    tasks = data.shared_tasks() if isinstance(data, CountTable) else ()
    first = next(iter(data.values()))
    rows = [SharedRows(task, np.zeros(0)) for task in tasks]
    return _plan(cases, first, first.n_obs, "binary", rows)


def _variables(rules: Mapping[str, DecisionRule]) -> tuple[Variable, ...]:
    """The quantity's variables, with a cost for each rule, by its name where there are several."""
    found: list[Variable] = []
    for one in VARIABLES:
        if one.name not in ("cost", "unlabeled_cost"):
            found.append(one)
            continue
        for rule in rules:
            name, of = one.name.replace("cost", rule), rule.removeprefix("cost").removeprefix("_")
            title = one.title.replace("cost", f"cost {of}") if of else one.title
            found.append(one._replace(name=name, title=title, point=name))
    return tuple(found)


def build_model(
    data: Scores | Counts, priors: Priors | None = None, *, multiclass: str = "top-label"
) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : Scores or Counts
        One classifier's scores with labels.
    priors : Priors, optional
        Priors; `Priors()` if not given.
    multiclass : {"top-label"}, default "top-label"
        How several classes become binary problems.

    Returns
    -------
    pm.Model
        The rough description, or the smooth one where that is left out: observed ``events``
        (interior), the cells of scores between 0 and 1, padded with empty ones; data as pm.Data.

    Raises
    ------
    InputError
        If the data hold more than one binary problem, or no score between 0 and 1.

    Notes
    -----
    Segments and scores of exactly 0 and 1 have no parameters that need a sampler. The measure,
    costs and ROC curves are functions of draws of the average.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.Scores(y_true=[0, 0, 1, 1], y_prob=[0.1, 0.4, 0.5, 0.9])
    >>> [variable.name for variable in bc.agnostic.build_model(scores).observed_RVs]
    ['events']
    """
    check_data(data, (Scores, Counts), "agnostic", "Scores(y_true=..., y_prob=...)")
    found = (
        [problem_of(ALONE, data, [])]
        if isinstance(data, Counts)
        else problems(checked(data), None, multiclass, [])
    )
    if len(found) > 1:
        raise InputError(
            f"a model is that of one binary problem; got {len(found)}. "
            "Take one classifier with .select(name), and one class with .one_vs_rest(label)."
        )
    used = Priors() if priors is None else priors
    check_is(used, Priors, "priors", "Pass bayescal.agnostic.Priors().")
    return Average.of(found[0].labeled, used.label_rate, used.calibrated).build()
