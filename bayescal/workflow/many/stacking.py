"""Draws of many fits as one data set, a fit beside the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import xarray as xr

from bayescal.core.checks import check_known
from bayescal.core.errors import InputError
from bayescal.results import access, schema
from bayescal.workflow.many.keys import Key, joined, label

FIT = "fit"


def stacked(fits: Iterable[tuple[Key, xr.DataTree]], names: Sequence[str]) -> xr.Dataset:
    """Join the draws of variables with one value a case, (fit, ..., chain, draw)."""
    found = {key: _draws(tree, names) for key, tree in fits}
    if not found:
        raise InputError("there must be at least one result; all fits failed. Read .failures.")
    shapes: dict[str, Key] = {}
    for key, draws in found.items():
        shapes.setdefault(_shape(draws), key)
    if len(shapes) > 1:
        different = " and ".join(f"{shape} ({label(key)})" for shape, key in shapes.items())
        raise InputError(
            "fits must have the same classifiers, classes, groups and number of draws to be "
            f"joined; they have {different}. Join those that agree, with xarray.concat."
        )
    joined = xr.concat(
        list(found.values()), FIT, join="override", coords="minimal", compat="override"
    )
    return joined.assign_coords({name: (FIT, parts) for name, parts in _parts(list(found))})


def _draws(tree: xr.DataTree, names: Sequence[str]) -> xr.Dataset:
    posterior = tree[schema.POSTERIOR].to_dataset()
    scalars = tuple(name for name in map(str, posterior) if access.is_scalar(posterior[name]))
    for name in names:
        check_known(name, scalars, "variable", "the results, with one value a case,")
    return posterior[list(names or scalars)]


def _shape(draws: xr.Dataset) -> str:
    cases = [f"{dim} {draws[dim].values.tolist()}" for dim in schema.CASE_DIMS if dim in draws.dims]
    return ", ".join([*cases, *(f"{draws.sizes[dim]} {dim}s" for dim in schema.DRAW_DIMS)])


def _parts(keys: Sequence[Key]) -> Iterator[tuple[str, np.ndarray]]:
    """Coordinates of the fits: their keys, or a part of them each where all have as many."""
    lengths = {len(key) if isinstance(key, tuple) else 0 for key in keys}
    if lengths == {0} or len(lengths) > 1:
        yield "key", np.array([joined(key) for key in keys])
        return
    for place in range(lengths.pop()):
        parts = [key[place] for key in keys if isinstance(key, tuple)]
        yield f"key_{place + 1}", np.array(parts)
