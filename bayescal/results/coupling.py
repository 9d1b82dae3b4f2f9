"""How the posteriors of classifiers that were fitted one by one depend on each other.

Shared rows make them dependent: labels that by chance flatter one classifier flatter a similar one
too. The correlation of two estimates is that of what each row adds to them, over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import xarray as xr

from bayescal.measures.measure import MISCALIBRATED
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.bootstrap import Floats, cells_with_rows
from bayescal.results.measure import curve_cells

type Function = Callable[[Floats, Floats, Floats], Any]
"""From rates (..., cell), scores (cell,) and masses (..., cell) to values (...)."""

_LEAST: Final = 1e-12


def correlation(influences: Sequence[Floats]) -> Floats:
    """Correlation of classifiers' estimates due to their shared rows.

    Notes
    -----
    Under the Bayesian bootstrap, Dirichlet(1, ..., 1) weights shared by all classifiers, the
    estimates are to first order weighted sums of the rows' influences. Their correlation is then
    that of the influences over the rows, so nothing has to be resampled.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.atleast_2d(np.corrcoef(np.stack(influences)))
    found = np.nan_to_num(found, nan=0.0)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found, dtype=float)


def weighted_influence(influence: Floats, weight: Floats | None) -> Floats:
    """What rows add to a weighted mean, from what each adds if all weigh alike."""
    if weight is None:
        return influence
    return weight / weight.mean() * (influence - np.average(influence, weights=weight))


def measure_correlation(
    tree: xr.DataTree, function: Function, cases: Sequence[ResultSlice]
) -> Floats:
    """Correlation of a number of the curve over the rows that classifiers share."""
    return correlation([_influence(tree, function, case) for case in cases])


def _influence(tree: xr.DataTree, function: Function, case: ResultSlice) -> Floats:
    """What each shared row adds to a number of the curve, (shared_row,).

    Notes
    -----
    A row of cell m moves its rate by ``(y - rate_m) / w_m`` and the masses w towards e_m, those of
    a population that is all of this cell.
    """
    every, score, masses = curve_cells(tree, case, MISCALIBRATED)
    rate, mass = (draws.reshape(-1, len(score)) for draws in (every, masses))
    label, stored = access.values(tree, schema.SHARED_ROWS, case, schema.LABEL, schema.CELL)
    cell = np.argsort(cells_with_rows(tree, case)[2])[stored]
    by_rate, by_mass = slopes(function, rate, score, mass)
    residual = label - rate.mean(axis=0)[cell]
    found = (by_rate / mass.mean(axis=0))[cell] * residual + by_mass[cell]
    weight = None
    if access.has_variable(tree, schema.SHARED_ROWS, schema.WEIGHT):
        weight = access.variable(tree, schema.SHARED_ROWS, schema.WEIGHT, case).to_numpy()
    return weighted_influence(found, weight)


def slopes(function: Function, rate: Floats, score: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """Slopes by the rate of each cell, and by the share of the population in it, (cell,) each.

    Notes
    -----
    Central differences at the mean of the draws (draw, cell), over a standard deviation to either
    side. Where the function bends, as an absolute gap does at 0, or jumps from cell to cell, as a
    quantile of gaps, they are what it does over the range of the posterior.
    """
    eta, w, own = rate.mean(axis=0), mass.mean(axis=0), np.eye(len(score))
    step = own * rate.std(axis=0)
    high, low = np.minimum(eta + step, 1), np.maximum(eta - step, 0)
    # Towards a population that is all of one cell, and as far from it; no mass falls below 0.
    share = np.minimum(mass.std(axis=0), w) / np.maximum(1 - w, _LEAST)
    towards = share[:, None] * (own - w)
    same_rate, same_mass = np.broadcast_to(eta, own.shape), np.broadcast_to(w, own.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        up, down, more, fewer = function(
            np.stack([high, low, same_rate, same_rate]),
            score,
            np.stack([same_mass, same_mass, w + towards, w - towards]),
        )
    return _over(up - down, np.diag(high - low)), _over(more - fewer, 2 * share)


def _over(change: Floats, step: Floats) -> Floats:
    return np.divide(change, step, out=np.zeros_like(step), where=step > 0)
