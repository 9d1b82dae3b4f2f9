"""From scores to cases, from draws to the arrays of a result, and to probabilities of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import softmax

from bayescal.core import quantity
from bayescal.core.bin_edges import OPTIMAL
from bayescal.core.binning import Binning
from bayescal.core.checks import check_choice, check_data, check_is, checked_labels, listing
from bayescal.core.columns import MISSING, column_names
from bayescal.core.errors import InputError
from bayescal.core.quantity import Bound, CaseArrays, DirectDraws, Draws, Floats, Plan
from bayescal.core.scores import Scores, predicted_class
from bayescal.core.sums import Several
from bayescal.curves.average import in_chains
from bayescal.quantities.temperature import estimator, vector_scaling
from bayescal.quantities.temperature.bounds import bounds
from bayescal.quantities.temperature.data import (
    Problem,
    Rows,
    data_warnings,
    range_warnings,
    sure_warnings,
)
from bayescal.quantities.temperature.estimator import BINNING, STAGES, CellSums, ErrorDraws
from bayescal.quantities.temperature.logits import (
    INPUTS,
    Integers,
    as_logits,
    masked_logits,
    places_of,
)
from bayescal.quantities.temperature.many_rows import CountedRows, problems_of
from bayescal.quantities.temperature.model import (
    NEGLIGIBLE,
    POINTS,
    TemperatureAverage,
    model_of,
    points_of,
    temperatures_of,
)
from bayescal.quantities.temperature.priors import MODELS, VECTOR, Priors
from bayescal.quantities.temperature.vector_scaling import SCALINGS, Scalings, Total
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice

if TYPE_CHECKING:
    import pymc as pm


def calibrate(
    result: xr.DataTree,
    logits: ArrayLike,
    *,
    classifier: str | None = None,
    classes: Sequence[Any] | None = None,
    scale: str | None = None,
) -> Floats:
    """Compute posterior-predictive probabilities of the classes of new rows.

    Parameters
    ----------
    result : xarray.DataTree
        Of ``bayescal.fit(bayescal.temperature, ...)``, also one loaded from a file.
    logits : array-like or DataFrame of shape (obs,), (obs, 1) or (obs, class)
        Logits or probabilities of the classifier, whichever the result was fitted to. A logit of
        -inf beside a finite one has the probability 0. Columns of a table are taken by their names,
        in any order; those of an array are in the order of the result's classes, unless `classes`
        says otherwise. One column is that of the second of two classes.
    classifier : str, optional
        Which of several classifiers of the result.
    classes : sequence of labels, optional
        The class of each column, for columns in another order or with other names.
    scale : {"logits", "probabilities"}, optional
        What rows hold: what the result was fitted to, and refused if it is something else.

    Returns
    -------
    ndarray of shape (obs, class), in [0, 1]
        Probabilities; the most probable class has the largest logit, but for vector scaling.

    Raises
    ------
    InputError
        If the result is of another quantity, columns or `classes` are not its classes, rows are on
        another scale than those it was fitted to, or the classifier is unknown.

    Notes
    -----
    ``P(j | z) = E[softmax(alpha_k z)_j]`` with k the predicted class, over the posterior of
    alpha_k: its draws are replaced by 16 points of equal probability. Vector scaling adds
    ``E[softmax(coef * z + shift)_j]``, of 128 draws, with its posterior probability as weight.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.temperature.truth("heterogeneous").scores(500, seed=1)
    >>> result = bc.fit(bc.temperature, scores, method="direct", seed=20)
    >>> bc.temperature.calibrate(result, [[4.0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]).shape
    (1, 10)
    """
    schema.check_result_of(result, "temperature")
    access.check_every_class(result)
    case = access.named_case(result, classifier)
    fitted = _scale(result, scale)
    if fitted == "logits":
        found, masked = masked_logits(logits, "logits")
    else:
        found = as_logits(logits, fitted, "rows")
        masked = np.zeros(found.shape, np.bool_)
    known = access.json_attribute(result, "classes")
    if found.shape[1] != len(known):
        raise InputError(
            f"logits must have {len(known)} columns, one for each class of the result; got shape "
            f"{np.shape(logits)}. Pass one row as [[...]]."
        )
    named = column_names(logits)
    if classes is not None:
        named = list(map(str, checked_labels(classes, "classes")))
    # Of one column the name counts where it is that of the other class, not pandas' own.
    other = named == known[:1] != ["0"]
    if named is not None and (classes is not None or len(named) > 1 or other):
        # As they lie in memory without names, so that sums are the same to the last digit.
        order = _order(named, known)
        found, masked = np.ascontiguousarray(found[:, order]), masked[:, order]
    log_alpha = access.flat_draws(result, "log_alpha", case)
    prob = mean_probabilities(found, log_alpha, _scalings(result, case))
    if masked.any():
        prob[masked] = 0
        prob /= prob.sum(axis=1, keepdims=True)
    return prob


def _scale(result: xr.DataTree, scale: str | None) -> str:
    """What the result was fitted to, which the rows must be too."""
    if scale is not None:
        check_choice(scale, INPUTS, "scale")
    fitted = str(result.attrs.get("input_scale", scale or "logits"))
    if scale is None or scale == fitted:
        return fitted
    remedy = "logarithms of the probabilities" if fitted == "logits" else "softmax of the logits"
    raise InputError(
        f"rows must hold {fitted}, as those that the result was fitted to; got scale={scale!r}. "
        f"Pass the {remedy}, or leave scale out."
    )


def _order(named: list[str], known: Sequence[str]) -> list[int]:
    """Places of the result's classes among columns."""
    found = places_of(named, known)
    if found is None:
        raise InputError(
            f"columns must be the classes of the result, {listing(known)}, in any order; got "
            f"{listing(named)}. Name the class of each column: classes=[...]."
        )
    return found


def _scalings(result: xr.DataTree, case: ResultSlice) -> Scalings | None:
    """Draws of vector scaling, where it was fitted."""
    if not access.has_variable(result, schema.POSTERIOR, "shift"):
        return None
    weight = access.variable(result, schema.MODEL_AVERAGE, "weight", case).values
    draws = {name: access.flat_draws(result, name, case) for name in ("log_coef", "shift")}
    return scalings_of(draws, weight)


# Numbers of a block that stay in a core's cache through the passes over it.
_BLOCK: Final = 1 << 14


def scalings_of(draws: Draws, weight: Floats) -> Scalings:
    """Draws of vector scaling in a posterior with these probabilities of its models."""
    coef, shift = (draws[name].reshape(-1, draws[name].shape[-1]) for name in ("log_coef", "shift"))
    kept = np.where(weight < NEGLIGIBLE, 0.0, weight)
    return Scalings(coef, shift, float(kept[MODELS.index(VECTOR)] / kept.sum()))


def mean_probabilities(
    logits: Floats, log_alpha: Floats, scalings: Scalings | None = None
) -> Floats:
    """Posterior mean of the class probabilities of rows, (obs, class)."""
    alpha = np.exp(points_of(log_alpha))[:, predicted_class(logits)]
    found = np.zeros_like(logits)
    for each in alpha:
        found += softmax(each[:, None] * logits, axis=1)
    found /= POINTS
    if scalings is None or scalings.weight == 0:
        return found
    other = scalings.thinned(SCALINGS).mean_probabilities(logits)
    return np.asarray((1 - scalings.weight) * found + scalings.weight * other)


def confidences(logits: Floats, predicted: Integers, log_alpha: Floats) -> Floats:
    """Probabilities of the predicted class of rows at log alphas, (point, class), (point, obs)."""
    at = np.empty((len(log_alpha), len(logits)))
    rows = max(1, _BLOCK // logits.shape[1])
    for start in range(0, len(logits), rows):
        part = slice(start, start + rows)
        # In an array of its own: transposed logits may lie as they are needed, and be the caller's.
        gap = np.array(logits[part].T, order="C")
        gap -= gap.max(axis=0)
        for number, alpha in enumerate(np.exp(log_alpha[:, predicted[part]])):
            at[number, part] = 1 / np.exp(alpha * gap).sum(axis=0)
    return at


def _confidence_sums(
    part: Problem,
    places: Floats,
    scalings: Scalings | None,
    binning: Binning,
    per_weight: Floats,
    ratio: Floats,
) -> Several[Any]:
    """Cells of rows before calibration, and after, and log likelihood under vector scaling."""
    at = confidences(part.logits, part.predicted, places)
    before = estimator.top_class(part.logits)[0]
    after, values, fit = at[1:-1].mean(axis=0), [at], np.zeros((0, part.n_classes))
    if scalings is not None:
        scaled, fit = vector_scaling.scaled_confidences(part, scalings, per_weight)
        share = scalings.weight
        after = (1 - share) * after + share * scaled.mean(axis=0)
        values.append(scaled)
    rows = part.predicted, part.label, part.n_classes, binning, values, part.weight, ratio
    stages = {"before": before, "after": after}
    cells = {name: CellSums.of(part.near(x), *rows) for name, x in stages.items()}
    return Several({**cells, "fit": Total(fit)})


def plan(
    data: Scores | CountedRows, priors: Priors, *, calibration_bins: Binning = BINNING
) -> Plan:
    """Plan a fit for each classifier.

    Parameters
    ----------
    data : Scores or CountedRows
        Scores of one or several classifiers, by logits or probabilities, or what
        `bayescal.temperature.count_rows` returned. Rows without a label count in the calibration
        errors, where they say how confidences are distributed. Weighted rows count as so many as
        their effective number, in each predicted class and in each bin.
    priors : Priors
        Priors.
    calibration_bins : Binning, default 15 bins of equal width
        Bins of the calibration errors, the same for every predicted class. Those of rows that are
        read part by part must not depend on the scores.

    Returns
    -------
    Plan
        A case a classifier.

    Raises
    ------
    InputError
        If the data are neither, have groups or no label, or a label has a score of 0; or if bins
        depend on scores that are read part by part.
    """
    check_is(priors, Priors, "priors", "Pass bayescal.temperature.Priors().")
    check_is(calibration_bins, Binning, "calibration_bins", "Pass bayescal.Binning(15, 'uniform').")
    remedy = "Scores(y_true=..., y_prob=..., from_logits=True), or temperature.count_rows(...)"
    check_data(data, (Scores, CountedRows), "temperature", remedy)
    by_scores = calibration_bins.strategy == "quantile" or calibration_bins.n_bins == OPTIMAL
    if isinstance(data, CountedRows) and by_scores:
        raise InputError(
            "calibration_bins must not depend on the scores where these are read part by part; "
            f"got {calibration_bins!r}. Pass Binning(15, 'uniform'), or edges."
        )
    problems = problems_of(data)
    logits = data.from_logits if isinstance(data, CountedRows) else data.logits is not None
    cases = [TemperatureCase.of(problem, priors, calibration_bins) for problem in problems]
    return Plan(cases, _attributes(problems[0], calibration_bins, logits))


def _attributes(rows: Rows, binning: Binning, from_logits: bool) -> dict[str, Any]:
    """What a result says of the data."""
    facts = rows.facts
    return {
        "n_obs": facts.n,
        "n_labeled": facts.n_labeled,
        **({"effective_n": facts.effective_n} if facts.weighted else {}),
        "classes": list(rows.classes),
        "input_scale": "logits" if from_logits else "probabilities",
        "multiclass": "predicted class",
        **binning.attrs,
        "point_label": "class-wise temperature scaling",
        "pairing": "independent",
        "sections": ["classes"],
        "class_variables": ["alpha", "class_ece", "class_ece_uncalibrated"],
    }


PRIOR_DRAWS = 1000
METRICS = ("ece", "max_ece", "avg_ece")
# Numbers of probabilities of vector scaling that are worked out.
_MOST = 1 << 25
MONITORED = (*METRICS, *(f"{name}_uncalibrated" for name in METRICS), "log_alpha", "mu", "tau")


@dataclass(frozen=True, slots=True, eq=False)
class TemperatureCase:
    """One classifier under its priors; made by `TemperatureCase.of`."""

    problem: Rows
    priors: Priors
    model: TemperatureAverage
    binning: Binning
    monitored: ClassVar[tuple[str, ...]] = MONITORED
    # None: there is no alternative to weigh.
    evidence_draws: ClassVar[int] = 0

    @classmethod
    def of(cls, problem: Rows, priors: Priors, binning: Binning = BINNING) -> TemperatureCase:
        """Join a problem and its priors."""
        model = TemperatureAverage(temperatures_of(problem, priors), problem.labeled_logits())
        return cls(problem, priors, model, binning)

    @property
    def coords(self) -> Mapping[str, str]:
        """The classifier."""
        return {"classifier": self.problem.classifier}

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """The classes, the models that are averaged, and before and after calibration."""
        return {"label_class": self.problem.classes, "description": MODELS, "stage": STAGES}

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings about the data."""
        return data_warnings(self.problem)

    def fingerprint(self) -> str:
        """Hash of the data and of the bins."""
        return f"{self.problem.fingerprint()} {self.binning!r}"

    def build_model(self, member: str = "") -> pm.Model:
        """Build the model of the temperatures of classes, the only one that NUTS samples."""
        return model_of(self.problem, self.model.temperatures)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        if direct is None:
            draws, evidence = self.model.completed(draws, rng)
        else:
            evidence = direct.evidence
        weight = self.model.probabilities(evidence)
        drawn = self.model.mixed(draws, weight, rng)
        errors, log_likelihood, diagrams = self._errors(drawn, weight, rng)
        numbers = self.problem.numbers
        found = estimator.estimate_of(self.problem, numbers, self.binning)
        before = self.model.prior_draws(PRIOR_DRAWS, rng)
        before["alpha"] = np.exp(before["log_alpha"])
        theory, facts = _theory(self.problem), self.problem.facts
        effective = {"effective_n": facts.effective_n} if facts.weighted else {}
        return CaseArrays(
            coords=self.coords,
            posterior={**errors, **drawn, "alpha": np.exp(drawn["log_alpha"])},
            prior={name: value[None] for name, value in before.items()},
            log_likelihood={"labels": log_likelihood},
            log_prior=self.model.log_prior(drawn),
            observed_data={"labels": self.model.temperatures.count},
            point_estimate={**found._asdict(), **diagrams, "n": facts.n_labeled, **effective},
            bounds=quantity.bound_values(theory),
            bounds_attrs=quantity.bound_words(theory),
            model_average={"weight": weight},
            warnings=[
                *range_warnings(self.problem, numbers.shared),
                *sure_warnings(self.problem, errors["ece_uncalibrated"]),
            ],
        )

    def simulate(self, rng: np.random.Generator) -> tuple[TemperatureCase, dict[str, Floats]]:
        """Draw a model and its numbers from the prior, and labels given them.

        Temperatures are among the values where vector scaling is left out: otherwise the posterior
        has them given that it is wrong. Calibration errors are no function of the numbers alone.
        """
        drawn = {name: value[0] for name, value in self.model.prior_draws(1, rng).items()}
        problem = self.problem.whole()
        label = (self._moved(problem, drawn) + rng.gumbel(size=problem.logits.shape)).argmax(axis=1)
        label = np.where(problem.label == MISSING, MISSING, label)
        again = replace(problem, label=label)
        of_classes = () if VECTOR in self.model.weights else ("tau", "log_alpha")
        kept = ("description", "mu", *of_classes)
        return TemperatureCase.of(again, self.priors, self.binning), {k: drawn[k] for k in kept}

    @staticmethod
    def _moved(problem: Problem, drawn: Mapping[str, Floats]) -> Floats:
        """Logits that a draw gives, (obs, class)."""
        if MODELS[int(drawn["description"])] == VECTOR:
            scaled = np.exp(drawn["log_coef"]) * vector_scaling.centred(problem.logits)
            return np.asarray(scaled + drawn["shift"])
        return np.asarray(np.exp(drawn["log_alpha"])[problem.predicted][:, None] * problem.logits)

    def _errors(
        self, draws: Draws, weight: Floats, rng: np.random.Generator
    ) -> tuple[dict[str, Floats], Floats, dict[str, Floats]]:
        """Calibration errors of every draw, its log likelihood by class, and reliability."""
        problem, log_alpha = self._filled(), draws["log_alpha"]
        fit = self.model.temperatures.log_likelihood(draws)
        vector = draws["description"].ravel() == MODELS.index(VECTOR)
        scalings, place = None, np.full(vector.size, -1)
        if vector.any():
            scalings = scalings_of(draws, weight).thinned(
                max(SCALINGS, _MOST // (problem.facts.n * problem.n_classes))
            )
            place[vector] = rng.permutation(np.arange(vector.sum()) % len(scalings.shift))
        flat = log_alpha.reshape(-1, problem.n_classes)
        points = self.model.points(weight)
        ends = np.minimum(flat.min(axis=0), points[0]), np.maximum(flat.max(axis=0), points[-1])
        places = np.vstack([ends[0], points, ends[1]])
        sum_up = partial(
            _confidence_sums,
            places=places,
            scalings=scalings,
            binning=self.binning,
            per_weight=problem.per_weight,
            ratio=problem.facts.ratio,
        )
        before, after, fits = problem.summed(sum_up).each.values()
        if vector.any():
            fit.reshape(len(vector), -1)[vector] = fits.value[place[vector]]
        belief = self.priors.belief

        def errors(sums: CellSums) -> ErrorDraws:
            cells, (at, *scaled), rows = sums.cells(), sums.means(), tuple(belief)
            implied = estimator.implied_by_temperatures(cells, at, places, flat, rows)
            for each in scaled:
                other = estimator.implied_by_draws(cells, each, rows)
                implied.accuracy[vector] = other.accuracy[place[vector]]
                implied.fit[vector] = other.fit[place[vector]]
            return estimator.error_draws(cells, implied, belief, problem.n_classes, rng)

        named = errors(after)._asdict()
        named |= {f"{name}_uncalibrated": v for name, v in errors(before)._asdict().items()}
        stages = [estimator.reliability(sums) for sums in (before, after)]
        diagrams = {name: np.stack([each[name] for each in stages]) for name in stages[0]}
        return in_chains(named, log_alpha.shape[:2]), fit, diagrams

    def _filled(self) -> Rows:
        """The rows, and where they are few others like them without a label, at any seed the same.

        Errors would move with other rows by more than with other draws.
        """
        more = estimator.rows_to_add(self.problem.facts.n, self.problem.n_classes)
        if not more:
            return self.problem
        problem = self.problem.whole()
        added = estimator.smoothed_rows(
            problem.logits, more, np.random.default_rng(0), problem.weight
        )
        return problem.plus(
            replace(
                problem,
                logits=added,
                label=np.full(more, MISSING),
                predicted=predicted_class(added),
                weight=None if problem.weight is None else np.full(more, problem.weight.mean()),
            )
        )


def _theory(problem: Rows) -> dict[str, Bound]:
    """What the rows leave open of half the Brier score of any numbers, those of log loss too."""
    facts = problem.facts
    count = facts.predicted
    found = bounds(
        facts.n_labeled,
        problem.n_classes,
        logit_norm=max(facts.norm, np.finfo(float).tiny),
        p_min=float(count[count > 0].min() / facts.n_labeled),
    )
    kept = {
        name: bound._replace(kind=f"upper bound, of half the Brier score: {bound.kind}")
        for name, bound in found._asdict().items()
        if name.endswith("deviation")
    }
    if np.isclose(facts.effective_n, facts.n_labeled, rtol=1e-12):
        return kept
    equal = "rows have equal weights, which these have not"
    return {
        name: bound._replace(value=np.inf, assumption=f"{bound.assumption}; {equal}")
        for name, bound in kept.items()
    }
