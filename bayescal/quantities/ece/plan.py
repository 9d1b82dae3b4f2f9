"""The models to fit for given data, and all groups of one classifier in one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayescal.core import quantity
from bayescal.core.bin_counts import BinCounts, without
from bayescal.core.binning import Binning
from bayescal.core.checks import check_choice, check_data, check_is, check_rows
from bayescal.core.columns import Label
from bayescal.core.count_table import CountTable
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.functionals import correlation, weighted_influence
from bayescal.core.plausibility import class_signs
from bayescal.core.quantity import Case, CaseArrays, DirectDraws, Draws, Floats, Plan
from bayescal.core.scores import MULTICLASS, Scores, Task
from bayescal.curves.average import in_chains, weighing, with_evidence
from bayescal.curves.cells import Problem, curve_scores
from bayescal.curves.priors import SMOOTH, CurveAverage, SmoothCurve, without_lines
from bayescal.curves.shared_rows import shared_rows
from bayescal.quantities.ece import VARIABLES
from bayescal.quantities.ece.data import Data, in_table, is_fine, problems, problems_by_group
from bayescal.quantities.ece.estimator import effective_rows, resolved
from bayescal.quantities.ece.model import model_of_groups
from bayescal.quantities.ece.pooled_curves import GroupCurve, PooledCurves
from bayescal.quantities.ece.posterior import (
    EVIDENCE_DRAWS,
    MONITORED,
    PRIOR_DRAWS,
    AveragedCase,
    CurveDraws,
    EceCase,
    Values,
    average_arrays,
    case_of,
    simulated,
)
from bayescal.quantities.ece.priors import Priors

if TYPE_CHECKING:
    import pymc as pm

_MOST_NAMED = 5
_DRAW_GROUPS = (
    *("posterior", "prior", "log_likelihood", "posterior_predictive", "descriptions"),
    *("given_miscalibration", "curve"),
)
_PLAIN_GROUPS = (
    "observed_data",
    "constant_data",
    "point_estimate",
    "bounds",
    "model_average",
    "diagnostics",
)
_BY_GROUP = (
    *("l2", "l2_debiased", "n", "effective_n", "prevalence"),
    "p_calibrated",
    *("total_bias", "statistical_bias", "binning_bias", "optimal_n_bins", "least_bound_n_bins"),
    # A bound in one group of the result, a coefficient in another.
    "bounds/deviation",
)
GROUPED_VARIABLES = (
    *(one._replace(dims=("group", *one.dims)) for one in VARIABLES),
    *quantity.undrawn(*_BY_GROUP, dims=("group",)),
    *quantity.named("common", dims=("basis",)),
    *quantity.named("deviation", dims=("group", "basis")),
    *quantity.named("pooling"),
)
"""Variables of groups under one model."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupedCase:
    """The groups of one classifier (and class) under `PooledCurves`; made by `GroupedCase.of`."""

    coords: Mapping[str, str]
    alone: Sequence[EceCase | AveragedCase]
    model: PooledCurves
    notes: Sequence[str]
    monitored: ClassVar[tuple[str, ...]] = MONITORED
    # None: the evidence is that of each group on its own.
    evidence_draws: ClassVar[int] = 0

    @classmethod
    def of(
        cls, problems: Sequence[Problem], priors: Priors, notes: Sequence[str] = ()
    ) -> GroupedCase:
        """Join the groups' problems."""
        curve, pooled = priors.label_rate, problems
        if isinstance(curve, CurveAverage):
            # Lines of groups deviate by `pooling`.
            priors = replace(priors, label_rate=without_lines(curve))
            curve, pooled = curve.curve, [without_ends(problem) for problem in problems]
        if not isinstance(curve, SmoothCurve):
            raise TypeError("groups share a curve, not bins")
        coords = {dim: name for dim, name in problems[0].coords.items() if dim != "group"}
        alone = [case_of(problem, priors) for problem in problems]
        return cls(coords, alone, PooledCurves(pooled, curve, priors.pooling), notes)

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the groups, and of the descriptions of an average."""
        return {"group": tuple(case.coords["group"] for case in self.alone), **self.alone[0].axes}

    @property
    def warnings(self) -> list[str]:
        """Warnings about the data of each group."""
        return [*self.notes, *self._by_group([case.warnings for case in self.alone])]

    def fingerprint(self) -> str:
        """Hash of the counts of all groups."""
        return "".join(case.fingerprint() for case in self.alone)

    def build_model(self, member: str = SMOOTH) -> pm.Model:
        """Build the model of the curves that the groups share, unsampled."""
        return model_of_groups(self.model)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of the groups, but for the sampler's own figures.

        Whether one group is calibrated is decided by its own rows, without the other groups.
        """
        before = self.model.prior_draws(PRIOR_DRAWS, rng)
        found = [self._arrays_of(place, draws, before, rng) for place in range(len(self.alone))]
        stacked: dict[str, Any] = {name: _stack(found, name, axis=2) for name in _DRAW_GROUPS}
        stacked |= {name: _stack(found, name, axis=0) for name in _PLAIN_GROUPS}
        stacked["posterior"] |= draws
        # What the groups' probabilities of calibration rest on, not the draws: the worst group.
        diagnostics = stacked["diagnostics"]
        diagnostics["importance_ess"] = diagnostics["importance_ess"].min()
        # NaN is that of a group without a curve.
        diagnostics["pareto_k"] = np.fmax.reduce(diagnostics["pareto_k"])
        return replace(
            found[0],
            coords=self.coords,
            warnings=self._by_group([arrays.warnings for arrays in found]),
            **stacked,
            log_prior=self.model.log_prior(draws),
        )

    def _arrays_of(
        self, place: int, draws: Draws, before: Draws, rng: np.random.Generator
    ) -> CaseArrays:
        """What a result holds of one group, whose smooth curve is that of the common model."""
        case, n_cells = self.alone[place], self.model.compile_key[-1]
        if isinstance(case, AveragedCase):
            shape, more = draws["common"].shape[:2], GroupCurve(self.model, place, case.model)
            own = case.model.direct_draws(int(np.prod(shape)), rng)
            return average_arrays(
                case.problem,
                replace(case.model, more={**case.model.more, SMOOTH: more}),
                {**in_chains(own.draws, shape), **draws},
                own,
                n_cells,
                rng,
            )
        own = with_evidence(case.model.direct_draws(EVIDENCE_DRAWS, rng))
        rate = self.model.cell_rates(draws, place)
        given = CurveDraws(rate, self.model.curve(draws, place, curve_scores(case.problem)))
        return case.arrays_of(given, self.model.cell_rates(before, place), own, n_cells, rng)

    def simulate(self, rng: np.random.Generator) -> tuple[GroupedCase, Values]:
        """Draw coefficients from the prior and labels given them, group by group."""
        if isinstance(self.alone[0], AveragedCase):
            raise InputError(
                "groups under an average cannot be simulated: their weights come from each group's "
                "own rows, the smooth curve from all. Pass Priors(label_rate=SmoothCurve())."
            )
        before = self.model.prior_draws(1, rng)
        problems, values = zip(
            *(
                simulated(case.problem, self.model.cell_rates(before, place), rng)
                for place, case in enumerate(self.alone)
            ),
            strict=True,
        )
        again = GroupedCase.of(problems, self.alone[0].priors, self.notes)
        stacked = {name: np.stack([value[name] for value in values]) for name in values[0]}
        return again, {**stacked, "pooling": before["pooling"][0]}

    def _by_group(self, sentences: Sequence[Sequence[str]]) -> list[str]:
        """Sentences about groups, each once, with the first names; a sign stays one."""
        of: dict[str, list[str]] = {}
        for case, own in zip(self.alone, sentences, strict=True):
            for sentence in own:
                of.setdefault(sentence, []).append(case.coords["group"])
        return [type(said)(f"in {_in_words(names)}, {said}") for said, names in of.items()]


def _in_words(groups: Sequence[str]) -> str:
    shown, rest = groups[:_MOST_NAMED], len(groups) - _MOST_NAMED
    more = f" and {rest} more" if rest > 0 else ""
    return f"group{'s' * (len(groups) > 1)} {', '.join(shown)}{more}"


def without_ends(problem: Problem) -> Problem:
    """Leave out rows with a score of exactly 0 or 1, which no curve joins with the others."""
    score = problem.cells.mean_score
    return replace(problem, cells=without(problem.cells, (score == 0) | (score == 1)))


def _stack(found: Sequence[CaseArrays], group: str, axis: int) -> dict[str, Any]:
    """Put the groups' arrays along a new axis."""
    return {
        name: np.stack([np.asarray(getattr(arrays, group)[name]) for arrays in found], axis=axis)
        for name in getattr(found[0], group)
    }


def error_correlation(
    tasks: Sequence[Task], cases: Sequence[EceCase | AveragedCase], found: Sequence[CaseArrays]
) -> Floats:
    """Correlation of classifiers' calibration errors over shared rows, (classifier, classifier)."""
    influences = []
    for task, case, arrays in zip(tasks, cases, found, strict=True):
        cells = case.problem.cells
        held = np.flatnonzero(cells.count)
        sign = np.zeros(cells.n_bins)
        sign[held] = np.asarray(arrays.constant_data["gap_direction"])[: len(held)]
        influences.append(influence(task, cells, sign))
    return correlation(influences)


def influence(task: Task, cells: BinCounts, sign: Floats) -> Floats:
    """What each row adds to the estimate of a classifier's calibration error, (obs,).

    The calibration error is ``E |P(Y | f) - f| = E [d(f) (Y - f)]`` with d the sign of the gap. Row
    i adds ``d(s_i) (y_i - s_i)``, and as d is optimal the error in it is of second order: this is
    the influence function of the error. Of weights w it is that of a weighted mean, ``w_i`` times
    the row's distance from that mean.
    """
    found = sign[cells.find(task.score)] * (task.event - task.score)
    return np.asarray(weighted_influence(found, task.weight), dtype=np.float32)


def plan(
    data: Data | Counts | Mapping[str, Counts],
    priors: Priors,
    *,
    binning: Binning | None = None,
    multiclass: str = "top-label",
) -> Plan:
    """Plan the fits of calibration errors.

    Parameters
    ----------
    data : Scores, BinCounts, Counts, CountTable or mapping of str to Counts
        Scores with labels, one problem's counts, or counts by classifier (and group).
    priors : Priors
        Priors.
    binning : Binning, optional
        Bins of the evaluation, in place of those of `Counts`; not used with `BinCounts`. With
        ``n_bins="optimal"`` groups have one number, that of their mean labelled rows.
    multiclass : {"top-label", "class-wise", "marginal"}, default "top-label"
        How several classes become binary problems; see `bayescal.ece.estimate`.

    Returns
    -------
    Plan
        A case a classifier (and class); groups are one under a smooth curve, one each under bins.

    Raises
    ------
    InputError
        If the data are of another class, or hold no labelled row.
    """
    kinds = (Scores, BinCounts, Counts, Mapping)
    check_data(data, kinds, "ece", "Scores(y_true=..., y_prob=...)", Counts)
    rows: Data = in_table(data, binning)
    check_is(priors, Priors, "priors", "Pass bayescal.ece.Priors().")
    check_choice(multiclass, MULTICLASS, "multiclass")
    bins = resolved(Binning.of(binning), rows)
    attrs = _attributes(rows, bins, multiclass) | weighing(priors.label_rate)
    if not isinstance(rows, BinCounts) and rows.groups:
        found = [*problems_by_group(rows, priors, bins, multiclass)]
        # Of classifiers either all have a model of all groups or none: their results are joined.
        pooled = is_fine(priors) and any(_have_a_curve(own, priors) for own in found)
        parts = [case for own in found for case in _of_groups(own, rows, priors, pooled)]
        return Plan(parts, attrs, variables=GROUPED_VARIABLES if pooled else ())
    cases = [
        case_of(problem, priors, _class_signs(rows, problem))
        for problem in problems(rows, priors, bins, multiclass)
    ]
    tasks = _shared_tasks(rows, multiclass)
    if not tasks:
        return Plan(cases, attrs)
    shared = shared_rows(tasks, [case.problem for case in cases])
    by_classifier_alone = len({case.coords["classifier"] for case in cases}) == len(cases)
    correlate = partial(error_correlation, tasks, cases) if by_classifier_alone else None
    return Plan(cases, attrs, correlate, shared_rows=shared)


def _shared_tasks(data: Data, multiclass: str) -> Sequence[Task]:
    """The binary problems of rows that several classifiers share; none of one classifier."""
    if isinstance(data, Scores):
        return data.tasks(multiclass) if data.n_classifiers > 1 else ()
    return data.shared_tasks() if isinstance(data, CountTable) else ()


def _class_signs(data: Data, problem: Problem) -> Sequence[str]:
    return class_signs(data, problem.coords["classifier"]) if isinstance(data, Scores) else ()


def _of_groups(
    found: Sequence[Problem], data: Scores | CountTable, priors: Priors, pooled: bool
) -> Sequence[Case]:
    """One model for all groups that share a curve; independent ones otherwise."""
    check_rows(len(found), "the labelled rows")
    held = {problem.coords["group"] for problem in found}
    left_out = [name for name in data.groups if name not in held]
    notes = [f"group {name} has no labelled row and is left out." for name in left_out]
    notes += _class_signs(data, found[0])
    if pooled:
        return [GroupedCase.of(found, priors, notes)]
    return [case_of(problem, priors, notes) for problem in found]


def _have_a_curve(found: Sequence[Problem], priors: Priors) -> bool:
    """Whether there is a curve to share: under an average scores of 0 and 1 are on none."""
    average = isinstance(priors.label_rate, CurveAverage)
    return not average or any(without_ends(problem).cells.count.any() for problem in found)


def _attributes(data: Data, binning: Binning, multiclass: str) -> dict[str, Any]:
    """What was binned, and how: root attributes of the result."""
    if isinstance(data, BinCounts):
        return _of_counts(data, data.n, (0, 1))
    if isinstance(data, CountTable):
        counts = next(iter(data.values()))
        return _of_counts(counts.bins, counts.n_obs, counts.classes)
    return {
        "n_obs": data.n_obs,
        "n_labeled": data.n_labeled,
        "classes": [str(label) for label in data.classes],
        "multiclass": "binary" if data.is_binary else multiclass,
        **binning.attrs,
        **({} if data.sample_weight is None else {"effective_n": effective_rows(data)}),
    }


def _of_counts(bins: BinCounts, n_obs: int, classes: Sequence[Label]) -> dict[str, Any]:
    return {
        "n_obs": n_obs,
        "n_labeled": bins.n,
        "classes": [str(label) for label in classes],
        "multiclass": "binary",
        "binning_strategy": bins.strategy,
        "n_bins": bins.n_bins,
        "closed": bins.closed,
        **({"effective_n": bins.effective_n} if bins.weighted else {}),
    }
