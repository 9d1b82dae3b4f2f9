"""A calibration curve averaged over components: their draws, evidence and posterior weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from bayescal.core.columns import Floats
from bayescal.core.errors import InputError
from bayescal.core.functionals import sigmoid
from bayescal.core.quantity import DirectDraws, Draws, LabelModel
from bayescal.curves.cells import (
    BoundaryErrors,
    BoundaryScore,
    Problem,
    in_a_row,
    padded_size,
    score_logit,
)
from bayescal.curves.linear import Linear
from bayescal.curves.priors import CALIBRATED, COMPONENTS, CurveAverage
from bayescal.curves.rough import Rough, RoughBasis
from bayescal.curves.segments import Segments
from bayescal.curves.smooth import BASIS, CELLS, CurveBasis, Line, Smooth, curve_basis
from bayescal.inference.direct import BinomialCells, CellLikelihood, choose

if TYPE_CHECKING:
    import pymc as pm


POWER: Final = 0.35
"""Power of the evidence in posterior weights: 1 would take one of the components to be true.

The evidence of components none of which is true is surer of one than it should be.
"""
BOUNDARY_MEAN, BOUNDARY_SPREAD = -4.0, 2.5
"""Logit of the error rate of a score of exactly 0 or 1 that is not calibrated."""
# A component of less weight than this may rest on few effective draws.
_MATTERS: Final = 0.01
# One of a smaller share of what is not calibrated keeps its direct draws: NUTS would not be seen.
_SEEN: Final = 0.1


def log_posterior_weights(prior: Floats, log_evidence: Floats, power: float = POWER) -> Floats:
    """Log of prior weights times evidence to a power, normalised over the last axis."""
    with np.errstate(divide="ignore"):
        return np.asarray(log_softmax(np.log(prior) + power * np.asarray(log_evidence), axis=-1))


def weighing(prior: object) -> dict[str, float]:
    """Root attribute of a result: the power of the evidence, where a prior is an average."""
    return {"average_power": POWER} if isinstance(prior, CurveAverage) else {}


class Component(Protocol):
    """A kind of curve over the interior cells, the deviation of its logits from the scores'.

    Those that NUTS samples are `LabelModel`s, too. The others are `exact`: drawn beside NUTS.
    """

    exact: ClassVar[bool]

    def sample(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Draws of the parameters, (draw, ...), and the evidence."""

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Parameters before the data, (draw, ...)."""

    def deviation(self, draws: Draws) -> Floats:
        """Deviation of the interior cells' logits, (..., interior)."""

    def deviation_at(self, draws: Draws, score: Floats) -> Floats:
        """Deviation of the logit at any score between 0 and 1, (..., point)."""

    def log_prior_excess(self, draws: Draws) -> Floats:
        """Log prior density of the parameters, less its mean before the data, (...).

        Raised to a power a near 1 and normalised again, a standard normal density gains
        ``(a - 1) (1 - z^2) / 2``: what power-scaling has to see, whatever the number of parameters.
        """


class State(NamedTuple):
    """What the curve of a draw is: its component, and which of the boundary scores err."""

    component: str
    errs: tuple[bool, ...]  # in the order of `Average.boundary_scores`

    @property
    def calibrated(self) -> bool:
        """Whether every score is calibrated."""
        return self.component == CALIBRATED and not any(self.errs)


@dataclass(frozen=True, eq=False)
class Average:
    """Cells of one problem, joined with the components of their curve.

    Draws are named by component: ``coef`` (basis) of the smooth one, ``z`` (interior) and
    ``roughness`` of the rough one, ``shift`` (interior) and ``shift_log_prior`` of the segments,
    ``label_noise`` (2) of the linear one; ``boundary`` (boundary) are of the scores 0 and 1 with
    rows. Interior cells are those with rows and scores between 0 and 1.

    `more` adds components, or takes the place of those of `prior`; `shares` are then the prior
    weights of all components, and `names` their order in draws.
    """

    score: Floats
    rows: NDArray[np.float64]
    cells: CellLikelihood
    prior: CurveAverage
    calibrated: float
    power: float = POWER
    more: Mapping[str, Component] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = COMPONENTS

    variables: ClassVar[tuple[str, ...]] = ("description",)
    target_accept: ClassVar[float] = Rough.target_accept
    max_depth: ClassVar[int] = Rough.max_depth
    tune: ClassVar[int] = Rough.tune

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
                BOUNDARY_MEAN,
                BOUNDARY_SPREAD,
            )
            for place in np.flatnonzero(on_boundary)
        }

    @cached_property
    def basis(self) -> CurveBasis:
        """Basis of the smooth part over the interior cells."""
        score, rows = self.score[self.interior], self.rows[self.interior]
        return curve_basis(score, rows, self.prior.curve, BASIS)

    @cached_property
    def smooth(self) -> Smooth:
        """The smooth component."""
        line = Line(self.prior.steep, self.prior.steepness)
        cells = self.cells.at(self.interior)
        return Smooth.over(self.basis, self.score[self.interior], cells, line)

    @cached_property
    def rough(self) -> Rough:
        """The rough component."""
        basis = RoughBasis.of(self.basis, self.score[self.interior], self.prior.rough_length)
        return Rough(basis, self._offset, self.cells.at(self.interior), self.prior.roughness)

    @cached_property
    def segments(self) -> Segments:
        """The component of segments."""
        return Segments(
            self.score[self.interior],
            self._offset,
            self.rows[self.interior],
            self.cells.at(self.interior),
            self.prior.jump,
            self.prior.shift,
            self.prior.certain,
        )

    @cached_property
    def linear(self) -> Linear:
        """The linear component."""
        cells = self.cells.at(self.interior)
        return Linear(self.score[self.interior], cells, self.prior.label_noise)

    @property
    def _offset(self) -> Floats:
        return score_logit(self.score[self.interior])

    @cached_property
    def prior_weights(self) -> Mapping[str, float]:
        """Prior weights of the components with parameters."""
        return self.shares or self.prior.weights

    @cached_property
    def fitted(self) -> tuple[str, ...]:
        """Components with parameters; none without a score between 0 and 1."""
        if not len(self.interior):
            return ()
        return tuple(name for name in self.names if name in self.prior_weights)

    @cached_property
    def components(self) -> dict[str, Component]:
        """Components with parameters, by name."""
        # Properties have the names of their components.
        return {n: self.more[n] if n in self.more else getattr(self, n) for n in self.fitted}

    @property
    def members(self) -> Mapping[str, LabelModel]:
        """Components that NUTS samples."""
        found: Mapping[str, Any] = self.components
        return {name: one for name, one in found.items() if not one.exact}

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
        return found if "boundary" in found else found | self.beside_nuts(found, rng)

    def beside_nuts(self, draws: Draws, rng: np.random.Generator) -> dict[str, Floats]:
        """What is drawn exactly, for draws of NUTS."""
        shape = next(iter(draws.values())).shape[:2]
        return in_chains(self.exact_draws(shape[0] * shape[1], rng), shape)

    def members_to_sample(self, direct: DirectDraws) -> tuple[str, ...]:
        """Members that matter by their evidence."""
        return for_nuts(self.weights(direct.evidence), self.members)

    def member_draws(self, name: str, direct: DirectDraws) -> Draws:
        """Direct draws of a member."""
        own = self.members[name].variables
        found = direct.draws.items()
        return {key: v for key, v in found if key in own or key.startswith(f"{name}_")}

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density under each component, of completed draws; see `Component`."""
        return {name: one.log_prior_excess(draws) for name, one in self.components.items()}

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Posterior of every component."""
        parts = {
            name: one.sample(draws, rng) for name, one in self.components.items() if not one.exact
        }
        parts |= self._exact_parts(draws, rng)
        evidence = {name: parts[name].log_evidence for name in self.fitted}
        # Those that importance sampling drew.
        weighed = {name: one for name, one in parts.items() if not np.isnan(one.pareto_k)}
        weights = self.weights(evidence)
        miscalibrated = 1 - weights.get(CALIBRATED, 0.0)
        # Or at least matter to what is not calibrated.
        for least in (_MATTERS, _MATTERS * miscalibrated):
            if matter := [one for name, one in weighed.items() if weights[name] >= least]:
                break
        before = self.prior_weights
        terms = [np.log(before[name]) + value for name, value in evidence.items()]
        return DirectDraws(
            _joined(parts.values()),
            min((one.ess for one in matter), default=float(draws)),
            "importance sampling",
            float(logsumexp(terms)) if terms else 0.0,
            max((one.pareto_k for one in matter), default=float("nan")),
            evidence,
        )

    def exact_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Draws of what NUTS leaves out: the scores 0 and 1, and exact components."""
        return _joined(self._exact_parts(draws, rng).values())

    def _exact_parts(self, draws: int, rng: np.random.Generator) -> dict[str, DirectDraws]:
        scores = [one.draws(draws, rng) for one in self.boundary_scores.values()]
        boundary = {"boundary": np.stack(scores or [np.zeros(draws)], axis=-1)}
        return {
            "": DirectDraws(boundary, float(draws), "quadrature"),
            **{name: one.sample(draws, rng) for name, one in self.components.items() if one.exact},
        }

    @cached_property
    def boundary(self) -> BoundaryErrors:
        """Prior of which of the scores 0 and 1 err."""
        return BoundaryErrors(len(self.boundary_scores), self.calibrated, len(self.interior) > 0)

    @property
    def possible(self) -> tuple[str, ...]:
        """Components that the curve may be of."""
        return (CALIBRATED, *self.fitted)

    @cached_property
    def states(self) -> tuple[State, ...]:
        """Everything that the curve may be."""
        patterns = [tuple(row) for row in self.boundary.patterns.tolist()]
        return tuple(State(name, errs) for name in self.possible for errs in patterns)

    @cached_property
    def prior_states(self) -> Floats:
        """Prior probabilities of the states, (state,)."""
        before = self.boundary.interior_calibrated
        shares = {name: (1 - before) * share for name, share in self.prior_weights.items()}
        shares[CALIBRATED] = before
        given = {right: np.exp(self.boundary.log_prior(right)) for right in (True, False)}
        return np.concatenate([shares[name] * given[name == CALIBRATED] for name in self.possible])

    def log_likelihood_of_states(self, evidence: Mapping[str, float]) -> Floats:
        """Log evidence of the states, (state,), from that of the components with parameters."""
        interior = self.cells.at(self.interior).log_likelihood(self._offset).sum()
        known = {CALIBRATED: float(interior), **evidence}
        return np.concatenate(
            [known[name] + self._log_evidence_of_errors for name in self.possible]
        )

    @cached_property
    def _log_evidence_of_errors(self) -> Floats:
        """Log evidence of the patterns of `boundary`, (pattern,)."""
        scores = self.boundary_scores.values()
        right = np.array([one.log_calibrated for one in scores])
        wrong = np.array([one.log_evidence for one in scores])
        return np.asarray(np.where(self.boundary.patterns, wrong, right).sum(axis=-1))

    def log_weights(self, evidence: Mapping[str, float]) -> Floats:
        """Log posterior weights of the states, (state,)."""
        likelihood = self.log_likelihood_of_states(evidence)
        return log_posterior_weights(self.prior_states, likelihood, self.power)

    def weights(self, evidence: Mapping[str, float]) -> dict[str, float]:
        """Posterior probabilities of the components of the scores between 0 and 1."""
        found: dict[str, float] = {}
        for state, weight in zip(self.states, np.exp(self.log_weights(evidence)), strict=True):
            found[state.component] = found.get(state.component, 0.0) + float(weight)
        return found

    def p_calibrated(self, evidence: Mapping[str, float]) -> float:
        """Posterior probability that every score is calibrated; NaN where that is left out."""
        if not self.calibrated:
            return float("nan")
        weights = np.exp(self.log_weights(evidence))
        return float(weights[[state.calibrated for state in self.states]].sum())

    def boundary_calibrated(self, evidence: Mapping[str, float]) -> Floats:
        """Posterior probabilities that the scores 0 and 1 never err; NaN without rows, (2,)."""
        weights = np.exp(self.log_weights(evidence))
        found = np.full(2, np.nan)
        for column, one in enumerate(self.boundary_scores.values()):
            found[int(one.score)] = weights[[not state.errs[column] for state in self.states]].sum()
        return found

    def weighed(self, evidence: Mapping[str, float]) -> dict[str, Any]:
        """What a result holds of the weights; a component that is left out has none."""
        weights = self.weights(evidence)
        return {
            "p_calibrated": self.p_calibrated(evidence),
            "weight": np.array([weights.get(name, 0.0) for name in COMPONENTS]),
            "boundary_calibrated": self.boundary_calibrated(evidence),
        }

    def rates(self, name: str, draws: Draws, errs: NDArray[np.bool_]) -> Floats:
        """Label rates of all cells under one component, (..., cell)."""
        found = np.empty((*errs.shape[:-1], len(self.score)))
        if name == CALIBRATED:
            found[...] = self.score
        else:
            logit = self.components[name].deviation(draws) + self._offset
            found[..., in_a_row(self.interior)] = sigmoid(logit)
            if len(empty := np.flatnonzero(self.rows == 0)):
                found[..., empty] = self.curve(name, draws, self.score[empty])
        for column, (place, one) in enumerate(self.boundary_scores.items()):
            rate = one.event_rate(draws["boundary"][..., column])
            found[..., place] = np.where(errs[..., column], rate, self.score[place])
        return found

    def curve(self, name: str, draws: Draws, score: Floats) -> Floats:
        """Probability of the event at scores between 0 and 1 under one component, (..., point)."""
        if name == CALIBRATED:
            return np.broadcast_to(score, (*draws["boundary"].shape[:-1], len(score)))
        return sigmoid(self.components[name].deviation_at(draws, score) + score_logit(score))

    def jump_probability(self, draws: Draws) -> Floats:
        """Probability under segments that the curve jumps just below each cell, (cell,)."""
        found = np.zeros(len(self.score))
        if "shift" in draws:
            shift = draws["shift"]
            found[self.interior[1:]] = (shift[..., 1:] != shift[..., :-1]).mean(axis=(0, 1))
        return found

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Parameters of every component before the data, (draw, ...)."""
        boundary = [one.prior_draws(draws, rng) for one in self.boundary_scores.values()]
        found: dict[str, Floats] = {"boundary": np.stack(boundary or [np.zeros(draws)], axis=-1)}
        for one in self.components.values():
            found.update(one.prior_draws(draws, rng))
        return found

    def prior_rates(self, number: int, rng: np.random.Generator) -> Floats:
        """Label rates before the data if some score is not calibrated, (number, cell).

        As `CurvePosterior.prior`, but that every curve has the parameters of its component alone.
        """
        share = np.where([state.calibrated for state in self.states], 0, self.prior_states)
        state = choose(share, number, rng)
        scores = [one.prior_draws(number, rng) for one in self.boundary_scores.values()]
        boundary = np.reshape(scores, (-1, number)).T
        component, errs = (np.array(one)[state] for one in zip(*self.states, strict=True))
        found = np.empty((number, len(self.score)))
        for name in self.possible:
            rows = np.flatnonzero(component == name)
            own = self.components[name].prior_draws(len(rows), rng) if name in self.fitted else {}
            found[rows] = self.rates(name, {**own, "boundary": boundary[rows]}, errs[rows])
        return found

    def build(self, member: str = "") -> pm.Model:
        """Build the model of one member, the last by default."""
        return member_model(self.members, member)


def with_evidence(direct: DirectDraws | None) -> DirectDraws:
    """The direct draws that the `evidence_draws` of a case have made sure of."""
    if direct is None:
        raise TypeError("an average needs direct draws, for the evidence of its components")
    return direct


def that_matter(weights: Mapping[str, float], members: Iterable[str]) -> tuple[str, ...]:
    """Members whose draws an average may take often enough to be seen."""
    return tuple(name for name in members if weights.get(name, 0.0) >= _MATTERS)


def for_nuts(weights: Mapping[str, float], members: Iterable[str]) -> tuple[str, ...]:
    """Members that matter, and are a share of what is not calibrated that can be seen."""
    least = _SEEN * (1 - weights.get(CALIBRATED, 0.0))
    return tuple(name for name in that_matter(weights, members) if weights[name] >= least)


def _joined(parts: Iterable[DirectDraws]) -> dict[str, Floats]:
    return {name: values for one in parts for name, values in one.draws.items()}


def in_chains(draws: Draws, shape: tuple[int, ...]) -> dict[str, Floats]:
    """Cut draws into chains: (draw, ...) to (chain, draw, ...)."""
    return {name: values.reshape(*shape, *values.shape[1:]) for name, values in draws.items()}


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
