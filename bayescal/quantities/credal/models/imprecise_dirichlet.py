"""Walley's imprecise Dirichlet model in each bin: conjugate, its bounds in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv
from scipy.stats import beta

from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.quantities.credal.data import Problem, cell_middle, cell_of
from bayescal.quantities.credal.models.base import AsSampled, in_columns
from bayescal.quantities.credal.models.pseudo_observations import PseudoObservations
from bayescal.quantities.credal.priors import ImpreciseDirichlet

# Rates of bins without labels may round to 0 or 1, where densities end.
_EDGE: Final = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Imprecise(AsSampled):
    """A problem under `ImpreciseDirichlet`."""

    problem: Problem
    prior: ImpreciseDirichlet

    variables: ClassVar[tuple[str, ...]] = ("rate",)
    # Above NUTS's own: corners at rates near 0 and 1 need small steps.
    target_accept: ClassVar[float] = 0.97
    max_depth: ClassVar[int] = 10

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Numbers of curves and bins."""
        return ("imprecise", self.problem.n_curves, self.problem.n_cells)

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, and the weight of the prior."""
        return {
            "count": self.problem.count,
            "positives": self.problem.positives,
            "s": np.asarray(self.prior.s),
        }

    def add_to_model(self) -> None:
        """``rate ~ Beta(s / 2, s / 2)``, ``positives ~ Binomial(count, rate)``."""
        import pymc as pm

        values, dims = self.inputs(), ("curve", "cell")
        count = pm.Data("count", values["count"], dims=dims)
        positives = pm.Data("positives", values["positives"], dims=dims)
        s = pm.Data("s", values["s"])
        rate = pm.Beta("rate", s / 2, s / 2, dims=dims)
        pm.Binomial("events", n=count, p=rate, observed=positives, dims=dims)

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Beta draws."""
        half = self.prior.s / 2
        return {"rate": rng.beta(half, half, (draws, *self.problem.count.shape))}

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Conjugate posterior."""
        k, misses = self._counts()
        half = self.prior.s / 2
        return DirectDraws(
            {"rate": rng.beta(half + k, half + misses, (draws, *k.shape))},
            float(draws),
            "conjugate",
        )

    def cell_prob(self, draws: Draws) -> Floats:
        """The rates themselves."""
        return draws["rate"]

    def with_pseudo_observations(self, draws: Draws, rank: Floats) -> PseudoObservations:
        """Rates of the ranks' bins, and their bounds over all priors of weight s."""
        rate, (k, misses), s = draws["rate"], self._counts(), self.prior.s
        at = betainc(s / 2 + k, s / 2 + misses, rate)
        # A Beta(0, b) is all at 0, a Beta(a, 0) all at 1.
        with np.errstate(invalid="ignore"):
            lower = np.where(k > 0, betaincinv(np.maximum(k, _EDGE), misses + s, at), 0.0)
            upper = np.where(misses > 0, betaincinv(k + s, np.maximum(misses, _EDGE), at), 1.0)
        cell = cell_of(rank, self.problem.n_cells)
        ends = (rate, np.minimum(lower, rate), np.maximum(upper, rate))
        return PseudoObservations._make(in_columns(part, cell) for part in ends)

    def representative(self, rank: Floats) -> Floats:
        """Middle of the rank's bin."""
        return cell_middle(rank, self.problem.n_cells)

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Beta density of the rates."""
        half = self.prior.s / 2
        inside = np.clip(draws["rate"], _EDGE, 1 - np.finfo(float).epsneg)
        return {"rate": beta.logpdf(inside, half, half).sum(axis=(-2, -1))}

    def _counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        positives = self.problem.positives
        return positives, self.problem.count - positives
