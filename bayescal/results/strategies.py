"""Draws of the net benefit of strategies: treat by a classifier's scores, treat all, treat none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.measures.discrimination import is_called
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.bootstrap import joint_values

type Floats = NDArray[np.float64]

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
        return _of_draws(np.stack([one.own, one.everyone, 0 * one.own]))
    if schema.SHARED_ROWS not in tree.children:
        shape = (len(thresholds), len(cases) + 2)
        return Chances(np.full(shape, np.nan), np.full(shape[0], np.nan))
    _check_one_event(tree, cases)

    def both(rate: Floats, score: Floats, mass: Floats) -> Floats:
        return np.stack(benefit(rate, score, mass, thresholds))

    drawn = joint_values(tree, both, cases)
    own, everyone = drawn[:, 0], drawn[:1, 1]
    return _of_draws(np.concatenate([own, everyone, 0 * everyone]))


def _of_draws(values: Floats) -> Chances:
    """From joint draws (strategy, threshold, draw); strategies that tie share a draw."""
    top = values.max(axis=0)
    best = values >= top - _ROUNDING
    shares = (best / best.sum(axis=0)).mean(axis=-1)
    return Chances(shares.T, top.mean(axis=-1) - values.mean(axis=-1).max(axis=0))


def _check_one_event(tree: xr.DataTree, cases: Sequence[ResultSlice]) -> None:
    labels = [
        access.variable(tree, schema.SHARED_ROWS, schema.LABEL, case).values for case in cases
    ]
    if any((label != labels[0]).any() for label in labels):
        raise InputError(
            "classifiers are compared by net benefit for one event; here each has its own, that "
            'its prediction is right. Fit with multiclass="class-wise", or one classifier.'
        )
