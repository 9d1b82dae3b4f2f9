"""From draws to everything a result holds of one classifier, and simulated data for a check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from bayescal.core import quantity
from bayescal.core.bins.edges import STRATEGIES
from bayescal.core.contradiction import contradiction
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.plausibility import reversed_signs
from bayescal.core.quantity import CaseArrays, DirectDraws, Draws, Floats, bound_values, bound_words
from bayescal.curves.average import choose, member_model
from bayescal.curves.cells import (
    ERRORS,
    curve_scores,
    error_draws,
    evidence_warnings,
    fingerprint,
    model_average,
    nonempty_cells,
    softplus,
)
from bayescal.curves.priors import (
    AVERAGED_AXES,
    CALIBRATED,
    COMPONENTS,
    SEGMENTS,
    CurveAverage,
    SmoothCurve,
)
from bayescal.inference.direct import Weighted
from bayescal.quantities.pu_ece.bounds import Bounds, bounds_or_infinite
from bayescal.quantities.pu_ece.class_prior import class_prior_curve, data_warnings
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.estimator import of_counts
from bayescal.quantities.pu_ece.models.average import Average, Joint
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
    """One problem under its priors; `averaged_posterior.case_of` makes the right kind."""

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
        problem, theory = self.problem, _bounds(self.problem, self.priors)._asdict()
        return CaseArrays(
            coords=self.coords,
            posterior=posterior,
            observed_data={"events": self.held(problem.positive)},
            constant_data={
                "curve_score": curve_scores(problem.unlabeled),
                "cell_count": self.held(problem.total),
                "cell_score": self.held(problem.cells.mean_score),
            },
            point_estimate=_estimate(problem, self.priors),
            bounds=bound_values(theory),
            bounds_attrs=bound_words(theory),
            sensitivity=class_prior_curve(problem, self.priors, rng),
        )

    def held[Scalar: np.generic](self, values: NDArray[Scalar]) -> NDArray[Scalar]:
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
        """Everything a result holds of this case, but for the sampler's own figures."""
        points = curve_scores(self.problem.unlabeled)
        posterior = self.quantities(draws, rng)
        prior_draws = self.model.prior_draws(PRIOR_DRAWS, rng)
        prior = self.quantities({name: v[None] for name, v in prior_draws.items()}, rng)
        replicated = self.model.draw_positives(draws, rng).astype(np.int32)
        return replace(
            self.common_arrays(posterior, rng),
            posterior={**posterior, "calibration_curve": self.model.curve(draws, points), **draws},
            prior={name: prior[name] for name in (*ERRORS, "class_prior")},
            posterior_predictive={"events": self.held(replicated)},
            log_likelihood={"events": self.held(self.model.log_likelihood(draws))},
            log_prior=self.model.log_prior(draws),
            model_average=model_average(posterior, np.nan),
            diagnostics={"importance_ess": np.nan, "pareto_k": np.nan},
        )

    def quantities(self, draws: Draws, rng: np.random.Generator) -> dict[str, Floats]:
        """Calibration errors, label rates, gaps and class prior of every draw."""
        rates = self.model.cell_rates(draws)
        found = error_draws(self.problem.unlabeled, rates, self.model.masses(draws, rng))
        return {**found, "class_prior": self.model.class_prior(draws)}

    def simulate(self, rng: np.random.Generator) -> tuple[BinsCase, dict[str, Floats]]:
        """Draw parameters from the prior and counts from the model.

        Notes
        -----
        Both samples are drawn.
        """
        draws = {name: v[None] for name, v in self.model.prior_draws(1, rng).items()}
        values = {name: v[0, 0] for name, v in self.quantities(draws, rng).items()}
        problem = self.model.draw_problem(draws, rng)
        return replace(self, problem=problem, model=replace(self.model, problem=problem)), values


def _estimate(problem: PUProblem, priors: Priors) -> dict[str, Any]:
    """Estimate at the mean of the class prior."""
    bins = problem.unlabeled.bins
    found = of_counts(
        bins.count,
        problem.positive_in_bins(),
        bins.mean_score,
        bins.edges,
        priors.class_prior_mean,
    )
    return {
        **found._asdict(),
        "n": problem.n_positive + problem.n_unlabeled,
        "class_prior": priors.class_prior_mean,
    }


def _bounds(problem: PUProblem, priors: Priors) -> Bounds:
    """Bounds for bins as they were chosen: those of equal mass follow the scores."""
    bins = problem.unlabeled.bins
    return bounds_or_infinite(
        problem.n_positive,
        problem.n_unlabeled,
        priors.class_prior_mean,
        bins.n_bins,
        bins.strategy if bins.strategy in STRATEGIES else bins.edges,
    )


_MATTERS = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class AveragedCase(ProblemCase):
    """One problem under an average over descriptions."""

    model: Average

    axes: ClassVar[Mapping[str, tuple[str, ...]]] = AVERAGED_AXES

    def build_model(self, member: str = "") -> pm.Model:
        """Build the model of one description, by default the last that has parameters."""
        return member_model(self.model.members, member)

    def arrays(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> CaseArrays:
        """Everything a result holds of this case, but for the sampler's own figures."""
        if direct is None:
            raise TypeError("an average needs the evidence of its descriptions")
        weighed = Weighed.of(self.model, direct, rng)
        averaged = Averaged.of(self.model, self.model.completed(draws, rng), weighed, rng)
        joint = averaged.joint()
        errors = self._errors(joint, rng)
        posterior = {**errors, "class_prior": joint.class_prior}
        points = curve_scores(self.problem.unlabeled)
        replicated = _draw_positives(self.model, joint, rng)
        common = self.common_arrays(posterior, rng)
        return replace(
            common,
            posterior={
                **posterior,
                "calibration_curve": averaged.average(lambda name: averaged.curve(name, points)),
                "description": averaged.chosen,
            },
            prior=self._prior(rng),
            descriptions=self._by_description(averaged, rng),
            posterior_predictive={"events": self.held(replicated.astype(np.int32))},
            log_likelihood={"events": self.held(_log_likelihood(self.model, joint))},
            log_prior=averaged.log_prior(),
            model_average={
                **model_average(posterior, weighed.p_calibrated),
                **averaged.summary(points, self.held),
            },
            diagnostics={"importance_ess": weighed.ess, "pareto_k": weighed.pareto_k},
            warnings=[
                *common.warnings,
                *evidence_warnings(weighed.ess),
                *self._contradiction(averaged, weighed.p_calibrated, rng),
            ],
        )

    def _errors(self, joint: Joint, rng: np.random.Generator) -> dict[str, Floats]:
        mass = self.model.masses(joint, rng)
        return error_draws(self.problem.unlabeled, joint.rates, mass)

    def _by_description(self, averaged: Averaged, rng: np.random.Generator) -> dict[str, Any]:
        """Errors under each description, (chain, draw, description)."""
        found = {name: self._errors(one, rng) for name, one in averaged.own.items()}
        # One that is left out has no weight; another stands in for it.
        spare = next(iter(found.values()))
        return {
            error: np.stack([found.get(name, spare)[error] for name in COMPONENTS], axis=-1)
            for error in ERRORS
        }

    def _prior(self, rng: np.random.Generator) -> dict[str, Floats]:
        joint = self.model.prior_joint(PRIOR_DRAWS, rng)
        joint = joint.taken(None)
        errors = self._errors(joint, rng)
        return {**{name: errors[name] for name in ERRORS}, "class_prior": joint.class_prior}

    def _contradiction(
        self, averaged: Averaged, p_calibrated: float, rng: np.random.Generator
    ) -> list[str]:
        """Compare the plug-in estimate with that of rows drawn from the posterior."""
        joint = averaged.joint()
        if p_calibrated > 0:
            calibrated = averaged.own[CALIBRATED]
            right = rng.random(joint.class_prior.shape) < p_calibrated
            score = self.problem.cells.mean_score
            joint = joint._replace(
                rates=np.where(right[..., None], score, joint.rates),
                class_prior=np.where(right, calibrated.class_prior, joint.class_prior),
            )
        drawn = _plug_in(self, _draw_positives(self.model, joint, rng))
        return contradiction(float(_plug_in(self, self.problem.positive)), drawn)

    def simulate(
        self, rng: np.random.Generator
    ) -> tuple[BinsCase | AveragedCase, dict[str, Floats]]:
        """Draw parameters from the prior and positives from the model.

        Notes
        -----
        The model is conditional on the rows of each cell, positive and unlabelled, and on the
        sizes of both samples: positives are drawn given both.
        """
        joint = self.model.prior_joint(1, rng).taken(None)
        errors = self._errors(joint, rng)
        positive = _draw_positives(self.model, joint, rng)[0, 0]
        values = {name: value[0, 0] for name, value in errors.items()}
        again = case_of(self.problem.relabelled(positive), self.priors)
        return again, {**values, "class_prior": joint.class_prior[0, 0]}


@dataclass(frozen=True, slots=True)
class Weighed:
    """Posterior probabilities of the descriptions, and of no error at all."""

    weights: Mapping[str, float]
    right: float  # of the calibrated description: the scores 0 and 1 are right as well
    p_calibrated: float
    boundary: Floats  # (end,): of the scores 0 and 1, that they never err
    ess: float
    pareto_k: float

    @classmethod
    def of(cls, model: Average, direct: DirectDraws, rng: np.random.Generator) -> Weighed:
        """Weigh by evidence: that of the interior cells, of the scores 0 and 1 and of the sizes."""
        logs, pools, never, right = {}, {}, {}, 0.0
        for name, before in model.prior_weights.items():
            if not np.isfinite(direct.evidence[name]):
                continue
            joint = model.joint(name, direct.draws, rng)
            pools[name] = Weighted(joint.rates, joint.log_weight)
            logs[name] = np.log(before) + direct.evidence[name] + pools[name].log_evidence
            share = softmax(joint.log_weight)
            never[name] = share @ ~joint.error
            if name == CALIBRATED and model.described.calibrated:
                right = float(share @ ~joint.error.any(axis=-1))
        total = logsumexp(list(logs.values()))
        weights = {name: float(np.exp(value - total)) for name, value in logs.items()}
        matter = [pools[name] for name, weight in weights.items() if weight >= _MATTERS]
        tails = [one.pareto_k for one in matter if np.ptp(one.log_weights) > 0]
        tails = [tail for tail in (direct.pareto_k, *tails) if np.isfinite(tail)]
        p_calibrated = weights.get(CALIBRATED, 0.0) * right
        return cls(
            weights,
            right,
            p_calibrated if model.described.calibrated else float("nan"),
            np.sum([weight * never[name] for name, weight in weights.items()], axis=0),
            min(direct.ess, *(one.ess for one in matter)),
            max(tails, default=float("nan")),
        )


@dataclass(frozen=True, eq=False)
class Averaged:
    """Draws of all descriptions, and which of them each draw of the average has."""

    model: Average
    draws: Mapping[str, Draws]
    own: Mapping[str, Joint]
    some_error: Joint | None
    chosen: NDArray[np.int64]
    weighed: Weighed

    @classmethod
    def of(
        cls, model: Average, draws: Draws, weighed: Weighed, rng: np.random.Generator
    ) -> Averaged:
        """Weigh the draws of each description, and draw the descriptions."""
        taken: dict[str, Draws] = {}
        own: dict[str, Joint] = {}
        some = None
        for name in weighed.weights:
            joint = model.joint(name, draws, rng)
            places = resampled_places(joint.log_weight, rng)
            taken[name] = {key: values[places] for key, values in draws.items()}
            own[name] = joint.taken(places)
            if name == CALIBRATED and joint.error.shape[-1]:
                wrong = np.where(joint.error.any(axis=-1), joint.log_weight, -np.inf)
                some = joint.taken(resampled_places(wrong, rng))
        mixture = np.array([weighed.weights.get(name, 0.0) for name in COMPONENTS])
        mixture[0] *= 1 - weighed.right
        shape = next(iter(own.values())).class_prior.shape
        chosen = choose(mixture / mixture.sum(), int(np.prod(shape)), rng).reshape(shape)
        return cls(model, taken, own, some, chosen, weighed)

    def average(self, values: Callable[[str], Floats]) -> Floats:
        """Take each draw from the description that it has."""
        found: Floats | None = None
        for number, name in enumerate(COMPONENTS):
            rows = self.chosen == number
            if rows.any():
                drawn = np.asarray(values(name))
                found = np.empty(drawn.shape, drawn.dtype) if found is None else found
                found[rows] = drawn[rows]
        if found is None:
            raise TypeError("an average has draws")
        return found

    def joint(self) -> Joint:
        """Draws of the average, given that some score is not calibrated."""

        def given(name: str) -> Joint:
            return self.some_error if name == CALIBRATED and self.some_error else self.own[name]

        return Joint(
            self.average(lambda name: given(name).rates),
            self.average(lambda name: given(name).class_prior),
            self.average(lambda name: np.asarray(given(name).error, dtype=float)) > 0,
            self.average(lambda name: given(name).log_weight),
        )

    def curve(self, name: str, score: Floats) -> Floats:
        """Calibration curve under one description, (chain, draw, point)."""
        ends = {"boundary": np.zeros((*self.chosen.shape, 0))}
        return self.model.described.curve(name, {**self.draws[name], **ends}, score)

    def log_prior(self) -> dict[str, Floats]:
        """Log prior density of curve and class prior under the description of each draw."""
        zero, described = np.zeros(self.chosen.shape), self.model.described
        curve = self.average(
            lambda name: zero + described.component_log_prior(name, self.draws[name])
        )
        if self.model.prior.known:
            return {"curve": curve}
        normal = self.average(lambda name: self.draws[name][f"{name}_normal"])
        return {"curve": curve, "class_prior": self.model.prior.log_density(normal)}

    def summary(
        self, points: Floats, held: Callable[[Floats], Floats]
    ) -> dict[str, NDArray[np.float64]]:
        """Weights and mean curves of the descriptions, and where segments begin."""
        curves = {name: self.curve(name, points).mean(axis=(0, 1)) for name in self.own}
        segments = self.draws.get(SEGMENTS, {})
        boundary = np.full(2, np.nan)
        boundary[[int(end.score) for end in self.model.described.boundary_scores.values()]] = (
            self.weighed.boundary
        )
        return {
            "boundary_calibrated": boundary,
            "weight": np.array([self.weighed.weights.get(name, 0.0) for name in COMPONENTS]),
            "description_curve": np.stack([curves.get(name, points) for name in COMPONENTS]),
            "jump_probability": held(self.model.described.jump_probability(segments)),
        }


def resampled_places(
    log_weight: Floats, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of weighted draws, resampled in each chain in its order, (chain, draw) each.

    A chain without weight keeps its draws.
    """
    chains, number = log_weight.shape
    top = log_weight.max(axis=1, keepdims=True)
    weight = np.where(np.isfinite(top), np.exp(log_weight - np.where(np.isfinite(top), top, 0)), 1)
    ladder = (np.arange(number) + rng.random((chains, 1))) / number
    total = np.cumsum(weight, axis=1)
    places = [
        np.searchsorted(one / one[-1], steps) for one, steps in zip(total, ladder, strict=True)
    ]
    return np.arange(chains)[:, None], np.minimum(np.array(places), number - 1)


def _positive_logit(model: Average, joint: Joint) -> Floats:
    """Logit of the probability that a row is one of the positives, (..., cell)."""
    odds = model.sizes - np.log(joint.class_prior)
    return np.asarray(odds[..., None] + np.log(np.maximum(joint.rates, 1e-300)))


def _draw_positives(model: Average, joint: Joint, rng: np.random.Generator) -> NDArray[np.int64]:
    share = expit(_positive_logit(model, joint))
    return np.asarray(rng.binomial(model.problem.total, share))


def _log_likelihood(model: Average, joint: Joint) -> Floats:
    positive, total = model.problem.positive, model.problem.total
    at = _positive_logit(model, joint)
    ways = log_binomial_coefficient(total, positive)
    return np.asarray(positive * at - total * softplus(at) + ways)


def _plug_in(case: AveragedCase, positive: NDArray[Any]) -> Floats:
    """Plug-in estimate if these of the rows in the cells were the positives, (...)."""
    problem: PUProblem = case.problem
    member = problem.unlabeled.membership()
    unlabeled = problem.total - positive
    r = positive @ member / np.maximum(positive.sum(axis=-1, keepdims=True), 1)
    scores = (unlabeled * problem.cells.mean_score) @ member
    mean = scores / np.maximum(unlabeled.sum(axis=-1, keepdims=True), 1)
    return np.asarray(np.abs(case.priors.class_prior_mean * r - mean).sum(axis=-1))


def case_of(problem: PUProblem, priors: Priors) -> BinsCase | AveragedCase:
    """Join a problem and its priors."""
    prior = priors.label_rate
    if isinstance(prior, CurveAverage | SmoothCurve):
        model = Average.of(problem, prior, priors.class_prior, priors.calibrated)
        return AveragedCase(problem, priors, model)
    return BinsCase(problem, priors, Bins.of(problem, prior, priors.class_prior))
