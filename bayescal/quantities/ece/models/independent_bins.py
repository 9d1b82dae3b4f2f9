"""Label rates of bins, independent of each other: a conjugate Beta-Binomial model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, xlog1py, xlogy

from bayescal.core.quantity import BaseModel, DirectDraws, Draws, Floats
from bayescal.curves.cells import Problem, pad, padded_size
from bayescal.quantities.ece.priors import IndependentBins

CELLS = 16
# Rates of 0 and 1 have no finite log density under priors that pull to the ends.
_SMALLEST = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Independent(BaseModel):
    """A problem whose cells are its bins, under `IndependentBins`."""

    problem: Problem
    prior: IndependentBins
    variables: ClassVar[tuple[str, ...]] = ("rate",)
    # Above NUTS's own default: Jeffreys' corners at rates near 0 and 1 need small steps.
    target_accept: ClassVar[float] = 0.97

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of bins, padded."""
        return ("independent", padded_size(self.problem.cells.n_bins, CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, and the parameters of the prior."""
        _, cells = self.compile_key
        return {
            "count": pad(self.problem.cells.count, cells),
            "positives": pad(self.problem.cells.positives, cells),
            "alpha": np.asarray(self.prior.rate.alpha),
            "beta": np.asarray(self.prior.rate.beta),
        }

    def add_to_model(self) -> Any:
        """``rate ~ Beta(alpha, beta)``, ``positives ~ Binomial(count, rate)``."""
        import pymc as pm

        values = self.inputs()
        count = pm.Data("count", values["count"], dims="cell")
        positives = pm.Data("positives", values["positives"], dims="cell")
        rate = pm.Beta(
            "rate",
            pm.Data("alpha", values["alpha"]),
            pm.Data("beta", values["beta"]),
            dims="cell",
        )
        pm.Binomial("events", n=count, p=rate, observed=positives, dims="cell")
        return rate

    def prior_rates(self, draws: int, rng: np.random.Generator) -> Floats:
        """Independent rates."""
        size = (draws, self.problem.cells.n_bins)
        return rng.beta(self.prior.rate.alpha, self.prior.rate.beta, size=size)

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Conjugate posterior."""
        _, cells = self.compile_key
        alpha, beta = self.prior.rate.alpha, self.prior.rate.beta
        k = pad(self.problem.cells.positives, cells)
        misses = pad(self.problem.cells.count, cells) - k
        rate = rng.beta(alpha + k, beta + misses, size=(draws, cells))
        evidence = (betaln(alpha + k, beta + misses) - betaln(alpha, beta)).sum()
        return DirectDraws({"rate": rate}, float(draws), "conjugate", float(evidence))

    def cell_rates(self, draws: Draws, rng: np.random.Generator) -> Floats:
        """The rates themselves."""
        return draws["rate"][..., : self.problem.cells.n_bins]

    def curve(self, draws: Draws, rates: Floats, score: Floats) -> Floats:
        """Step function: the rate of the bin that a score falls into."""
        return step_curve(self.problem, rates, score)

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Beta density of each rate."""
        alpha, beta = self.prior.rate.alpha, self.prior.rate.beta
        rate = np.clip(draws["rate"], _SMALLEST, None)
        density = xlogy(alpha - 1, rate) + xlog1py(beta - 1, -np.minimum(rate, 1 - 1e-16))
        return {"rate": density - betaln(alpha, beta)}


def step_curve(problem: Problem, rates: Floats, score: Floats) -> Floats:
    """Rate of the cell that each score falls into, (..., point)."""
    return rates[..., problem.cells.find(score)]
