"""Importance sampling from a Gaussian proposal: draws, their weights and the evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky
from scipy.linalg.lapack import dtrtri
from scipy.special import boxcox, gammaln, logsumexp, softmax

from bayescal.core.columns import Floats
from bayescal.core.functionals import sigmoid
from bayescal.core.quantity import DirectDraws, Draws

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
# Newton's method ends where it moves by less than this, in standard deviations of the posterior.
# The Gaussian starts where the mode is about; both serve importance sampling, which is exact.
_AT_MODE, _CLOSE, _LEAST_STEP = 0.1, 1e-3, 0.25
# From here on ``log(1 + exp(x))`` is x; twenty times as far the exponential overflows.
_LARGEST = 36.0
# Draws at a time whose likelihood is computed within a processor's cache.
_BLOCK = 320
# Triangular matrices are halved down to this size.
_SMALL = 28
# A step is halved at most this often.
_HALVINGS = 34
# Points of a cell's moments, in standard deviations of its logit: dense in the middle,
# and out to where a likelihood that levels off is bounded by the other cells.
_STEPS = np.sinh(np.linspace(-4.5, 4.5, 61))
_LOG_STEPS = np.log(np.cosh(np.linspace(-4.5, 4.5, 61)))
# Of two more nothing changes. The least precision of what a cell or the others say.
_SWEEPS, _LEAST_LEFT, _LEAST_SHARE = 2, 1e-3, 0.05
# Relative to the largest weight: differences that are rounding, and weights that are none.
_ROUNDING, _NO_WEIGHT = 1e-9, 1e-150


class CellLikelihood(Protocol):
    """Likelihood of logits (..., cell) of independent cells; methods return that shape."""

    def log_likelihood(self, logit: Floats) -> Floats:
        """Log-likelihood of each cell, without constants that no logit changes."""

    def slopes(self, logit: Floats) -> tuple[Floats, Floats]:
        """Derivative of the log-likelihood, and expected information, by the logit."""

    def at(self, cells: NDArray[Any]) -> Self:
        """Take some of the cells; an index of shape (..., cell) gives arrays of that shape."""


@dataclass(frozen=True, slots=True, eq=False)
class BinomialCells:
    """Events of each cell among its labelled rows."""

    count: NDArray[Any]  # (cell,)
    positives: NDArray[Any]  # (cell,)

    def log_likelihood(self, logit: Floats) -> Floats:
        """Log-likelihood of each cell, without the binomial coefficients."""
        found = softplus(logit)
        found *= -self.count
        found += self.positives * logit
        return found

    def slopes(self, logit: Floats) -> tuple[Floats, Floats]:
        """Events less those expected, and their binomial variance."""
        rate = sigmoid(logit)
        expected = self.count * rate
        return self.positives - expected, expected * (1 - rate)

    def at(self, cells: NDArray[Any]) -> Self:
        """Take some of the cells."""
        return type(self)(self.count[cells], self.positives[cells])


def softplus(logit: Floats) -> Floats:
    """``log(1 + exp(logit))`` to 1e-16, in a fifth of the time of ``logaddexp``."""
    found = np.asarray(np.minimum(logit, _LARGEST))
    np.exp(found, out=found)
    # Not log1p, which takes twice as long: of a sum of log-likelihoods the rest is rounding.
    found += 1
    np.log(found, out=found)
    return np.maximum(found, logit, out=found)


@dataclass(frozen=True, slots=True)
class Regression:
    """Cells whose logit is linear in standard normal coefficients; one, or a stack of them.

    Arrays of a stack have its axes in front: the design is (..., cell, basis), offsets and what the
    cells hold broadcast to (..., draw, cell).
    """

    offset: Floats  # (cell,)
    design: Floats  # (cell, basis)
    cells: CellLikelihood

    def logit(self, coef: Floats) -> Floats:
        """Logit of the event's probability, (..., draw, cell), at (..., draw, basis)."""
        return np.asarray(self.offset + coef @ np.swapaxes(self.design, -1, -2))

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log-likelihood without the binomial coefficients, which no parameter changes, (...)."""
        return self.cells.log_likelihood(self.logit(coef)).sum(axis=-1)

    def log_posterior(self, coef: Floats) -> Floats:
        """Log-likelihood and log prior of one vector (..., basis) a regression, (...)."""
        likelihood = self.log_likelihood(coef[..., None, :])[..., 0]
        return np.asarray(likelihood - np.square(coef).sum(axis=-1) / 2)


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Normal distribution of a vector, ``mean + root @ standard normal``; or a stack of them."""

    mean: Floats  # (..., basis)
    root: Floats  # (..., basis, basis)

    @property
    def log_volume(self) -> Floats:
        """Log determinant of the root, (...)."""
        return np.asarray(np.log(np.abs(np.diagonal(self.root, 0, -2, -1))).sum(axis=-1))

    def __getitem__(self, place: Any) -> Gaussian:
        """Take some of a stack."""
        return Gaussian(self.mean[place], self.root[place])


def variational_gaussian(
    regression: Regression,
    max_steps: int = 100,
    start: Floats | Gaussian | None = None,
    share: float = 1.0,
) -> Gaussian:
    """Find the Gaussian nearest to the posterior of the coefficients.

    The mean solves ``design' E[slope] = mean`` and the precision is
    ``I + design' diag(E[information]) design`` (M. Opper and C. Archambeau, Neural Computation 21,
    2009, Eqs. 8 and 9), by Gauss-Hermite quadrature. Newton's method starts at the posterior mode,
    sought from `start`, or at a Gaussian that is near. Where the expected information falls short
    of the curvature, steps go back and forth: a `share` of each converges sooner. Where they grow,
    mean and spread chase each other: whole steps are halved, and the information moves by a share.
    """
    if not isinstance(start, Gaussian):
        start = laplace_gaussian(regression, max_steps, start)
    mean, root = start.mean, start.root
    moving, growing = np.ones(mean.shape[:-1], bool), np.zeros(mean.shape[:-1], bool)
    last, shares = (np.full(mean.shape[:-1], value) for value in (np.inf, share))
    least = _LEAST_STEP if share == 1 else share
    before: Floats | float = 0.0
    for _ in range(max_steps):
        _, _, slope, information = _expected(regression, Gaussian(mean, root))
        blended = before + shares[..., None] * (information - before)
        before = np.where(growing[..., None], blended, information)
        narrower, step, length = _newton(regression, mean, slope, before)
        grows = (length > last) & (length > _AT_MODE)
        shares = np.where(grows, np.maximum(shares / 2, least), shares)
        mean = mean + np.where(moving[..., None], shares[..., None] * step, 0)
        root = np.where(moving[..., None, None], narrower, root)
        moving &= length >= _CLOSE
        growing |= grows
        last = length
        if not moving.any():
            break
    return Gaussian(mean, root)


def moment_matched(regression: Regression, gaussian: Gaussian) -> Gaussian:
    """Move a Gaussian near the posterior to where each cell's logit has its mean and variance.

    Expectation propagation (C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine
    Learning", 2006, section 3.6): a cell's are those under its likelihood and the Gaussian without
    it. Where many cells have few events their posteriors are skew, and the Gaussian of
    `variational_gaussian` is too narrow to draw from.
    """
    mean, root = gaussian.mean, gaussian.root
    logit, spread, slope, precision = _expected(regression, gaussian)
    linear = precision * logit + slope
    for _ in range(_SWEEPS):
        alone = np.maximum(1 / spread**2 - precision, _LEAST_LEFT / spread**2)
        centre = (logit / spread**2 - linear) / alone
        points = logit[..., None, :] + spread[..., None, :] * _STEPS[:, None]
        density = regression.cells.log_likelihood(points) + _LOG_STEPS[:, None]
        density -= alone[..., None, :] * np.square(points - centre[..., None, :]) / 2
        weight = softmax(density, axis=-2)
        matched = (weight * points).sum(axis=-2)
        variance = (weight * np.square(points - matched[..., None, :])).sum(axis=-2)
        # Where the Gaussian is far off, one point may have all the weight.
        variance = np.maximum(variance, _LEAST_SHARE * spread**2)
        precision = np.maximum(1 / variance - alone, _LEAST_LEFT * alone)
        linear = matched * (precision + alone) - centre * alone
        root, step, _ = _newton(regression, mean, linear - precision * logit, precision)
        mean = mean + step
        logit, spread = _marginals(regression, Gaussian(mean, root))
    return Gaussian(mean, root)


def _marginals(regression: Regression, gaussian: Gaussian) -> tuple[Floats, Floats]:
    """Means and standard deviations of the logits, (..., cell)."""
    across = regression.design @ gaussian.root
    mean = regression.logit(gaussian.mean[..., None, :])[..., 0, :]
    return mean, np.sqrt(np.vecdot(across, across))


def _expected(regression: Regression, gaussian: Gaussian) -> tuple[Floats, Floats, Floats, Floats]:
    """Means and standard deviations of the logits, expected slopes and information, (..., cell)."""
    logit, spread = _marginals(regression, gaussian)
    points = logit[..., None, :] + spread[..., None, :] * _NODES[:, None]
    slope, information = regression.cells.slopes(points)
    return logit, spread, _WEIGHTS @ slope, _WEIGHTS @ information


def laplace_gaussian(
    regression: Regression, max_steps: int = 100, start: Floats | None = None
) -> Gaussian:
    """Posterior mode and the curvature there, by Newton's method with halved steps."""
    design = regression.design
    coef = np.zeros((*design.shape[:-2], design.shape[-1])) if start is None else start
    value = regression.log_posterior(coef)
    root = np.broadcast_to(np.eye(coef.shape[-1]), (*value.shape, *design.shape[-1:] * 2))
    moving = np.ones(value.shape, dtype=bool)
    for _ in range(max_steps):
        slope, information = regression.cells.slopes(regression.logit(coef[..., None, :]))
        narrower, step, length = _newton(regression, coef, slope[..., 0, :], information[..., 0, :])
        root = np.where(moving[..., None, None], narrower, root)
        coef, value = _uphill(regression, coef, value, np.where(moving[..., None], step, 0))
        moving &= length >= _AT_MODE
        if not moving.any():
            break
    return Gaussian(coef, root)


def laplace_evidence(regression: Regression, gaussian: Gaussian) -> Floats:
    """Log evidence by Laplace's approximation, (...)."""
    return np.asarray(regression.log_posterior(gaussian.mean) + gaussian.log_volume)


def _newton(
    regression: Regression, coef: Floats, slope: Floats, information: Floats
) -> tuple[Floats, Floats, Floats]:
    """Root of the covariance, the Newton step, and its length in standard deviations."""
    across = np.swapaxes(regression.design, -1, -2)
    precision = np.eye(coef.shape[-1]) + (across * information[..., None, :]) @ regression.design
    factor = cholesky(precision, check_finite=False)
    root = triangular_inverse(factor)
    half = np.matvec(np.swapaxes(root, -1, -2), np.matvec(across, slope) - coef)
    return root, np.matvec(root, half), np.linalg.norm(half, axis=-1)


def triangular_inverse(factor: Floats) -> Floats:
    """Invert upper Cholesky factors, (..., basis, basis), faster than ``scipy.linalg.inv`` does."""
    size = factor.shape[-1]
    if size <= _SMALL:
        return np.reshape([dtrtri(one)[0] for one in factor.reshape(-1, size, size)], factor.shape)
    # By halves: products of matrices are faster than substitution.
    first, second = slice(size // 2), slice(size // 2, None)
    found = np.zeros(factor.shape)
    for own in (first, second):
        found[..., own, own] = triangular_inverse(factor[..., own, own])
    across = found[..., first, first] @ factor[..., first, second]
    found[..., first, second] = -across @ found[..., second, second]
    return found


def _uphill(
    regression: Regression, coef: Floats, value: Floats, step: Floats
) -> tuple[Floats, Floats]:
    """Move by the step, or by the first of its halves that does not lower the posterior."""
    size = np.ones(value.shape)
    for _ in range(_HALVINGS):
        moved = coef + size[..., None] * step
        found = regression.log_posterior(moved)
        lower = ~(found >= value)
        if not lower.any():
            break
        size = np.where(lower, size / 2, size)
    return moved, found


class Likelihood(Protocol):
    """Likelihood of standard normal coefficients; or a stack of them."""

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log-likelihood, (..., draw), at coefficients (..., draw, basis)."""


class Rows(Protocol):
    """Draws (draw, basis) of which some are taken: an array, or what makes one as it is needed."""

    def __len__(self) -> int: ...

    def __getitem__(self, places: NDArray[np.int64], /) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Joined:
    """Draws of several rounds one after the other: as one array all would be held twice."""

    parts: Sequence[Rows]

    def __len__(self) -> int:
        """Draws of all rounds."""
        return sum(map(len, self.parts))

    def __getitem__(self, places: NDArray[np.int64], /) -> Floats:
        """Take some of the draws, (place, basis)."""
        ends = np.cumsum([len(one) for one in self.parts])
        part = np.searchsorted(ends, places, side="right")
        order = np.argsort(part, kind="stable")
        taken = [
            self.parts[number][places[part == number] - ends[number] + len(self.parts[number])]
            for number in np.unique(part).tolist()
        ]
        return np.concatenate(taken)[np.argsort(order)]


@dataclass(frozen=True, slots=True)
class Mirrored:
    """Draws of which the second half are those of the first with other signs."""

    first: Floats  # (half, basis)
    number: int

    def __len__(self) -> int:
        """Draws of both halves."""
        return self.number

    def __getitem__(self, places: NDArray[np.int64], /) -> Floats:
        """Take some of the draws, (place, basis)."""
        second, place = np.divmod(places, len(self.first))
        return np.asarray(self.first[place] * (1 - 2 * second)[:, None])


@dataclass(frozen=True, slots=True)
class Mapped:
    """Draws that are a function of others, row by row: only those taken are worked out."""

    rows: Rows
    function: Callable[[Floats], Floats]

    def __len__(self) -> int:
        """As many as the others."""
        return len(self.rows)

    def __getitem__(self, places: NDArray[np.int64], /) -> Floats:
        """Take some of the draws, (place, ...)."""
        return self.function(self.rows[places])


@dataclass(frozen=True, slots=True)
class Weighted:
    """Draws with importance weights."""

    draws: Rows  # (draw, basis)
    log_weights: Floats  # (draw,)

    @property
    def log_evidence(self) -> float:
        """Log of the target's integral, estimated by the mean weight."""
        return float(logsumexp(self.log_weights) - np.log(len(self.log_weights)))

    @property
    def ess(self) -> float:
        """Effective number of draws, ``(sum w)^2 / sum w^2``."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return float(weights.sum() ** 2 / (weights**2).sum())

    @property
    def pareto_k(self) -> float:
        """Shape of the generalised Pareto distribution that fits the largest weights.

        Above 0.7 importance sampling is unreliable; infinite where fewer than five weights exceed
        the rest. As ``arviz_stats.psislw`` (A. Vehtari et al., JMLR 25, 2024, section 2.4), whose
        import takes longer than most fits, but 0 for largest weights that are equal.
        """
        weights = np.sort(np.exp(self.log_weights - self.log_weights.max()))
        cut, size = _tail(weights)
        if size > 4 and cut > 1 - _ROUNDING:
            return 0.0
        largest = weights[weights > cut] - cut
        return _pareto(largest)[0] if len(largest) > 4 else math.inf

    def smoothed(self) -> Weighted:
        """Replace the largest weights by Pareto quantiles, where that makes more draws effective.

        A draw from far out may outweigh all others (A. Vehtari et al., JMLR 25, 2024, section
        2.3). A plateau of weights, as of a good proposal, is unlike a Pareto distribution.
        """
        weights = np.exp(self.log_weights - self.log_weights.max())
        cut, _ = _tail(np.sort(weights))
        places = np.flatnonzero(weights > cut)
        if len(places) <= 4 or cut > 1 - _ROUNDING:
            return self
        shape, scale = _pareto(np.sort(weights[places]) - cut)
        if not scale > 0:
            return self
        middle = (np.arange(len(places)) + 0.5) / len(places)
        expected = cut + scale * boxcox(1 / (1 - middle), shape)
        log_weights = self.log_weights.copy()
        ordered = places[np.argsort(weights[places])]
        log_weights[ordered] = self.log_weights.max() + np.log(np.minimum(expected, 1))
        found = Weighted(self.draws, log_weights)
        return found if found.ess > self.ess else self

    def direct_draws(self, draws: Draws) -> DirectDraws:
        """Join resampled draws with what the weights say of themselves."""
        return DirectDraws(draws, self.ess, "importance sampling", self.log_evidence, self.pareto_k)

    def resample(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw from the target: proposals in proportion to their weights, (n, basis)."""
        return np.asarray(self.draws[self.resampled_places(n, rng)])

    def resampled_places(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Places of proposals in proportion to their weights, in random order, (n,)."""
        return choose(np.exp(self.log_weights - self.log_weights.max()), n, rng)


def until_effective(
    rounds: Iterator[Weighted], effective: float, found: Weighted | None = None
) -> Weighted:
    """Go on until so many draws are effective, or the rounds are over."""
    found = next(rounds) if found is None else found
    while found.ess < effective and (more := next(rounds, None)) is not None:
        found = more
    return found


def _tail(ordered: Floats) -> tuple[float, int]:
    """Weight above which the largest begin, of increasing weights, and how many they may be."""
    n = len(ordered)
    size = int(min(n / 5, 3 * math.sqrt(n)))
    return max(float(ordered[-size - 1]), _NO_WEIGHT), size


def _pareto(excess: Floats) -> tuple[float, float]:
    """Shape, drawn to 1/2 as by ten more values, and scale of the generalised Pareto distribution.

    Of increasing values, by J. Zhang and M. A. Stephens, Technometrics 51, 2009.
    """
    n = len(excess)
    points = 30 + int(math.sqrt(n))
    rate = 1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    rate = 1 / excess[-1] + rate / (3 * excess[int(n / 4 + 0.5) - 1])
    shape = np.log1p(-rate[:, None] * excess).mean(axis=1)
    # A shape of 0 is the exponential distribution, whose scale is the mean.
    scale = np.divide(-shape, rate, out=np.full(points, excess.mean()), where=rate != 0)
    likelihood = -n * (np.log(scale) + shape + 1)
    found = np.average(rate, weights=np.exp(likelihood - likelihood.max()))
    own = np.log1p(-found * excess).mean()
    return float((n * own + 10 / 2) / (n + 10)), float(-own / found)


def importance_sample(
    likelihood: Likelihood,
    proposal: Gaussian,
    draws: int,
    rng: np.random.Generator,
    degrees: float = math.inf,
) -> Weighted:
    """Weigh draws of the proposal by the posterior; of a stack, (..., draw) each."""
    *stack, size = proposal.mean.shape
    half = rng.standard_normal((*stack, -(-draws // 2), size))
    if np.isfinite(degrees):
        half *= np.sqrt(degrees / rng.chisquare(degrees, (*half.shape[:-1], 1)))
    step, mean = half @ np.swapaxes(proposal.root, -1, -2), proposal.mean[..., None, :]
    coef = np.concatenate([mean + step, mean - step], axis=-2)[..., :draws, :]
    log_prior = -np.vecdot(coef, coef) / 2
    # The constants of the normal densities cancel, but for the proposal's volume.
    log_proposal = np.tile(_log_density(np.vecdot(half, half), size, degrees), 2)[..., :draws]
    log_proposal -= proposal.log_volume[..., None]
    block = -(-_BLOCK // math.prod(stack))
    blocks = (coef[..., at : at + block, :] for at in range(0, draws, block))
    found = np.concatenate([likelihood.log_likelihood(one) for one in blocks], axis=-1)
    return Weighted(coef, found + log_prior - log_proposal)


def _log_density(squared: Floats, size: int, degrees: float) -> Floats:
    """Log density of a standard t (or normal) vector, less the constant of the normal one."""
    if not np.isfinite(degrees):
        return -squared / 2
    constant = gammaln((degrees + size) / 2) - gammaln(degrees / 2)
    constant -= size / 2 * np.log(degrees / 2)
    return np.asarray(constant - (degrees + size) / 2 * np.log1p(squared / degrees))


def choose(weights: Floats, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw places, as many of each as their weights give, in random order, (number,)."""
    ladder = (np.arange(number) + rng.random()) / number
    places = np.searchsorted(np.cumsum(weights) / weights.sum(), ladder)
    return np.asarray(rng.permutation(np.minimum(places, len(weights) - 1)))


def places_in_chains(
    log_weight: Floats, rng: np.random.Generator, number: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of weighted draws, resampled in each chain in its order, (chain, draw) each.

    A chain without weight keeps its draws. By default there are as many as before.
    """
    chains, found = log_weight.shape
    number = number or found
    if np.isfinite(log_weight.max()):
        flat = Weighted(np.zeros((log_weight.size, 0)), log_weight.ravel()).smoothed()
        log_weight = flat.log_weights.reshape(chains, found)
    top = log_weight.max(axis=1, keepdims=True)
    weight = np.where(np.isfinite(top), np.exp(log_weight - np.where(np.isfinite(top), top, 0)), 1)
    ladder = (np.arange(number) + rng.random((chains, 1))) / number
    total = np.cumsum(weight, axis=1)
    places = [
        np.searchsorted(one / one[-1], steps) for one, steps in zip(total, ladder, strict=True)
    ]
    return np.arange(chains)[:, None], np.minimum(np.array(places), found - 1)


def around(log_density: Floats, depth: float) -> tuple[int, int]:
    """First and last place of what lies at most so far below the largest, and a step beyond."""
    held = np.flatnonzero(log_density > log_density.max() - depth)
    return max(int(held[0]) - 1, 0), min(int(held[-1]) + 1, len(log_density) - 1)


def zoomed(
    log_density: Callable[[Floats], Floats], grid: Floats, depth: float, rounds: int = 3
) -> tuple[Floats, Floats]:
    """Lay an even grid where the density is, which may be between two points of the first one.

    Returned with the log density there.
    """
    for _ in range(rounds):
        first, last = around(log_density(grid), depth)
        grid = np.linspace(grid[first], grid[last], len(grid))
    return grid, log_density(grid)
