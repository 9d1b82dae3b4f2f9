"""The model of a prior, the cases to fit, and from their draws to the arrays of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core import quantity
from bayescal.core.bin_edges import optimal_number
from bayescal.core.checks import check_data, check_is
from bayescal.core.errors import InputError
from bayescal.core.functionals import log_binomial
from bayescal.core.probability_intervals import decide, decide_binary
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats, Plan
from bayescal.core.scores import check_one_classifier
from bayescal.curves.average import in_chains, member_model, weighing
from bayescal.curves.cells import draw_masses, off_boundary, weighted_masses
from bayescal.curves.posterior import evidence_warnings, kept_parts
from bayescal.curves.priors import COMPONENTS, SMOOTH
from bayescal.quantities.credal import VARIABLES
from bayescal.quantities.credal.data import (
    CalibrationSplit,
    Cells,
    Problem,
    columns_of,
    data_warnings,
    held_rows,
    labeled_rows,
    rank_cells,
    score_cells,
)
from bayescal.quantities.credal.estimator import Estimate, bounds, estimate
from bayescal.quantities.credal.models import LabelModel, PseudoObservations
from bayescal.quantities.credal.models.averaged import EVIDENCE_DRAWS, MOST, Averaged
from bayescal.quantities.credal.models.bins import Imprecise, Isotonic
from bayescal.quantities.credal.models.rising import CELLS, Monotone
from bayescal.quantities.credal.priors import (
    MOST_BINS,
    ROW_DESCRIPTIONS,
    AveragedCurve,
    ImpreciseDirichlet,
    IncrementIsotonic,
    LabelRatePrior,
    MonotoneCurve,
    Priors,
)

if TYPE_CHECKING:
    import pymc as pm


def cells_of(prior: LabelRatePrior, rows: float) -> Cells:
    """Cells that a prior's model counts so many calibration rows in."""
    if isinstance(prior, AveragedCurve):
        return partial(score_cells, MOST)
    if isinstance(prior, MonotoneCurve):
        return partial(rank_cells, CELLS)
    if isinstance(prior.bins, int):
        return partial(rank_cells, prior.bins)
    # Within what a prior may ask for by number.
    return partial(rank_cells, min(max(2, optimal_number(rows)), MOST_BINS))


def label_model(problem: Problem, prior: LabelRatePrior) -> LabelModel:
    """Join a problem and a prior."""
    if isinstance(prior, AveragedCurve):
        return Averaged(problem, prior)
    if isinstance(prior, MonotoneCurve):
        return Monotone.of(problem, prior)
    if isinstance(prior, IncrementIsotonic):
        return Isotonic(problem, prior)
    return Imprecise(problem, prior)


def build_model(data: CalibrationSplit, priors: Priors | None = None) -> pm.Model:
    """Build the model of one classifier, unsampled.

    Parameters
    ----------
    data : CalibrationSplit
        Labelled calibration rows; target rows do not enter the model.
    priors : Priors, optional
        Priors; the defaults if not given.

    Returns
    -------
    pm.Model
        Under the default prior the rough description of one curve, or the smooth one where that is
        left out: observed ``events`` (interior), label counts in cells of scores between 0 and 1;
        of several classes that of the last one. Under the other priors ``events`` (curve, cell):
        counts in cells of the score's rank, of one curve in a binary task, and of one a class
        against the rest otherwise. All data are pm.Data of shapes that do not depend on the rows.

    Raises
    ------
    InputError
        If there are several classifiers.

    Notes
    -----
    Curves of several classes are modelled apart, though they count the same rows. The rising
    description, steps, and scores of exactly 0 and 1, have no PyMC model under the default prior.

    Examples
    --------
    >>> import bayescal as bc
    >>> calibration = bc.Scores(y_true=[0, 1, 0, 1], y_prob=[0.1, 0.4, 0.6, 0.9])
    >>> data = bc.CalibrationSplit(calibration=calibration, target=[0.5])
    >>> model = bc.credal.build_model(data)
    >>> sorted(v.name for v in model.free_RVs)
    ['roughness', 'z']
    """
    remedy = "CalibrationSplit(calibration=..., target=...)"
    check_data(data, (CalibrationSplit,), "credal", remedy)
    check_one_classifier(data.calibration, "build_model")
    priors = Priors() if priors is None else priors
    check_is(priors, Priors, "priors", "Pass bayescal.credal.Priors().")
    return CredalCase.of(data, np.arange(0), priors).build_model()


PRIOR_DRAWS: Final = 500
LABEL_CLASS: Final = "label_class"
DESCRIPTION: Final = "description"
# In a binary task one curve serves both classes: of its variables only this has a class.
BINARY_VARIABLES: Final = tuple(
    one
    if one.name == "admissible"
    else one._replace(dims=tuple(dim for dim in one.dims if dim != LABEL_CLASS))
    for one in VARIABLES
)
_DIMS: Final = quantity.dims_of(VARIABLES)
_OTHERS: Final = "Compare with the other priors of bayescal.prior_sensitivity."

_RULED_OUT: Final = (
    ", which the model rules out: it gives a flat curve. Reverse the score, or use "
    "AveragedCurve or ImpreciseDirichlet."
)
# What it means that a label grows rarer as its score rises; nothing where no order is assumed.
_FALLS: Final[Mapping[type, str]] = {
    AveragedCurve: ". Make sure that the score is not reversed.",
    MonotoneCurve: _RULED_OUT,
    IncrementIsotonic: _RULED_OUT,
    ImpreciseDirichlet: "",
}


@dataclass(frozen=True, slots=True, eq=False)
class CredalCase:
    """One classifier under its priors; made by `CredalCase.of`."""

    data: CalibrationSplit
    # Target rows that the result holds draws of, (obs,).
    rows: NDArray[np.intp]
    problem: Problem
    priors: Priors
    model: LabelModel

    monitored: ClassVar[tuple[str, ...]] = ("prob",)

    @classmethod
    def of(cls, data: CalibrationSplit, rows: NDArray[np.intp], priors: Priors) -> CredalCase:
        """Count the rows of one classifier."""
        cells = cells_of(priors.label_rate, data.effective_n)
        problem = Problem.of(data, rows, cells)
        return cls(data, rows, problem, priors, label_model(problem, priors.label_rate))

    @property
    def coords(self) -> Mapping[str, str]:
        """The classifier."""
        return {"classifier": self.data.calibration.classifiers[0]}

    @property
    def axes(self) -> Mapping[str, tuple[str, ...]]:
        """Classes, and descriptions of an average."""
        classes = {LABEL_CLASS: tuple(map(str, self.data.calibration.classes))}
        return {**classes, DESCRIPTION: ROW_DESCRIPTIONS} if self._averages else classes

    @property
    def _averages(self) -> bool:
        return isinstance(self.model, Averaged)

    @property
    def evidence_draws(self) -> int:
        """Draws that the evidence of the descriptions of an average rests on."""
        return EVIDENCE_DRAWS if self._averages else 0

    @property
    def is_binary(self) -> bool:
        """Whether one curve serves both classes."""
        return self.problem.n_curves == 1

    @property
    def curves(self) -> tuple[str, ...]:
        """Labels that the curves are of."""
        classes = self.axes[LABEL_CLASS]
        return classes[1:] if self.is_binary else classes

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings about the calibration labels."""
        return data_warnings(self.problem, self.curves, _FALLS[type(self.priors.label_rate)])

    def fingerprint(self) -> str:
        """Hash of both parts' scores and labels, and of the labels' counts."""
        data, names = self.data, repr((self.coords, self.axes))
        first, rest = data.calibration, data.target
        scores = (first.y_prob, first.y_true, rest.y_prob, rest.y_true)
        return quantity.digest_of(names, self.problem.positives, *scores, data.rows, data.weight)

    def build_model(self, member: str = "") -> pm.Model:
        """Build the model, unsampled; that of an average takes the name of a member."""
        import pymc as pm

        if isinstance(self.model, Averaged):
            return member_model(self.model.members, member)
        if self.problem.count.dtype.kind == "f":
            # PyMC would cut effective counts down to whole numbers.
            raise InputError(
                "the PyMC model must have whole counts of rows; got effective ones of weighted "
                "rows. Pass method='direct'."
            )
        with pm.Model(coords={"curve": list(self.curves)}) as model:
            self.model.add_to_model()
        return model

    def with_pseudo_observations(self, draws: Draws) -> PseudoObservations:
        """Probabilities and bounds of the rows, (chain, draw, obs, curve)."""
        lead = next(iter(draws.values())).shape[:2]
        flat = {name: value.reshape(-1, *value.shape[2:]) for name, value in draws.items()}
        found = self.model.with_pseudo_observations(flat, self.problem.target_rank)
        return PseudoObservations(**in_chains(found._asdict(), lead))

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything that a result holds of this case, but for the sampler's own figures."""
        draws = self.model.completed(draws, direct, rng)
        problem, rates = self.problem, self.model.cell_prob(draws)
        found = self.with_pseudo_observations(draws)
        before = self.model.prior_draws(PRIOR_DRAWS, rng)
        prior = self.with_pseudo_observations({name: value[None] for name, value in before.items()})
        # Last, so that the draws above are those of earlier versions for the same seed.
        replicated = _drawn_labels(problem.count, rates, rng)
        curve = self._curve_of_cells(draws, rates, rng.spawn(1)[0])
        point = estimate(self.data)
        theory, words = self._bounds(point)
        kept = {name: draws[name] for name in self.model.variables}
        return CaseArrays(
            coords=self.coords,
            posterior=self._squeezed({**found._asdict(), **kept}) | self._decisions(found),
            prior=self._squeezed(prior._asdict()),
            log_likelihood=self._squeezed({"events": self._log_likelihood(rates)}),
            log_prior=self._log_prior(draws),
            posterior_predictive=self._squeezed({"events": replicated}),
            observed_data=self._squeezed({"events": problem.positives}),
            constant_data=self._constant_data(),
            point_estimate={
                # Of the rows held, but for the share of improper ones.
                **{name: value[self.rows] for name, value in point._asdict().items()},
                "n": self.data.n_calibration,
                "improper_share": float(point.improper.mean()),
            },
            **self._of_average(draws, direct),
            curve=self._squeezed(curve, "curve"),
            bounds=theory,
            bounds_attrs=words,
        )

    def _constant_data(self) -> dict[str, Any]:
        """Cells and rows, with what bounds of any other row take besides the draws."""
        (score,), label, weight = labeled_rows(self.data.calibration)
        target = self.data.target.y_prob[0]
        by_curve = {
            "cell_count": self.problem.count,
            "cell_rank": self.problem.place,
            "cell_score": self.problem.cell_score(),
            "target_score": columns_of(target[self.rows]),
            "calibration_score": columns_of(score),
            "all_target_scores": columns_of(target),
        }
        rows = {"target_row": self.rows, "calibration_label": label}
        if self.data.rows is not None:
            rows["calibration_rows"] = self.data.rows
        if weight is not None:
            rows["calibration_weight"] = weight
        parts = [kept_parts(*own, self.problem.n_cells) for own in self.problem.parts if own]
        by_curve |= {name: np.stack([own[name] for own in parts]) for name in (parts or [{}])[0]}
        return self._squeezed(by_curve) | rows

    def _curve_of_cells(
        self, draws: Draws, rates: Floats, rng: np.random.Generator
    ) -> dict[str, Any]:
        """The calibration curve at the cells, and its rates given miscalibration.

        That of an average may be calibrated; else draws count as smooth, and cells are of the rank.
        """
        lead, given = rates.shape[:-1], rates
        component = np.full(lead, COMPONENTS.index(SMOOTH))
        densities: dict[str, Any] = {}
        if self._averages:
            rates, given = draws["cell_rate"], draws["miscalibrated_cell_rate"]
            component = draws["component"]
            densities = {
                "log_likelihood": self._log_likelihood(rates).sum(axis=-1),
                "log_prior": draws["average_log_prior"],
            }
        share = draw_masses(self.problem.rows, lead[:-1], rng)
        kept = {"rate": rates, "given_rate": given, "mass": share}
        if self.data.weight is not None:
            kept["mass"] = weighted_masses(share, self.problem.unit, rates)
            kept["given_mass"] = weighted_masses(share, self.problem.unit, given)
        curve = {name: values.astype(np.float32) for name, values in kept.items()}
        return curve | {"component": component.astype(np.int8)} | densities

    def _log_likelihood(self, rates: Floats) -> Floats:
        """Log likelihood of the labels of each cell, (..., curve, cell)."""
        return log_binomial(self.problem.positives, self.problem.count, off_boundary(rates))

    def _log_prior(self, draws: Draws) -> Draws:
        """Log prior density; of an average that of the description that each draw has."""
        if self._averages:
            return {"curve": draws["log_prior"].sum(axis=-1)}
        return self.model.log_prior(draws)

    def _of_average(self, draws: Draws, direct: DirectDraws | None) -> dict[str, Any]:
        """What a result holds of an average beside its draws."""
        if direct is None or not isinstance(self.model, Averaged):
            return {}
        weights = self.model.weights(direct)
        by_description = {
            name: draws[name][..., 0, :] if self.is_binary else draws[name]
            for name in ("mean_rate", "rate_spread")
        }
        return {
            "model_average": {"weight": weights[0] if self.is_binary else weights},
            "descriptions": by_description,
            "diagnostics": direct.figures,
            "warnings": evidence_warnings(direct.ess, "weights of the descriptions rest", _OTHERS),
        }

    def simulate(self, rng: np.random.Generator) -> tuple[CredalCase, dict[str, Floats]]:
        """Draw curves from the prior and labels given them for the same scores, class by class."""
        drawn = self.model.prior_draws(1, rng)
        draws = {name: value[None] for name, value in drawn.items()}
        positives = _drawn_labels(self.problem.count, self.model.cell_prob(drawn)[0], rng)
        prob = self.with_pseudo_observations(draws).prob[0, 0]
        values = {name: drawn[name][0] for name in self.model.variables}
        problem = replace(self.problem, positives=positives, parts=())
        model = label_model(problem, self.priors.label_rate)
        return replace(self, problem=problem, model=model), {"prob": prob, **values}

    def _decisions(self, found: PseudoObservations) -> dict[str, NDArray[Any]]:
        """Decisions under the bounds of each draw; of several classes, whether sets are proper."""
        if not self.is_binary:
            return decide(found.prob_lower, found.prob_upper)._asdict()
        of_draws = decide_binary(found.prob_lower[..., 0], found.prob_upper[..., 0])
        return {"decision": of_draws.decision, "admissible": of_draws.admissible}

    def _bounds(self, point: Estimate) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
        """Theory's bounds of each class, and their words."""
        columns = (columns_of(p).T for p in (point.p0, point.p1))
        each = [
            bounds(p0, p1, self.data.n_calibration)._asdict()
            for p0, p1 in zip(*columns, strict=True)
        ]
        values = {name: np.array([one[name].value for one in each]) for name in each[0]}
        words = quantity.bound_words(each[0])
        if self.data.weight is not None:
            for word in words.values():
                word["assumption"] += "; rows have equal weights, of others it is an approximation"
        return self._squeezed(values), words

    def _squeezed(self, values: Mapping[str, Any], group: str = "") -> dict[str, Any]:
        """Arrays without the dim of the curves, where there is only one."""
        if not self.is_binary:
            return dict(values)
        dims = {name: _DIMS.get(f"{group}/{name}") or _DIMS[name] for name in values}
        # Draws may lead, so that the dim is counted from the end.
        return {
            name: np.squeeze(value, axis=dims[name].index(LABEL_CLASS) - len(dims[name]))
            for name, value in values.items()
        }


def _drawn_labels(count: NDArray[Any], rate: Floats, rng: np.random.Generator) -> NDArray[Any]:
    """Draw the rows of each cell that have the label; effective ones as a share of whole ones."""
    whole = np.ceil(count).astype(np.int64)
    drawn = rng.binomial(whole, rate)
    return drawn if count.dtype.kind != "f" else drawn * (count / np.maximum(whole, 1))


def plan(data: CalibrationSplit, priors: Priors) -> Plan:
    """Plan the fits of class probabilities.

    Parameters
    ----------
    data : CalibrationSplit
        Calibration rows and target rows, of one or several classifiers.
    priors : Priors
        Priors.

    Returns
    -------
    Plan
        A case a classifier, without correlation.

    Raises
    ------
    InputError
        If the data are no CalibrationSplit.
    """
    remedy = "CalibrationSplit(calibration=..., target=...), or credal.count_rows(...)"
    check_data(data, (CalibrationSplit,), "credal", remedy)
    check_is(priors, Priors, "priors", "Pass bayescal.credal.Priors().")
    rows, names, prior = held_rows(data), data.calibration.classifiers, priors.label_rate
    attrs = {
        "n_obs": data.n_obs,
        "n_labeled": data.n_calibration,
        **({} if data.weight is None else {"effective_n": data.effective_n}),
        "n_target": data.n_target,
        "n_held": len(rows),
        "classes": [str(label) for label in data.calibration.classes],
        "multiclass": "binary" if data.calibration.is_binary else "one-vs-rest",
        "point_label": "Venn-Abers",
        "sections": ["rows"],
        **(weighing(prior.average) if isinstance(prior, AveragedCurve) else {}),
    }
    cases = [CredalCase.of(data.select(name), rows, priors) for name in names]
    return Plan(cases, attrs, variables=BINARY_VARIABLES if cases[0].is_binary else ())
