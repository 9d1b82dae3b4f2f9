"""Label rates of bins, by unimodal or free priors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, gammaln, logsumexp, xlog1py, xlogy
from scipy.stats import beta

from bayescal.core.columns import Whole
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.core.streams import count_not_above
from bayescal.quantities.credal.data import Problem, cell_of
from bayescal.quantities.credal.models import PseudoObservations, RateModel, add_pseudo_observations
from bayescal.quantities.credal.priors import ImpreciseDirichlet, IncrementIsotonic

# The grid is cut at these quantiles of the posteriors of bins and of merged blocks of bins.
_TAIL: Final = np.array([1e-6, 1e-4])
_QUANTILES: Final = np.concatenate([_TAIL, np.linspace(0.002, 0.998, 28), 1 - _TAIL[::-1]])
_COARSE: Final = 160
_REACH: Final = 12.0
# Logarithm of ratios that doubles hold to the last digit.
_RANGE: Final = 600.0


def draw_steps(
    count: Whole, positives: Whole, concentration: float, draws: int, rng: np.random.Generator
) -> Floats:
    """Draw the steps between the rates of all bins from their posterior, (draw, bin + 1).

    The prior's density of ``0 <= g_1 <= ... <= g_B <= 1`` is ``prod (g_b - g_{b-1})**(c - 1)``, a
    Markov chain. Sums forwards over a grid of cells, then draws backwards, give independent draws
    of the cells that the rates lie in. Within a cell they have the prior's law. Cells are cut at
    quantiles of the posteriors of bins, and of blocks of them by isotonic regression.
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
    cell[:, -1] = _drawn((forward[-1] + np.log(last))[:, None], np.zeros(draws, np.int64), rng)
    for b in range(len(count) - 2, -1, -1):
        after, own = np.unique(cell[:, b + 1], return_inverse=True)
        cell[:, b] = _drawn(forward[b][:, None] + log_kernel[:, after], own, rng)
    return _within(cell, edge, concentration, rng)


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


def _drawn(log_weight: Floats, column: Whole, rng: np.random.Generator) -> Whole:
    """Draw cells in proportion to the weights, (cell, column), of each draw's column."""
    below = np.cumsum(np.exp(log_weight - log_weight.max(axis=0)), axis=0)
    order = np.argsort(column, kind="stable")
    wanted = rng.random(len(column)) * below[-1, column[order]]
    found = np.empty(len(column), np.int64)
    found[order] = count_not_above(below, column[order], wanted)
    return found


def _within(cell: Whole, edge: Floats, concentration: float, rng: np.random.Generator) -> Floats:
    """Steps, (draw, bin + 1), between rates placed in their cells: in one cell Dirichlet parts.

    What is left of a cell on either side is uniform but beside 0 and 1, from which a step begins.
    """
    same, bins = cell[:, 1:] == cell[:, :-1], cell.shape[1]
    by_prior = np.column_stack([cell[:, 0] == 0, same, cell[:, -1] == len(edge) - 2])
    part = rng.standard_gamma(np.where(by_prior, concentration, 1.0))
    rest = np.column_stack([rng.standard_exponential((len(cell), bins - 1)), part[:, -1]])
    below, width = part[:, :-1].copy(), np.diff(edge)[cell]
    for b in range(1, bins):
        below[:, b] += np.where(same[:, b - 1], below[:, b - 1], 0.0)
    whole = below + rest
    for b in range(bins - 2, -1, -1):
        whole[:, b] = np.where(same[:, b], whole[:, b + 1], whole[:, b])
    rate = edge[cell] + width * below / whole
    steps = np.diff(rate, axis=1, prepend=0.0, append=1.0)
    # Differences of rates would lose the digits of steps within a cell.
    inside = width * part[:, :-1] / whole
    last = width[:, -1] * part[:, -1] / whole[:, -1]
    return np.where(by_prior, np.column_stack([inside, last]), steps)


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


def _edges(count: Whole, positives: Whole) -> Floats:
    """Edges of cells from 0 to 1: quantiles of the posteriors of bins and of blocks of bins."""
    from scipy.optimize import isotonic_regression

    held = count > 0
    a, b = positives[held] + 0.5, (count - positives)[held] + 0.5
    quantiles = [betaincinv(a[:, None], b[:, None], _QUANTILES).ravel()]
    if held.any():
        fit = isotonic_regression(positives[held] / count[held], weights=count[held])
        blocks = np.split(np.flatnonzero(held), fit.blocks[1:-1])
        k = np.array([positives[block].sum() for block in blocks]) + 0.5
        n = np.array([count[block].sum() for block in blocks]) + 1.0
        quantiles.append(betaincinv(k[:, None], (n - k)[:, None], _QUANTILES).ravel())
    logits = np.linspace(-_REACH, _REACH, _COARSE)
    coarse = 1 / (1 + np.exp(-logits))
    inside = np.unique(np.concatenate([coarse, *quantiles]))
    inside = inside[(inside > 1e-12) & (inside < 1 - 1e-12)]
    # Cells thinner than rounding would lose their width.
    kept = np.concatenate([[True], np.diff(inside) > 1e-9])
    return np.concatenate([[0.0], inside[kept], [1.0]])


class _Bins(RateModel):
    """A model of rates that are the same in all of a bin."""

    __slots__ = ()
    problem: Problem

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Kind, and numbers of curves and bins."""
        return (type(self).__name__, self.problem.n_curves, self.problem.n_cells)

    def representative(self, rank: Floats) -> Floats:
        """Middle of the rank's bin."""
        return np.asarray((cell_of(rank, self.problem.n_cells) + 0.5) / self.problem.n_cells)

    def _at(self, rank: Floats, parts: Iterable[Floats]) -> PseudoObservations:
        """Rates and bounds of bins, (draw, curve, cell), at the ranks' bins, (draw, obs, curve)."""
        cell, curve = cell_of(rank, self.problem.n_cells), np.arange(self.problem.n_curves)
        return PseudoObservations._make(part[:, curve, cell] for part in parts)


_CELLS: Final = ("curve", "cell")
_DIMS: Final = dict.fromkeys(("count", "positives", "log_coefficient"), _CELLS)
# Steps of concentrations below 1 have an infinite density at 0; draws may round to it.
_SMALLEST: Final = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic(_Bins):
    """A problem under `IncrementIsotonic`."""

    problem: Problem
    prior: IncrementIsotonic

    variables: ClassVar[tuple[str, ...]] = ("increment",)
    # Above NUTS's own: small steps have long tails on the log scale.
    target_accept: ClassVar[float] = 0.9

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

        In logarithms of Gammas NUTS takes a tenth of the steps of ``pm.Dirichlet``.
        """
        import pymc as pm
        import pytensor.tensor as pt

        from bayescal.inference.graph import add_data, observe_counts

        data = add_data(self.inputs(), _DIMS)
        shape = (self.problem.n_curves, self.problem.n_cells + 1)
        mass = pm.Gamma("mass", data["concentration"], 1.0, shape=shape)
        increment = pm.Deterministic("increment", mass / mass.sum(axis=-1, keepdims=True))
        # Sums of small steps from either end, so that neither loses its digits.
        is_below = np.tri(self.problem.n_cells, self.problem.n_cells + 1)
        below = (increment[:, None, :] * is_below).sum(axis=-1)
        above = (increment[:, None, :] * (1 - is_below)).sum(axis=-1)
        observe_counts(data, pt.log(below) - pt.log(above), _CELLS)

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Dirichlet draws."""
        alpha = np.full(self.problem.n_cells + 1, self.prior.concentration)
        return {"increment": rng.dirichlet(alpha, (draws, self.problem.n_curves))}

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Independent draws by sums over a grid; see `draw_steps`."""
        steps = [
            draw_steps(count, positives, self.prior.concentration, draws, rng)
            for count, positives in zip(self.problem.count, self.problem.positives, strict=True)
        ]
        return DirectDraws({"increment": np.stack(steps, axis=1)}, float(draws), "quadrature")

    def cell_prob(self, draws: Draws) -> Floats:
        """Sums of the steps."""
        return np.clip(draws["increment"].cumsum(axis=-1)[..., :-1], 0, 1)

    def with_pseudo_observations(self, draws: Draws, rank: Floats) -> PseudoObservations:
        """Rates and bounds of the ranks' bins."""
        return self._at(rank, add_pseudo_observations(self.cell_prob(draws), self.prior.s))

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Dirichlet density."""
        alpha, steps = self.prior.concentration, self.problem.n_cells + 1
        log_step = xlogy(alpha - 1, np.maximum(draws["increment"], _SMALLEST)).sum(axis=-1)
        constant = gammaln(alpha * steps) - steps * gammaln(alpha)
        return {"increment": np.asarray((log_step + constant).sum(axis=-1))}


# Rates of bins without labels may round to 0 or 1, where densities end.
_EDGE: Final = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Imprecise(_Bins):
    """A problem under `ImpreciseDirichlet`."""

    problem: Problem
    prior: ImpreciseDirichlet

    variables: ClassVar[tuple[str, ...]] = ("rate",)
    # Above NUTS's own: corners at rates near 0 and 1 need small steps.
    target_accept: ClassVar[float] = 0.97

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

        from bayescal.inference.graph import add_data

        data = add_data(self.inputs(), _DIMS)
        half = data["s"] / 2
        rate = pm.Beta("rate", half, half, dims=_CELLS)
        pm.Binomial("events", data["count"], rate, observed=data["positives"], dims=_CELLS)

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
        return self._at(rank, (rate, np.minimum(lower, rate), np.maximum(upper, rate)))

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Beta density of the rates."""
        half = self.prior.s / 2
        inside = np.clip(draws["rate"], _EDGE, 1 - np.finfo(float).epsneg)
        return {"rate": beta.logpdf(inside, half, half).sum(axis=(-2, -1))}

    def _counts(self) -> tuple[Whole, Whole]:
        positives = self.problem.positives
        return positives, self.problem.count - positives
