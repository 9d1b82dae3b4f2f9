"""Draws of the net benefit of strategies: treat by a classifier's scores, treat all, treat none.

Classifiers are fitted one by one, but a strategy is the best only beside all others. Their draws
are coupled at each threshold by a Gaussian copula, as those of errors are, with the correlations
that their shared rows give.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.measures.discrimination import is_called
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.compare import square_root

type Floats = NDArray[np.float64]

_TREAT_ALL: Final = "treat all"
_ROUNDING: Final = 1e-12


class Benefit(NamedTuple):
    """Net benefit of treating by a classifier's scores, and of treating all, (threshold, draw)."""

    own: Floats
    everyone: Floats


class Chances(NamedTuple):
    """What is known of the best strategy at each threshold."""

    best: Floats
    """P(best), (threshold, strategy): the classifiers, treat all, treat none."""
    evpi: Floats
    """What knowing the best strategy would add to the net benefit, (threshold,)."""


def benefit(rate: Floats, score: Floats, mass: Floats, thresholds: Floats) -> Benefit:
    """Draws at all thresholds from sums over the cells above each."""
    odds = (thresholds / (1 - thresholds))[:, None]
    first = np.count_nonzero(is_called(score[:, None], thresholds) == 0, axis=0)
    true, false = (_from_each(part).T for part in (mass * rate, mass * (1 - rate)))
    return Benefit(true[first] - odds * false[first], true[0] - odds * false[0])


def _from_each(part: Floats) -> Floats:
    """Sums over each cell and those above it, then 0 for none, (draw, cell + 1)."""
    flat = part.reshape(-1, part.shape[-1])
    flat = flat[~np.isnan(flat[:, 0])]
    sums = np.zeros((len(flat), flat.shape[1] + 1))
    sums[:, :-1] = flat[:, ::-1].cumsum(axis=1)[:, ::-1]
    return sums


def chances(
    tree: xr.DataTree, cases: Sequence[ResultSlice], found: Sequence[Benefit], thresholds: Floats
) -> Chances:
    """P(best) and EVPI; NaN of several classifiers without shared rows."""
    if len(cases) == 1:
        (one,) = found
        return _of_draws(np.stack([one.own, one.everyone, 0 * one.own], axis=1))
    if schema.SHARED_ROWS not in tree.children:
        shape = (len(thresholds), len(cases) + 2)
        return Chances(np.full(shape, np.nan), np.full(shape[0], np.nan))
    return _of_draws(_coupled(tree, cases, found, thresholds))


def _of_draws(values: Floats) -> Chances:
    """From joint draws (threshold, strategy, draw); strategies that tie share a draw."""
    top = values.max(axis=1, keepdims=True)
    best = values >= top - _ROUNDING
    shares = (best / best.sum(axis=1, keepdims=True)).mean(axis=-1)
    return Chances(shares, top[:, 0].mean(axis=-1) - values.mean(axis=-1).max(axis=-1))


def _coupled(
    tree: xr.DataTree, cases: Sequence[ResultSlice], found: Sequence[Benefit], thresholds: Floats
) -> Floats:
    """Joint draws of all strategies, (threshold, strategy, draw).

    Notes
    -----
    Each classifier's posterior has a prevalence of its own, though the population has one. Net
    benefits are therefore split into what goes with the net benefit of treating all, by a
    regression over the classifier's draws, and the rest; the rests are coupled with one another
    and with one net benefit of treating all. A classifier that treats all rows, or none, has no
    rest, and ties with that strategy.
    """
    n = max(one.own.shape[1] for one in found)
    everyone = np.mean([_in_order(one.everyone, n) for one in found], axis=0)
    slopes = [_slope(one) for one in found]
    rests = [
        _in_order(one.own - slope[:, None] * one.everyone, n)
        for one, slope in zip(found, slopes, strict=True)
    ]
    members = np.stack([*rests, everyone], axis=1)
    change = np.tile(np.eye(len(cases) + 1), (len(thresholds), 1, 1))
    change[:, :-1, -1] = -np.transpose(slopes)
    roots = np.stack([square_root(one) for one in _correlations(tree, cases, thresholds, change)])
    streams = [access.stream_of(tree, *case.names) for case in cases]
    streams.append(access.stream_of(tree, _TREAT_ALL))
    z = roots @ np.stack([rng.standard_normal(n) for rng in streams])
    joint = np.empty_like(members)
    np.put_along_axis(joint, np.argsort(z, axis=-1), members, axis=-1)
    joint[:, :-1] += np.transpose(slopes)[:, :, None] * joint[:, -1:]
    return np.concatenate([joint, 0 * joint[:, :1]], axis=1)


def _slope(one: Benefit) -> Floats:
    """Slope of the net benefit by that of treating all, (threshold,)."""
    apart = one.everyone - one.everyone.mean(axis=1, keepdims=True)
    spread = (apart**2).sum(axis=1)
    shared = (apart * one.own).sum(axis=1)
    return np.divide(shared, spread, out=np.zeros_like(spread), where=spread > 0)


def _in_order(draws: Floats, n: int) -> Floats:
    """So many draws in order, (threshold, n); where some are undefined, others stand for them."""
    held = draws.shape[1]
    return np.sort(draws, axis=1)[:, np.arange(n) * held // n]


def _correlations(
    tree: xr.DataTree, cases: Sequence[ResultSlice], thresholds: Floats, change: Floats
) -> Floats:
    """Correlations of linear combinations of net benefits, the last of treating all.

    Notes
    -----
    What a row adds to a net benefit is known exactly: 1 where it is treated and has the label,
    minus the odds where it is treated and has not. Rows that two strategies treat are those that
    both treat, so that sums over the rows by the highest threshold at which both do are enough.
    """
    label, weight, levels = _rows(tree, cases, thresholds)
    odds = thresholds / (1 - thresholds)
    positive, negative = weight * label, weight * (1 - label)

    def above(level: NDArray[np.int64], value: Floats) -> Floats:
        """Sum over the rows that are treated at each threshold."""
        by_level = np.bincount(level, value, minlength=len(thresholds) + 1)
        return np.asarray(by_level[::-1].cumsum()[::-1][1:])

    def moment(value: Floats, other: Floats, factor: Floats) -> Floats:
        return np.array([above(one, value) + factor * above(one, other) for one in levels])

    mean = moment(positive, negative, -odds)
    cross = moment(weight * positive, weight * negative, -odds)
    size = len(levels)
    covariance = np.empty((len(thresholds), size, size))
    for a in range(size):
        for b in range(a, size):
            both = np.minimum(levels[a], levels[b])
            product = above(both, weight * positive) + odds**2 * above(both, weight * negative)
            covariance[:, a, b] = covariance[:, b, a] = (
                product
                - mean[a] * cross[b]
                - mean[b] * cross[a]
                + mean[a] * mean[b] * (weight @ weight)
            )
    covariance = change @ covariance @ change.transpose(0, 2, 1)
    sd = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0))
    scale = sd[:, :, None] * sd[:, None, :]
    return np.asarray(np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0))


def _rows(
    tree: xr.DataTree, cases: Sequence[ResultSlice], thresholds: Floats
) -> tuple[Floats, Floats, list[NDArray[np.int64]]]:
    """Label, weight (they sum to 1) and number of thresholds at which each strategy treats a row.

    The last strategy treats all.
    """

    def held(name: str, case: ResultSlice) -> NDArray[Any]:
        return access.variable(tree, schema.SHARED_ROWS, name, case).to_numpy()

    labels = [held("label", case).astype(np.float64) for case in cases]
    if any((label != labels[0]).any() for label in labels):
        raise InputError(
            "classifiers are compared by net benefit for one event; here each has its own, that "
            'its prediction is right. Fit with multiclass="class-wise", or one classifier.'
        )
    levels = []
    for case in cases:
        score = access.variable(tree, schema.CONSTANT_DATA, schema.CELL_SCORE, case).to_numpy()
        treated = np.count_nonzero(is_called(score[:, None], thresholds), axis=1)
        levels.append(treated[held("cell", case)])
    levels.append(np.full_like(levels[0], len(thresholds)))
    weight = np.ones_like(labels[0])
    if access.has_variable(tree, schema.SHARED_ROWS, schema.WEIGHT):
        weight = held(schema.WEIGHT, cases[0]).astype(np.float64)
    return labels[0], weight / weight.sum(), levels
