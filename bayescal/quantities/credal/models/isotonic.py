"""Step-robust prior of label rates: a rising step function whose steps are Dirichlet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln, logsumexp, xlog1py, xlogy

from bayescal.core.binomial import log_binomial_coefficient
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.quantities.credal.data import Problem, cell_of
from bayescal.quantities.credal.models.base import in_columns
from bayescal.quantities.credal.models.pseudo_observations import (
    PseudoObservations,
    add_pseudo_observations,
)
from bayescal.quantities.credal.priors import IncrementIsotonic

# Levels of each bin's and each pool's own posterior that the grid is cut at, and cells beside.
_LEVELS: Final = np.concatenate([[1e-6, 1e-4], np.linspace(0.002, 0.998, 28), [1 - 1e-4, 1 - 1e-6]])
_COARSE: Final = 160
_REACH: Final = 12.0
# Logarithm of ratios that doubles hold to the last digit.
_RANGE: Final = 600.0


def draw_rates(
    count: NDArray[np.int64],
    positives: NDArray[np.int64],
    concentration: float,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Draw the rates of all bins from their posterior, (draw, bin).

    Notes
    -----
    With rates ``0 <= g_1 <= ... <= g_B <= 1`` the prior's density is a product over steps,
    ``prod (g_b - g_{b-1})**(c - 1)``: a Markov chain. Sums forwards over a grid of cells, then
    draws backwards, give independent draws of the cells that the rates lie in; within its cell a
    rate is uniform, and bins that share a cell share their rate. Cells are cut where the posteriors
    of single bins and of their pools by isotonic regression have their levels, so that they are
    fine where the rates are known well.
    """
    edge = _edges(count, positives)
    middle, width = (edge[1:] + edge[:-1]) / 2, np.diff(edge)
    log_kernel = _log_kernel(edge, concentration)
    first = np.diff(edge**concentration)
    last = -np.diff((1 - edge) ** concentration) / width
    misses = count - positives
    log_likelihood = xlogy(positives[:, None], middle) + xlog1py(misses[:, None], -middle)
    kernel = np.exp(log_kernel)
    forward = [np.log(first) + log_likelihood[0]]
    for row in log_likelihood[1:]:
        forward.append(_stepped(forward[-1], kernel, log_kernel) + row)
    cell = np.empty((draws, len(count)), np.int64)
    cell[:, -1] = _drawn(forward[-1] + np.log(last), draws, rng)
    for b in range(len(count) - 2, -1, -1):
        for after in np.unique(cell[:, b + 1]):
            chosen = cell[:, b + 1] == after
            cell[chosen, b] = _drawn(forward[b] + log_kernel[:, after], int(chosen.sum()), rng)
    return _within(cell, edge, rng)


def _stepped(forward: Floats, kernel: Floats, log_kernel: Floats) -> Floats:
    """Log of the sums over the cells that a step may come from."""
    largest = np.maximum.accumulate(forward)
    # Where every weight is too small for a product beside the largest one, sums in logarithms.
    far = int(np.searchsorted(largest, largest[-1] - _RANGE))
    sums = np.empty_like(forward)
    sums[:far] = logsumexp(forward[:far, None] + log_kernel[:far, :far], axis=0)
    weight = np.exp(forward - largest[-1])
    sums[far:] = np.log(weight @ kernel[:, far:]) + largest[-1]
    return sums


def _drawn(log_weight: Floats, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw cells in proportion to their weights."""
    below = np.cumsum(np.exp(log_weight - log_weight.max()))
    return np.asarray(np.searchsorted(below, rng.random(draws) * below[-1], side="right"))


def _within(cell: NDArray[np.int64], edge: Floats, rng: np.random.Generator) -> Floats:
    """Place rates in their cells; bins that share one share the place."""
    place = rng.random(cell.shape)
    same = cell[:, 1:] == cell[:, :-1]
    for b in range(1, cell.shape[1]):
        place[:, b] = np.where(same[:, b - 1], place[:, b - 1], place[:, b])
    return np.asarray(edge[cell] + place * np.diff(edge)[cell])


def _log_kernel(edge: Floats, concentration: float) -> Floats:
    """Log weight of a step from each cell (rows) to each one not below it (columns)."""
    middle, width = (edge[1:] + edge[:-1]) / 2, np.diff(edge)
    gap = middle[None, :] - middle[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        log_kernel = np.where(gap > 0, (concentration - 1) * np.log(gap), -np.inf)
    log_kernel += np.log(width)
    # The density is infinite at a step of 0: means over both cells, where they are one or touch.
    power = concentration + 1
    scale = concentration * power
    same = width**power / scale
    both = (edge[2:] - edge[:-2]) ** power
    next_one = (both - width[:-1] ** power - width[1:] ** power) / scale
    i = np.arange(len(width))
    log_kernel[i, i] = np.log(same / width)
    log_kernel[i[:-1], i[1:]] = np.log(next_one / width[:-1])
    return np.asarray(log_kernel)


def _edges(count: NDArray[np.int64], positives: NDArray[np.int64]) -> Floats:
    """Edges of cells from 0 to 1: levels of the bins' own posteriors and those of their pools."""
    from scipy.optimize import isotonic_regression

    held = count > 0
    a, b = positives[held] + 0.5, (count - positives)[held] + 0.5
    levels = [betaincinv(a[:, None], b[:, None], _LEVELS).ravel()]
    if held.any():
        fit = isotonic_regression(positives[held] / count[held], weights=count[held])
        pools = np.split(np.flatnonzero(held), fit.blocks[1:-1])
        k = np.array([positives[pool].sum() for pool in pools]) + 0.5
        n = np.array([count[pool].sum() for pool in pools]) + 1.0
        levels.append(betaincinv(k[:, None], (n - k)[:, None], _LEVELS).ravel())
    logits = np.linspace(-_REACH, _REACH, _COARSE)
    coarse = 1 / (1 + np.exp(-logits))
    inside = np.unique(np.concatenate([coarse, *levels]))
    inside = inside[(inside > 1e-12) & (inside < 1 - 1e-12)]
    # Cells thinner than rounding would lose their width.
    kept = np.concatenate([[True], np.diff(inside) > 1e-9])
    return np.concatenate([[0.0], inside[kept], [1.0]])


# Steps of concentrations below 1 have an infinite density at 0; draws may round to it.
_SMALLEST: Final = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic:
    """A problem under `IncrementIsotonic`."""

    problem: Problem
    prior: IncrementIsotonic

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Numbers of curves and bins."""
        return ("isotonic", self.problem.n_curves, self.prior.bins)

    @property
    def variables(self) -> tuple[str, ...]:
        """The steps."""
        return ("increment",)

    @property
    def target_accept(self) -> float:
        """Above NUTS's default: small steps have long tails on the log scale."""
        return 0.9

    @property
    def max_depth(self) -> int:
        """NUTS's default."""
        return 10

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
        shape = (self.problem.n_curves, self.prior.bins + 1)
        mass = pm.Gamma("mass", data["concentration"], 1.0, shape=shape)
        increment = pm.Deterministic("increment", mass / mass.sum(axis=-1, keepdims=True))
        # Sums of small steps from either end, so that neither loses its digits.
        is_below = np.tri(self.prior.bins, self.prior.bins + 1)
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
        alpha = np.full(self.prior.bins + 1, self.prior.concentration)
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
        cell = cell_of(rank, self.prior.bins)
        return PseudoObservations._make(
            in_columns(part.reshape(rate.shape), cell) for part in found
        )

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Dirichlet density."""
        alpha, size = self.prior.concentration, self.prior.bins + 1
        log_step = xlogy(alpha - 1, np.maximum(draws["increment"], _SMALLEST)).sum(axis=-1)
        constant = gammaln(alpha * size) - size * gammaln(alpha)
        return {"increment": np.asarray((log_step + constant).sum(axis=-1))}
