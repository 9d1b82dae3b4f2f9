"""Independent draws of rising rates whose steps are Dirichlet, by sums over a grid."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, logsumexp, xlog1py, xlogy

from bayescal.core.quantity import Floats

# The grid is cut at these quantiles of the posteriors of bins and of merged blocks of bins.
_TAIL: Final = np.array([1e-6, 1e-4])
_QUANTILES: Final = np.concatenate([_TAIL, np.linspace(0.002, 0.998, 28), 1 - _TAIL[::-1]])
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
    rate is uniform, and bins that share a cell share their rate. Cells are cut at quantiles
    of the posteriors of single bins, and of blocks of bins by isotonic regression, so that they
    are fine where the rates are known well.
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
