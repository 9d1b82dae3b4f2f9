"""Put refits of the same data under several priors into one result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import xarray as xr

from bayescal.core.errors import InputError
from bayescal.results import access, schema

# Sums of parts that priors do not share would be sums of something else.
_WHOLE: Final = (schema.LOG_PRIOR, schema.LOG_LIKELIHOOD)
# Draws of a grid are not coupled: the correlation belongs to one fit.
_SINGLE: Final = (schema.ERROR_CORRELATION,)


def combine(trees: Mapping[str, xr.DataTree]) -> xr.DataTree:
    """Put the fits of one data set under several priors into one result."""
    if len(trees) < 2:
        raise InputError(
            f"prior sensitivity needs two priors or more; got {len(trees)}. Pass "
            "{'default': ..., 'wide': ...}."
        )
    found = list(trees.values())
    for tree in found:
        schema.check_result(tree)
    for name in ("quantity", "n_obs", "n_labeled", "classifiers", "groups"):
        values = {tree.attrs.get(name) for tree in found}
        if len(values) > 1:
            raise InputError(
                f"the fits must be of the same data and quantity; their {name} differ. "
                "Fit the same data under every prior."
            )
    groups = {
        name: _together([_group(tree, name) for tree in found], list(trees))
        for name in dict.fromkeys(name for tree in found for name in tree.children)
        if name not in (*_WHOLE, *_SINGLE)
    }
    combined = xr.DataTree.from_dict({name: held for name, held in groups.items() if held})
    combined.attrs = _attrs(trees)
    return combined


def _group(tree: xr.DataTree, name: str) -> xr.Dataset:
    return tree[name].to_dataset() if name in tree.children else xr.Dataset()


def _together(datasets: Sequence[xr.Dataset], names: Sequence[str]) -> xr.Dataset:
    """Stack the variables that all have in one shape, the new dimension after chain and draw.

    What is given by description of the curve is NaN under a prior that has none.
    """
    variables = {}
    for name in dict.fromkeys(name for dataset in datasets for name in dataset.data_vars):
        held = [dataset[name].variable for dataset in datasets if name in dataset]
        if len({(array.dims, array.shape) for array in held}) > 1:
            continue
        if len(held) < len(datasets) and schema.DESCRIPTION not in held[0].dims:
            continue
        blank = held[0].copy(data=np.full(held[0].shape, np.nan))
        arrays = [dataset[name].variable if name in dataset else blank for dataset in datasets]
        lead = sum(dim in schema.DRAW_DIMS for dim in arrays[0].dims)
        dims = (*arrays[0].dims[:lead], schema.PRIOR_NAME, *arrays[0].dims[lead:])
        values = np.stack([array.values for array in arrays], axis=lead)
        variables[name] = xr.Variable(dims, values, attrs=arrays[0].attrs)
    if not variables:
        return xr.Dataset()
    stacked = xr.Dataset(variables, coords={schema.PRIOR_NAME: list(names)})
    known = {dim: values for one in reversed(datasets) for dim, values in one.coords.items()}
    return stacked.assign_coords({dim: known[dim] for dim in stacked.dims if dim in known})


def _attrs(trees: Mapping[str, xr.DataTree]) -> dict[str, Any]:
    """Attributes of all fits; JSON by prior where they differ."""
    first = next(iter(trees.values())).attrs
    attrs: dict[str, Any] = {}
    for name in map(str, first):
        found = {prior: _plain(tree.attrs.get(name)) for prior, tree in trees.items()}
        if name not in (*schema.BY_PRIOR, schema.WARNINGS):
            same = len(set(map(str, found.values()))) == 1
            attrs[name] = _plain(first[name]) if same else json.dumps(found)
    for name, by_name in schema.BY_PRIOR.items():
        attrs[by_name] = json.dumps({prior: _read(tree, name) for prior, tree in trees.items()})
    converged = all(access.is_converged(tree) for tree in trees.values())
    return attrs | {
        schema.KIND: schema.PRIOR_GRID,
        "created": max(str(tree.attrs.get("created", "")) for tree in trees.values()),
        "status": _status(trees),
        **_warned(trees),
        "converged": "true" if converged else "false",
    }


def _warned(trees: Mapping[str, xr.DataTree]) -> dict[str, str]:
    """Sentences of every fit, with the prior among the names of its cases."""
    if not all(schema.WARNINGS in tree.attrs for tree in trees.values()):
        return {}
    found = [
        (text, [{**coords, schema.PRIOR_NAME: prior} for coords in cases])
        for prior, tree in trees.items()
        for text, cases in access.json_attribute(tree, schema.WARNINGS)
    ]
    return {schema.WARNINGS: json.dumps(found)}


def _read(tree: xr.DataTree, name: str) -> Any:
    """An attribute, of which priors alone are JSON."""
    value = str(tree.attrs.get(name, ""))
    return json.loads(value) if name == "priors" and value else value


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _status(trees: Mapping[str, xr.DataTree]) -> str:
    """What is wrong under which priors, common warnings once."""
    warned: dict[str, list[str]] = {}
    for prior, tree in trees.items():
        if (said := str(tree.attrs["status"])) != "ok":
            warned.setdefault(said, []).append(prior)
    if len(warned) == 1 and len(next(iter(warned.values()))) == len(trees):
        return next(iter(warned))
    return " ".join(f"Under {', '.join(names)}: {said}" for said, names in warned.items()) or "ok"
