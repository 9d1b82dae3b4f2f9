"""A calibration curve averaged over components: their evidence, draws and mixture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, softmax

from bayescal.core.errors import InputError
from bayescal.core.quantity import DirectDraws, Draws, LabelModel
from bayescal.curves.boundary import BoundaryErrors, BoundaryScore
from bayescal.curves.cells import BinomialCells, Problem, padded_size
from bayescal.curves.priors import (
    CALIBRATED,
    COMPONENTS,
    ROUGH,
    SEGMENTS,
    SMOOTH,
    CurveAverage,
)
from bayescal.curves.rough import RoughBasis, RoughCurve, RoughRegression
from bayescal.curves.segments import Segments
from bayescal.curves.smooth import BASIS, CELLS, Curve, CurveBasis, curve_basis
from bayescal.inference.direct import (
    CellLikelihood,
    Regression,
    importance_sample,
    variational_gaussian,
)

if TYPE_CHECKING:
    import pymc as pm

type Floats = NDArray[np.float64]

BOUNDARY_MEAN, BOUNDARY_SPREAD = -5.0, 2.0
"""Logit of the error rate of a score of exactly 0 or 1 that is not calibrated."""
# A component of less weight than this may rest on few effective draws.
_MATTERS = 0.01


@dataclass(frozen=True, eq=False)
class Average:
    """Cells of one problem, joined with the components of their curve.

    Notes
    -----
    Draws are named by component: ``coef`` (basis) of the smooth one, ``z`` (interior) and
    ``roughness`` of the rough one, ``shift`` (interior) and ``shift_log_prior`` of the segments;
    ``boundary`` (boundary) are of the scores 0 and 1 with rows. Interior cells are those with rows
    and scores between 0 and 1.
    """

    score: Floats
    rows: NDArray[np.float64]
    cells: CellLikelihood
    prior: CurveAverage
    calibrated: float
    boundary_mean: float = BOUNDARY_MEAN
    boundary_spread: float = BOUNDARY_SPREAD

    variables: ClassVar[tuple[str, ...]] = ("description",)
    target_accept: ClassVar[float] = RoughCurve.target_accept
    max_depth: ClassVar[int] = RoughCurve.max_depth

    @classmethod
    def of(cls, problem: Problem, prior: CurveAverage, calibrated: float) -> Average:
        """Join labelled cells and the components of their curve."""
        cells = problem.cells
        rows = np.asarray(cells.count, dtype=float)
        likelihood = BinomialCells(cells.count, cells.positives)
        return cls(cells.mean_score, rows, likelihood, prior, calibrated)

    @cached_property
    def interior(self) -> NDArray[np.int64]:
        """Places of the cells with rows and a score between 0 and 1."""
        return np.flatnonzero((self.rows > 0) & (self.score > 0) & (self.score < 1))

    @cached_property
    def boundary_scores(self) -> dict[int, BoundaryScore]:
        """Scores of exactly 0 and 1 that have rows, by place."""
        on_boundary = (self.rows > 0) & ((self.score == 0) | (self.score == 1))
        return {
            int(place): BoundaryScore(
                float(self.score[place]),
                self.cells.at(np.array([place])),
                self.boundary_mean,
                self.boundary_spread,
            )
            for place in np.flatnonzero(on_boundary)
        }

    @cached_property
    def basis(self) -> CurveBasis:
        """Basis of the smooth part over the interior cells."""
        return curve_basis(
            self.score[self.interior], self.rows[self.interior], self.prior.curve, BASIS
        )

    @cached_property
    def regression(self) -> Regression:
        """Interior cells under the smooth component."""
        score = self.score[self.interior]
        return Regression(self._offset, self.basis.design(score), self.cells.at(self.interior))

    @cached_property
    def rough(self) -> RoughRegression:
        """Interior cells under the rough component."""
        basis = RoughBasis.of(self.basis, self.score[self.interior], self.prior.rough_length)
        return RoughRegression(
            basis, self._offset, self.cells.at(self.interior), self.prior.roughness
        )

    @cached_property
    def segments(self) -> Segments:
        """Interior cells in segments."""
        return Segments(
            self._offset,
            self.rows[self.interior],
            self.cells.at(self.interior),
            self.prior.jump,
            self.prior.shift,
        )

    @property
    def _offset(self) -> Floats:
        return self.basis.offset(self.score[self.interior])

    @property
    def labelled_interior(self) -> BinomialCells:
        """Counts of the interior cells, where labels were counted."""
        found = self.cells.at(self.interior)
        if not isinstance(found, BinomialCells):
            raise TypeError("these cells count no labels")
        return found

    @property
    def members(self) -> Mapping[str, LabelModel]:
        """Components that NUTS samples."""
        found: dict[str, LabelModel] = {}
        cells = self.labelled_interior
        if SMOOTH in self.fitted:
            found[SMOOTH] = Curve(self.basis, self.regression, cells.count, cells.positives)
        if ROUGH in self.fitted:
            found[ROUGH] = RoughCurve(self.rough, cells.count, cells.positives)
        return found

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of cells, padded."""
        return ("average", padded_size(len(self.score), CELLS))

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Those of the members."""
        return {
            f"{name}_{key}": value
            for name, model in self.members.items()
            for key, value in model.inputs().items()
        }

    def add_to_model(self) -> Any:
        """Add the last of the members: the rough component, if it is not left out."""
        return list(self.members.values())[-1].add_to_model()

    def completed(self, draws: Draws, rng: np.random.Generator) -> Draws:
        """Cut the padding off draws of NUTS, and add what is drawn exactly."""
        found = dict(draws)
        if "coef" in found:
            found["coef"] = found["coef"][..., : self.basis.size]
        if "z" in found:
            found["z"] = found["z"][..., : len(self.interior)]
        if "boundary" in found:
            return found
        shape = next(iter(found.values())).shape[:2]
        exact = self.exact_draws(shape[0] * shape[1], rng)
        return found | {
            name: values.reshape(*shape, *values.shape[1:]) for name, values in exact.items()
        }

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density under each component, of completed draws; see `component_log_prior`."""
        return {name: np.asarray(self.component_log_prior(name, draws)) for name in self.fitted}

    @property
    def fitted(self) -> tuple[str, ...]:
        """Components with parameters; none without a score between 0 and 1."""
        if not len(self.interior):
            return ()
        return tuple(name for name in COMPONENTS if name in self.prior.weights)

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Posterior of every component, smooth and rough by importance sampling."""
        found: dict[str, Floats] = {}
        evidence: dict[str, float] = {}
        ess: dict[str, float] = {}
        pareto: dict[str, float] = {}
        if SMOOTH in self.fitted:
            smooth = importance_sample(
                self.regression, variational_gaussian(self.regression), 2 * draws, rng
            ).smoothed()
            found["coef"] = smooth.resample(draws, rng)
            evidence[SMOOTH], ess[SMOOTH] = smooth.log_evidence, smooth.ess
            pareto[SMOOTH] = smooth.pareto_k
        if ROUGH in self.fitted:
            weighted, roughness = self.rough.posterior(2 * draws, rng)
            place = weighted.resampled_places(draws, rng)
            found["z"], found["roughness"] = weighted.draws[place], roughness[place]
            evidence[ROUGH], ess[ROUGH] = weighted.log_evidence, weighted.ess
            pareto[ROUGH] = weighted.pareto_k
        if SEGMENTS in self.fitted:
            evidence[SEGMENTS] = self.segments.log_evidence
        weights = self.weights(evidence)
        matter = [name for name in ess if weights[name] >= _MATTERS] or list(ess)
        return DirectDraws(
            {**found, **self.exact_draws(draws, rng)},
            min((ess[name] for name in matter), default=float(draws)),
            "importance sampling",
            self.log_evidence(evidence),
            max((pareto[name] for name in matter), default=float("nan")),
            evidence,
        )

    def exact_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of what is sampled exactly: segments, and the scores 0 and 1."""
        found: dict[str, Floats] = {
            "boundary": np.stack(
                [one.draws(draws, rng) for one in self.boundary_scores.values()]
                or [np.zeros(draws)],
                axis=-1,
            )
        }
        if SEGMENTS in self.fitted:
            if np.isfinite(self.segments.log_evidence):
                shift, log_prior = self.segments.draws(draws, rng)
            else:
                shift, log_prior = np.zeros((draws, len(self.interior))), np.zeros(draws)
            found |= {"shift": shift, "shift_log_prior": log_prior}
        return found

    def weights(self, evidence: Mapping[str, float]) -> dict[str, float]:
        """Posterior probabilities of the components of the scores between 0 and 1."""
        if not self.fitted:
            return {CALIBRATED: 1.0}
        logs = self._log_joint(evidence)
        total = logsumexp(list(logs.values()))
        return {name: float(np.exp(value - total)) for name, value in logs.items()}

    def _log_joint(self, evidence: Mapping[str, float]) -> dict[str, float]:
        """Log of prior times evidence, the scores 0 and 1 included, by component."""
        before = self.boundary.interior_calibrated
        logs = {
            name: np.log1p(-before) + np.log(weight) + evidence[name] + logsumexp(self.errors(name))
            for name, weight in self.prior.weights.items()
        }
        if not before:
            return logs
        likelihood = self.cells.at(self.interior).log_likelihood(self._offset).sum()
        right = np.log(before) + likelihood + logsumexp(self.errors(CALIBRATED))
        return {CALIBRATED: float(right), **logs}

    def log_evidence(self, evidence: Mapping[str, float]) -> float:
        """Log evidence of the scores between 0 and 1, not calibrated."""
        weights = self.prior.weights
        terms = [np.log(weights[name]) + value for name, value in evidence.items()]
        return float(logsumexp(terms)) if terms else 0.0

    @cached_property
    def boundary(self) -> BoundaryErrors:
        """Prior of which of the scores 0 and 1 err."""
        return BoundaryErrors(len(self.boundary_scores), self.calibrated, len(self.interior) > 0)

    def errors(self, name: str) -> Floats:
        """Log of prior times likelihood of the patterns of `boundary` under one component."""
        right = np.array([one.log_calibrated for one in self.boundary_scores.values()])
        wrong = np.array([one.log_evidence for one in self.boundary_scores.values()])
        return self.boundary.log_joint(name == CALIBRATED, right, wrong)

    @property
    def no_error(self) -> float:
        """Posterior probability that 0 and 1 never err, given that the interior cells do not."""
        return float(softmax(self.errors(CALIBRATED))[0])

    @property
    def boundary_right(self) -> Floats:
        """The same for each of them if the interior is not calibrated, (boundary,)."""
        return np.asarray(softmax(self.errors(SMOOTH)) @ ~self.boundary.patterns)

    def p_calibrated(self, weights: Mapping[str, float]) -> float:
        """Posterior probability that every score is calibrated; NaN where that is left out."""
        if not self.calibrated:
            return float("nan")
        return weights[CALIBRATED] * self.no_error

    def boundary_calibrated(self, weights: Mapping[str, float]) -> Floats:
        """Posterior probabilities that the scores 0 and 1 never err; NaN without rows, (2,)."""
        inside = weights.get(CALIBRATED, 0.0)
        given = softmax(self.errors(CALIBRATED)) @ ~self.boundary.patterns
        found = np.full(2, np.nan)
        seen = [int(one.score) for one in self.boundary_scores.values()]
        found[seen] = inside * given + (1 - inside) * self.boundary_right
        return found

    def deviation(self, name: str, draws: Draws) -> Floats | float:
        """Deviation of the interior cells' logits under one component, (..., interior)."""
        if name == SMOOTH:
            return np.asarray(draws["coef"] @ self.regression.design.T)
        if name == ROUGH:
            return self.rough.basis.deviation(draws["z"], draws["roughness"])
        return draws["shift"] if name == SEGMENTS else 0.0

    def deviation_at(self, name: str, draws: Draws, score: Floats) -> Floats | float:
        """Deviation of the logit at any score between 0 and 1, (..., point)."""
        if name == SMOOTH:
            return np.asarray(draws["coef"] @ self.basis.design(score).T)
        if name == ROUGH:
            return self.rough.basis.deviation_at(draws["z"], draws["roughness"], score)
        if name == SEGMENTS:
            held = self.score[self.interior]
            near = np.searchsorted((held[1:] + held[:-1]) / 2, score)
            return draws["shift"][..., near]
        return 0.0

    def component_log_prior(self, name: str, draws: Draws) -> Floats | float:
        """Log prior density of a component's parameters, less its mean before the data, (...).

        Notes
        -----
        Raised to a power a near 1 and normalised again, a standard normal density gains
        ``(a - 1) (1 - z^2) / 2``: what power-scaling has to see, whatever the number of parameters.
        """
        if name == SMOOTH:
            return np.asarray((1 - draws["coef"] ** 2).sum(axis=-1) / 2)
        if name == ROUGH:
            return self.rough.log_prior_excess(draws["z"], draws["roughness"])
        return draws["shift_log_prior"] if name == SEGMENTS else 0.0

    def rates(self, name: str, draws: Draws, err: NDArray[np.bool_]) -> Floats:
        """Label rates of all cells under one component, (..., cell)."""
        empty = np.flatnonzero(self.rows == 0)
        found = np.broadcast_to(self.score, (*err.shape[:-1], len(self.score))).copy()
        if name != CALIBRATED:
            found[..., self.interior] = expit(self._offset + self.deviation(name, draws))
            if len(empty):
                found[..., empty] = self.curve(name, draws, self.score[empty])
        for column, (place, one) in enumerate(self.boundary_scores.items()):
            rate = one.event_rate(draws["boundary"][..., column])
            found[..., place] = np.where(err[..., column], rate, self.score[place])
        return found

    def curve(self, name: str, draws: Draws, score: Floats) -> Floats:
        """Probability of the event at scores between 0 and 1 under one component."""
        shape = (*draws["boundary"].shape[:-1], len(score))
        if name == CALIBRATED:
            return np.broadcast_to(score, shape)
        return np.asarray(expit(self.basis.offset(score) + self.deviation_at(name, draws, score)))

    def jump_probability(self, draws: Draws) -> Floats:
        """Probability under segments that the curve jumps just below each cell, (cell,)."""
        found = np.zeros(len(self.score))
        if "shift" in draws:
            shift = draws["shift"]
            found[self.interior[1:]] = (shift[..., 1:] != shift[..., :-1]).mean(axis=(0, 1))
        return found

    def draw_errors(
        self, name: str, shape: tuple[int, ...], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Draw which of the scores 0 and 1 err under one component, (*shape, boundary)."""
        errors = self.errors(name)
        return self.boundary.draw(np.broadcast_to(errors, (*shape, len(errors))), rng)

    def draw_some_error(
        self, shape: tuple[int, ...], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """The same where the interior is calibrated, given that one errs, (*shape, boundary)."""
        return self._some(self.errors(CALIBRATED), shape, rng)

    def _some(
        self, errors: Floats, shape: tuple[int, ...], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        given = np.append(-np.inf, errors[1:])
        return self.boundary.draw(np.broadcast_to(given, (*shape, len(given))), rng)

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Parameters of every component before the data, (draw, ...)."""
        found: dict[str, Floats] = {
            "boundary": np.stack(
                [one.prior_draws(draws, rng) for one in self.boundary_scores.values()]
                or [np.zeros(draws)],
                axis=-1,
            )
        }
        if SMOOTH in self.fitted:
            found["coef"] = rng.standard_normal((draws, self.basis.size))
        if ROUGH in self.fitted:
            found["z"] = rng.standard_normal((draws, len(self.interior)))
            found["roughness"] = self.prior.roughness * np.abs(rng.standard_normal(draws))
        if SEGMENTS in self.fitted:
            found["shift"] = self.segments.prior_draws(draws, rng)
        return found

    def prior_rates(self, draws: int, rng: np.random.Generator) -> Floats:
        """Label rates of all cells before the data, given that some score is not calibrated."""
        prior = self.prior_draws(draws, rng)
        only = self.boundary.only
        given = {name: (1 - only) * w for name, w in self.prior.weights.items()}
        before = {CALIBRATED: only, **given} if self.fitted else {CALIBRATED: 1.0}
        chosen = choose(np.array([before.get(name, 0.0) for name in COMPONENTS]), draws, rng)
        found = np.empty((draws, len(self.score)))
        for number, name in enumerate(COMPONENTS):
            rows = chosen == number
            if not rows.any():
                continue
            errors, shape = self.boundary.log_prior(name == CALIBRATED), (int(rows.sum()),)
            if name == CALIBRATED:
                err = self._some(errors, shape, rng)
            else:
                err = self.boundary.draw(np.broadcast_to(errors, (*shape, len(errors))), rng)
            own = {key: values[rows] for key, values in prior.items()}
            found[rows] = self.rates(name, own, err)
        return found

    def mixture(self, weights: Mapping[str, float]) -> Floats:
        """Probabilities of the components given that some score is not calibrated."""
        found = np.array([weights.get(name, 0.0) for name in COMPONENTS])
        found[0] *= 1 - self.no_error
        return np.asarray(found / found.sum())


def choose(weights: Floats, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw components, as many of each as their weights give, in random order, (number,)."""
    ladder = (np.arange(number) + rng.random()) / number
    places = np.searchsorted(np.cumsum(weights), ladder).clip(0, len(weights) - 1)
    return np.asarray(rng.permutation(places))


def member_model(members: Mapping[str, LabelModel], name: str = "") -> pm.Model:
    """Build the model of the cells inside (0, 1), of the last component by default."""
    import pymc as pm

    if not members:
        raise InputError(
            "a PyMC model must have a smooth or a rough component of some scores between 0 and "
            "1; there is none. Give one a weight, or pass method='direct' to fit."
        )
    labels = members[name or list(members)[-1]]
    size = labels.compile_key[-1]
    coords = {name: np.arange(size) for name in ("cell", "interior", "interior_")}
    with pm.Model(coords=coords) as model:
        labels.add_to_model()
    return model
