"""How probable it is that a variable exceeds a value."""

from __future__ import annotations

import xarray as xr

from bayescal.results import access, schema
from bayescal.results.access import ResultSlice


def prob_exceeds(tree: xr.DataTree, var: str, value: float, case: ResultSlice) -> float:
    """P(var > value) of one case, averaged over descriptions of the curve where there are any."""
    if not access.has_variable(tree, schema.DESCRIPTIONS, var):
        return float((access.flat_draws(tree, var, case) > value).mean())
    drawn = access.variable(tree, schema.DESCRIPTIONS, var, case)
    weight = access.variable(tree, schema.MODEL_AVERAGE, "weight", case)
    return float((drawn > value).mean(schema.DRAW_DIMS) @ weight)
