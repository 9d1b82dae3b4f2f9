"""Draws of any number of the calibration curve that a result holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import xarray as xr

from bayescal.core.errors import InputError
from bayescal.measures.measure import ALL, ROWS, Measure
from bayescal.measures.registry import resolve
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.bootstrap import (
    MASS,
    RATE,
    Cells,
    Draws,
    Floats,
    cells_with_rows,
    draw_cells,
    rows_of,
)

type _Found = dict[str, xr.DataArray]

_GIVEN: Final = "given_"


def measure(
    tree: xr.DataTree, measure: str | Measure | Callable[..., Any], **options: float
) -> xr.DataArray:
    """Posterior draws of any number of a calibration curve.

    Parameters
    ----------
    tree : xarray.DataTree
        A result that holds a calibration curve: the group ``curve``.
    measure : str, Measure or callable
        A name of `bayescal.measures`, such as ``"e90"`` or ``"net_benefit:0.25"``; or a function
        ``f(rate, score, mass)`` of the label rates (chain, draw, cell), scores (cell,) and masses
        (chain, draw, cell) of cells with increasing scores, which gives values (chain, draw).
    **options : float
        Options of a named measure, such as ``threshold=0.25``, in (0, 1).

    Returns
    -------
    xarray.DataArray
        Draws with dims chain and draw, then those of the cases: classifier, class, group.

    Raises
    ------
    InputError
        If the result holds no curve, there is no such measure or option, or the function gives
        another shape or an undefined value.

    Notes
    -----
    The estimand is the number that the population has: the curve P(Y = 1 | score), and how its
    scores are distributed. Draws of errors, slopes and of your own functions are of the whole
    posterior, in which the classifier may be calibrated; those of rates of rows and costs, such as
    the Brier score, the AUC or the net benefit, are of the labelled rows alone (see `Measure`).

    Cells are narrow ranges of the score, about 100, or each one score where there are fewer. Rows
    of one cell count as tied, and a threshold within a cell falls on the side of the mean score.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(2000, seed=1)
    >>> result = bc.fit(bc.ece, scores, seed=20, method="direct")
    >>> draws = bc.measure(result, "net_benefit", threshold=0.25)
    >>> draws.dims
    ('chain', 'draw')
    >>> by_hand = bc.measure(result, lambda rate, score, mass: (mass * rate).sum(axis=-1))
    >>> 0.4 < float(by_hand.mean()) < 0.6
    True
    """
    found = resolve(measure, **options)
    return _draws(tree, found)


def has_curve(tree: xr.DataTree) -> bool:
    """Whether a result holds draws of a calibration curve."""
    return access.has_variable(tree, schema.CURVE, RATE)


def curves_of(tree: xr.DataTree) -> list[ResultSlice]:
    """The cases, and within one the classes that have a curve each."""
    found, rate = access.cases(tree), access.variable(tree, schema.CURVE, RATE)
    for dim in set(rate.dims) - {*schema.DRAW_DIMS, *schema.CASE_DIMS, schema.CELL}:
        names = rate[dim].to_numpy()
        found = [replace(one, sel={**one.sel, str(dim): name}) for one in found for name in names]
    return found


def _draws(tree: xr.DataTree, one: Measure) -> xr.DataArray:
    """Draws of a measure from its own components, (chain, draw, ...)."""
    found = empty_draws(tree).rename(one.name)
    for case in curves_of(tree):
        cells = curve_cells(tree, case, one.components)
        found.loc[place_in(found, case)] = values_of(cells, one, case)
    return found


def empty_draws(tree: xr.DataTree) -> xr.DataArray:
    """Room for draws, (chain, draw, ...)."""
    check_curve(tree)
    like = access.variable(tree, schema.CURVE, RATE).isel({schema.CELL: 0}, drop=True)
    return like.transpose(*schema.DRAW_DIMS, ...).astype(np.float64)


def place_in(found: xr.DataArray, case: ResultSlice) -> dict[str, Any]:
    """Where an array has a case."""
    return {dim: at for dim, at in case.sel.items() if dim in found.dims}


def values_of(cells: Cells, one: Measure, case: ResultSlice) -> Floats:
    """Values of a measure, which must be numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.array(one.function(*cells), dtype=np.float64)
    expected = cells.rate.shape[:-1]
    if values.shape != expected:
        raise InputError(
            f"{one.name} must give one value a draw, shape {expected}; got {values.shape}. Sum "
            "over the last axis, that of cells."
        )
    known = ~np.isnan(cells.rate[..., 0])
    if not np.isfinite(values[known]).all():
        raise InputError(
            f"{one.name} must be a finite number in every draw; it is not for {case.title}. "
            f"{one.undefined or 'Mend the function where a rate is 0 or 1, or masses are 0.'}"
        )
    return values


def curve_cells(tree: xr.DataTree, case: ResultSlice, of: str) -> Cells:
    """The curve of a case: of the whole posterior, given miscalibration, or of its rows alone."""
    rows = rows_of(tree, case) if of == ROWS else None
    score, _, held = cells_with_rows(tree, case)
    if rows is not None:
        mass = _of_kind(tree, MASS, of, case)[..., held]
        rng = access.stream_of(tree, schema.SHARED_ROWS, *case.names)
        rate, score, flat = draw_cells(rows, mass.reshape(-1, len(held)), Draws.of(tree), rng)
        return Cells(rate.reshape(mass.shape), score, flat.reshape(mass.shape))
    rate, mass = (_of_kind(tree, name, of, case) for name in (RATE, MASS))
    rate, score = rate[..., held], score[held]
    # A result keeps rates in single precision: a score as near as that is its own rate.
    rate = np.where(np.abs(rate - score) > np.spacing(np.float32(1)) * score, rate, score)
    if of != ALL and not access.has_variable(tree, schema.CURVE, f"{_GIVEN}{RATE}"):
        rate = np.where((rate == score).all(axis=-1, keepdims=True), np.nan, rate)
    return Cells(rate, score, mass[..., held])


def _of_kind(tree: xr.DataTree, name: str, kind: str, case: ResultSlice) -> Floats:
    """Rates or masses of a kind of curve by cell, (chain, draw, cell)."""
    own = f"{_GIVEN}{name}"
    if kind == ALL or not access.has_variable(tree, schema.CURVE, own):
        own = name
    held = access.variable(tree, schema.CURVE, own, case).transpose(*schema.DRAW_DIMS, schema.CELL)
    return np.asarray(held.values, dtype=np.float64)


def check_curve(tree: xr.DataTree) -> None:
    """Refuse a result without a curve."""
    schema.check_result(tree)
    if not has_curve(tree):
        known = ", ".join(one.name for one in access.answers(tree))
        raise InputError(
            f"a measure needs draws of a calibration curve; this result, of "
            f"{tree.attrs['quantity']}, holds none. Choose from {known}, or fit a calibration "
            "error to labelled rows with this version of bayescal, many of them with keep='draws'."
        )
