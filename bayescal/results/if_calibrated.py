"""What the plug-in ECE of a result would be if a case were calibrated, from cells and bins."""

from __future__ import annotations

from typing import Literal

import numpy as np
import xarray as xr

from bayescal.core.if_calibrated import SIMULATIONS, IfCalibrated, compared, of_cells
from bayescal.core.streams import stream
from bayescal.core.variables import ERROR
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice


def if_calibrated(tree: xr.DataTree, case: ResultSlice, prob: float) -> IfCalibrated | None:
    """The plug-in ECE under calibration; None where it is not one of labelled rows in bins.

    It depends on the rows alone, and so has no random numbers of the fit's seed.
    """
    point = access.main(tree).point
    if not _is_binned(tree) or point is None:
        return None
    score, count = (
        access.variable(tree, schema.CONSTANT_DATA, name, case).values
        for name in (schema.CELL_SCORE, schema.CELL_COUNT)
    )
    edges, mass = (
        access.variable(tree, schema.POINT_ESTIMATE, name, case).values
        for name in (schema.BIN_EDGES, schema.BIN_MASS)
    )
    held = count > 0
    observed = access.scalar(tree, schema.POINT_ESTIMATE, point, case)
    if observed is None or not held.any():
        return None
    score, count = score[held], count[held]
    side: Literal["left", "right"] = "right" if tree.attrs.get("closed") == "left" else "left"
    place = np.searchsorted(edges[1:-1], score, side=side)
    in_bin = np.bincount(place, count, len(mass))
    simulated = of_cells(
        score,
        mass[place] * count / in_bin[place],
        count,
        place,
        SIMULATIONS,
        stream(0, *case.names, "if calibrated"),
    )
    return compared(case.label, simulated, observed, prob)


def _is_binned(tree: xr.DataTree) -> bool:
    """Whether the point estimate is made of labelled rows in bins, with the cells inside them."""
    held = (
        (schema.CONSTANT_DATA, schema.CELL_SCORE),
        (schema.CONSTANT_DATA, schema.CELL_COUNT),
        (schema.POINT_ESTIMATE, schema.BIN_EDGES),
        (schema.POINT_ESTIMATE, schema.BIN_MASS),
        (schema.POINT_ESTIMATE, schema.POSITIVES),
    )
    return access.main(tree).role == ERROR and all(access.has_variable(tree, *o) for o in held)
