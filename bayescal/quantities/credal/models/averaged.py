"""The default prior of label rates: an average of components of each curve, by their evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core import quantity
from bayescal.core.columns import Whole
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.curves.average import Average, for_nuts, with_evidence
from bayescal.curves.cells import EDGE, logit_rate, rate_logit
from bayescal.curves.posterior import CurvePosterior
from bayescal.curves.priors import CALIBRATED
from bayescal.curves.segments import Steps
from bayescal.inference.direct import BinomialCells
from bayescal.quantities.credal.data import Problem
from bayescal.quantities.credal.models import PseudoObservations, RateModel, add_pseudo_observations
from bayescal.quantities.credal.models.rising import RisingComponent
from bayescal.quantities.credal.priors import RISING, ROW_DESCRIPTIONS, STEPS, AveragedCurve

# For the evidence of the components beside NUTS.
EVIDENCE_DRAWS: Final = 2000
# Prior probability that a score of 0, or of 1, is right without exception.
_RIGHT: Final = 0.5
# Nodes beyond the lowest and the highest score, by their distance in logits.
_BEYOND: Final = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
# Scores between 0 and 1 with rows, at most.
MOST: Final = 100
_LINE: Final = MOST + 2 * len(_BEYOND) + 2
NODES: Final = _LINE + MOST
# From a score with rows to the node beside it, in logits, and to what counts as that score.
_BESIDE, _SAME = 1e-6, 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Scores of the nodes: a line from 0 to 1, then the scores with rows; made by `Nodes.of`.

    The line passes beside the scores with rows, where a rough curve has a part of its own. The
    last of either part is repeated, so that all curves have as many nodes.
    """

    score: Floats

    @classmethod
    def of(cls, score: Floats) -> Nodes:
        """Put nodes at the scores with rows, all between 0 and 1, beside and beyond them."""
        interior = score if len(score) else np.array([0.5])
        place = logit(interior)
        line = np.concatenate([place[0] - _BEYOND[::-1], place + _BESIDE, place[-1] + _BEYOND])
        found = expit(line).clip(EDGE, 1 - EDGE)
        padded = np.pad(found, (0, _LINE - 2 - len(found)), "edge")
        own = np.pad(interior, (0, MOST - len(interior)), "edge")
        return cls(np.concatenate([[0.0], padded, [1.0], own]))

    @property
    def boundary(self) -> dict[float, int]:
        """Nodes of the scores 0 and 1."""
        return {0.0: 0, 1.0: _LINE - 1}

    def with_boundary(self, rate: Floats, never_errs: NDArray[Any]) -> Floats:
        """Rates at the nodes, (..., node), where scores of 0 and 1 may never err, (..., 2)."""
        found = rate.copy()
        for end, node in self.boundary.items():
            found[..., node] = np.where(never_errs[..., int(end)], end, rate[..., node])
        return found

    def of_nonempty(self, number: Any) -> Any:
        """Node of a score with rows, by its place among them."""
        return _LINE + number

    def interpolated(self, rate: Floats, score: Floats) -> Floats:
        """Rates at any scores from those at the nodes, (draw, obs).

        They are linear in logits, but jump halfway to a rate of 0 or 1, as steps do.
        """
        line = logit(self.score[1 : _LINE - 1])
        place = logit(score.clip(self.score[1], self.score[_LINE - 2]))
        right = np.searchsorted(line, place).clip(1, len(line) - 1)
        gap = line[right] - line[right - 1]
        share = np.divide(place - line[right - 1], gap, out=np.ones(len(gap)), where=gap > 0)
        used, beside = np.unique([right, right + 1], return_inverse=True)
        low, high = (rate_logit(rate[:, used])[:, at] for at in beside)
        never, always = rate_logit(np.array([0.0, 1.0]))
        jumps = (np.minimum(low, high) <= never) | (np.maximum(low, high) >= always)
        nearest = np.where(score > (self.score[right] + self.score[right + 1]) / 2, high, low)
        found = logit_rate(np.where(jumps, nearest, low + share * (high - low)))
        nonempty = logit(self.score[_LINE:])
        nearest = np.searchsorted((nonempty[1:] + nonempty[:-1]) / 2, place)
        same = np.abs(nonempty[nearest] - place) < _SAME
        found[:, same] = rate[:, _LINE + nearest[same]]
        for end, node in self.boundary.items():
            found[:, score == end] = rate[:, node, None]
        return found


@dataclass(frozen=True, eq=False)
class _Curve:
    """One curve, scores of 0 and 1 apart; without a row between, rising as before the data."""

    average: Average
    nodes: Nodes
    # Node of each cell, the first one's for a cell without rows, and its share of the population.
    cell_node: Whole
    share: Floats

    @classmethod
    def of(cls, problem: Problem, curve: int, prior: AveragedCurve) -> _Curve:
        """Join the cells of one curve and its components."""
        nonempty = problem.count[curve] > 0
        score = problem.cell_score()[curve, nonempty]
        count, positives = (each[curve, nonempty] for each in (problem.count, problem.positives))
        mass, shares = problem.mass[curve, nonempty], prior.weights
        if not ((score > 0) & (score < 1)).any():
            score, shares = np.append(score, 0.5), {RISING: 1.0}
            count, positives = np.append(count, 0), np.append(positives, 0)
        interior = np.flatnonzero((score > 0) & (score < 1))
        between = BinomialCells(count[interior], positives[interior])
        rising = RisingComponent.of(prior.rise, problem.ranks[curve], score[interior], between)
        steps = Steps.between(score[interior], between, prior.jump, prior.level, prior.certain)
        average = Average(
            score,
            np.where(count > 0, count, 1.0),
            BinomialCells(count, positives),
            prior.average,
            _RIGHT,
            more={RISING: rising, STEPS: steps},
            shares=shares,
            names=(CALIBRATED, *ROW_DESCRIPTIONS),
        )
        nodes, cell_node = Nodes.of(score[interior]), np.zeros(problem.n_cells, np.int64)
        cell_node[interior] = nodes.of_nonempty(np.arange(len(interior)))
        for place, one in average.boundary_scores.items():
            cell_node[place] = nodes.boundary[one.score]
        return cls(average, nodes, cell_node, mass / mass.sum())

    def weights(self, evidence: Mapping[str, float]) -> Floats:
        """Posterior probabilities of the components, in the order of `ROW_DESCRIPTIONS`."""
        found = self.average.weights(evidence)
        weights = np.array([found.get(name, 0.0) for name in ROW_DESCRIPTIONS])
        return np.asarray(weights / weights.sum())

    def members_to_sample(self, evidence: Mapping[str, float]) -> tuple[str, ...]:
        """Members that matter given that the curve is not calibrated."""
        weights = dict(zip(ROW_DESCRIPTIONS, self.weights(evidence).tolist(), strict=True))
        return for_nuts(weights, self.average.members)

    def posterior(
        self, draws: Draws, evidence: Mapping[str, float], rng: np.random.Generator
    ) -> Draws:
        """Draws of the curve if it is not calibrated, and the whole average at the cells."""
        found = CurvePosterior.of(self.average, draws, evidence, rng)
        kept: dict[str, Any] = {
            "cell_rate": self._at_cells(found),
            "miscalibrated_cell_rate": self._at_cells(found.miscalibrated),
            "component": found.component,
            "average_log_prior": found.log_prior(),
        }
        return {**self.kept(found), **kept}

    def _at_cells(self, curve: CurvePosterior) -> Floats:
        """Rates of all cells; of those without rows, which come last, 0."""
        held = len(self.share)
        found = np.zeros((*curve.place.shape, len(self.cell_node)))
        found[..., :held] = curve.rate[..., :held]
        return found

    def kept(self, found: CurvePosterior) -> Draws:
        """What a result holds of a curve: rates of scores 0 and 1 that err, and which never do."""
        curves = found.given(*self.average.fitted)
        boundary = np.array([0.0, 1.0])
        kept: dict[str, Any] = {
            "description": curves.component - 1,
            "node_rate": curves.erring.at(self.nodes.score),
            "never_errs": curves.at(boundary) == boundary,
            "log_prior": curves.log_prior(),
        }
        shape = (*kept["description"].shape, len(ROW_DESCRIPTIONS))
        kept["mean_rate"], kept["rate_spread"] = np.zeros((2, *shape))
        for name in self.average.fitted:
            place = ROW_DESCRIPTIONS.index(name)
            rate = curves.given(name).rate[..., : len(self.share)]
            mean = kept["mean_rate"][..., place] = rate @ self.share
            squared = np.square(rate - mean[..., None]) @ self.share
            kept["rate_spread"][..., place] = np.sqrt(squared)
        return kept


@dataclass(frozen=True, eq=False)
class Averaged(RateModel):
    """A problem under `AveragedCurve`: each draw of a curve is of one component.

    NUTS samples smooth and rough curves; others, and errors at 0 and 1, are drawn without it.
    """

    problem: Problem
    prior: AveragedCurve
    variables: ClassVar[tuple[str, ...]] = ("node_rate", "never_errs", "description")

    @cached_property
    def curves(self) -> tuple[_Curve, ...]:
        """Components of each curve."""
        return tuple(_Curve.of(self.problem, c, self.prior) for c in range(self.problem.n_curves))

    @cached_property
    def _places(self) -> Mapping[str, tuple[int, str]]:
        """Curve and component of each member."""
        several = self.problem.n_curves > 1
        return {
            f"{name} {c}" if several else name: (c, name)
            for c, curve in enumerate(self.curves)
            for name in curve.average.members
        }

    @property
    def members(self) -> Mapping[str, quantity.LabelModel]:
        """What NUTS samples: every curve's smooth and rough component."""
        return {
            name: self.curves[c].average.members[own] for name, (c, own) in self._places.items()
        }

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """That of the last of the members."""
        return list(self.members.values())[-1].compile_key

    def add_to_model(self) -> Any:
        """Add the last of the members."""
        return list(self.members.values())[-1].add_to_model()

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling of every component; draws are named by curve."""
        found = [curve.average.direct_draws(draws, rng) for curve in self.curves]
        return DirectDraws(
            {f"{c}/{key}": v for c, one in enumerate(found) for key, v in one.draws.items()},
            min(one.ess for one in found),
            "importance sampling",
            sum(one.log_evidence for one in found),
            max(one.pareto_k for one in found),
            {f"{c}/{name}": v for c, one in enumerate(found) for name, v in one.evidence.items()},
        )

    def completed(
        self, draws: Draws, direct: DirectDraws | None, rng: np.random.Generator
    ) -> Draws:
        """Choose a component for each draw; give its rates, and its log prior density."""
        evidence = with_evidence(direct).evidence
        found = [
            curve.posterior(self._of_curve(draws, c, rng), _of(evidence, c), rng)
            for c, curve in enumerate(self.curves)
        ]
        return {name: np.stack([one[name] for one in found], axis=2) for name in found[0]}

    def weights(self, direct: DirectDraws) -> Floats:
        """Posterior probabilities of the components, (curve, description)."""
        found = [curve.weights(_of(direct.evidence, c)) for c, curve in enumerate(self.curves)]
        return np.stack(found)

    def _of_curve(self, draws: Draws, c: int, rng: np.random.Generator) -> Draws:
        """Parameters of one curve, (chain, draw, ...), with what NUTS leaves out."""
        sampled = _of(draws, c) or {
            key: draws[key if c == 0 else f"{name}/{key}"]
            for name, model in self.members.items()
            for key in model.variables
            if self._places[name][0] == c
        }
        return self.curves[c].average.completed(sampled, rng)

    def members_to_sample(self, direct: DirectDraws) -> tuple[str, ...]:
        """Every curve's members that matter."""
        wanted = [
            curve.members_to_sample(_of(direct.evidence, c)) for c, curve in enumerate(self.curves)
        ]
        return tuple(name for name, (c, own) in self._places.items() if own in wanted[c])

    def member_draws(self, name: str, direct: DirectDraws) -> Draws:
        """Direct draws of a member."""
        own, (c, _) = self.members[name].variables, self._places[name]
        return {key: v for key, v in _of(direct.draws, c).items() if key in own}

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Rates of curves before the data."""
        found = [
            curve.kept(CurvePosterior.prior(curve.average, draws, rng)) for curve in self.curves
        ]
        return {name: np.stack([one[name][0] for one in found], axis=1) for name in found[0]}

    def cell_prob(self, draws: Draws) -> Floats:
        """Rates at the nodes that are cells, (..., curve, cell)."""
        rate, never = draws["node_rate"], draws["never_errs"]
        return np.stack(
            [
                curve.nodes.with_boundary(rate[..., c, :], never[..., c, :])[..., curve.cell_node]
                for c, curve in enumerate(self.curves)
            ],
            axis=-2,
        )

    def with_pseudo_observations(self, draws: Draws, rank: Floats) -> PseudoObservations:
        """Rates at any rank, and their bounds.

        A score of 0 or 1 that never errs is its own rate and its bound on that side. The other
        bound is that of a score that errs: a pseudo-observation rules out that it never does.
        """
        score = [ranks.score_at(at) for ranks, at in zip(self.problem.ranks, rank.T, strict=True)]
        prob = [
            curve.nodes.interpolated(draws["node_rate"][:, c], score[c])
            for c, curve in enumerate(self.curves)
        ]
        found = add_pseudo_observations(np.stack(prob, axis=-1), self.prior.s)
        for end, bound in ((0, found.prob_lower), (1, found.prob_upper)):
            right = draws["never_errs"][:, None, :, end] & (np.stack(score, axis=-1) == end)
            for part in (found.prob, bound):
                part[right] = end
        return found


def _of[Value](named: Mapping[str, Value], curve: int) -> dict[str, Value]:
    """Take what is named by a curve."""
    prefix = f"{curve}/"
    return {name[len(prefix) :]: v for name, v in named.items() if name.startswith(prefix)}
