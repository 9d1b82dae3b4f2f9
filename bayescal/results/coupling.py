"""Errors and metrics of classifiers fitted one by one, coupled as their shared rows couple them."""

from __future__ import annotations

from itertools import product

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.best import Best, check_several, rank_shares, ranked
from bayescal.results.difference import Difference, Pair, find_pair
from bayescal.results.intervals import end_draws, end_prob_calibrated, tail
from bayescal.results.kind import check_variable, kind_of

type Floats = NDArray[np.float64]


def couple_pair(tree: xr.DataTree, pair: Pair) -> Difference:
    """Difference of two coupled errors or metrics, averaged over calibrated and miscalibrated."""
    first, second, var, prob, _, _ = pair
    alpha = tail(prob)
    cases = find_pair(tree, pair)
    # The pair is coupled in alphabetical order, so that exchanging them only changes the sign.
    order = sorted((0, 1), key=lambda k: cases[k].classifier)
    ordered = [cases[k] for k in order]
    correlation = float(_correlation(tree, var, ordered)[0, 1])
    rng = access.stream_of(tree, *ordered[0].names, *ordered[1].names)
    values = [_sorted(tree, var, case) for case in ordered]
    if np.isnan(values).any():
        raise InputError(
            f"a difference needs draws of both; {var!r} is undefined in every draw. Choose another "
            "metric."
        )
    ranks = _coupled_ranks(len(values[0]), correlation, rng)
    draws = [own[rank] for own, rank in zip(values, ranks, strict=True)]
    kept = low = high = draws
    if _may_be_zero(tree, var):
        chance = [rng.random(len(own)) for own in draws]
        kept = [
            own * (drawn >= _prob_zero(tree, var, case))
            for case, own, drawn in zip(ordered, draws, chance, strict=True)
        ]
        high = [
            end_draws(tree, var, case, calibrated=False)[rank]
            for case, rank in zip(ordered, ranks, strict=True)
        ]
        low = [
            own * (drawn >= end_prob_calibrated(tree, var, case))
            for case, own, drawn in zip(ordered, high, chance, strict=True)
        ]
    averaged = kept[order[0]] - kept[order[1]]
    return Difference(
        first=first,
        second=second,
        var=var,
        mean=access.averaged_mean(tree, var, cases[0]) - access.averaged_mean(tree, var, cases[1]),
        lower=float(np.quantile(low[order[0]] - high[order[1]], alpha)),
        upper=float(np.quantile(high[order[0]] - low[order[1]], 1 - alpha)),
        prob=prob,
        prob_first_larger=float(np.mean(averaged > 0)),
        prob_equal=float(np.mean(averaged == 0)),
        correlation=correlation,
        draws=averaged,
    )


def rank_coupled(tree: xr.DataTree, var: str, class_: str | None, group: str | None) -> Best:
    """Ranks of all classifiers' coupled errors or metrics, by class and group."""
    check_variable(tree, var)
    check_several(tree)
    posterior = tree[schema.POSTERIOR].dataset
    outer = {
        dim: [str(value) for value in posterior[dim].values]
        for dim in (schema.CLASS, schema.GROUP)
        if dim in posterior.dims
    }
    shares = np.stack(
        [
            _ranks_of_one(tree, var, dict(zip(outer, place, strict=True)))
            for place in product(*outer.values())
        ]
    )
    return ranked(tree, var, shares, outer, class_, group)


def _ranks_of_one(tree: xr.DataTree, var: str, place: dict[str, str]) -> Floats:
    """Rank probabilities (classifier, rank) of one class and group."""
    names = access.classifier_names(tree)
    cases = [
        access.find_case(tree, name, place.get(schema.CLASS), place.get(schema.GROUP))
        for name in names
    ]
    streams = [access.stream_of(tree, *case.names) for case in cases]
    errors = np.stack([_sorted(tree, var, case) for case in cases])
    normal = np.stack([rng.standard_normal(errors.shape[1]) for rng in streams])
    z = _square_root(_correlation(tree, var, cases)) @ normal
    errors = np.take_along_axis(errors, _order(z), axis=1)
    zero = np.array([_prob_zero(tree, var, case) for case in cases])
    chance = np.stack([rng.random(errors.shape[1]) for rng in streams])
    errors[chance < zero[:, None]] = 0.0
    return rank_shares(-errors.T if kind_of(tree).higher_is_better(var) else errors.T)


def is_coupled(tree: xr.DataTree, var: str) -> bool:
    """Whether a result holds how a variable of its classifiers correlates."""
    return access.has_variable(tree, schema.ERROR_CORRELATION, var)


def _correlation(tree: xr.DataTree, var: str, cases: list[ResultSlice]) -> Floats:
    """Correlation matrix of the classifiers of one class and group."""
    name = var if is_coupled(tree, var) else "correlation"
    if not access.has_variable(tree, schema.ERROR_CORRELATION, name):
        raise InputError(
            f"comparing classifiers needs the group {schema.ERROR_CORRELATION!r}, which this "
            "result does not have. Fit them together, on the same rows, under one prior and "
            "without groups: Scores.stack({name: y_prob, ...}, y_true=y)."
        )
    held = tree[schema.ERROR_CORRELATION].dataset[name]
    sel = {dim: at for dim, at in cases[0].sel.items() if dim != schema.CLASSIFIER}
    names = [case.classifier for case in cases]
    place = {dim: at for dim, at in sel.items() if dim in held.dims}
    return np.asarray(held.sel(place).sel(classifier=names, classifier_other=names).values)


def _coupled_ranks(
    n: int, correlation: float, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Ranks of two samples of a bivariate normal of that correlation, (n,) each."""
    z = rng.standard_normal((2, n))
    return _order(z[0]), _order(correlation * z[0] + np.sqrt(max(0.0, 1 - correlation**2)) * z[1])


def _order(z: Floats) -> NDArray[np.intp]:
    """Ranks along the last axis."""
    return np.argsort(np.argsort(z, axis=-1), axis=-1)


def _square_root(correlation: Floats) -> Floats:
    """The symmetric root of the matrix, which another order of the classifiers only reorders.

    What rounding made negative is set to 0, unit rows restored.
    """
    full = np.nan_to_num(correlation)
    np.fill_diagonal(full, 1.0)
    values, vectors = np.linalg.eigh(full)
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    return np.asarray(root / np.linalg.norm(root, axis=1, keepdims=True))


def _sorted(tree: xr.DataTree, var: str, case: ResultSlice) -> Floats:
    """Draws in order; undefined ones give their places to the others, if there are any."""
    draws = np.sort(access.flat_draws(tree, var, case))
    known = int(np.count_nonzero(~np.isnan(draws)))
    return draws[np.arange(len(draws)) * (known or len(draws)) // len(draws)]


def _prob_zero(tree: xr.DataTree, var: str, case: ResultSlice) -> float:
    return (access.prob_calibrated(tree, case) or 0.0) if _may_be_zero(tree, var) else 0.0


def _may_be_zero(tree: xr.DataTree, var: str) -> bool:
    """Whether a variable is 0 where a classifier is calibrated: then its mean is averaged."""
    return access.has_variable(tree, schema.MODEL_AVERAGE, f"{var}_mean")
