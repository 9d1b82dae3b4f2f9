"""From the scores to cases, and from draws to the arrays of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core import quantity
from bayescal.core.checks import check_data, check_flag, check_is, listing
from bayescal.core.columns import MISSING
from bayescal.core.errors import InputError
from bayescal.core.quantity import Bound, CaseArrays, DirectDraws, Draws, Floats, Plan
from bayescal.core.scores import Scores, predicted_class
from bayescal.quantities.ssme import opinion_pool
from bayescal.quantities.ssme.bounds import bounds
from bayescal.quantities.ssme.data import (
    MOST_UNLABELED,
    Problem,
    SampledRows,
    ScoreMatrix,
    classes_at,
    data_warnings,
    score_matrix,
    weighted_matrix,
    with_known_labels,
)
from bayescal.quantities.ssme.estimator import Estimate, estimate, estimate_by_group
from bayescal.quantities.ssme.imputed_labels import mean_score
from bayescal.quantities.ssme.metrics import (
    Measure,
    Metrics,
    convention_name,
    join,
    measured,
    prepared,
)
from bayescal.quantities.ssme.model import LabelModel, label_model, model_of
from bayescal.quantities.ssme.opinion_pool import ASSUMPTIONS, FEW_LABELS, SUMMARY
from bayescal.quantities.ssme.priors import Priors, Tilt
from bayescal.quantities.ssme.tilt import TiltModel

if TYPE_CHECKING:
    import pymc as pm


def plan(
    data: Scores | SampledRows,
    priors: Priors,
    *,
    labeling: str = "random",
    ece: str | None = None,
    prob_label: bool = False,
) -> Plan:
    """Plan the one fit of all classifiers: every draw is one of all, on the same rows.

    Parameters
    ----------
    data : Scores or SampledRows
        Scores of one or several classifiers, where labels may be missing; or what
        `bayescal.ssme.count_rows` returned. Weighted rows stand for the population by their
        weights, and labels count as so many as their effective number.
    priors : Priors
        Priors.
    labeling : {"random", "one-per-class"}, default "random"
        How rows were chosen to be labelled; see `build_model`.
    ece : {"equal-mass", "equal-width", "top-label"}, each also with "-optimal", optional
        Convention of the calibration errors; see `metrics`.
    prob_label : bool, default False
        Whether the posterior holds ``prob_label`` (obs, label_class), the probabilities of every
        row's labels. Of at most 5,000 rows without label.

    Returns
    -------
    Plan
        One case.

    Raises
    ------
    InputError
        If the data are neither, an option is unknown, there are too many rows for `prob_label`, or
        rows have weights under a mixture or with ``labeling="one-per-class"``, which needs a label
        of every class.
    """
    remedy = "Scores.stack({name: y_prob}, y_true=...), or ssme.count_rows(...)"
    check_data(data, (Scores, SampledRows), "ssme", remedy)
    check_is(priors, Priors, "priors", "Pass bayescal.ssme.Priors().")
    check_flag(prob_label, "prob_label")
    if isinstance(data, SampledRows):
        problem = Problem(score_matrix(data.scores), data.weight, labeling)
    else:
        problem = Problem.of(weighted_matrix(data), labeling)
    matrix = problem.matrix
    convention = convention_name(ece, matrix.n_classes)
    if prob_label and matrix.n_obs < data.n_obs:
        # A model of many rows has a random part of them: their places would be lost.
        raise InputError(
            f"prob_label=True needs at most {MOST_UNLABELED} rows without label; got "
            f"{data.n_obs - matrix.n_labeled}. Pass fewer of them, or leave prob_label out."
        )
    attrs = {
        "n_obs": data.n_obs,
        "n_labeled": matrix.n_labeled,
        **({} if matrix.weight is None else {"effective_n": matrix.effective_labels}),
        "classes": [str(label) for label in matrix.classes],
        "multiclass": "binary" if matrix.n_classes == 2 else "joint",
        "labeling": labeling,
        "ece_convention": convention,
        "point_label": "SSME-KDE",
        "sections": ["assumptions"],
    }
    return Plan([SSMECase.of(problem, priors, ece, prob_label)], attrs)


PRIOR_DRAWS = 300


@dataclass(frozen=True, slots=True, eq=False)
class SSMECase:
    """All classifiers of one problem under its priors; made by `SSMECase.of`."""

    problem: Problem
    priors: Priors
    model: LabelModel
    ece: str | None
    keep_labels: bool
    monitored: ClassVar[tuple[str, ...]] = Metrics._fields
    # None: there is no alternative to weigh.
    evidence_draws: ClassVar[int] = 0

    @classmethod
    def of(
        cls, problem: Problem, priors: Priors, ece: str | None = None, keep_labels: bool = False
    ) -> SSMECase:
        """Join a problem and its priors."""
        return cls(problem, priors, label_model(problem, priors), ece, keep_labels)

    @property
    def coords(self) -> Mapping[str, str]:
        """The classifier, where there is only one."""
        names = self.problem.matrix.classifiers
        return {"classifier": names[0]} if len(names) == 1 else {}

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """Classifiers, classes and groups."""
        matrix = self.problem.matrix
        found = {"label_class": tuple(map(str, matrix.classes)), "method": METHODS}
        found |= {"assumption": ASSUMPTIONS, "summary": SUMMARY}
        if matrix.n_classifiers > 1:
            found["classifier"] = matrix.classifiers
        return found | ({"group": matrix.groups} if matrix.groups else {})

    @property
    def warnings(self) -> Sequence[str]:
        """What is missing in the labels, and what contradicts the classifiers."""
        matrix = self.problem.matrix
        pool = getattr(self.priors.label, "opinion_pool", "agreement")  # a mixture has none
        of_pool = opinion_pool.pool_warnings(matrix, self.problem.labeling, pool)
        return [*data_warnings(matrix), *of_pool, *no_width_warnings(matrix)]

    def fingerprint(self) -> str:
        """Hash of scores, labels, groups and options."""
        matrix = self.problem.matrix
        names = repr((matrix.classifiers, matrix.classes, matrix.groups))
        options = f"{self.problem.labeling} {self.ece} {self.keep_labels}"
        arrays = (matrix.probs, matrix.y, matrix.group, self.problem.weight)
        return quantity.digest_of(names, *arrays, options)

    def build_model(self) -> pm.Model:
        """Build the model, unsampled."""
        return model_of(self.problem, self.model)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        metrics, labels = evaluate(
            self.problem, self.model, draws, rng, ece=self.ece, keep_labels=self.keep_labels
        )
        shown = {name: draws[name] for name in self.model.shown}
        theory = self._theory()
        # What the label of a row adds to a metric depends on them.
        scores = {"class_score": self.problem.matrix.probs} if labels else {}
        before = self.model.prior_draws(PRIOR_DRAWS, rng)
        prior = self._metrics({name: value[None] for name, value in before.items()}, rng)
        return CaseArrays(
            coords=self.coords,
            posterior={**self._squeezed({**metrics, **shown}), **labels},
            prior=self._squeezed(prior),
            # After all other random numbers: they are those of results without this group.
            posterior_predictive={"label": self.replicated_labels(draws, rng)},
            log_likelihood={
                "label": self.model.log_likelihood(draws),
                **self.model.log_scores(draws),
            },
            log_prior=self.model.log_prior(draws),
            observed_data={"label": self.problem.labels},
            constant_data=self._squeezed(scores),
            point_estimate=self._squeezed(point_estimate(self.problem, self.ece)),
            reference_estimates=self._squeezed(reference_estimates(self.problem, self.ece)),
            bounds=quantity.bound_values(theory),
            bounds_attrs=quantity.bound_words(theory),
            sensitivity=self._squeezed(self._under_assumptions(draws, metrics)),
            warnings=one_class_warnings(metrics, self.problem.matrix.groups),
        )

    def _theory(self) -> dict[str, Bound]:
        """Bounds, of weighted rows those of the effective number of labels."""
        matrix = self.problem.matrix
        # Rounded down, but for the last digits, as a bound of more labels would not hold.
        n = int(matrix.effective_labels * (1 + 1e-12))
        found = bounds(n, matrix.n_classifiers)._asdict()
        if matrix.weight is None:
            return found
        of = f"for the effective number of labels, {n}"
        return {
            name: one._replace(assumption=f"{one.assumption}; {of}") for name, one in found.items()
        }

    def _under_assumptions(self, draws: Draws, metrics: Mapping[str, Floats]) -> dict[str, Floats]:
        """Metrics by what is assumed of the pool, where labels are few and the prior has parts."""
        if not isinstance(self.model, TiltModel) or not self.model.prior.wide_weight:
            return {}
        if self.problem.matrix.effective_labels >= FEW_LABELS:
            return {}
        return opinion_pool.under_assumptions(self.model.log_slope, draws, metrics)

    def replicated_labels(self, draws: Draws, rng: np.random.Generator) -> NDArray[np.integer]:
        """Labels of the labelled rows as the model draws them unforced, (chain, draw, label)."""
        dtype = np.min_scalar_type(-self.problem.matrix.n_classes)
        found = []
        # Chain by chain: probabilities of all would take several times the memory.
        for chain in range(len(next(iter(draws.values())))):
            of_chain = {name: value[chain] for name, value in draws.items()}
            prob = self.model.label_probs(of_chain, self.problem.rows)
            found.append(classes_at(prob, rng.random(prob.shape[:-1])).astype(dtype))
        return np.stack(found)

    def simulate(self, rng: np.random.Generator) -> tuple[SSMECase, dict[str, Floats]]:
        """Draw coefficients from the prior, labels of the rows, and metrics of their population."""
        priors, labeling = self.priors, self.problem.labeling
        if self.problem.matrix.weight is not None:
            raise InputError(
                "simulated labels are the model's own only of rows without weights. Leave these "
                "out: scores.without_weight()."
            )
        if (priors.power, priors.discount, labeling) != (1, 0, "random"):
            raise InputError(
                "simulated labels are the model's own only with power=1, discount=0 and "
                f"labeling='random'; got power={priors.power}, discount={priors.discount}, "
                f"labeling={labeling!r}."
            )
        if not isinstance(self.priors.label, Tilt):
            raise InputError(
                "labels are simulated given the scores, which a mixture says nothing of; got "
                f"{type(self.priors.label).__name__}. Pass Tilt()."
            )
        draws = {name: v[None] for name, v in self.model.prior_draws(1, rng).items()}
        prob = self.model.label_probs({name: v[0] for name, v in draws.items()})[0]
        label = classes_at(prob, rng.random(len(prob)))
        matrix = self.problem.matrix
        y = np.where(matrix.labeled, label, MISSING).astype(np.int32)
        problem = replace(self.problem, matrix=replace(matrix, y=y))
        new = SSMECase.of(problem, self.priors, self.ece, self.keep_labels)
        found = new._metrics(draws, rng)
        shown = {name: draws[name] for name in self.model.shown}
        return new, {name: v[0, 0] for name, v in {**found, **shown}.items()}

    def _metrics(self, draws: Draws, rng: np.random.Generator) -> dict[str, Floats]:
        """Metrics of every draw, (chain, draw, classifier[, group])."""
        return evaluate(self.problem, self.model, draws, rng, ece=self.ece)[0]

    def _squeezed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays without the dim of the classifiers, where there is only one."""
        if self.problem.matrix.n_classifiers > 1:
            return dict(values)
        by_group = bool(self.problem.matrix.groups)
        place = {"class_score": 0, "weight": -1, "own_bend": -1} | dict.fromkeys(
            Metrics._fields, -2 if by_group else -1
        )
        return {
            name: np.squeeze(value, axis=place[name]) if name in place else value
            for name, value in values.items()
        }


def no_width_warnings(matrix: ScoreMatrix) -> list[str]:
    """Name what has an accuracy of no chance: on rows that are all labelled, and right or wrong."""
    group = np.zeros(matrix.n_obs, dtype=np.int32) if matrix.group is None else matrix.group
    counted = matrix.row_weight > 0
    right, found = predicted_class(matrix.probs) == matrix.y, []
    for g in np.unique(group[counted & matrix.labeled]):
        rows = counted & (group == g)
        alike = right[:, rows].all(axis=1) | ~right[:, rows].any(axis=1)
        if matrix.labeled[rows].all() and alike.any():
            of = f" of group {matrix.groups[g]!r}" if matrix.groups else ""
            names = listing([matrix.classifiers[k] for k in np.flatnonzero(alike)])
            found.append(
                f"every row{of} is labelled, and {names} right on all or on none: the interval of "
                "the accuracy has no width, and allows for no other rows. Add rows."
            )
    return found


# Intervals of 90% hardly change by fewer draws.
_FEW_DRAWS = 0.05


def one_class_warnings(metrics: Mapping[str, Floats], groups: Sequence[str]) -> list[str]:
    """Say how often labels are drawn of one class, which has no AUC, (chain, draw, ...)."""
    one_class = np.isnan(metrics["auc"]) & ~np.isnan(metrics["accuracy"])
    share = one_class.mean(axis=(0, 1, 2)).ravel()
    found = np.flatnonzero(share > _FEW_DRAWS).tolist()
    if not found:
        return []
    of, remedy = "", ""
    if groups:
        of, remedy = f" of group {listing([groups[g] for g in found])}", ", or join groups"
    most = f"{'up to ' if len(found) > 1 else ''}{share.max():.0%}"
    return [
        f"all rows{of} are of one class in {most} of the draws: AUC is of the others, and AUPRC is "
        f"1 or does not exist there. Label more rows{remedy}."
    ]


# Numbers held at once: 8 MB each of the arrays over draws, rows and classes.
_BLOCK = 1 << 20


def evaluate(
    problem: Problem,
    model: LabelModel,
    draws: Draws,
    rng: np.random.Generator,
    *,
    ece: str | None,
    keep_labels: bool = False,
) -> tuple[dict[str, Floats], dict[str, NDArray[np.float32]]]:
    """Draw every metric of the rows' population, and the labels' probabilities if they are kept."""
    first = next(iter(draws.values()))
    shape = first.shape[:2]
    flat = {name: value.reshape(-1, *value.shape[2:]) for name, value in draws.items()}
    measure = prepared(problem.matrix, ece)
    found: list[Metrics] = []
    kept: list[NDArray[np.float32]] = []
    step = max(1, _BLOCK // problem.matrix.probs[0].size)
    for start in range(0, int(np.prod(shape)), step):
        part = {name: value[start : start + step] for name, value in flat.items()}
        prob = model.label_probs(part)
        found.append(_of_draws(problem, measure, prob, rng))
        if keep_labels:
            kept.append(with_known_labels(problem.matrix, prob).astype(np.float32))

    def in_chains[Scalar: np.generic](blocks: Sequence[NDArray[Scalar]]) -> NDArray[Scalar]:
        return np.concatenate(blocks).reshape(*shape, *blocks[0].shape[1:])

    values = join(found, in_chains)._asdict()
    return values, {"prob_label": in_chains(kept)} if keep_labels else {}


def _of_draws(
    problem: Problem, measure: Measure, prob: Floats, rng: np.random.Generator
) -> Metrics:
    """Metrics under drawn labels and weights, (draw, classifier) or (draw, classifier, group)."""
    matrix = problem.matrix
    weight = rng.standard_exponential(prob.shape[:2]) * problem.weight
    place = classes_at(prob, rng.random(prob.shape[:2]))
    place[:, matrix.labeled] = matrix.y[matrix.labeled]
    labels = np.stack([place == k for k in range(matrix.n_classes)])
    # Calibration errors are under the probabilities, of labelled rows too: drawn labels put noise
    # in each bin, and the absolute gaps would turn it into error.
    return measure(labels, prob.transpose(2, 0, 1), weight)


METHODS: Final = ("ensemble", "labeled")
"""The plain ensemble, and the labelled rows alone."""


def kde_estimate(problem: Problem, ece: str | None) -> Estimate:
    """Estimate metrics by SSME-KDE."""
    matrix = problem.weighted
    return (estimate_by_group if matrix.groups else estimate)(matrix, ece=ece)


def point_estimate(problem: Problem, ece: str | None) -> dict[str, Any]:
    """What a result holds of that, and the labelled rows it is of."""
    found, matrix = kde_estimate(problem, ece)._asdict(), problem.matrix
    n: Any = matrix.n_labeled
    if matrix.group is not None:
        n = np.bincount(matrix.group[matrix.labeled], minlength=len(matrix.groups))
    return {"n": n, **{name: found[name] for name in (*Metrics._fields, "class_prior")}}


def reference_estimates(problem: Problem, ece: str | None) -> dict[str, Floats]:
    """Estimate metrics without any model, (method, classifier) or (method, classifier, group)."""
    matrix = problem.weighted
    of_ensemble = measured(matrix, mean_score(matrix), ece=ece)
    if matrix.n_labeled:
        of_labels = measured(matrix.take(matrix.labeled), matrix.known, ece=ece)
    else:
        of_labels = Metrics._make(np.full(np.shape(value), np.nan) for value in of_ensemble)
    return join([of_ensemble, of_labels], np.stack)._asdict()
