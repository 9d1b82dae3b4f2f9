"""Label rates of bins that scatter about their mean scores by an unknown amount."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, logsumexp

from bayescal.core.quantity import BaseModel, DirectDraws, Draws, Floats
from bayescal.curves.cells import Problem, pad, padded_size
from bayescal.quantities.ece.models.independent_bins import CELLS, step_curve
from bayescal.quantities.ece.priors import HierarchicalBins

# A rate is drawn to a score of 0 or 1 as to one this near to it, which has a density.
EDGE = 1e-6
_NODES = 2001
# Standard deviations of a prior, and a log density below its peak, beyond which nothing is left.
_REACH = 8.0
_NOTHING = 40.0


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchical(BaseModel):
    """A problem whose cells are its bins, under `HierarchicalBins`.

    Given kappa the rates are conjugate, so they are integrated out: NUTS sees kappa alone and the
    rates are drawn after it. This is the same posterior without its funnel.
    """

    problem: Problem
    prior: HierarchicalBins
    variables: ClassVar[tuple[str, ...]] = ("concentration",)

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of bins, padded."""
        return ("hierarchical", padded_size(self.problem.cells.n_bins, CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, mean scores, and the parameters of the prior."""
        _, cells = self.compile_key
        return {
            "count": pad(self.problem.cells.count, cells),
            "positives": pad(self.problem.cells.positives, cells),
            # Bins of the padding need a score too; without rows any does.
            "score": np.maximum(pad(self._score(), cells), EDGE),
            "mu": np.asarray(self.prior.concentration.mu),
            "sigma": np.asarray(self.prior.concentration.sigma),
        }

    def add_to_model(self) -> Any:
        """``positives ~ BetaBinomial(kappa f, kappa (1 - f), count)``, then the rates."""
        import pymc as pm

        values = self.inputs()
        count = pm.Data("count", values["count"], dims="cell")
        positives = pm.Data("positives", values["positives"], dims="cell")
        score = pm.Data("score", values["score"], dims="cell")
        kappa = pm.LogNormal(
            "concentration", pm.Data("mu", values["mu"]), pm.Data("sigma", values["sigma"])
        )
        pm.BetaBinomial(
            "events",
            alpha=kappa * score,
            beta=kappa * (1 - score),
            n=count,
            observed=positives,
            dims="cell",
        )
        return pm.Beta(
            "rate",
            kappa * score + positives,
            kappa * (1 - score) + (count - positives),
            dims="cell",
        )

    def prior_rates(self, draws: int, rng: np.random.Generator) -> Floats:
        """Rates about the mean scores, for kappa from its prior."""
        prior, score = self.prior.concentration, self._score()
        kappa = rng.lognormal(prior.mu, prior.sigma, size=(draws, 1))
        return rng.beta(kappa * score, kappa * (1 - score))

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Quadrature over log kappa, in even steps across all of the posterior."""
        prior = self.prior.concentration
        nodes = self._nodes()
        step = nodes[1] - nodes[0]
        log_weights = self._log_weights(nodes)
        weights = np.exp(log_weights - log_weights.max())
        ladder = (np.arange(draws) + rng.random()) / draws
        place = np.searchsorted(np.cumsum(weights) / weights.sum(), ladder).clip(0, _NODES - 1)
        standard = nodes[place] + step * (rng.random(draws) - 0.5)
        drawn = rng.permutation(np.exp(prior.mu + prior.sigma * standard))
        evidence = logsumexp(log_weights) + np.log(step) - np.log(2 * np.pi) / 2
        return DirectDraws({"concentration": drawn}, float(draws), "quadrature", float(evidence))

    def cell_rates(self, draws: Draws, rng: np.random.Generator) -> Floats:
        """Conjugate draws given kappa."""
        cells, score = self.problem.cells, self._score()
        kappa, misses = draws["concentration"][..., None], cells.count - cells.positives
        return np.asarray(rng.beta(kappa * score + cells.positives, kappa * (1 - score) + misses))

    def curve(self, draws: Draws, rates: Floats, score: Floats) -> Floats:
        """Step function: the rate of the bin that a score falls into."""
        return step_curve(self.problem, rates, score)

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Log-normal density of kappa."""
        prior, log_kappa = self.prior.concentration, np.log(draws["concentration"])
        standard = (log_kappa - prior.mu) / prior.sigma
        constant = np.log(prior.sigma) + np.log(2 * np.pi) / 2
        return {"concentration": -(standard**2) / 2 - constant - log_kappa}

    def _score(self) -> Floats:
        return np.clip(self.problem.cells.mean_score, EDGE, 1 - EDGE)

    def _nodes(self) -> Floats:
        """Even steps of log kappa, in standard deviations of its prior, over the posterior."""
        prior = self.prior.concentration
        # Below a thousandth of a row the likelihood only falls.
        lowest = (np.log(1e-3) - prior.mu) / prior.sigma
        highest = (self._largest() - prior.mu) / prior.sigma
        span = np.linspace(min(lowest, 0) - _REACH, max(highest, 0) + _REACH, _NODES)
        log_weights = self._log_weights(span)
        held = span[log_weights > log_weights.max() - _NOTHING]
        step = span[1] - span[0]
        return np.linspace(held[0] - step, held[-1] + step, _NODES)

    def _log_weights(self, standard: Floats) -> Floats:
        """Log posterior density of log kappa in standard deviations of its prior, unnormalised."""
        prior = self.prior.concentration
        log_kappa = np.minimum(prior.mu + prior.sigma * standard, self._largest())
        return self._log_likelihood(np.exp(log_kappa)) - standard**2 / 2

    def _largest(self) -> float:
        """Log kappa, far more rows than a bin has, past which the likelihood is flat."""
        return float(np.log(1e4 * self.problem.cells.count.max()))

    def _log_likelihood(self, kappa: Floats) -> Floats:
        cells, score = self.problem.cells, self._score()
        # Taken before beta is added, which may be too small to be seen beside the count.
        misses = cells.count - cells.positives
        alpha, beta = kappa[:, None] * score, kappa[:, None] * (1 - score)
        posterior = betaln(alpha + cells.positives, beta + misses)
        return np.asarray((posterior - betaln(alpha, beta)).sum(axis=1))
