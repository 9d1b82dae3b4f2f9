"""Log densities of draws that power scaling weighs them by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import xarray as xr
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from bayescal.core.quantity import ROW
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice

type Values = NDArray[Any]
_CLASS_PRIOR: Final = "class_prior"
# Components whose evidence tells class priors apart.
_OF_EVIDENCE: Final = ("smooth", "rough")
_SEGMENTS: Final = "segments"


def totals(tree: xr.DataTree, group: str, case: ResultSlice, var: str) -> dict[str, Values]:
    """Log densities by chain and draw, as power-scaling wants them.

    A component of an average has a weight by its evidence to a power. Where a density is raised to
    a power, the log evidence changes by the mean of its log over the component: this counts to the
    evidence's power, what differs from it in full. Under an uncertain class prior the evidence at
    each class prior counts to a power of its own: that of segments for them, and that of the smooth
    and the rough component for all others.
    """
    found = {
        name: np.array(values.transpose(*schema.DRAW_DIMS, ...), float).sum(
            axis=tuple(range(2, values.ndim))
        )
        for name, values in _log_densities(tree, group, case, var).items()
    }
    power = tree.attrs.get(schema.AVERAGE_POWER)
    if power is None or (component := _component(tree, case, var)) is None:
        return found
    of_class_prior = float(tree.attrs.get(schema.CLASS_PRIOR_POWER, power))
    uncertain = access.has_variable(tree, schema.LOG_PRIOR, _CLASS_PRIOR)
    for name, density in found.items():
        if uncertain and name != _CLASS_PRIOR:
            held = access.variable(tree, schema.POSTERIOR, _CLASS_PRIOR, case)
            at = held.transpose(*schema.DRAW_DIMS).values
            of = tree[schema.MODEL_AVERAGE].dataset[schema.DESCRIPTION].values[component]
            segments = of == _SEGMENTS
            for own, told in ((~segments, np.isin(of, _OF_EVIDENCE)), (segments, segments)):
                density[own] -= (1 - of_class_prior) * _expected(density, at, told)[own]
        for own in (component == k for k in np.unique(component)):
            density[own] -= (1 - power) * density[own].mean()
    return found


def _component(tree: xr.DataTree, case: ResultSlice, var: str) -> Values | None:
    """Component of each draw of the one curve that a variable is of, (chain, draw)."""
    place = (schema.CURVE, "component")
    if not _is_of_curve(tree, var):
        place = (schema.POSTERIOR, schema.DESCRIPTION)
        if access.main(tree).role != ROW:
            return None
    if not access.has_variable(tree, *place):
        return None
    found = access.variable(tree, *place, case).transpose(*schema.DRAW_DIMS, ...).values
    return found if found.ndim == 2 else None


def _expected(density: Values, class_prior: Values, own: NDArray[np.bool_]) -> Values:
    """Mean of log densities of some draws at each class prior, by a cubic."""
    if not own.any():
        return np.zeros(density.shape)
    at = class_prior[own]
    cubic = Polynomial.fit(at, density[own], min(3, len(np.unique(at)) - 1))
    return np.asarray(cubic(class_prior.clip(at.min(), at.max())))


def _is_of_curve(tree: xr.DataTree, var: str) -> bool:
    """Whether a variable is of the curve that may be calibrated."""
    given = access.has_variable(tree, schema.GIVEN_MISCALIBRATION, var)
    return given or var in access.measure_names(tree)


def _log_densities(
    tree: xr.DataTree, group: str, case: ResultSlice, var: str
) -> dict[str, xr.DataArray]:
    """Log densities of a case's model; of groups under one pooled model, the rows of all."""
    if access.has_variable(tree, schema.CURVE, group) and _is_of_curve(tree, var):
        # The curve of errors and measures may be calibrated, and that of all else not.
        return {schema.CURVE: access.variable(tree, schema.CURVE, group, case)}
    if group not in tree.children:
        return {}
    if pooled(tree):
        others = {dim: value for dim, value in case.sel.items() if dim != schema.GROUP}
        case = replace(case, sel=others)
    names = map(str, tree[group].data_vars)
    return {name: access.variable(tree, group, name, case) for name in names}


def pooled(tree: xr.DataTree) -> bool:
    """Whether groups, each with rows of its own, have a prior in common."""
    return (
        bool(access.names_along(tree, schema.GROUP))
        and _any_shared(tree, schema.LOG_PRIOR)
        and not _any_shared(tree, schema.LOG_LIKELIHOOD)
    )


def _any_shared(tree: xr.DataTree, group: str) -> bool:
    """Whether a variable of this part of the result is of no single group of rows."""
    held = tree[group].data_vars if group in tree.children else ()
    return any(not access.is_along(tree, group, str(name), schema.GROUP) for name in held)
