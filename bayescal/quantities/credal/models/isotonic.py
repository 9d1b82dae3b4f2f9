"""Step-robust prior of label rates: a rising step function whose steps are Dirichlet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.quantities.credal.data import Problem, cell_middle, cell_of
from bayescal.quantities.credal.models.base import AsSampled, in_columns
from bayescal.quantities.credal.models.pseudo_observations import (
    PseudoObservations,
    add_pseudo_observations,
)
from bayescal.quantities.credal.models.step_posterior import draw_rates
from bayescal.quantities.credal.priors import IncrementIsotonic

# Steps of concentrations below 1 have an infinite density at 0; draws may round to it.
_SMALLEST: Final = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic(AsSampled):
    """A problem under `IncrementIsotonic`."""

    problem: Problem
    prior: IncrementIsotonic

    variables: ClassVar[tuple[str, ...]] = ("increment",)
    # Above NUTS's own: small steps have long tails on the log scale.
    target_accept: ClassVar[float] = 0.9
    max_depth: ClassVar[int] = 10

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Numbers of curves and bins."""
        return ("isotonic", self.problem.n_curves, self.problem.n_cells)

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts and concentrations."""
        count, positives = self.problem.count, self.problem.positives
        return {
            "count": count,
            "positives": positives,
            "log_coefficient": log_binomial_coefficient(count, positives),
            "concentration": np.asarray(self.prior.concentration),
        }

    def add_to_model(self) -> None:
        """``positives ~ Binomial(count, cumsum(increment))``, Dirichlet as Gammas over their sum.

        NUTS takes hundreds of steps a draw in the coordinates of ``pm.Dirichlet``, and a tenth of
        these in the logarithms of the Gammas.
        """
        import pymc as pm
        import pytensor.tensor as pt

        from bayescal.inference.logit_binomial import logit_binomial

        data = {
            name: pm.Data(name, values, dims=("curve", "cell") if np.ndim(values) else None)
            for name, values in self.inputs().items()
        }
        shape = (self.problem.n_curves, self.problem.n_cells + 1)
        mass = pm.Gamma("mass", data["concentration"], 1.0, shape=shape)
        increment = pm.Deterministic("increment", mass / mass.sum(axis=-1, keepdims=True))
        # Sums of small steps from either end, so that neither loses its digits.
        is_below = np.tri(self.problem.n_cells, self.problem.n_cells + 1)
        below = (increment[:, None, :] * is_below).sum(axis=-1)
        above = (increment[:, None, :] * (1 - is_below)).sum(axis=-1)
        logit_binomial(
            "events",
            data["count"],
            pt.log(below) - pt.log(above),
            data["log_coefficient"],
            observed=data["positives"],
            dims=("curve", "cell"),
        )

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Dirichlet draws."""
        alpha = np.full(self.problem.n_cells + 1, self.prior.concentration)
        return {"increment": rng.dirichlet(alpha, (draws, self.problem.n_curves))}

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Independent draws by sums over a grid; see `draw_rates`."""
        rates = [
            draw_rates(count, positives, self.prior.concentration, draws, rng)
            for count, positives in zip(self.problem.count, self.problem.positives, strict=True)
        ]
        increment = np.diff(np.stack(rates, axis=1), axis=-1, prepend=0, append=1)
        return DirectDraws({"increment": increment}, float(draws), "quadrature")

    def cell_prob(self, draws: Draws) -> Floats:
        """Sums of the steps."""
        return np.clip(draws["increment"].cumsum(axis=-1)[..., :-1], 0, 1)

    def with_pseudo_observations(self, draws: Draws, rank: Floats) -> PseudoObservations:
        """Rates and bounds of the ranks' bins."""
        rate = self.cell_prob(draws)
        found = add_pseudo_observations(rate.reshape(len(rate), -1), self.prior.s)
        cell = cell_of(rank, self.problem.n_cells)
        return PseudoObservations._make(
            in_columns(part.reshape(rate.shape), cell) for part in found
        )

    def representative(self, rank: Floats) -> Floats:
        """Middle of the rank's bin."""
        return cell_middle(rank, self.problem.n_cells)

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Dirichlet density."""
        alpha, steps = self.prior.concentration, self.problem.n_cells + 1
        log_step = xlogy(alpha - 1, np.maximum(draws["increment"], _SMALLEST)).sum(axis=-1)
        constant = gammaln(alpha * steps) - steps * gammaln(alpha)
        return {"increment": np.asarray((log_step + constant).sum(axis=-1))}
