"""One probability curve under each of its descriptions: their evidence, draws and rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy.special import expit, logsumexp, softmax

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.calibration_curve import problem as calibration
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.inference.descriptions.curve_average import Average, average_of
from bayescal.inference.descriptions.described_curve import DescribedCurve, choose
from bayescal.quantities.credal.data import Problem
from bayescal.quantities.credal.models.monotone import Monotone, i_splines
from bayescal.quantities.credal.models.nodes import NODES, Nodes
from bayescal.quantities.credal.priors import RISING, ROW_DESCRIPTIONS, AveragedCurve

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
    Draws are named as by `DescribedCurve`; ``intercept`` and ``weight`` (spline) are of the rising
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
        return average_of(calibration.Problem({}, cells, cells), self.prior.average, _RIGHT)

    @property
    def described(self) -> DescribedCurve:
        """Evidence and draws of the smooth and the rough description."""
        return self.average.described

    @cached_property
    def rising(self) -> Monotone:
        """The cells with scores between 0 and 1 under a rising curve; one empty cell for none."""
        inner, ranks = self.described.inner, self.problem.ranks[self.curve]
        count = positives = np.zeros(1, np.int64)
        place = np.array([0.5])
        if len(inner):
            cells = self.average.problem.cells
            count, positives = cells.count[inner], cells.positives[inner]
            place = ranks(self.described.score[inner])
        own = Problem((ranks,), count[None], positives[None], place[None], np.zeros((0, 1)))
        return Monotone.of(own, self.prior.rise)

    @cached_property
    def nodes(self) -> Nodes:
        """Scores at which draws of the curve are kept."""
        return Nodes.of(self.described.score[self.described.inner])

    @cached_property
    def cell_node(self) -> list[int]:
        """Node of each cell of the problem; the first one's for a cell without rows."""
        described, found = self.described, [0] * self.problem.n_cells
        for number, place in enumerate(described.inner.tolist()):
            found[place] = self.nodes.of_held(number)
        for place, end in described.ends.items():
            found[place] = self.nodes.ends[end.score]
        return found

    @property
    def fitted(self) -> tuple[str, ...]:
        """Descriptions to choose from; a rising one alone without a score between 0 and 1."""
        return tuple(self.prior.weights) if len(self.described.inner) else (RISING,)

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
            parts["other"] = self.described.direct_draws(number, rng)
        if RISING in self.fitted:
            parts[RISING] = self._rising_draws(number, rng)
        evidence = {name: v for part in parts.values() for name, v in part.evidence.items()}
        rises = dict(zip(ROW_DESCRIPTIONS, self.weights(evidence), strict=True))[RISING]
        matter = [part for name, part in parts.items() if _share(name, rises) >= _MATTERS]
        return DirectDraws(
            {
                **{name: v for part in parts.values() for name, v in part.draws.items()},
                **self.described.exact_draws(number, rng),
                **self._ends(number, rng, self.described.ends_calibrated),
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
        ends = self._ends(number, rng, self.described.ends_calibrated)
        return {**rising, **self.described.exact_draws(number, rng), **ends}

    def prior_draws(self, number: int, rng: np.random.Generator) -> Draws:
        """Parameters of every description before the data, (draw, ...)."""
        rising = self.rising.prior_draws(number, rng)
        return {
            **self.described.prior_draws(number, rng),
            **{name: values[:, 0] for name, values in rising.items()},
            **self._ends(number, rng, np.full(len(self.described.ends), _RIGHT)),
        }

    def _ends(self, number: int, rng: np.random.Generator, right: Floats) -> Draws:
        """Error rates of unseen scores of 0 and 1, and which of them never err, (draw, 2)."""
        described = self.described
        known = {end.score: p for end, p in zip(described.ends.values(), right, strict=True)}
        share = [known.get(end, _RIGHT) for end in (0.0, 1.0)]
        never: Any = rng.random((number, 2)) < share
        unseen = rng.normal(described.end_mean, described.end_spread, (number, 2))
        return {"unseen": unseen, "never_errs": never}

    def rates(self, name: str, draws: Draws) -> Floats:
        """Probability of the label at the nodes, those of 0 and 1 erring, (..., node)."""
        score = self.nodes.score
        if name == RISING:
            splines = i_splines(self.problem.ranks[self.curve](score)) - 0.5
            found = expit(draws["intercept"][..., None] + draws["weight"] @ splines.T)
        else:
            found = np.array(self.described.curve(name, draws, score))
        seen = {end.score: column for column, end in enumerate(self.described.ends.values())}
        for end, node in self.nodes.ends.items():
            key, column = ("end", seen[end]) if end in seen else ("unseen", int(end))
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
        return np.asarray(self.described.log_prior(name, draws))

    def _log_density_of_rising(self, draws: Draws) -> Floats:
        own = {"intercept": draws["intercept"][..., None], "weight": draws["weight"][..., None, :]}
        return np.asarray(sum(self.rising.log_prior(own).values()))

    @cached_property
    def _mean_of_rising(self) -> float:
        drawn = self.prior_draws(_PRIOR_DRAWS, np.random.default_rng(0))
        return float(self._log_density_of_rising(drawn).mean())


def _share(name: str, rising: float) -> float:
    return rising if name == RISING else 1 - rising
