"""The fits for given data, from their draws to all that a result holds, and simulated data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from bayescal.core import quantity
from bayescal.core.bin_edges import STRATEGIES, resolved_number
from bayescal.core.binning import Binning, BinningFields
from bayescal.core.checks import check_data, check_is
from bayescal.core.count_table import without_groups
from bayescal.core.counts import Counts
from bayescal.core.counts_sql import ALONE
from bayescal.core.errors import InputError, ScarWarning, warn_caller
from bayescal.core.plausibility import contradiction, reversed_signs
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats, Plan
from bayescal.curves.average import weighing, with_evidence
from bayescal.curves.cells import ERRORS, curve_scores, error_draws, fingerprint
from bayescal.curves.posterior import (
    CurvePosterior,
    by_component,
    evidence_warnings,
    kept_curve,
    kept_parts,
    kept_rates,
    mean_curves,
    nonempty_cells,
)
from bayescal.curves.priors import AVERAGED_AXES, CALIBRATED, CurveAverage, SmoothCurve
from bayescal.quantities.pu_ece.bounds import bounds_or_infinite
from bayescal.quantities.pu_ece.class_prior import (
    check_possible,
    class_prior_curve,
    data_warnings,
    moved,
)
from bayescal.quantities.pu_ece.data import PUCounts, PUProblem, PUScores, binned, problems
from bayescal.quantities.pu_ece.estimator import effective_rows, of_counts, resolved
from bayescal.quantities.pu_ece.models.along_class_prior import CLASS_PRIOR_POWER
from bayescal.quantities.pu_ece.models.average import CaseControlAverage, Population
from bayescal.quantities.pu_ece.models.mixture_bins import Bins
from bayescal.quantities.pu_ece.priors import Priors

if TYPE_CHECKING:
    import pymc as pm

PRIOR_DRAWS = 1000
# For the probability that a classifier is calibrated.
EVIDENCE_DRAWS = 2000
MONITORED = ("ece", "tce", "mce", "label_rate", "class_prior")


@dataclass(frozen=True, slots=True, eq=False)
class ProblemCase:
    """One problem under its priors; `case_of` makes the right kind."""

    problem: PUProblem
    priors: Priors
    model: quantity.LabelModel
    axes: ClassVar[Mapping[str, tuple[str, ...]]] = {}
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
        problem, mean = self.problem, self.priors.class_prior_mean
        bins = problem.unlabeled.bins
        estimate = of_counts(bins, problem.positive_in_bins(), mean)._asdict()
        # Of bins as they were chosen: those of equal mass follow the scores.
        strategy = bins.strategy if bins.strategy in STRATEGIES else bins.edges
        n = problem.n_positive, problem.n_unlabeled
        theory = bounds_or_infinite(*n, mean, bins.n_bins, strategy)._asdict()
        near = self.model if isinstance(self.model, CaseControlAverage) else None
        parts, cells = problem.unlabeled.parts, replace(problem.cells, count=problem.total)
        return CaseArrays(
            coords=self.coords,
            posterior=posterior,
            observed_data={"events": self.nonempty(problem.positive)},
            constant_data={
                "curve_score": curve_scores(problem.unlabeled),
                "cell_count": self.nonempty(problem.total),
                "cell_score": self.nonempty(problem.cells.mean_score),
                **({} if parts is None else kept_parts(cells, parts, self.model.compile_key[-1])),
            },
            point_estimate={**estimate, "n": sum(n), "class_prior": mean},
            bounds=quantity.bound_values(theory),
            bounds_attrs=quantity.bound_words(theory),
            sensitivity=class_prior_curve(problem, self.priors, rng, near),
        )

    def nonempty[Scalar: np.generic](self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Values of the cells that hold rows, then padding: empty cells say nothing."""
        return nonempty_cells(values, self.problem.total, self.model.compile_key[-1])


@dataclass(frozen=True, slots=True, eq=False)
class BinsCase(ProblemCase):
    """One problem with a label rate a bin."""

    model: Bins

    def build_model(self) -> pm.Model:
        """Build the model, unsampled: label rates of cells, their masses, counts, and errors."""
        import pymc as pm

        from bayescal.curves.error_model import add_errors

        cells = self.model.compile_key[-1]
        coords = {"cell": np.arange(cells), "bin": np.arange(self.problem.unlabeled.bins.n_bins)}
        with pm.Model(coords=coords) as model:
            rate, mass = self.model.add_to_model()
            add_errors(self.problem.unlabeled, rate, mass, cells)
        return model

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own statistics."""
        points = curve_scores(self.problem.unlabeled)
        posterior = self.quantities(draws)
        prior_draws = self.model.prior_draws(PRIOR_DRAWS, rng)
        prior = self.quantities({name: v[None] for name, v in prior_draws.items()})
        replicated = self.model.draw_positives(draws, rng).astype(np.int32)
        return replace(
            self.common_arrays(posterior, rng),
            posterior={**posterior, "calibration_curve": self.model.curve(draws, points), **draws},
            prior={name: prior[name] for name in (*ERRORS, "class_prior")},
            posterior_predictive={"events": self.nonempty(replicated)},
            log_likelihood={"events": self.nonempty(self.model.log_likelihood(draws))},
            log_prior=self.model.log_prior(draws),
            model_average={"p_calibrated": np.nan},
            diagnostics={"importance_ess": np.nan, "pareto_k": np.nan},
        )

    def quantities(self, draws: Draws) -> dict[str, Floats]:
        """Calibration errors, label rates, gaps and class prior of every draw."""
        rates = self.model.cell_rates(draws)
        found = error_draws(self.problem.unlabeled, rates, self.model.masses(draws))
        return {**found, "class_prior": self.model.class_prior(draws)}

    def simulate(self, rng: np.random.Generator) -> tuple[BinsCase, dict[str, Floats]]:
        """Draw parameters from the prior and counts from the model.

        Both samples are drawn.
        """
        draws = {name: v[None] for name, v in self.model.prior_draws(1, rng).items()}
        values = {name: v[0, 0] for name, v in self.quantities(draws).items()}
        problem = self.model.draw_problem(draws, rng)
        return replace(self, problem=problem, model=replace(self.model, problem=problem)), values


@dataclass(frozen=True, slots=True, eq=False)
class AveragedCase(ProblemCase):
    """One problem under an average over components of the curve."""

    model: CaseControlAverage

    axes: ClassVar[Mapping[str, tuple[str, ...]]] = AVERAGED_AXES

    def build_model(self, member: str = "") -> pm.Model:
        """Build the model of one component, by default the last that has parameters."""
        return self.model.build(member)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own statistics."""
        direct, model = with_evidence(direct), self.model
        states, points = direct.evidence, curve_scores(self.problem.unlabeled)
        every = model.posterior(model.completed(draws, rng), states, rng)
        given, alone = every.miscalibrated, {name: every.given(name) for name in model.possible}
        population, miscalibrated = model.population(every), model.population(given)
        gamma = model.draw_gammas(every.place.shape, rng)
        parts = {n: self._implied(model.population(one), gamma) for n, one in alone.items()}
        posterior, mass = self._implied_by(every, gamma, parts)
        for name in (*ERRORS, "gap"):
            # Exactly, and not up to rounding.
            posterior[name][every.calibrated] = 0.0
        replicated = model.draw_positives(population, rng)
        posterior["calibration_curve"] = every.at(points)
        common, means = self.common_arrays(posterior, rng), mean_curves(alone, points)
        of_given, given_mass = self._implied_by(given, gamma, parts)
        _, before = self._before(PRIOR_DRAWS, rng)
        rates, rows, size = population.rates, self.problem.total, model.compile_key[-1]
        return replace(
            common,
            posterior={**posterior, "description": every.component},
            given_miscalibration={**of_given, "calibration_curve": given.at(points)},
            curve={
                **kept_curve(rows, rates, miscalibrated.rates, mass, every.component, size),
                "given_mass": kept_rates(rows, given_mass, size),
            },
            prior={name: before[name] for name in (*ERRORS, "class_prior")},
            descriptions=by_component({name: errors for name, (errors, _) in parts.items()}),
            posterior_predictive={"events": self.nonempty(replicated.astype(np.int32))},
            log_likelihood={"events": self.nonempty(model.log_likelihood(population))},
            log_prior=model.log_prior_of(every),
            model_average={
                **model.weighed(states),
                "description_curve": means,
                "jump_probability": self.nonempty(model.jump_probability(every.draws)),
            },
            diagnostics=direct.figures,
            warnings=[
                *common.warnings,
                # An error of a log evidence moves the log weights by its power times as much.
                *evidence_warnings(direct.ess / model.power**2),
                *moved(self.priors, population.class_prior, model.class_prior_normal(every)),
                *contradiction(
                    float(self._plug_in(self.problem.positive)), self._plug_in(replicated)
                ),
            ],
        )

    def _implied(self, population: Population, gamma: Floats) -> tuple[dict[str, Floats], Floats]:
        """Calibration errors, label rates, gaps and class prior of every draw; and masses."""
        mass = self.model.masses(population, gamma)
        errors = error_draws(self.problem.unlabeled, population.rates, mass)
        return {**errors, "class_prior": population.class_prior}, mass

    def _implied_by(
        self, curve: CurvePosterior, gamma: Floats, parts: Mapping[str, tuple[Draws, Floats]]
    ) -> tuple[dict[str, Floats], Floats]:
        """The same of curves each of one of the components, whose `parts` are known."""
        if self.model.boundary_scores:
            # Given a component alone, others of the scores 0 and 1 err.
            return self._implied(self.model.population(curve), gamma)
        rows = {name: curve.component == self.model.names.index(name) for name in parts}

        def joined(values: Mapping[str, Floats]) -> Floats:
            found = np.empty_like(values[CALIBRATED])
            for name, own in rows.items():
                found[own] = values[name][own]
            return found

        found = {
            key: joined({name: one[key] for name, (one, _) in parts.items()})
            for key in parts[CALIBRATED][0]
        }
        return found, joined({name: mass for name, (_, mass) in parts.items()})

    def _before(
        self, number: int, rng: np.random.Generator
    ) -> tuple[Population, dict[str, Floats]]:
        """Draws before the data, (1, number), and what they imply."""
        population = self.model.prior_population(number, rng)
        return population, self._implied(population, self.model.draw_gammas((1, number), rng))[0]

    def _plug_in(self, positive: NDArray[Any]) -> Floats:
        """Plug-in estimate if these of the rows in the cells were the positives, (...)."""
        member = self.problem.unlabeled.membership()
        unlabeled = self.problem.total - positive
        r = positive @ member / np.maximum(positive.sum(axis=-1, keepdims=True), 1)
        scores = (unlabeled * self.problem.cells.mean_score) @ member
        mean = scores / np.maximum(unlabeled.sum(axis=-1, keepdims=True), 1)
        return np.asarray(np.abs(self.priors.class_prior_mean * r - mean).sum(axis=-1))

    def simulate(
        self, rng: np.random.Generator
    ) -> tuple[BinsCase | AveragedCase, dict[str, Floats]]:
        """Draw parameters from the prior and positives from the model.

        The model is conditional on the rows of each cell, positive and unlabelled, and on the
        sizes of both samples: positives are drawn given both.
        """
        population, values = self._before(1, rng)
        positive = self.model.draw_positives(population, rng)[0, 0]
        again = case_of(replace(self.problem, positive=positive), self.priors)
        return again, {name: value[0, 0] for name, value in values.items()}


def case_of(problem: PUProblem, priors: Priors) -> BinsCase | AveragedCase:
    """Join a problem and its priors."""
    prior = priors.label_rate
    if isinstance(prior, CurveAverage | SmoothCurve):
        model = CaseControlAverage.joined(problem, prior, priors.class_prior, priors.calibrated)
        return AveragedCase(problem, priors, model)
    return BinsCase(problem, priors, Bins.of(problem, prior, priors.class_prior))


def build_model(
    data: PUScores,
    priors: Priors,
    *,
    binning: Binning | None = None,
    **fields: Unpack[BinningFields],
) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : PUScores
        One classifier's positive and unlabelled scores.
    priors : Priors
        Priors; the class prior has no default.
    binning : Binning, optional
        Bins of the evaluation, cut on the unlabelled scores.
    **fields
        `n_bins`, `strategy` and `closed` of a `Binning`, instead of `binning`.

    Returns
    -------
    pm.Model
        Observed ``events``, the positives, and Deterministic ``class_prior``; data as pm.Data.
        Under an average it is the rough component of the scores between 0 and 1, or the smooth
        one if that is left out. Under bins there are Deterministics ``label_rate`` and ``gap``
        (bin), ``ece``, ``tce`` and ``mce`` as well.

    Raises
    ------
    InputError
        If the data hold more than one classifier.

    Notes
    -----
    In a cell of the score with U unlabelled rows, of which the share ``rate`` is positive, the
    positives' density is ``rate / pi`` times that of the unlabelled rows. Of the cell's P + U rows
    therefore ``P ~ Binomial(P + U, rho)``, ``logit rho = log(nP / nU) + log rate - log pi``: the
    likelihood of a case-control study [1]_. The density of ``events`` has more of it: what the
    scores of exactly 0 and 1 say of the class prior, what the sizes of the two samples do, and the
    evidence by the class prior to the power -.8, so that it counts to the power .2. Segments and
    errors are worked out from the draws.

    References
    ----------
    .. [1] R. L. Prentice and R. Pyke, 1979. https://doi.org/10.1093/biomet/66.3.403

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> score = np.linspace(0.05, 0.95, 40)
    >>> pu = bc.PUScores(positive=score[20:], unlabeled=score)
    >>> priors = bc.pu_ece.Priors(bc.Beta(4, 6))
    >>> sorted(v.name for v in bc.pu_ece.build_model(pu, priors, n_bins=2).deterministics)
    ['class_prior']
    """
    check_data(data, (PUScores,), "pu_ece", "PUScores(positive=..., unlabeled=...)")
    _check_priors(priors)
    bins = resolved(Binning.of(binning, **fields), data, priors.class_prior_mean)
    found = problems(data, priors, bins)
    if len(found) > 1:
        raise InputError(
            f"a model is that of one classifier; got {len(found)}. "
            f"Take one with .select({data.classifiers[0]!r})."
        )
    return case_of(found[0], priors).build_model()


def plan(
    data: PUScores | Counts | Mapping[str, PUCounts | Counts],
    priors: Priors,
    *,
    binning: Binning | None = None,
) -> Plan:
    """Plan the fits of calibration errors from positives and unlabelled rows.

    Parameters
    ----------
    data : PUScores, Counts, CountTable or mapping of str to PUCounts
        Positive and unlabelled scores, or their counts (by classifier), without negative rows.
    priors : Priors
        Priors.
    binning : Binning, optional
        Bins of the evaluation, cut on the unlabelled scores. Not used with `PUCounts`.

    Returns
    -------
    Plan
        A case a classifier. How their errors correlate over shared rows is not worked out.

    Raises
    ------
    InputError
        If the data are neither, or rule the class prior out.

    Warns
    -----
    DataWarning
        If counts are of groups, which are added up.
    ScarWarning
        If the positives do not look drawn from the unlabelled rows at the class prior's mean.
    """
    _check_priors(priors)
    rows: PUScores | Mapping[str, PUCounts] = _binned(data, priors, binning)
    check_data(
        rows, (PUScores, Mapping), "pu_ece", "PUScores(positive=..., unlabeled=...)", PUCounts
    )
    bins = Binning.of(binning)
    if isinstance(rows, PUScores):
        bins = resolved(bins, rows, priors.class_prior_mean)
    found = problems(rows, priors, bins)
    for problem in found:
        check_possible(problem, priors)
        for sentence in data_warnings(problem, priors):
            warn_caller(sentence, ScarWarning)
    attrs = _attributes(rows, bins)
    if isinstance(priors.label_rate, CurveAverage | SmoothCurve):
        # A smooth curve is an average too: of itself and of calibration.
        attrs |= weighing(CurveAverage()) | {"class_prior_power": CLASS_PRIOR_POWER}
    return Plan([case_of(problem, priors) for problem in found], attrs)


def _binned(data: Any, priors: Priors, binning: Binning | None) -> Any:
    """Put counts by narrow cells into bins of the unlabelled rows; all else stays."""
    if isinstance(data, Counts):
        data = {ALONE: data}
    if not isinstance(data, Mapping):
        return data

    def of(counts: Any) -> Any:
        if not isinstance(counts, Counts):
            return counts
        own = counts.binning if binning is None else binning
        positive, unlabeled = (
            max(1, int(rows.sum())) for rows in (counts.positives, counts.unlabeled)
        )
        rows = effective_rows(positive, unlabeled, priors.class_prior_mean)
        return binned(counts, own, resolved_number(own.n_bins, rows), "label")

    return {name: of(counts) for name, counts in without_groups(data, "pu_ece").items()}


def _check_priors(priors: object) -> None:
    check_is(priors, Priors, "priors", "Pass bayescal.pu_ece.Priors(class_prior=...).")


def _attributes(data: PUScores | Mapping[str, PUCounts], binning: Binning) -> dict[str, Any]:
    """What was binned, and how: root attributes of the result."""
    counts = data if isinstance(data, PUScores) else next(iter(data.values()))
    bins = binning.attrs
    if isinstance(counts, PUCounts):
        own = counts.bins
        bins = {"binning_strategy": own.strategy, "n_bins": own.n_bins, "closed": own.closed}
    return {
        "n_obs": counts.n_positive + counts.n_unlabeled,
        "n_labeled": counts.n_positive,
        "n_positive": counts.n_positive,
        "n_unlabeled": counts.n_unlabeled,
        "classes": ["unlabeled", "positive"],
        "multiclass": "binary",
        "sections": ["class_prior"],
        **bins,
    }
