"""How the posteriors of classifiers that were fitted one by one depend on each other.

Shared rows make them dependent: labels that by chance flatter one classifier flatter a similar one
too. The correlation of two estimates is that of what each row adds to them, over the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice

type Floats = NDArray[np.float64]
type OfCurve = Callable[[Floats, Floats, Floats], Any]
"""From rates (..., cell), scores (cell,) and masses (..., cell) to values (...)."""

# Draws of the curve that slopes are means over.
_DRAWS: Final = 16


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
    tree: xr.DataTree, function: OfCurve, cases: Sequence[ResultSlice]
) -> Floats:
    """Correlation of a number of the curve over the rows that classifiers share."""
    if schema.SHARED_ROWS not in tree.children:
        raise InputError(
            "comparing classifiers by a measure needs the rows that they share, which this result "
            "does not hold. Fit them together, with this version of bayescal, on the same rows, "
            "under one prior and without groups: Scores.stack({name: y_prob, ...}, y_true=y)."
        )
    return correlation([_influence(tree, function, case) for case in cases])


def _influence(tree: xr.DataTree, function: OfCurve, case: ResultSlice) -> Floats:
    """What each shared row adds to a number of the curve, (shared_row,).

    Notes
    -----
    A row of cell m moves its rate by ``(y - rate_m) / w_m`` and the masses w towards e_m, those of
    a population that is all of this cell.
    """
    rate, score, mass, held = _cells(tree, case)
    by_rate, by_mass = slopes(function, rate, score, mass)
    label, place = (
        access.variable(tree, schema.SHARED_ROWS, name, case).values for name in ("label", "cell")
    )
    at = np.zeros(held.max() + 1, np.int64)
    at[held] = np.arange(len(held))
    cell = at[place]
    residual = label - rate.mean(axis=0)[cell]
    found = (by_rate / mass.mean(axis=0))[cell] * residual + by_mass[cell]
    weight = None
    if access.has_variable(tree, schema.SHARED_ROWS, "weight"):
        weight = access.variable(tree, schema.SHARED_ROWS, "weight", case).values
    return weighted_influence(found, weight)


def slopes(function: OfCurve, rate: Floats, score: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """Mean slopes by the rate of each cell, and by the share of the population in it, (cell,) each.

    Notes
    -----
    Central differences over a standard deviation of the posterior to either side, at some of the
    draws (draw, cell). Where the function bends, as an absolute gap does at 0, or jumps from cell
    to cell, as a quantile of gaps, these are what it does over the range of the posterior, not at
    one curve.
    """
    some = np.linspace(0, len(rate) - 1, min(_DRAWS, len(rate))).astype(np.int64)
    eta, w = rate[some, None, :], mass[some, None, :]
    own = np.eye(len(score))
    step = own * rate.std(axis=0)
    high, low = np.minimum(eta + step, 1), np.maximum(eta - step, 0)
    by_rate = function(high, score, w) - function(low, score, w)
    # Towards a population that is all of one cell, and as far from it; no mass falls below 0.
    share = np.minimum(mass.std(axis=0), mass[some]) / np.maximum(1 - mass[some], 1e-12)
    towards = share[..., None] * (own - w)
    by_mass = function(eta, score, w + towards) - function(eta, score, w - towards)
    return _over(by_rate, (high - low).sum(axis=-1)), _over(by_mass, 2 * share)


def _over(change: Floats, step: Floats) -> Floats:
    """Mean slope over the draws, 0 where there is no step."""
    return np.divide(change, step, out=np.zeros_like(step), where=step > 0).mean(axis=0)


def _cells(tree: xr.DataTree, case: ResultSlice) -> tuple[Floats, Floats, Floats, NDArray[Any]]:
    score, rows = (
        np.asarray(access.variable(tree, schema.CONSTANT_DATA, name, case).values, np.float64)
        for name in (schema.CELL_SCORE, schema.CELL_COUNT)
    )
    held = np.flatnonzero(rows > 0)
    group = (
        schema.GIVEN_MISCALIBRATION
        if access.has_variable(tree, schema.GIVEN_MISCALIBRATION, "rate")
        else schema.CURVE
    )
    rate, mass = (
        access.flat_draws(tree, n, case, g) for n, g in (("rate", group), ("mass", schema.CURVE))
    )
    return rate[..., held], score[held], mass[..., held], held
