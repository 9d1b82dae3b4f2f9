"""The default prior of label rates: an average of components of each curve, by their evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp, softmax

from bayescal.core import quantity
from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.curves import cells as calibration
from bayescal.curves.average import Average
from bayescal.curves.cells import EDGE, labelled
from bayescal.inference.direct import choose
from bayescal.quantities.credal.data import Problem
from bayescal.quantities.credal.models import (
    PseudoObservations,
    add_pseudo_observations,
)
from bayescal.quantities.credal.models.rising import Monotone, i_splines
from bayescal.quantities.credal.priors import RISING, ROW_DESCRIPTIONS, AveragedCurve

# Nodes beyond the lowest and the highest score, by their distance in logits.
_BEYOND: Final = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
# Scores between 0 and 1 with rows, at most.
MOST: Final = 100
_LINE: Final = MOST + 2 * len(_BEYOND) + 2
NODES: Final = _LINE + MOST
# From a score with rows to the node beside it, in logits, and to what counts as that score.
_BESIDE, _SAME = 1e-6, 1e-8
_LEAST: Final = 1e-300
_HIGHEST: Final = 1 - np.finfo(np.float64).epsneg


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Scores of the nodes, (node,); made by `Nodes.of`.

    First those of a line from 0 to 1, then the scores with rows themselves. The line passes beside
    these: a rough curve has a part of its own at every score with rows, which no other score
    shares. The last of either part is repeated, so that all curves have as many nodes.
    """

    score: Floats

    @classmethod
    def of(cls, held: Floats) -> Nodes:
        """Put nodes at the scores with rows, all between 0 and 1, beside and beyond them."""
        interior = held if len(held) else np.array([0.5])
        place = logit(interior)
        line = np.concatenate(
            [place[0] - _BEYOND[::-1], place + _BESIDE, place[-1] + _BEYOND],
        )
        found = expit(line).clip(EDGE, 1 - EDGE)
        padded = np.pad(found, (0, _LINE - 2 - len(found)), "edge")
        own = np.pad(interior, (0, MOST - len(interior)), "edge")
        return cls(np.concatenate([[0.0], padded, [1.0], own]))

    @property
    def ends(self) -> dict[float, int]:
        """Nodes of the scores 0 and 1."""
        return {0.0: 0, 1.0: _LINE - 1}

    def with_ends(self, rate: Floats, never_errs: NDArray[Any]) -> Floats:
        """Rates at the nodes, (..., node), where scores of 0 and 1 may never err, (..., 2)."""
        found = rate.copy()
        for end, node in self.ends.items():
            found[..., node] = np.where(never_errs[..., int(end)], end, rate[..., node])
        return found

    def of_held(self, number: int) -> int:
        """Node of a score with rows, by its place among them."""
        return _LINE + number

    def interpolated(self, rate: Floats, score: Floats) -> Floats:
        """Rates at any scores from those at the nodes, (draw, obs).

        Along the line the logits of rates are linear in that of the score. Scores with rows, and
        those of 0 and 1, have the rates of their own nodes.
        """
        line = logit(self.score[1 : _LINE - 1])
        place = logit(score.clip(self.score[1], self.score[_LINE - 2]))
        right = np.searchsorted(line, place).clip(1, len(line) - 1)
        gap = line[right] - line[right - 1]
        share = np.divide(place - line[right - 1], gap, out=np.ones(len(gap)), where=gap > 0)
        low, high = (logit(rate[:, at].clip(_LEAST, _HIGHEST)) for at in (right, right + 1))
        found = np.asarray(expit(low + share * (high - low)))
        held = logit(self.score[_LINE:])
        nearest = np.searchsorted((held[1:] + held[:-1]) / 2, place)
        same = np.abs(held[nearest] - place) < _SAME
        found[:, same] = rate[:, _LINE + nearest[same]]
        for end, node in self.ends.items():
            found[:, score == end] = rate[:, node, None]
        return found


# A description of less weight may rest on few effective draws.
_MATTERS: Final = 0.01
# For the mean of a log density before the data.
_PRIOR_DRAWS: Final = 2000
# Prior probability that a score of 0, or of 1, is right without exception.
_RIGHT: Final = 0.5


@dataclass(frozen=True, eq=False)
class CurveDescriptions:
    """One curve of a problem: smooth, rough or rising, with scores of 0 and 1 apart.

    Notes
    -----
    Draws are named as by `Average`; ``intercept`` and ``weight`` (spline) are of the rising
    curve, and ``unseen`` (2) are logits of the error rates of scores of 0 and 1 that no calibration
    row has. ``never_errs`` (2) says whether scores of 0 and of 1 are right without exception;
    before the data with probability 1/2.
    """

    problem: Problem
    curve: int
    prior: AveragedCurve

    @cached_property
    def average(self) -> Average:
        """Smooth and rough description of the cells with rows."""
        held = self.problem.count[self.curve] > 0
        score = self.problem.cell_score()[self.curve, held]
        edges = np.concatenate([[0.0], (score[1:] + score[:-1]) / 2, [1.0]])
        count, positives = self.problem.count, self.problem.positives
        cells = BinCounts(edges, count[self.curve, held], positives[self.curve, held], score)
        return Average.of(calibration.Problem({}, cells, cells), self.prior.average, _RIGHT)

    @cached_property
    def rising(self) -> Monotone:
        """The cells with scores between 0 and 1 under a rising curve; one empty cell for none."""
        interior, ranks = self.average.interior, self.problem.ranks[self.curve]
        count = positives = np.zeros(1, np.int64)
        place = np.array([0.5])
        if len(interior):
            cells = labelled(self.average.cells.at(interior))
            count, positives = cells.count, cells.positives
            place = ranks(self.average.score[interior])
        own = Problem((ranks,), count[None], positives[None], place[None], np.zeros((0, 1)))
        return Monotone.of(own, self.prior.rise)

    @cached_property
    def nodes(self) -> Nodes:
        """Scores at which draws of the curve are kept."""
        return Nodes.of(self.average.score[self.average.interior])

    @cached_property
    def cell_node(self) -> list[int]:
        """Node of each cell of the problem; the first one's for a cell without rows."""
        average, found = self.average, [0] * self.problem.n_cells
        for number, place in enumerate(average.interior.tolist()):
            found[place] = self.nodes.of_held(number)
        for place, end in average.boundary_scores.items():
            found[place] = self.nodes.ends[end.score]
        return found

    @property
    def fitted(self) -> tuple[str, ...]:
        """Descriptions to choose from; a rising one alone without a score between 0 and 1."""
        return tuple(self.prior.weights) if len(self.average.interior) else (RISING,)

    def weights(self, evidence: Mapping[str, float]) -> Floats:
        """Posterior probabilities of the descriptions, in the order of `ROW_DESCRIPTIONS`."""
        logs = [self._log_weight(name) + evidence[name] for name in self.fitted]
        shares = dict(zip(self.fitted, softmax(logs), strict=True))
        return np.array([shares.get(name, 0.0) for name in ROW_DESCRIPTIONS])

    def prior_weights(self) -> Floats:
        """Probabilities of the descriptions before the data."""
        return self.weights(dict.fromkeys(self.fitted, 0.0))

    def _log_weight(self, name: str) -> float:
        return float(np.log(self.prior.weights.get(name, 1.0)))

    def direct_draws(self, number: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling of every description."""
        parts: dict[str, DirectDraws] = {}
        if self.average.members:
            parts["other"] = self.average.direct_draws(number, rng)
        if RISING in self.fitted:
            parts[RISING] = self._rising_draws(number, rng)
        evidence = {name: v for part in parts.values() for name, v in part.evidence.items()}
        rises = dict(zip(ROW_DESCRIPTIONS, self.weights(evidence), strict=True))[RISING]
        matter = [part for name, part in parts.items() if _share(name, rises) >= _MATTERS]
        return DirectDraws(
            {
                **{name: v for part in parts.values() for name, v in part.draws.items()},
                **self.average.exact_draws(number, rng),
                **self._ends(number, rng, self.average.boundary_right),
            },
            min(part.ess for part in matter),
            "importance sampling",
            float(logsumexp([self._log_weight(name) + v for name, v in evidence.items()])),
            max(part.pareto_k for part in matter),
            evidence,
        )

    def _rising_draws(self, number: int, rng: np.random.Generator) -> DirectDraws:
        found = self.rising.direct_draws(number, rng)
        drawn = {name: values[:, 0] for name, values in found.draws.items()}
        return replace(found, draws=drawn, evidence={RISING: found.log_evidence})

    def drawn_apart(self, number: int, rng: np.random.Generator) -> Draws:
        """Draws of what NUTS leaves out: the rising curve, and the scores 0 and 1."""
        rising = self._rising_draws(number, rng).draws if RISING in self.fitted else {}
        ends = self._ends(number, rng, self.average.boundary_right)
        return {**rising, **self.average.exact_draws(number, rng), **ends}

    def prior_draws(self, number: int, rng: np.random.Generator) -> Draws:
        """Parameters of every description before the data, (draw, ...)."""
        rising = self.rising.prior_draws(number, rng)
        return {
            **self.average.prior_draws(number, rng),
            **{name: values[:, 0] for name, values in rising.items()},
            **self._ends(number, rng, np.full(len(self.average.boundary_scores), _RIGHT)),
        }

    def _ends(self, number: int, rng: np.random.Generator, right: Floats) -> Draws:
        """Error rates of unseen scores of 0 and 1, and which of them never err, (draw, 2)."""
        average = self.average
        known = {
            end.score: p for end, p in zip(average.boundary_scores.values(), right, strict=True)
        }
        share = [known.get(end, _RIGHT) for end in (0.0, 1.0)]
        never: Any = rng.random((number, 2)) < share
        unseen = rng.normal(average.boundary_mean, average.boundary_spread, (number, 2))
        return {"unseen": unseen, "never_errs": never}

    def rates(self, name: str, draws: Draws) -> Floats:
        """Probability of the label at the nodes, those of 0 and 1 erring, (..., node)."""
        score = self.nodes.score
        if name == RISING:
            splines = i_splines(self.problem.ranks[self.curve](score)) - 0.5
            found = expit(draws["intercept"][..., None] + draws["weight"] @ splines.T)
        else:
            found = np.array(self.average.curve(name, draws, score))
        seen = {
            end.score: column for column, end in enumerate(self.average.boundary_scores.values())
        }
        for end, node in self.nodes.ends.items():
            key, column = ("boundary", seen[end]) if end in seen else ("unseen", int(end))
            found[..., node] = np.abs(end - expit(draws[key][..., column]))
        return np.asarray(found)

    def averaged(self, draws: Draws, weights: Floats, rng: np.random.Generator) -> Draws:
        """Give each draw a description, by their weights."""
        shape = draws["unseen"].shape[:-1]
        which = choose(weights, int(np.prod(shape)), rng).reshape(shape)
        found: dict[str, Any] = {"description": which, "node_rate": np.empty((*shape, NODES))}
        found |= {"log_prior": np.empty(shape), "never_errs": draws["never_errs"]}
        for name in ("mean_rate", "rate_spread"):
            found[name] = np.zeros((*shape, len(ROW_DESCRIPTIONS)))
        count = self.problem.count[self.curve]
        for name in self.fitted:
            place = ROW_DESCRIPTIONS.index(name)
            rates, own = self.rates(name, draws), which == place
            found["node_rate"][own] = rates[own]
            taken = {key: values[own] for key, values in draws.items()}
            found["log_prior"][own] = self.log_prior(name, taken)
            cells = self.nodes.with_ends(rates, draws["never_errs"])[..., self.cell_node]
            mean = found["mean_rate"][..., place] = cells @ (count / count.sum())
            squared = np.square(cells - mean[..., None]) @ (count / count.sum())
            found["rate_spread"][..., place] = np.sqrt(squared)
        return found

    def log_prior(self, name: str, draws: Draws) -> Floats:
        """Log prior density of a description's parameters, less its mean before the data, (...)."""
        if name == RISING:
            return self._log_density_of_rising(draws) - self._mean_of_rising
        return np.asarray(self.average.component_log_prior(name, draws))

    def _log_density_of_rising(self, draws: Draws) -> Floats:
        own = {"intercept": draws["intercept"][..., None], "weight": draws["weight"][..., None, :]}
        return np.asarray(sum(self.rising.log_prior(own).values()))

    @cached_property
    def _mean_of_rising(self) -> float:
        drawn = self.prior_draws(_PRIOR_DRAWS, np.random.default_rng(0))
        return float(self._log_density_of_rising(drawn).mean())


def _share(name: str, rising: float) -> float:
    return rising if name == RISING else 1 - rising


# For the evidence of the descriptions beside NUTS.
EVIDENCE_DRAWS: Final = 2000


@dataclass(frozen=True, eq=False)
class Averaged:
    """A problem under `AveragedCurve`.

    Every draw of a curve is of one description, chosen by its posterior probability. NUTS samples
    smooth and rough curves; rising ones, and the error rates of scores of 0 and 1, are drawn
    without it.
    """

    problem: Problem
    prior: AveragedCurve
    variables: ClassVar[tuple[str, ...]] = ("node_rate", "never_errs", "description")
    target_accept: ClassVar[float] = Average.target_accept
    max_depth: ClassVar[int] = Average.max_depth

    @cached_property
    def curves(self) -> tuple[CurveDescriptions, ...]:
        """Descriptions of each curve."""
        numbers = range(self.problem.n_curves)
        return tuple(CurveDescriptions(self.problem, c, self.prior) for c in numbers)

    @property
    def members(self) -> Mapping[str, quantity.LabelModel]:
        """What NUTS samples: every curve's smooth and rough description."""
        return {
            self._named(name, c): model
            for c, curve in enumerate(self.curves)
            for name, model in curve.average.members.items()
        }

    def _named(self, name: str, curve: int) -> str:
        """Name of a description of a curve."""
        return name if self.problem.n_curves == 1 else f"{name} {curve}"

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """That of the last of the members."""
        return list(self.members.values())[-1].compile_key

    def inputs(self) -> Mapping[str, NDArray[Any]]:
        """Those of the members."""
        return {
            f"{name} {key}": value
            for name, model in self.members.items()
            for key, value in model.inputs().items()
        }

    def add_to_model(self) -> Any:
        """Add the last of the members."""
        return list(self.members.values())[-1].add_to_model()

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling of every description; draws are named by curve."""
        found = [curve.direct_draws(draws, rng) for curve in self.curves]
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
        """Choose a description for each draw; give its rates, and its log prior density."""
        if direct is None:
            raise TypeError("an average needs direct draws, for the evidence of its descriptions")
        found = [
            curve.averaged(self._of_curve(draws, c, rng), self.weights(direct)[c], rng)
            for c, curve in enumerate(self.curves)
        ]
        return _stacked(found, axis=2)

    def weights(self, direct: DirectDraws) -> Floats:
        """Posterior probabilities of the descriptions, (curve, description)."""
        known = [_of(direct.evidence, c) for c in range(self.problem.n_curves)]
        pairs = zip(self.curves, known, strict=True)
        return np.stack([curve.weights(evidence) for curve, evidence in pairs])

    def _of_curve(self, draws: Draws, c: int, rng: np.random.Generator) -> Draws:
        """Parameters of one curve, (chain, draw, ...), with what NUTS leaves out."""
        if own := _of(draws, c):
            return own
        curve, shape = self.curves[c], next(iter(draws.values())).shape[:2]
        apart = {
            name: values.reshape(*shape, *values.shape[1:])
            for name, values in curve.drawn_apart(int(np.prod(shape)), rng).items()
        }
        sampled = {
            key: draws[key if c == 0 else f"{self._named(name, c)}/{key}"]
            for name, model in curve.average.members.items()
            for key in model.variables
        }
        return {**apart, **curve.average.completed({**sampled, "boundary": apart["boundary"]}, rng)}

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Rates of curves before the data."""
        return _stacked(
            [
                curve.averaged(curve.prior_draws(draws, rng), curve.prior_weights(), rng)
                for curve in self.curves
            ],
            axis=1,
        )

    def cell_prob(self, draws: Draws) -> Floats:
        """Rates at the nodes that are cells, (..., curve, cell)."""
        rate, never = draws["node_rate"], draws["never_errs"]
        return np.stack(
            [
                curve.nodes.with_ends(rate[..., c, :], never[..., c, :])[..., curve.cell_node]
                for c, curve in enumerate(self.curves)
            ],
            axis=-2,
        )

    def with_pseudo_observations(self, draws: Draws, rank: Floats) -> PseudoObservations:
        """Rates at any rank, and their bounds.

        A score of 0 or 1 that never errs has its own value for a rate, and for the bound on its
        side. The other bound is that of a score that errs: a pseudo-observation rules out that it
        never does.
        """
        found = []
        for c, (curve, ranks) in enumerate(zip(self.curves, self.problem.ranks, strict=True)):
            score, never = ranks.score_at(rank[:, c]), draws["never_errs"][:, c]
            prob = curve.nodes.interpolated(draws["node_rate"][:, c], score)
            ends = add_pseudo_observations(prob, self.prior.s)
            for end, bound in ((0, ends.prob_lower), (1, ends.prob_upper)):
                for part in (ends.prob, bound):
                    part[np.ix_(never[:, end], score == end)] = end
            found.append(ends)
        return PseudoObservations._make(
            np.stack(parts, axis=-1) for parts in zip(*found, strict=True)
        )

    def representative(self, rank: Floats) -> Floats:
        """The rank itself."""
        return rank

    def log_prior(self, draws: Draws) -> Draws:
        """Log prior density under each description, of draws of all of them; curves add up."""
        curves = [(curve, _of(draws, c)) for c, curve in enumerate(self.curves)]
        return {
            name: np.sum([curve.log_prior(name, own) for curve, own in curves], axis=0)
            for name in self.curves[0].fitted
        }


def _of[Value](named: Mapping[str, Value], curve: int) -> dict[str, Value]:
    """Take what is named by a curve."""
    prefix = f"{curve}/"
    return {name[len(prefix) :]: v for name, v in named.items() if name.startswith(prefix)}


def _stacked(curves: Sequence[Draws], axis: int) -> Draws:
    """Draws of all curves, the curves along an axis."""
    return {name: np.stack([one[name] for one in curves], axis=axis) for name in curves[0]}
