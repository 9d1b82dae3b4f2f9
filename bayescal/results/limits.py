"""Posterior probability that a number of a result lies on one side of a limit."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import xarray as xr

from bayescal.core.checks import check_number
from bayescal.results import access, schema
from bayescal.results.measured import with_measure


def prob_below(tree: xr.DataTree, var: str | None, limit: float) -> xr.DataArray:
    """Posterior probability that an error, metric or measure is below a limit, case by case.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    var : str or None
        A variable of its posterior; or, of a result that holds a calibration curve, a measure such
        as "e90" or "net_benefit:0.25", see `bayescal.measure`. None is the main one.
    limit : float
        The value that would matter.

    Returns
    -------
    xarray.DataArray
        P(var < limit), by the variable's dims less chain and draw; its `text` says what it is.

    Raises
    ------
    InputError
        If there is no such variable, or the limit is not a finite number.

    See Also
    --------
    prob_above : P(var > limit).
    interval : The credible interval of the same posterior.

    Notes
    -----
    It is the share of posterior draws below the limit. Draws of calibration errors are 0 where the
    classifier is calibrated, a share P(calibrated) of them, so that these count as below any limit
    above 0. The draws are those of `bayescal.interval`, `bayescal.summary` and the plots. Draws
    that are NaN, as an AUC without a row of one class, are left out. Its Monte Carlo standard error
    is about sqrt(P (1 - P) / draws), .005 at P = .9 with 4,000 independent draws.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(500, seed=1)
    >>> result = bc.fit(bc.ece, scores, method="direct", seed=20)
    >>> float(bc.prob_below(result, "tce", 0.02).item()) < 0.1
    True
    """
    return _share(tree, var, limit, operator.lt, "below")


def prob_above(tree: xr.DataTree, var: str | None, limit: float) -> xr.DataArray:
    """Posterior probability that an error, metric or measure is above a limit, case by case.

    Parameters
    ----------
    tree : xarray.DataTree
        A result.
    var : str or None
        A variable or measure, as of `prob_below`.
    limit : float
        The value that would matter.

    Returns
    -------
    xarray.DataArray
        P(var > limit), by the variable's dims less chain and draw; its `text` says what it is.

    Raises
    ------
    InputError
        If there is no such variable, or the limit is not a finite number.

    See Also
    --------
    prob_below : P(var < limit), with notes on both.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.datasets.ece.truth("over").scores(500, seed=1)
    >>> result = bc.fit(bc.ece, scores, method="direct", seed=20)
    >>> float(bc.prob_above(result, "auc", 0.5).item()) > 0.99
    True
    """
    return _share(tree, var, limit, operator.gt, "above")


def _share(
    tree: xr.DataTree, var: str | None, limit: float, beyond: Callable[[Any, Any], Any], side: str
) -> xr.DataArray:
    """Share of the draws that exist which lie beyond the limit."""
    schema.check_result(tree)
    value = check_number(limit, "limit", "(-inf, inf)", "Pass the value that would matter.")
    tree, name = with_measure(tree, access.main(tree).name if var is None else var)
    draws = access.variable(tree, schema.POSTERIOR, name)
    found: xr.DataArray = (
        beyond(draws, value).astype(float).where(draws.notnull()).mean(schema.DRAW_DIMS)
    )
    text = f"Posterior probability that {name} is {side} {value:g}."
    return found.rename(name).assign_attrs(text=text)
